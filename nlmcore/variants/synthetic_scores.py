"""What a Synthesizer has in place of q · k: scores S that no two tokens were compared for.

    random               S_ts = R_ts             one matrix of numbers per head, for all texts; "fixed": never trained
    factorised random    S_ts = (R1 R2ᵀ)_ts      with R1 and R2 (place, rank)
    dense                S_ts = (W2 max(0, q_t))_s           one token says how far it looks at each place
    factorised dense     S_ts = (W_A max(0, q_t))_⌊s/b⌋ · (W_B max(0, q_t))_(s mod b)     b about √max_length

Source: Tay et al. (2021), section 3; q_t = W1 x_t. A part `scores` of `Synthesizer`: built by (n_heads, d_head,
max_length), called with the queries and the number of keys; the queries stand at the end of the keys.

Symbols: R is `table`, R1 and R2 are `queries` and `keys`; W2 is `outer`, W_A and W_B are `block` and `within`.

Departs from the paper: all heads have one W2, and no biases, as in the code of Narang et al. (2021); the same of W_A
and W_B. Tables begin at N(0, 0.02²), R1 and R2 so that their product does; R that stays as drawn, at N(0, 1).
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, door


class RandomScores(nn.Module):
    """S = R; trained=False: as drawn, for good."""

    reads = False
    """Whether S depends on the queries."""

    @door
    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, trained: bool = True) -> None:
        super().__init__()
        table = torch.empty(n_heads, max_length, max_length).normal_(std=0.02 if trained else 1.0)
        if trained:
            self.table = nn.Parameter(table)
        else:
            self.register_buffer("table", table)

    def forward(self, q: Float[Tensor, "batch head query d_head"], keys: int) -> Float[Tensor, "1 head query key"]:
        return self.table[None, :, keys - q.shape[2] : keys, :keys]


class FactorisedRandomScores(nn.Module):
    """S = R1 R2ᵀ; rank: 16, as in Narang's code."""

    reads = False

    @door
    def __init__(self, n_heads: Size, d_head: Size, max_length: Size, rank: Size = 16) -> None:
        super().__init__()
        std = math.sqrt(0.02) * rank**-0.25
        self.queries = nn.Parameter(torch.empty(n_heads, max_length, rank).normal_(std=std))
        self.keys = nn.Parameter(torch.empty(n_heads, max_length, rank).normal_(std=std))

    def forward(self, q: Float[Tensor, "batch head query d_head"], keys: int) -> Float[Tensor, "1 head query key"]:
        return (self.queries[:, keys - q.shape[2] : keys] @ self.keys[:, :keys].mT).unsqueeze(0)


class DenseScores(nn.Module):
    """S_t = W2 max(0, q_t)."""

    reads = True

    def __init__(self, n_heads: int, d_head: int, max_length: int) -> None:
        super().__init__()
        self.outer = nn.Linear(d_head, max_length, bias=False)

    def forward(self, q: Float[Tensor, "batch head query d_head"], keys: int) -> Float[Tensor, "batch head query key"]:
        return q.relu() @ self.outer.weight[:keys].T


class FactorisedDenseScores(nn.Module):
    """S_ts = A_⌊s/b⌋ B_(s mod b) with A = W_A max(0, q_t), B = W_B max(0, q_t)."""

    reads = True

    def __init__(self, n_heads: int, d_head: int, max_length: int) -> None:
        super().__init__()
        b = math.isqrt(max_length - 1) + 1
        self.block = nn.Linear(d_head, -(-max_length // b), bias=False)
        self.within = nn.Linear(d_head, b, bias=False)

    def forward(self, q: Float[Tensor, "batch head query d_head"], keys: int) -> Float[Tensor, "batch head query key"]:
        hidden = q.relu()
        return (self.block(hidden).unsqueeze(-1) * self.within(hidden).unsqueeze(-2)).flatten(-2)[..., :keys]
