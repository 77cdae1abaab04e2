"""Which differences between rows are real: Welch's t test or pairs, Holm's correction, and a rank correlation.

    t = (mean x − mean y) / √(a + b),   a = s_x² / n_x,  b = s_y² / n_y          Welch (1947): the spreads may differ
    ν = (a + b)² / (a² / (n_x − 1) + b² / (n_y − 1))                             degrees of freedom
    p = 2 P(T > |t|) = 2 c ∫ cos^(ν−1) θ dθ from atan(|t| / √ν) to π / 2,        c = Γ((ν + 1) / 2) / (√π Γ(ν / 2))

    p_(k) · (m + 1 − k), never below an earlier one            Holm (1979), for m tests, p sorted from the smallest

Rows that were run with the same seeds are compared seed by seed, with one deviation for all rows r and seeds s, the
baseline among them (a two-way layout without replication; Scheffé 1959, section 4.2):

    e_rs = x_rs − x̄_r − x̄_s + x̄,    σ² = Σ e_rs² / ((R − 1)(S − 1)),    t = (x̄_r − x̄_0) / (σ √(2 / S))

**How sure is a mean of a few runs?**

    mean(x) ± t · s / √n,        s² = Σ (x - mean(x))² / (n - 1)          Student (1908), "The probable error of a mean"

t is the 97.5 % point of his distribution with n - 1 degrees of freedom, so 95 % of such intervals hold the true mean,
if the runs are independent and roughly normal. Where they are not, draw the values again with replacement: the middle
95 % of the means are the **bootstrap** interval (Efron 1979).
"""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from statistics import NormalDist, fmean, median, quantiles, stdev
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from nlmcore.checks import Size, checked

Real = float | int


class Sample(NamedTuple):
    """What a table prints of a sample of two values or more."""

    mean: Real
    sd: Real
    n: int


def summary(values: Sequence[Real]) -> Sample:
    return Sample(fmean(values), stdev(values), len(values))


def welch(x: Sample, y: Sample) -> float:
    """p of the hypothesis that both samples come from distributions of one mean."""
    variance = x.sd**2 / x.n + y.sd**2 / y.n  # a + b
    if variance == 0:
        return float(x.mean == y.mean)
    return two_sided(abs(x.mean - y.mean) / math.sqrt(variance), _freedom(x, y))


def holm(p: Mapping[str, Real]) -> dict[str, float]:
    """Each p, corrected for how many there are."""
    order = sorted(p, key=p.__getitem__)
    corrected = accumulate((min(1.0, (len(order) - k) * p[name]) for k, name in enumerate(order)), max)
    found = dict(zip(order, corrected, strict=True))
    return {name: found[name] for name in p}


def difference(x: Sample, y: Sample, level: Real = 0.05) -> tuple[float, float]:
    """(mean x − mean y, half the width of its 95 % interval): the differences that the test does not reject."""
    variance = x.sd**2 / x.n + y.sd**2 / y.n
    return x.mean - y.mean, critical(_freedom(x, y), level) * math.sqrt(variance) if variance else 0.0


def _freedom(x: Sample, y: Sample) -> float:
    a, b = x.sd**2 / x.n, y.sd**2 / y.n
    return (a + b) ** 2 / (a**2 / (x.n - 1) + b**2 / (y.n - 1))


def critical(freedom: Real, level: Real = 0.05) -> float:
    """The t at which `two_sided` is the level: Newton's steps from the normal distribution's, which is below it."""
    t, step = NormalDist().inv_cdf(1 - level / 2), 1.0
    while step > 1e-9 * t:
        density = 2 * _scale(freedom) / math.sqrt(freedom) * (1 + t**2 / freedom) ** (-(freedom + 1) / 2)
        step = (two_sided(t, freedom) - level) / density
        t += step
    return t


def _scale(freedom: Real) -> float:
    """c of the equation above; for many degrees of freedom by its asymptotic series, exact to 12 digits there."""
    if freedom < 1e3:
        return math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    x = 1 / freedom  # the difference of two huge logarithms would lose its digits
    return (1 - x / 4 + x**2 / 32 + 5 * x**3 / 128) / math.sqrt(2 * math.pi * x)


def two_sided(t: Real, freedom: Real, parts: int = 2000) -> float:
    """P(|T| > t) for Student's T with any number of degrees of freedom, by Simpson's rule.

    Few: over u, where θ = π / 2 − u², since cos^(ν−1) has a root at the end. Many: over θ √ν, as far as there is
    anything, since cos^(ν−1) is a narrow peak.
    """
    if freedom > 1e12:  # the normal distribution
        return math.erfc(t / math.sqrt(2))
    root = math.sqrt(freedom)
    first = math.atan(t / root)
    if freedom < 100:
        high = math.sqrt(math.pi / 2 - first)
        u = np.linspace(0.0, high, parts + 1)
        values = 2 * u * np.sin(u**2) ** (freedom - 1)
    else:
        high = min(math.sqrt((first * root) ** 2 + 80), root * math.pi / 2) - first * root  # to e⁻⁴⁰ of the first value
        theta = first + np.linspace(0.0, high, parts + 1) / root
        values = np.exp((freedom - 1) / 2 * np.log1p(-np.minimum(np.sin(theta) ** 2, 1 - 1e-16))) / root
    weights = np.resize([2.0, 4.0], parts + 1)
    weights[0] = weights[-1] = 1.0
    return 2 * _scale(freedom) * float(weights @ values) * high / parts / 3


