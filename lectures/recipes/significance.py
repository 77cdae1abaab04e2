"""Which differences between rows are real: Welch's t test with Holm's correction, and a rank correlation.

    t = (mean x − mean y) / √(a + b),   a = s_x² / n_x,  b = s_y² / n_y          Welch (1947): the spreads may differ
    ν = (a + b)² / (a² / (n_x − 1) + b² / (n_y − 1))                             degrees of freedom
    p = 2 P(T > |t|) = 2 c ∫ cos^(ν−1) θ dθ from atan(|t| / √ν) to π / 2,        c = Γ((ν + 1) / 2) / (√π Γ(ν / 2))

    p_(k) · (m + 1 − k), never below an earlier one            Holm (1979), for m tests, p sorted from the smallest

A correlation of few rows is uncertain: its interval is that of rows drawn again with replacement (Efron 1979).
"""

import math
import random
from collections.abc import Mapping, Sequence
from itertools import accumulate
from statistics import correlation, fmean, quantiles, variance


def welch(x: Sequence[float], y: Sequence[float]) -> float:
    """p of the hypothesis that both samples, of two values or more each, come from distributions of one mean."""
    a, b = variance(x) / len(x), variance(y) / len(y)
    if a + b == 0:
        return float(fmean(x) == fmean(y))
    freedom = (a + b) ** 2 / (a**2 / (len(x) - 1) + b**2 / (len(y) - 1))
    return two_sided(abs(fmean(x) - fmean(y)) / math.sqrt(a + b), freedom)


def two_sided(t: float, freedom: float, parts: int = 2000) -> float:
    """P(|T| > t) for Student's T, by Simpson's rule over u, where θ = π / 2 − u²."""
    low, high = 0.0, math.sqrt(math.pi / 2 - math.atan(t / math.sqrt(freedom)))
    width = (high - low) / parts
    weights = [1, *([4, 2] * (parts // 2 - 1)), 4, 1]
    total = sum(w * 2 * (i * width) * math.sin((i * width) ** 2) ** (freedom - 1) for i, w in enumerate(weights) if i)
    return (
        2 * math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi) * total * width / 3
    )


def against(baseline: Sequence[float], rows: Mapping[str, Sequence[float]]) -> dict[str, dict[str, float]]:
    """Of each row: its mean less the baseline's, and p, corrected for the number of rows."""
    raw = {name: welch(values, baseline) for name, values in rows.items()}
    order = sorted(raw, key=raw.__getitem__)
    corrected = accumulate((min(1.0, (len(order) - k) * raw[name]) for k, name in enumerate(order)), max)
    p = dict(zip(order, corrected, strict=True))
    return {
        name: {"difference": round(fmean(values) - fmean(baseline), 4), "p": float(f"{p[name]:.2g}")}
        for name, values in rows.items()
    }


def ranks(values: Sequence[float]) -> list[float]:
    """From 1; equal values share the mean of their ranks."""
    return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]


def rank_correlation(pairs: Sequence[tuple[float, float]], draws: int = 2000) -> dict[str, float]:
    """Spearman's ρ of the pairs, with the 95 % interval of pairs drawn again."""

    def rho(some: Sequence[tuple[float, float]]) -> float:
        x, y = zip(*some, strict=True)
        return correlation(ranks(x), ranks(y))

    chance = random.Random(0)
    again = (chance.choices(pairs, k=len(pairs)) for _ in range(draws))
    found = [rho(drawn) for drawn in again if all(len(set(side)) > 1 for side in zip(*drawn, strict=True))]
    cuts = quantiles(found, n=40)
    return {"rho": round(rho(pairs), 3), "low": round(cuts[0], 3), "high": round(cuts[-1], 3), "pairs": len(pairs)}
