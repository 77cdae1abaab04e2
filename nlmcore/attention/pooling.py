"""From the states of a text to one vector: their mean, the last one, fixed weights by position, or attention.

    mean         c = Σ_j h_j / n
    last         c = h_n                                       all that a classifier sees of a causal model's text
    fixed        c = h_1 W_1 + h_2 W_2 + … + h_n W_n           a matrix for each position, whatever the words are
    attention    c = Σ_j α_j h_j,   α = softmax(q · h_j)       weights that the words decide: a learned query q
                                                               Yang et al. (2016), section 2.2, where q is u_w

Fixed weights say *where* to look, attention *what* to look for. The fixed ones have max_length · d_model² parameters,
attention has d_model.

All are called pool(states, mask), mask (batch, time) with True = a real token; a text without one gives zeros.

Departs from the paper: Yang et al. compare q with tanh(h_j W + b).
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention.scores import attend, dot_score
from nlmcore.checks import Size, checked

States = Float[Tensor, "batch time d_model"]
Pooled = Float[Tensor, "batch d_model"]
Real = Bool[Tensor, "batch time"]


@checked
def mean_pool(states: States, mask: Real | None = None) -> Pooled:
    """The mean over real tokens."""
    if mask is None:
        return states.mean(1)
    return (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True).clamp(min=1)  # no real token: 0 / 1


@checked
def last_pool(states: States, mask: Real | None = None) -> Pooled:
    """The state of the last real token."""
    if mask is None:
        return states[:, -1]
    last = (mask * torch.arange(1, mask.shape[1] + 1, device=mask.device)).argmax(1)  # (batch); padding counts 0
    return states[torch.arange(len(states)), last] * mask.any(1, keepdim=True)


class FixedPool(nn.Module):
    """Σ_j h_j W_j, W (max_length, d_model, d_model), at first I / max_length."""

    @checked
    def __init__(self, d_model: Size, max_length: Size) -> None:
        super().__init__()
        self.W = nn.Parameter(torch.eye(d_model).repeat(max_length, 1, 1) / max_length)  # of a full text: the mean

    @checked(like="W")
    def forward(self, states: States, mask: Real | None = None) -> Pooled:
        """Raises ValueError for a text longer than max_length."""
        time, most = states.shape[1], len(self.W)
        if time > most:
            raise ValueError(f"states must have at most {most} positions, one for each W_j, got {time}")
        real = states if mask is None else states * mask.unsqueeze(-1)
        return torch.einsum("btd,ted->be", real, self.W[:time])  # each W_j is stored transposed, as in torch.nn


class AttentionPool(nn.Module):
    """Σ_j α_j h_j with a learned query, at first 0, which makes it the mean. `nlmcore.inspect.capture` sees α."""

    @checked
    def __init__(self, d_model: Size) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.zeros(d_model))
        self.recorder = None  # set by nlmcore.inspect.capture

    @checked(like="query")
    def forward(self, states: States, mask: Real | None = None) -> Pooled:
        # One query for each text, (batch, d_model): the states are keys and values alike.
        context, weights = attend(dot_score(self.query.expand(len(states), -1), states), states, mask)
        if self.recorder is not None:
            self.recorder(weights[:, None, None])  # (batch, head, query, key)
        return context
