"""Mixtures of experts: many feed-forward networks, of which a router chooses a few for every token.

    p = softmax(x W)                                      one number per expert
    y = Σ p_e · FFN_e(x)  over the k experts with the largest p       Riquelme et al. (2021), section 2

A second loss asks for balance (Shazeer et al. 2017, section 4; Fedus et al. 2022, equation 4):

    balance = n Σ_e f_e P_e,   f_e the share of tokens whose first choice is e, P_e the mean of p_e; 1 if all are equal

Add 0.01 · `balance_loss(model)` to the loss. In training, noise makes the router try other experts. The row "Mixture of
experts" is Shazeer et al. (2017), equations 1, 3–5, and Lepikhin et al. (2020):

    chosen    the 2 experts with the largest p
    gates     p_e / (p_a + p_b), a softmax over the two scores
    capacity  2 · time / n
    noise     N(0, 1 / n²) on the scores x W

Narang et al. (2021) have 32 experts in every fourth layer, of half the width, since two are chosen: 648 M parameters,
where the baseline has 223 M. `switch` and `widenet` have the other rows.

**Capacity.** On an accelerator an expert is a table of fixed size. A token whose expert is full is dropped: the branch
adds nothing to it. Here each text is a group, and its tokens are served from left to right, each with all its choices.
The limit holds only in training: since it depends on how many tokens are read together, a text read in pieces would
otherwise give other results.

Departs from the papers: that; the noise of the mixture has a fixed deviation, 1 / n, and the second expert is always
used (Lepikhin et al.: at random, by its gate); the balance is that of Fedus et al.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.checks import Positive, Size, check_fields, checked
from nlmcore.transformer import FeedForward
from nlmcore.transformer.block import last_matrices
from nlmcore.variants.parts import Vectors, stack_of_two_kinds


def normal_noise(router: nn.Linear, x: Vectors) -> Float[Tensor, "batch time expert"]:
    """x W + N(0, 1 / n²)."""
    scores = router(x)
    return scores + torch.randn_like(scores) / router.out_features


class MixtureOfExperts(nn.Module):
    """Σ p_e FFN_e(x) over the best k of n_experts. A part `feed_forward`.

    expert: (d_model, d_ff) -> one network.
    noise: (router, x) -> the scores in training, instead of x W.
    normalise: whether the p of the chosen experts are divided by their sum.
    limit: (chosen, n_experts) -> which choices are granted in training; None: all. The others add nothing.
    """

    @checked
    def __init__(
        self,
        d_model: Size,
        d_ff: Size,
        n_experts: Size = 4,
        k: Size = 2,
        expert: Callable = FeedForward,
        *,
        noise: Callable[[nn.Linear, Tensor], Tensor] = normal_noise,
        normalise: bool = False,
        limit: Callable[[Int[Tensor, "batch time k"], int], Bool[Tensor, "batch time k"]] | None = None,
    ) -> None:
        super().__init__()
        if k > n_experts:
            raise ValueError(f"k must be at most n_experts, got k={k}, n_experts={n_experts}")
        self.k, self.noise, self.normalise, self.limit = k, noise, normalise, limit
        self.router = nn.Linear(d_model, n_experts, bias=False)
        self.experts = nn.ModuleList(expert(d_model, d_ff) for _ in range(n_experts))
        self.balance: Float[Tensor, ""] = torch.zeros(())  # n Σ f_e P_e of the last call, part of its graph

    def forward(self, x: Vectors) -> Vectors:
        n = len(self.experts)
        p = (self.noise(self.router, x) if self.training else self.router(x)).softmax(-1)
        gates, chosen = p.topk(self.k, dim=-1)  # (batch, time, k)
        first = F.one_hot(chosen[..., 0], n).to(p.dtype)
        self.balance = n * (first.mean((0, 1)) * p.mean((0, 1))).sum()
        if self.normalise:
            gates = gates / gates.sum(-1, keepdim=True)
        granted = torch.ones_like(chosen, dtype=torch.bool)
        if self.limit is not None and self.training:
            granted = self.limit(chosen, n)
        tokens, y = x.flatten(0, 1), torch.zeros_like(x).flatten(0, 1)
        for e, expert in enumerate(self.experts):
            rows, choice = ((chosen == e) & granted).flatten(0, 1).nonzero(as_tuple=True)
            if len(rows):  # each expert reads only its own tokens, (1, chosen, d_model)
                gate = gates.flatten(0, 1)[rows, choice, None]
                y = y.index_add(0, rows, (gate * expert(tokens[None, rows])[0]).to(y.dtype))
        return y.view_as(x)

    def last_matrices(self) -> list[nn.Linear]:
        return last_matrices(*self.experts)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"balance": self.balance.detach()}  # a copy or a file keeps no graph


def balance_loss(model: nn.Module) -> Float[Tensor, ""]:
    """The balance of every mixture of experts in `model`, summed."""
    found = [part.balance for part in model.modules() if isinstance(part, MixtureOfExperts)]
    return torch.stack(found).sum() if found else torch.zeros(())


@dataclass(frozen=True)
class Capacity:
    """An expert takes the first factor · time / n tokens of a text that choose it, rounded up, and at least `least`."""

    factor: Positive
    least: Size = 4

    def __post_init__(self) -> None:
        check_fields(self)

    def slots(self, time: int, n: int) -> int:
        return max(self.least, math.ceil(self.factor * time / n))

    def __call__(self, chosen: Int[Tensor, "batch time k"], n: int) -> Bool[Tensor, "batch time k"]:
        """Which choices are granted; chosen: experts in [0, n), a token's best first."""
        turns = chosen.flatten(1)  # (batch, time · k): the order in which they are served
        asked = F.one_hot(turns, n).cumsum(1)  # how often each expert was asked so far
        turn = asked.gather(-1, turns.unsqueeze(-1)).squeeze(-1)
        return (turn <= self.slots(chosen.shape[1], n)).view_as(chosen)


@checked
def build_mixture(
    c: Any, causal: bool, cross: bool, n_experts: int = 32, every: Size = 4, capacity: float | int = 2.0
) -> nn.Module:
    """A part `stack`: 2 of n_experts networks of half the width d_ff in the last of every four layers."""
    limit = Capacity(capacity)
    part = partial(MixtureOfExperts, n_experts=n_experts, k=2, expert=c.feed_forward, normalise=True, limit=limit)
    return every_few(c, causal, cross, every, feed_forward=part, d_ff=max(1, c.hidden_size // 2))


def every_few(c: Any, causal: bool, cross: bool, every: int, **changes: Any) -> nn.Module:
    """A stack whose layers number `every`, 2 · `every`, … are changed; the last one if there are fewer."""
    which = range(min(every, c.n_layers) - 1, c.n_layers, every)
    return stack_of_two_kinds(c, causal, cross, replace(c, **changes), which)