class Comparison(NamedTuple):
    """A row against a baseline: mean less mean, half of its interval, p, and p corrected by Holm."""

    difference: float
    half: float
    p: float
    corrected: float


def against(baseline: Sample, rows: Mapping[str, Sample]) -> dict[str, Comparison]:
    """Of each row what separates it from the baseline, corrected for the number of rows."""
    p = {name: welch(sample, baseline) for name, sample in rows.items()}
    corrected = holm(p)
    return {name: Comparison(*difference(rows[name], baseline), p[name], corrected[name]) for name in p}


class Layout(NamedTuple):
    """σ, its degrees of freedom, the number of seeds, and the rows that have a deviation of their own."""

    sd: float
    freedom: int
    seeds: int
    apart: tuple[str, ...]

    def detectable(self, tests: int, power: Real = 0.8, level: Real = 0.05) -> float:
        """The difference that is found with this probability after the strictest of so many corrections."""
        factor = critical(self.freedom, level / tests) + critical(self.freedom, 2 * (1 - power))
        return factor * self.sd * math.sqrt(2 / self.seeds)


def paired(
    baseline: Sequence[Real], rows: Mapping[str, Sequence[Real]], most: Real = 3
) -> tuple[dict[str, Comparison], Layout]:
    """Of each row what separates it from a baseline with the same seeds in the same order, corrected by Holm.

    A row whose differences spread more than `most` times the median of the rows is tested with its own deviation, as
    in a paired t test, and does not enter σ. Raises ValueError unless all have one length, two or more.
    """
    seeds = len(baseline)
    if seeds < 2 or any(len(values) != seeds for values in rows.values()):
        lengths = {name: len(values) for name, values in rows.items()}
        raise ValueError(f"paired: every row needs the baseline's seeds, two or more; it has {seeds}, they {lengths}")
    gaps = {name: [x - y for x, y in zip(values, baseline, strict=True)] for name, values in rows.items()}
    own = {name: stdev(gap) for name, gap in gaps.items()}
    apart = tuple(name for name in rows if own[name] > most * median(own.values()))
    x = np.array([baseline, *(values for name, values in rows.items() if name not in apart)], dtype=float)
    residual = x - x.mean(1, keepdims=True) - x.mean(0) + x.mean()
    freedom = (len(x) - 1) * (seeds - 1)
    sd = math.sqrt(float((residual**2).sum()) / freedom)
    error = {name: (own[name], math.sqrt(1 / seeds), seeds - 1) for name in apart}
    found, p = {}, {}
    for name, gap in gaps.items():
        spread, scale, degrees = error.get(name, (sd, math.sqrt(2 / seeds), freedom))
        found[name] = fmean(gap), critical(degrees) * spread * scale
        p[name] = two_sided(abs(fmean(gap)) / (spread * scale), degrees) if spread else float(fmean(gap) == 0)
    corrected = holm(p)
    compared = {name: Comparison(*found[name], p[name], corrected[name]) for name in rows}
    return compared, Layout(sd, freedom, seeds, apart)


def mcnemar(first: Sequence[bool | int], second: Sequence[bool | int]) -> float:
    """p of the hypothesis that two ways to answer the same questions are right equally often (McNemar 1947, exact).

    Only questions that one way alone gets right count: of n such, k for the first, 2 P(X ≤ min(k, n − k)) with
    X ~ Binomial(n, 1/2). Raises ValueError unless both answered the same number of questions.
    """
    if len(first) != len(second):
        raise ValueError(f"both must answer the same questions, got {len(first)} and {len(second)}")
    one = sum(bool(a) and not b for a, b in zip(first, second, strict=True))
    other = sum(bool(b) and not a for a, b in zip(first, second, strict=True))
    n = one + other
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(min(one, other) + 1)) / 2**n)


def ranks(values: ArrayLike) -> np.ndarray:
    """From 1, along the last axis; equal values share the mean of their ranks."""
    x = np.asarray(values, dtype=float)
    one, other = x[..., :, None], x[..., None, :]
    return np.asarray((other < one).sum(-1) + ((other == one).sum(-1) + 1) / 2)


def spearman(x: ArrayLike, y: ArrayLike) -> np.ndarray:
    """ρ along the last axis; NaN where all values of a side are equal."""
    a, b = (r - r.mean(-1, keepdims=True) for r in (ranks(x), ranks(y)))
    with np.errstate(invalid="ignore"):
        return np.asarray((a * b).sum(-1) / np.sqrt((a**2).sum(-1) * (b**2).sum(-1)))


def rank_correlation(pairs: Sequence[tuple[Real, Real]], draws: int = 2000) -> dict[str, float]:
    """Spearman's ρ of the pairs, with the 95 % interval of pairs drawn again."""
    x, y = np.array(pairs, dtype=float).T
    chance = random.Random(0)
    drawn = np.array([chance.choices(range(len(x)), k=len(x)) for _ in range(draws)])
    found = spearman(x[drawn], y[drawn])
    cuts = quantiles(found[np.isfinite(found)].tolist(), n=40)
    return {
        "rho": round(float(spearman(x, y)), 3),
        "low": round(cuts[0], 3),
        "high": round(cuts[-1], 3),
        "pairs": len(x),
    }


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
