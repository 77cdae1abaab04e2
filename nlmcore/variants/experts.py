"""Mixture of experts: many feed-forward networks, of which a router chooses a few for every token.

    p = softmax(W x)                                      one number per expert
    y = Σ p_e · FFN_e(x)  over the k experts with the largest p       Riquelme et al. (2021), section 2

As many parameters as there are experts, at the operations of k. What the router prefers gets better and is preferred
the more, so a second loss asks for balance (Shazeer et al. 2017, section 4; Fedus et al. 2022, equation 4):

    balance = n Σ_e f_e P_e,   f_e the share of tokens whose first choice is e, P_e the mean of p_e; 1 if all are equal

Each part keeps that of its last call; `balance_loss(model)` is their sum. In training, normal noise of deviation 1 / n
is added to W x, so that other experts are tried.

`nlmcore.variants.switch` has other noise, gates that sum to one, and a limit to what an expert takes.

Departs from the papers: unless one is handed in, no expert has a limit, so no token is dropped; and none has one when
it is read, so what a text gives does not hang on what else is in the batch.
"""

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.checks import Size, door
from nlmcore.transformer import FeedForward
from nlmcore.transformer.block import last_matrices


def normal_noise(router: nn.Linear, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time expert"]:
    """W x + N(0, 1 / n²)."""
    scores = router(x)
    return scores + torch.randn_like(scores) / router.out_features


class MixtureOfExperts(nn.Module):
    """Σ p_e FFN_e(x) over the best k of n_experts; x (batch, time, d_model). A part `feed_forward`.

    expert: (d_model, d_ff) -> one network.
    noise: (router, x) -> scores in training, where the router says W x otherwise.
    normalise: whether the p of the chosen are divided by their sum.
    limit: (chosen (batch, time, k), n_experts) -> which of the choices are granted in training; None: all. What is not
    granted adds nothing.

    Raises ValueError for a k above n_experts.
    """

    @door
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
        self.balance: Float[Tensor, ""] = torch.zeros(())
        """n Σ f_e P_e of the last call; part of its graph."""

    def forward(self, x: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time d_model"]:
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
            if len(rows):  # each expert reads its own tokens alone, (1, chosen, d_model)
                share = gates.flatten(0, 1)[rows, choice, None]
                y = y.index_add(0, rows, (share * expert(tokens[None, rows])[0]).to(y.dtype))
        return y.view_as(x)

    def last_matrices(self) -> list[nn.Linear]:
        """The linear map that ends each expert, where it ends in one."""
        return last_matrices(*self.experts)

    def __getstate__(self) -> dict[str, Any]:
        """A copy, or a file, has no graph to keep."""
        return self.__dict__ | {"balance": self.balance.detach()}


def balance_loss(model: nn.Module) -> Float[Tensor, ""]:
    """The sum of what every mixture of experts in `model` asks for; add a small multiple of it to the loss."""
    found = [part.balance for part in model.modules() if isinstance(part, MixtureOfExperts)]
    return torch.stack(found).sum() if found else torch.zeros(())
