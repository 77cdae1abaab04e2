"""Reshaping a distribution before drawing from it: pure functions of log-probabilities (or logits).

Each keeps the shape (..., vocab) and sets what it drops to -inf; none renormalises, since softmax does.
`reshape` applies them in the contract's order: temperature, top_k, top_p, min_p, typical_p, each on what the
one before has left.

Sources: temperature, Ackley, Hinton & Sejnowski (1985); top-k, Fan, Lewis & Dauphin (2018, "Hierarchical Neural
Story Generation"); nucleus, Holtzman et al. (2020, "The Curious Case of Neural Text Degeneration", section 3.1);
min-p, Nguyen et al. (2024, "Turning Up the Heat"); locally typical, Meister et al. (2023, "Locally Typical Sampling").

Departs from the papers: ties at the edge of top_k go to the lower id; every filter keeps at least one token.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from nlmcore.decoding.arguments import check_count, check_number, check_probability
from nlmcore.decoding.ranking import highest

ROUNDING = 1e-6
"""Masses that are equal on paper (0.5 + 0.4 and 0.9) count as equal."""


def reshape(
    log_probs: Float[Tensor, "*batch vocab"],
    *,
    temperature: float | int = 1.0,
    top_k: int | None = None,
    top_p: float | int | None = None,
    min_p: float | int | None = None,
    typical_p: float | int | None = None,
) -> Float[Tensor, "*batch vocab"]:
    """The log-probabilities that `sample` draws from. `None` leaves a filter out; temperature 0 is greedy."""
    check_filters(temperature, top_k, top_p, min_p, typical_p)
    shape = log_probs.shape
    reshaped = divide_by_temperature(log_probs.reshape(-1, shape[-1]), temperature)
    if top_k is not None:
        reshaped = keep_top_k(reshaped, top_k)
    if top_p is not None:
        reshaped = keep_top_p(reshaped, top_p)
    if min_p is not None:
        reshaped = keep_min_p(reshaped, min_p)
    if typical_p is not None:
        reshaped = keep_typical(reshaped, typical_p)
    return reshaped.log_softmax(dim=-1).reshape(shape)


def check_filters(temperature, top_k, top_p, min_p, typical_p) -> None:
    """Refuse a negative temperature, a top_k below 1, a probability outside [0, 1]."""
    check_number("temperature", temperature, minimum=0)
    if top_k is not None:
        check_count("top_k", top_k)
    for name, value in (("top_p", top_p), ("min_p", min_p), ("typical_p", typical_p)):
        if value is not None:
            check_probability(name, value)


def divide_by_temperature(logits: Float[Tensor, "row vocab"], temperature: float | int) -> Float[Tensor, "row vocab"]:
    """p_i ∝ exp(logit_i / T): T < 1 sharpens, T > 1 flattens, T = 0 leaves only the highest."""
    check_number("temperature", temperature, minimum=0)
    if temperature == 0:
        return keep_top_k(logits, 1)
    if temperature == 1:
        return logits
    # Taking the highest out first keeps a tiny temperature from overflowing to inf - inf.
    return (logits - logits.amax(dim=-1, keepdim=True)) / temperature


def keep_top_k(logits: Float[Tensor, "row vocab"], k: int) -> Float[Tensor, "row vocab"]:
    """The k most probable tokens."""
    check_count("k", k)
    kept = highest(logits, k)
    return torch.full_like(logits, -math.inf).scatter(-1, kept, logits.gather(-1, kept))


def keep_top_p(logits: Float[Tensor, "row vocab"], p: float | int) -> Float[Tensor, "row vocab"]:
    """The nucleus: the fewest most probable tokens that hold at least p of the mass."""
    check_probability("p", p)
    if p >= 1:
        return logits  # summing to 1 in floating point could cut the tail off
    probabilities = logits.softmax(dim=-1)
    kept = torch.zeros_like(logits, dtype=torch.bool)
    rows = torch.arange(len(logits), device=logits.device)
    # Sorting a vocabulary of 50,000 costs more than a small model's step, and the nucleus is nearly always in the
    # first few hundred: look there first, and further only in rows that need it.
    looked_at = 256
    while len(rows):
        likely = highest(probabilities[rows], looked_at)
        found = probabilities[rows].gather(-1, likely)
        enough = (found.sum(dim=-1) >= p) | (looked_at >= logits.shape[-1])
        kept[rows[enough]] = _first(likely[enough], found[enough], p, kept[rows[enough]])
        rows = rows[~enough]
        looked_at *= 16
    return logits.masked_fill(~kept, -math.inf)


def keep_min_p(logits: Float[Tensor, "row vocab"], p: float | int) -> Float[Tensor, "row vocab"]:
    """Every token at least p times as probable as the most probable one."""
    check_probability("p", p)
    threshold = logits.amax(dim=-1, keepdim=True) + (math.log(p) if p else -math.inf) - ROUNDING
    return logits.masked_fill(logits < threshold, -math.inf)


def keep_typical(logits: Float[Tensor, "row vocab"], p: float | int) -> Float[Tensor, "row vocab"]:
    """The fewest tokens holding p of the mass whose surprise -ln q is nearest the distribution's entropy."""
    check_probability("p", p)
    if p >= 1:
        return logits
    log_q = logits.log_softmax(dim=-1)
    q = log_q.exp()
    entropy = torch.special.entr(q).sum(dim=-1, keepdim=True)
    by_typicality = (log_q + entropy).abs().sort(dim=-1, stable=True).indices
    kept = _first(by_typicality, q.gather(-1, by_typicality), p, torch.zeros_like(logits, dtype=torch.bool))
    return logits.masked_fill(~kept, -math.inf)


def _first(order: Tensor, probabilities: Tensor, mass: float | int, nothing: Tensor) -> Tensor:
    """True at the tokens of `order` while those before them hold less than `mass`; the first is always kept."""
    before = probabilities.cumsum(dim=-1) - probabilities
    kept = before < mass - ROUNDING
    kept[..., 0] = True
    return nothing.scatter(-1, order, kept)
