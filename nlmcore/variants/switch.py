"""Mixture of experts and Switch: some layers have many feed-forward networks, and each takes only so many tokens.

                  Mixture of experts                          Switch
    asked         the 2 experts with the largest p            the one with the largest p
    gates         p_e / (p_a + p_b), that is a softmax        p_e
                  over the two scores
    capacity      2 · time / n                                1.2 · time / n
    noise         on the scores                               on what the router reads: x · uniform(0.99, 1.01)

    p = softmax(W x),   y = Σ gate_e · FFN_e(x)     Shazeer et al. (2017), equations 1, 3–5; Lepikhin et al. (2020)
    y = p_e · FFN_e(x), e = argmax p                Fedus et al. (2022), sections 2.1 and 2.2

The parameters grow with the experts, the operations do not. Narang et al. (2021) have 32 experts in every fourth layer:
648 M parameters (experts of half the width, since two are asked) and 1100 M, where the baseline has 223 M.

Capacity: on an accelerator an expert is a table of fixed size. A token whose expert is full is dropped: the branch adds
nothing to it, and it goes on along the residual pathway. The loss gets 0.01 · `balance_loss(model)` besides, so that
few experts are full.

**Capacity and a language model.** Who is dropped depends on who was there before, so the queue can let the future in:
Lepikhin et al. serve all first choices of a group of tokens and then the second ones, so that the second choice of a
token is lost to the first choice of a later one. Here a text is a group of its own, and its tokens are served from left
to right, each with all its choices. And there is a limit only in training: how much room there is depends on how many
tokens are read at once, so with a limit a text that is read in pieces would be another text.

Departs from the papers: that; the noise of the mixture has a fixed deviation, 1 / n, and the second expert is always
asked (Lepikhin et al.: at random, by its gate). The balance is `nlmcore.variants.experts`'s for both.
"""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.checks import Positive, Size, check_fields, door
from nlmcore.transformer import Stack
from nlmcore.variants.experts import MixtureOfExperts


@dataclass(frozen=True)
class Capacity:
    """An expert takes factor · time / n tokens of a text, rounded up, and at least `least`; the first are served."""

    factor: Positive
    least: Size = 4

    def __post_init__(self) -> None:
        check_fields(self)

    def room(self, time: int, n: int) -> int:
        """How many tokens of a text one of n experts takes."""
        return max(self.least, math.ceil(self.factor * time / n))

    def __call__(self, chosen: Int[Tensor, "batch time k"], n: int) -> Bool[Tensor, "batch time k"]:
        """Which choices are granted; chosen: experts in [0, n), a token's best first."""
        turns = chosen.flatten(1)  # (batch, time · k): the order in which they are served
        asked = F.one_hot(turns, n).cumsum(1)  # how often each expert was asked so far
        place = asked.gather(-1, turns.unsqueeze(-1)).squeeze(-1)
        return (place <= self.room(chosen.shape[1], n)).view_as(chosen)


def jitter(
    router: nn.Linear, x: Float[Tensor, "batch time d_model"], width: float | int = 0.01
) -> Float[Tensor, "batch time expert"]:
    """W (x · u), u uniform in [1 − width, 1 + width]: Fedus et al. (2022), appendix C."""
    return router(x * torch.empty_like(x).uniform_(1 - width, 1 + width))


def has_experts(i: int, n_layers: int, every: int) -> bool:
    """Whether layer i is the last of `every` layers; of fewer than that, the last one is."""
    return (i + 1) % min(every, n_layers) == 0


@door
def build_mixture(
    c: Any, causal: bool, cross: bool, n_experts: int = 32, every: Size = 4, capacity: float | int = 2.0
) -> nn.Module:
    """A part `stack`: 2 of n_experts networks of half the width d_ff, in every fourth layer."""
    limit = Capacity(capacity)
    part = partial(MixtureOfExperts, n_experts=n_experts, k=2, expert=c.feed_forward, normalise=True, limit=limit)
    return _build(c, causal, cross, every, replace(c, feed_forward=part, d_ff=max(1, c.hidden_size // 2)))


@door
def build_switch(
    c: Any, causal: bool, cross: bool, n_experts: int = 32, every: Size = 4, capacity: float | int = 1.2
) -> nn.Module:
    """A part `stack`: 1 of n_experts networks, in every fourth layer."""
    limit = Capacity(capacity)
    part = partial(MixtureOfExperts, n_experts=n_experts, k=1, expert=c.feed_forward, noise=jitter, limit=limit)
    return _build(c, causal, cross, every, replace(c, feed_forward=part))


def _build(c: Any, causal: bool, cross: bool, every: int, with_experts: Any) -> nn.Module:
    layers = (with_experts if has_experts(i, c.n_layers, every) else c for i in range(c.n_layers))
    return Stack(each.block(each, causal, cross) for each in layers)
