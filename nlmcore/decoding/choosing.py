"""From a distribution to tokens: the highest, the k highest, the first that hold a mass, or one sampled from it."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

ROUNDING = 1e-6
"""Masses that are equal on paper (0.5 + 0.4 and 0.9) count as equal."""


def highest(values: Float[Tensor, "row candidate"], k: int) -> Int[Tensor, "row k"]:
    """Indices of the min(k, all) highest of each row, best first; equal values by lower index.

    `torch.topk` leaves ties to the device. Smoothed n-gram models give exact ties all the time, and without a rule
    for them a beam of 1 would not be greedy search, nor a batch the same as each prompt by itself.
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


def extend(
    texts: Int[Tensor, "search beam length"], indices: Int[Tensor, "search candidate"], vocab_size: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Flat indices into (beam, vocab) as beams and words, and each such beam's text with its word at the end."""
    parent, word = indices // vocab_size, indices % vocab_size
    before = texts.gather(1, parent[:, :, None].expand(-1, -1, texts.shape[2]))
    return parent, word, torch.cat([before, word[:, :, None]], dim=2)


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

    One random number per row: `torch.multinomial` draws one for every word of the vocabulary, and with 50,000 words
    that is most of the time of a sampling step. What has probability 0 is never sampled.
    """
    cumulative = weights.cumsum(dim=-1, dtype=torch.float64)
    u = torch.rand(len(weights), 1, generator=generator, dtype=torch.float64, device=weights.device)
    found = torch.searchsorted(cumulative, u * cumulative[:, -1:], right=True)[:, 0]
    return found.clamp_(max=weights.shape[1] - 1)  # only if rounding made u exactly 1
