"""How sure is a mean of a few runs?

    mean(x) ± t · s / √n,        s² = Σ (x - mean(x))² / (n - 1)

Source: Student (1908), "The probable error of a mean". t is the 97.5 % point of his distribution with n - 1 degrees of
freedom, so of such intervals 95 % hold the true mean, if the runs are independent and roughly normal.

Where they are not, as for effects of different prompts, draw the values again with replacement: the middle 95 % of the
means are the **bootstrap** interval (Efron 1979).
"""

import math
from collections.abc import Iterable

import numpy as np

from nlmcore.checks import Size, checked

# fmt: off
T_95 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
        2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)
# fmt: on
"""The 97.5 % points of Student's t for 1 to 30 degrees of freedom."""


@checked
def mean_interval(values: Iterable[float | int]) -> tuple[float, float]:
    """(mean, half the width of its 95 % interval) of independent runs, for example one loss per seed.

    Above 31 runs the last t of the table, 2.042, is used: up to 4 % too wide. Raises ValueError for fewer than two
    values (one run says nothing about its spread) or values that are not finite.
    """
    found = _checked(values)
    n, mean = len(found), math.fsum(found) / len(found)
    variance = math.fsum((value - mean) ** 2 for value in found) / (n - 1)
    return mean, T_95[min(n - 1, len(T_95)) - 1] * math.sqrt(variance / n)


@checked
def bootstrap_interval(values: Iterable[float | int], draws: Size = 2000) -> tuple[float, float, float]:
    """(mean, low, high): the mean, and the 95 % bootstrap interval. Raises as `mean_interval` does."""
    found = np.array(_checked(values))
    means = found[np.random.default_rng(0).integers(len(found), size=(draws, len(found)))].mean(1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(found.mean()), float(low), float(high)


def _checked(values: Iterable[float | int]) -> list[float]:
    found = [float(value) for value in values]
    if len(found) < 2 or not all(math.isfinite(value) for value in found):
        raise ValueError(f"values must be at least two finite numbers, got {found!r:.80}")
    return found
