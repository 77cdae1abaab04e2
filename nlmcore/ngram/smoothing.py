"""Smoothing: what fraction of a context's probability goes to words that were never seen after it.

Every method here is one recursion over shorter and shorter contexts (Chen & Goodman 1999, section 2),

    P(w | h) = α(h, w) + γ(h) P(w | h')        h' is h without its first word

in which α comes from the counts after h, γ(h) is the fraction that is left, and P(w | no words at all) is uniform.
A method is one function from the counts after each context to α and γ.

    mle                    α = c / N                       γ = 0             (an unseen context: uniform)
    additive               α = c / (N + δV)                γ = δV / (N + δV)           with P(w | h') = 1/V
    interpolation          α = (λₘ / Λₘ) c / N             γ = Λₘ₋₁ / Λₘ     Λₘ = λ₀ + ... + λₘ
    absolute_discounting   α = max(c − D, 0) / N           γ = D T / N
    kneser_ney             the same, but c counts different words before (h, w) in all orders but the highest
    witten_bell            α = c / (N + T)                 γ = T / (N + T)

Symbols: c = c(h, w); N = N(h) = Σ_w c(h, w); T = T(h), how many different words follow h (N₁₊(h •));
V vocab_size; δ pseudocount; D discount; λₘ weights[m]; an unseen context has γ = 1.

Sources: Jelinek & Mercer 1980 (interpolation); Ney, Essen & Kneser 1994 (absolute discounting and its default D = n₁ /
(n₁ + 2 n₂), nᵣ the number of n-grams seen r times); Kneser & Ney 1995, in the interpolated form of Chen & Goodman 1999,
section 3; Witten & Bell 1991; Lidstone 1920 (additive). Departs from the papers: D is 0.75 where n₁ or n₂ is 0.
Kneser-Ney: a context that only ever begins sequences, such as <bos>, has no words before it to count and keeps its raw
counts (as in SRILM and KenLM); elsewhere an n-gram that only begins sequences counts 0 in the lower orders.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from numbers import Real
from typing import ClassVar, Literal

import numpy as np
from numpy import ndarray

from nlmcore.checks import Amount, Probability, check_fields, described
from nlmcore.ngram.counts import Ngrams


@dataclass(frozen=True, eq=False)
class Estimate:
    """One order's probabilities, in the form of an ARPA file: a number per n-gram and a number per context.

    P(w | h) = probability(h, w) where (h, w) was seen, else backoff(h) P(w | h').
    """

    probability: ndarray  # (ngrams,)
    backoff: ndarray  # (contexts,)
    normaliser: ndarray  # (contexts,) what scores were divided by to sum to 1 (stupid backoff; 1 elsewhere)
    support: int  # how many words have a probability above 0 after a context that was never seen


@dataclass(frozen=True, kw_only=True)
class Smoothing(ABC):
    """A rule that turns counts into probabilities, order by order from the lowest."""

    base: Literal["uniform", "unigram"] = "uniform"
    """What the lowest order falls back to; "unigram": nothing, it stays the maximum-likelihood unigram (as in nltk)."""

    chained: ClassVar[bool] = True  # whether P(w | h') is the next shorter context's distribution; else it is uniform

    def __post_init__(self) -> None:
        check_fields(self)

    def estimate(self, levels: list[Ngrams]) -> list[Estimate]:
        """All orders, lowest first."""
        V = levels[0].vocab_size
        estimates, lower = [], Estimate(np.array([1.0 / V]), np.ones(1), np.ones(1), V)  # uniform
        for level, higher in zip(levels, [*levels[1:], None], strict=True):
            counts = self.counts(level, higher)
            if level.order == 1 and self.chained and self.base == "unigram" and counts.any():
                support = int(np.count_nonzero(counts))
                lower = Estimate(counts / counts.sum(), np.zeros(1), np.ones(1), support)
            else:
                lower = self.estimate_order(level, counts, lower)
            estimates.append(lower)
        return estimates

    def for_order(self, order: int) -> "Smoothing":
        """This rule for models of `order`; raises ValueError if its options do not fit."""
        return self

    def counts(self, level: Ngrams, higher: Ngrams | None) -> ndarray:
        """The counts c(h, w) that this rule trusts; `higher` is the next higher order, if there is one."""
        return level.counts.astype(np.float64)

    @abstractmethod
    def estimate_order(self, level: Ngrams, counts: ndarray, lower: Estimate) -> Estimate:
        """One order's probabilities from its counts and from those of the order below."""


@dataclass(frozen=True, kw_only=True)
class Interpolated(Smoothing):
    """P(w | h) = α(h, w) + γ(h) P(w | h') for every word, seen after h or not."""

    def estimate_order(self, level: Ngrams, counts: ndarray, lower: Estimate) -> Estimate:
        p_lower = lower.probability[level.suffix] if self.chained else 1.0 / level.vocab_size
        total = level.sum_by_context(counts)
        types = level.sum_by_context(counts > 0)
        seen = total > 0
        alpha, gamma = self.alpha_gamma(level, counts, np.where(seen, total, 1.0), types)
        gamma = np.where(seen, gamma, 1.0)
        return Estimate(alpha + gamma[level.prefix] * p_lower, gamma, np.ones_like(gamma), lower.support)

    @abstractmethod
    def alpha_gamma(self, level: Ngrams, c: ndarray, N: ndarray, T: ndarray) -> tuple[ndarray, ndarray | float]:
        """c (ngrams,), N and T (contexts,) -> α (ngrams,) and γ (contexts,); N is above 0."""


@dataclass(frozen=True, kw_only=True)
class MLE(Interpolated):
    """Maximum likelihood: nothing is kept for words never seen after h."""

    chained: ClassVar[bool] = False

    def alpha_gamma(self, level: Ngrams, c: ndarray, N: ndarray, T: ndarray) -> tuple[ndarray, ndarray | float]:
        return c / N[level.prefix], 0.0


@dataclass(frozen=True, kw_only=True)
class Additive(Interpolated):
    """Every word is counted `pseudocount` more times than it was seen (1: Laplace)."""

    pseudocount: Amount = 1.0
    chained: ClassVar[bool] = False

    def alpha_gamma(self, level: Ngrams, c: ndarray, N: ndarray, T: ndarray) -> tuple[ndarray, ndarray | float]:
        added = self.pseudocount * level.vocab_size
        return c / (N + added)[level.prefix], added / (N + added)


@dataclass(frozen=True, kw_only=True)
class Interpolation(Interpolated):
    """P(w | h) = Σₘ λₘ c(hₘ, w) / N(hₘ) / Σₘ λₘ, both over the orders m whose context hₘ was seen.

    It is Jelinek & Mercer's recursion P(w | h) = λ c / N + (1 − λ) P(w | h') with λ = λₘ / Λₘ: an order whose context
    was not seen leaves all to the next lower one.
    """

    weights: tuple[float, ...] | None = None
    """λ, lowest order first: one per order, or one more in front for the uniform distribution. None: fitted by EM."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weights is None:
            return
        for i, weight in enumerate(self.weights):
            if isinstance(weight, bool) or not isinstance(weight, Real):
                raise TypeError(f"weights[{i}] must be a number, got {described(weight)}")
            if not 0 <= weight <= 1:
                raise ValueError(f"weights[{i}] must lie in [0, 1], got {weight}")
        if abs(sum(self.weights) - 1.0) > 1e-6:
            raise ValueError(f"weights must sum to 1, got {self.weights}, which sum to {sum(self.weights)}")

    def for_order(self, order: int) -> "Interpolation":
        """The same rule with order + 1 weights, the first of them (possibly 0) for the uniform distribution."""
        allowed = [order] if self.base == "unigram" else [order, order + 1]
        if self.weights is None or (len(self.weights) == order + 1 and self.weights[0] == 0):
            return self
        if len(self.weights) not in allowed:
            raise ValueError(
                f"weights must be {' or '.join(map(str, allowed))} numbers for order={order} and base={self.base!r},"
                f" got {len(self.weights)}"
            )
        return replace(self, weights=(0.0,) * (order + 1 - len(self.weights)) + tuple(self.weights))

    def alpha_gamma(self, level: Ngrams, c: ndarray, N: ndarray, T: ndarray) -> tuple[ndarray, ndarray | float]:
        if self.weights is None:
            raise ValueError("weights must be given or fitted before probabilities are estimated, got None")
        up_to_here, before = sum(self.weights[: level.order + 1]), sum(self.weights[: level.order])  # Λₘ, Λₘ₋₁
        gamma = before / up_to_here if up_to_here > 0 else 1.0
        return (1.0 - gamma) * c / N[level.prefix], gamma


@dataclass(frozen=True, kw_only=True)
class AbsoluteDiscounting(Interpolated):
    """Every count is lowered by D; what that frees is shared out by the shorter context."""

    discount: Probability | None = None  # D for all orders; None: n₁ / (n₁ + 2 n₂), order by order

    def alpha_gamma(self, level: Ngrams, c: ndarray, N: ndarray, T: ndarray) -> tuple[ndarray, ndarray | float]:
        D = self.discount if self.discount is not None else leave_one_out_discount(c)
        return np.maximum(c - D, 0.0) / N[level.prefix], D * T / N


@dataclass(frozen=True, kw_only=True)
class KneserNey(AbsoluteDiscounting):
    """Lower orders ask: after how many different words did it occur? "Francisco" is frequent, but only after "San"."""

    def counts(self, level: Ngrams, higher: Ngrams | None) -> ndarray:
        raw = super().counts(level, higher)
        if higher is None:
            return raw
        continuations = np.bincount(higher.suffix, minlength=len(level))  # N₁₊(• h w)
        always_first = level.sum_by_context(continuations) == 0  # <bos>: no word ever stood before this context
        return np.where(always_first[level.prefix], raw, continuations)


@dataclass(frozen=True, kw_only=True)
class WittenBell(Interpolated):
    """The chance of a new word after h is the share of events that were new: T of N + T."""

    def alpha_gamma(self, level: Ngrams, c: ndarray, N: ndarray, T: ndarray) -> tuple[ndarray, ndarray | float]:
        return c / (N + T)[level.prefix], T / (N + T)


def leave_one_out_discount(counts: ndarray) -> float:
    """D = n₁ / (n₁ + 2 n₂), the leave-one-out estimate of Ney, Essen & Kneser (1994); 0.75 where n₁ or n₂ is 0."""
    n1, n2 = (int(np.count_nonzero(counts == n)) for n in (1, 2))
    return n1 / (n1 + 2 * n2) if n1 and n2 else 0.75
