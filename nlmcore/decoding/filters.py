"""From a distribution to a token: filters, pure functions that reshape logits, and one table of them, `FILTERS`.

Each keeps the shape (row, vocab) and sets what it drops to -inf; none renormalises, since softmax does. They apply in
the table's order, each to what the previous one has left. `filters` are further functions logits -> logits, which apply
last.

Sources: temperature, Ackley, Hinton & Sejnowski (1985); top-k, Fan, Lewis & Dauphin (2018, "Hierarchical Neural
Story Generation"); nucleus, Holtzman et al. (2020, "The Curious Case of Neural Text Degeneration", section 3.1);
min-p, Nguyen et al. (2024, "Turning Up the Heat"); locally typical, Meister et al. (2023, "Locally Typical Sampling").

Departs from the papers: ties at the edge of top_k go to the lower id; every filter keeps at least one token.
"""

import inspect
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from nlmcore.checks import Amount, Probability, Size, checked, described

ROUNDING = 1e-6  # masses that are equal on paper (0.5 + 0.4 and 0.9) count as equal


@checked
def divide_by_temperature(logits: Float[Tensor, "row vocab"], temperature: Amount) -> Float[Tensor, "row vocab"]:
    """p_i ∝ exp(logit_i / T): T < 1 sharpens, T > 1 flattens, T = 0 leaves only the first of the highest."""
    if temperature == 0:
        return logits.masked_fill(torch.ones_like(logits).scatter(-1, highest(logits, 1), 0.0).bool(), -math.inf)
    if temperature == 1:
        return logits
    # Subtracting the highest keeps a small T from overflowing to inf - inf; a T beyond the dtype's range would be
    # rounded to 0 (0 / 0 is NaN) or to inf (-inf / inf is NaN).
    limits = torch.finfo(logits.dtype)
    return (logits - logits.amax(dim=-1, keepdim=True)) / min(max(temperature, limits.tiny), limits.max)


@checked
def keep_top_k(logits: Float[Tensor, "row vocab"], k: Size) -> Float[Tensor, "row vocab"]:
    """The k most probable tokens."""
    if k >= logits.shape[-1]:
        return logits
    dropped = logits < logits.topk(k, dim=-1).values[:, -1:]
    if int(dropped.count_nonzero()) < (logits.shape[-1] - k) * len(logits):  # a tie at the edge
        dropped = torch.ones_like(dropped).scatter(-1, highest(logits, k), False)
    return logits.masked_fill(dropped, -math.inf)


@checked
def keep_top_p(logits: Float[Tensor, "row vocab"], p: Probability) -> Float[Tensor, "row vocab"]:
    """The nucleus: the fewest most probable tokens that hold at least p of the mass."""
    if p >= 1:
        return logits  # summing to 1 in floating point could cut the tail off
    return logits.masked_fill(~_nucleus(logits.softmax(dim=-1), p, 256), -math.inf)


@checked
def keep_min_p(logits: Float[Tensor, "row vocab"], p: Probability) -> Float[Tensor, "row vocab"]:
    """Every token at least p times as probable as the most probable one."""
    threshold = logits.amax(dim=-1, keepdim=True) + (math.log(p) if p else -math.inf) - ROUNDING
    return logits.masked_fill(logits < threshold, -math.inf)


@checked
def keep_typical(logits: Float[Tensor, "row vocab"], p: Probability) -> Float[Tensor, "row vocab"]:
    """The fewest tokens holding p of the mass whose surprise -ln q is nearest the distribution's entropy."""
    if p >= 1:
        return logits
    log_q = logits.log_softmax(dim=-1)
    q = log_q.exp()
    entropy = torch.special.entr(q).sum(dim=-1, keepdim=True)
    by_typicality = (log_q + entropy).abs().sort(dim=-1, stable=True).indices
    kept = first_holding(by_typicality, q.gather(-1, by_typicality), p, logits.shape[-1])
    return logits.masked_fill(~kept, -math.inf)


def _nucleus(probabilities: Tensor, p: float | int, considered: int) -> Tensor:
    """True at the tokens of the nucleus, first sought among the `considered` most probable: sorting 50,000 words costs
    more than a small model's step. Only rows whose nucleus is larger are searched further.
    """
    order = highest(probabilities, considered)
    found = probabilities.gather(-1, order)
    kept = first_holding(order, found, p, probabilities.shape[-1])
    if considered < probabilities.shape[-1] and (wider := found.sum(dim=-1) < p).any():
        kept[wider] = _nucleus(probabilities[wider], p, 16 * considered)
    return kept


