"""Intervals of means: the formula, how often they hold the truth, and what they refuse."""

import math
import statistics

import pytest
import torch

from nlmcore.metrics import mean_interval


def test_by_hand() -> None:
    mean, half = mean_interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert mean == pytest.approx(3.0)
    assert half == pytest.approx(2.776 * statistics.stdev(range(1, 6)) / math.sqrt(5))


@pytest.mark.parametrize("n", [2, 5, 30])
def test_nineteen_of_twenty_intervals_hold_the_true_mean(n: int) -> None:
    draws = torch.randn(4000, n, generator=torch.Generator().manual_seed(n), dtype=torch.float64).tolist()
    held = sum(abs(mean) <= half for mean, half in map(mean_interval, draws))
    assert 0.94 < held / 4000 < 0.96


@pytest.mark.parametrize("values", [[], [2.0], [1.0, math.nan]])
def test_one_run_has_no_interval(values: list[float]) -> None:
    with pytest.raises(ValueError, match="values must be at least two finite numbers"):
        mean_interval(values)
