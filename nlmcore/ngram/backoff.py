"""Backing off: the shorter context only scores words that were never seen after the longer one.

    P(w | h) = α(h, w)                where (h, w) was seen
             = β(h) P(w | h')         where it was not            h' is h without its first word

    katz_backoff       α = d(c) c / N                    β(h) = (1 − Σ_seen α(h, w)) / (1 − Σ_seen P(w | h'))
    stupid_backoff     S = c / N, else factor · S(w | h');       P(w | h) = S(w | h) / Z(h)

Katz lowers a count c of at most k = 5 by Turing's estimate: with r* = (r + 1) nᵣ₊₁ / nᵣ and nᵣ the number of
n-grams seen r times,

    d(r) = (r* / r − (k + 1) nₖ₊₁ / n₁) / (1 − (k + 1) nₖ₊₁ / n₁)       for r ≤ k, 1 above.

Symbols: as in smoothing.py; β is `backoff`, Z is `normaliser`. Sources: Katz 1987, equations 13 to 15; Good 1953;
Brants et al. 2007, equation 5 (stupid backoff). Departs from the papers. Katz: (1) where Turing's estimate is undefined
or not a discount (some d outside (0, 1)), k is lowered until it is one, finally to absolute discounting, d(c) = (c − D)
/ c; (2) a context whose counts all exceed k would leave nothing to unseen words, so one unseen event is added to N (as
in SRILM); (3) a context that has seen every word keeps maximum likelihood; (4) unigrams are also discounted. Stupid
backoff: Brants et al. leave the scores unnormalised; here they sum to 1, with Z(h) = 1 + factor · Z(h') · (1 − Σ_seen
P(w | h')).
"""

from dataclasses import dataclass

import numpy as np
from numpy import ndarray

from nlmcore.checks import Probability
from nlmcore.ngram.counts import Ngrams
from nlmcore.ngram.smoothing import Estimate, Smoothing, leave_one_out_discount

KATZ_CUT = 5  # k: counts above it are trusted as they are (Katz 1987)


@dataclass(frozen=True, kw_only=True)
class KatzBackoff(Smoothing):
    """Counts are discounted as Good and Turing say; what that frees goes to the words never seen after h."""

    def estimate_order(self, level: Ngrams, counts: ndarray, lower: Estimate) -> Estimate:
        total, d = level.sum_by_context(counts), good_turing_ratios(counts)
        undiscounted = level.sum_by_context(counts * d) >= total
        everything_seen = level.sum_by_context(np.ones(len(level))) >= lower.support
        denominator = total + (undiscounted & ~everything_seen)
        d = np.where(everything_seen[level.prefix], 1.0, d)
        alpha = d * counts / denominator[level.prefix]
        left = 1.0 - level.sum_by_context(alpha)
        unseen = 1.0 - level.sum_by_context(lower.probability[level.suffix])
        with np.errstate(divide="ignore", invalid="ignore"):
            beta = np.where(everything_seen, 0.0, left / unseen)
        beta[total == 0] = 1.0
        return Estimate(alpha, beta, np.ones_like(beta), lower.support)


@dataclass(frozen=True, kw_only=True)
class StupidBackoff(Smoothing):
    """Relative frequencies, and `factor` of the shorter context's for the rest; scaled to sum to 1."""

    factor: Probability = 0.4

    def estimate_order(self, level: Ngrams, counts: ndarray, lower: Estimate) -> Estimate:
        total = level.sum_by_context(counts)
        unseen = np.maximum(0.0, 1.0 - level.sum_by_context(lower.probability[level.suffix]))
        shorter = lower.normaliser[level.context_suffix]  # Z(h')
        Z = np.where(total > 0, 1.0 + self.factor * shorter * unseen, shorter)
        backoff = np.where(total > 0, self.factor * shorter / Z, 1.0)
        return Estimate(counts / (total * Z)[level.prefix], backoff, Z, lower.support)


def good_turing_ratios(counts: ndarray) -> ndarray:
    """d(c) for every count: Katz's discounts with the largest k up to 5 that gives discounts, else (c − D) / c."""
    n = np.bincount(np.minimum(counts, KATZ_CUT + 2).astype(np.int64), minlength=KATZ_CUT + 3).astype(np.float64)
    for k in range(KATZ_CUT, 0, -1):
        if not (n[1 : k + 2] > 0).all() or (tail := (k + 1) * n[k + 1] / n[1]) == 1.0:
            continue
        r = np.arange(1, k + 1)
        d = ((r + 1) * n[2 : k + 2] / n[1 : k + 1] / r - tail) / (1.0 - tail)
        if ((d > 0) & (d < 1)).all():
            table = np.concatenate([[0.0], d, [1.0]])
            return table[np.minimum(counts, k + 1).astype(np.int64)]
    return (counts - leave_one_out_discount(counts)) / counts
