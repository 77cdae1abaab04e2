"""Intervals of means: the formula, how often they hold the truth, and what they refuse."""

import math
import statistics

import pytest
import torch

from nlmcore.metrics import bootstrap_interval, mean_interval


def test_by_hand() -> None:
    mean, half = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert mean == pytest.approx(3.0)
    assert half == pytest.approx(2.776 * statistics.stdev(range(1, 6)) / math.sqrt(5))


@pytest.mark.parametrize("values", [[], [2.0], [1.0, math.nan]])
def test_one_run_has_no_interval(values: list[float]) -> None:
    with pytest.raises(ValueError, match="values must be at least two finite numbers"):
        mean_interval(values)


def test_the_bootstrap_holds_the_true_mean_about_as_often_and_follows_a_skew() -> None:
    draws = torch.randn(400, 40, generator=torch.Generator().manual_seed(0), dtype=torch.float64).tolist()
    held = sum(low <= 0 <= high for _, low, high in (bootstrap_interval(row, 500) for row in draws))
    assert 0.9 < held / 400 < 0.98
    mean, low, high = bootstrap_interval([0.0] * 30 + [1.0] * 3)
    assert mean == pytest.approx(1 / 11)
    assert high - mean > mean - low > 0
    assert bootstrap_interval([0.0] * 30 + [1.0] * 3) == (mean, low, high)
    with pytest.raises(ValueError, match="at least two"):
        bootstrap_interval([1.0])