def highest(values: Float[Tensor, "row candidate"], k: int) -> Int[Tensor, "row k"]:
    """Indices of the min(k, all) highest of each row, best first; equal values by lower index.

    `torch.topk` leaves ties to the device, but smoothed n-gram models tie all the time, and a beam of 1 must be greedy.
    """
    k = min(k, values.shape[-1])
    if k == 1:
        return values.argmax(dim=-1, keepdim=True)  # argmax returns the first of equals
    if k == values.shape[-1]:
        return values.sort(dim=-1, descending=True, stable=True).indices
    top = values.topk(k, dim=-1)
    if ((values >= top.values[:, -1:]).sum(dim=-1) > k).any():  # a tie across the edge is rare, so sort everything
        return values.sort(dim=-1, descending=True, stable=True).indices[:, :k]
    by_index = top.indices.sort(dim=-1)
    in_order = top.values.gather(-1, by_index.indices)
    return by_index.values.gather(-1, in_order.sort(dim=-1, descending=True, stable=True).indices)


def first_holding(
    order: Int[Tensor, "row candidate"],
    probabilities: Float[Tensor, "row candidate"],
    mass: float | int,
    vocab_size: int,
) -> Bool[Tensor, "row vocab"]:
    """True at the tokens of `order` while those before them hold less than `mass`; the first is always kept."""
    kept = probabilities.cumsum(dim=-1) - probabilities < mass - ROUNDING
    kept[:, 0] = True
    return kept.new_zeros(len(kept), vocab_size).scatter_(-1, order, kept)


def sample_index(weights: Float[Tensor, "row vocab"], generator: torch.Generator | None) -> Int[Tensor, " row"]:
    """One index per row, with probability proportional to its weight (not negative, at least one positive).

        u ~ U[0, 1),   w = the first word whose cumulative probability exceeds u

    `torch.multinomial` takes a random number for every word of the vocabulary: most of the time of a sampling step.
    """
    cumulative = weights.cumsum(dim=-1, dtype=torch.float64)
    u = torch.rand(len(weights), 1, generator=generator, dtype=torch.float64, device=weights.device)
    found = torch.searchsorted(cumulative, u * cumulative[:, -1:], right=True)[:, 0]
    return found.clamp_(max=weights.shape[1] - 1)  # only if rounding made u exactly 1


Filter = Callable[[Tensor], Tensor]  # logits (row, vocab) -> logits of the same shape

# The arguments of sampling, in the order in which they apply: (logits, the argument's value) -> logits.
FILTERS: dict[str, Callable[[Tensor, Any], Tensor]] = {
    "temperature": divide_by_temperature,
    "top_k": keep_top_k,
    "top_p": keep_top_p,
    "min_p": keep_min_p,
    "typical_p": keep_typical,
}


def compose(
    temperature: float | int,
    top_k: int | None,
    top_p: float | int | None,
    min_p: float | int | None,
    typical_p: float | int | None,
    filters: Iterable[Filter],
) -> Filter:
    """One function of all that are given, in the order of the table, then `filters`; None leaves one out."""
    check_filters(filters)
    values = (temperature, top_k, top_p, min_p, typical_p)
    given = [(keep, value) for keep, value in zip(FILTERS.values(), values, strict=True) if value is not None]
    # The caller's signature has checked the values, once: at every step they are applied behind the check.
    parts, own = [(inspect.unwrap(keep), value) for keep, value in given], list(filters)

    def reshaped(logits: Tensor) -> Tensor:
        for keep, value in parts:
            logits = keep(logits, value)
        for further in own:
            logits = further(logits)
        return logits

    return reshaped


def check_filters(filters: Any) -> None:
    """Refuse, with TypeError, what is no collection of functions."""
    if isinstance(filters, list | tuple):
        wrong = [further for further in filters if not callable(further)]
        if not wrong:
            return
        got = f"{described(wrong[0])} among them"
    else:
        got = described(filters) + ("; one filter is given as [filter]" if callable(filters) else "")
    raise TypeError(f"filters must be a list or tuple of functions of logits, got {got}")


def chooser(
    reshaped: Filter, temperature: float | int, generator: torch.Generator | None
) -> Callable[[Tensor], Tensor]:
    """The rule that samples from the reshaped distribution; temperature 0 needs no random number: it is greedy."""
    if temperature == 0:
        return lambda log_probs: log_probs.argmax(dim=-1)  # the lower id wins a tie
    return lambda log_probs: sample_index(reshaped(log_probs).softmax(dim=-1), generator)


@checked
def reshape(
    log_probs: Float[Tensor, "*batch vocab"],
    *,
    temperature: Amount = 1.0,
    top_k: Size | None = None,
    top_p: Probability | None = None,
    min_p: Probability | None = None,
    typical_p: Probability | None = None,
    filters: Sequence[Filter] = (),
) -> Float[Tensor, "*batch vocab"]:
    """The log-probabilities that `sample` samples from. `None` leaves a filter out; temperature 0 is greedy."""
    shape = log_probs.shape
    reshaped = compose(temperature, top_k, top_p, min_p, typical_p, filters)
    return reshaped(log_probs.reshape(-1, shape[-1])).log_softmax(dim=-1).reshape(shape)
