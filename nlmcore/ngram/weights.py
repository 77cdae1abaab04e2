"""Interpolation weights by expectation maximisation on text that was not counted (Jelinek & Mercer 1980).

The model is a mixture: sample an order m with probability λₘ, then a word from that order's maximum-likelihood
distribution Pₘ. Each word's expected share of each order says how the λ should be,

    share(t, m) = λₘ Pₘ(wₜ | hₜ) / Σⱼ λⱼ Pⱼ(wₜ | hₜ)          λₘ ← mean of share(t, m) over the text,

and no step lowers the likelihood (Dempster, Laird & Rubin 1977). Where the context of order m was never seen, the model
renormalises the λ of the orders that remain, `reach[t]` being the longest. The expectation adds back the samples of
longer orders that were rejected.

Without held-out text, one occurrence of each word of the training text is held out in turn: (c − 1) / (N − 1), the
leave-one-out form of deleted interpolation.

Departs from the paper: one weight per order, where Jelinek & Mercer tie them by the count of the context.
"""

import numpy as np
from numpy import ndarray

from nlmcore.ngram.counts import Ngrams, walk


def fit_weights(
    components: ndarray, reach: ndarray, times: ndarray, uniform: bool, steps: int = 100, tolerance: float | int = 1e-5
) -> ndarray:
    """components (events, order + 1): Pₘ of every event, m = 0 being uniform; reach (events,) the longest order with
    a seen context; times (events,) how often each event happened -> λ (order + 1,). `uniform=False` keeps λ₀ at 0."""
    orders = np.arange(components.shape[1])
    weights = np.where(orders > 0, 1.0, float(uniform))
    weights /= weights.sum()
    components = np.where(orders <= reach[:, None], components, 0.0)
    possible = components @ weights > 0  # an event that no order explains says nothing about the weights
    components, reach, times = components[possible], reach[possible], times[possible]
    times_by_reach = np.bincount(reach, weights=times, minlength=len(orders))
    if not times.sum():
        return weights
    for _ in range(steps):
        before, weights = weights, em_step(weights, components, times, times_by_reach)
        if np.abs(weights - before).max() < tolerance:
            break
    return weights


def em_step(weights: ndarray, components: ndarray, times: ndarray, times_by_reach: ndarray) -> ndarray:
    """One expectation and maximisation; the truncated likelihood never falls."""
    expected = weights * ((times / (components @ weights)) @ components)
    cumulated = np.cumsum(weights)
    rejected = np.divide(times_by_reach, cumulated, out=np.zeros_like(cumulated), where=cumulated > 0)
    expected[1:] += weights[1:] * np.cumsum(rejected)[:-1]
    return expected / expected.sum()


def held_out_components(levels: list[Ngrams], tokens: ndarray, lengths: ndarray) -> tuple[ndarray, ndarray, ndarray]:
    """Components, reach and times of every token of held-out sequences laid end to end."""
    components = np.full((tokens.size, len(levels) + 1), 1.0 / levels[0].vocab_size)
    reach = np.zeros(tokens.size, dtype=np.int64)
    for level, contexts, ngrams in walk(levels, tokens[None], starts=np.cumsum(lengths) - lengths):
        context, ngram = contexts[0, :-1], ngrams[0]
        total = np.append(level.sum_by_context(level.counts), 0.0)  # index -1: a context that was never met
        counts = np.append(level.counts, 0)
        seen = total[context] > 0
        components[:, level.order] = np.where(seen, counts[ngram] / np.maximum(total[context], 1.0), 0.0)
        reach[seen] = level.order
    return components, reach, np.ones(tokens.size)


def leave_one_out_components(levels: list[Ngrams]) -> tuple[ndarray, ndarray, ndarray]:
    """Components, reach and times of the highest order's n-grams, each with one occurrence of itself subtracted."""
    top = max(i for i, level in enumerate(levels) if len(level))
    events = len(levels[top])
    components = np.full((events, len(levels) + 1), 1.0 / levels[0].vocab_size)
    reach = np.zeros(events, dtype=np.int64)
    node = np.arange(events)
    for level in reversed(levels[: top + 1]):
        remaining = level.sum_by_context(level.counts)[level.prefix[node]] - 1
        seen = remaining > 0
        components[:, level.order] = np.where(seen, (level.counts[node] - 1) / np.maximum(remaining, 1), 0.0)
        reach = np.where(seen & (reach == 0), level.order, reach)
        node = level.suffix[node]
    return components, reach, levels[top].counts
