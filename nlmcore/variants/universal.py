"""The Universal Transformer: one block knows where and when it is, and each position chooses how often it is applied.

    x^0 = embeddings,   x^t = block(x^{t−1} + P^t),   t = 1 … T          Dehghani et al. (2019), section 2.1

    P^t_{i,2j} = sin(i / 10000^{2j/d}) + sin(t / 10000^{2j/d}),   P^t_{i,2j+1} = cos(…) + cos(…)

with the block of 2017, post-norm. Adaptive computation time, section 2.2, after Graves (2016):

    p^t = σ(w · (x^{t−1} + P^t) + b)             how much of its one unit of time a position spends at loop t
    N   = the first t with p^1 + … + p^t ≥ 1 − ε, at most T;   R = 1 − (p^1 + … + p^{N−1})
    y   = Σ_{t<N} p^t x^t + R x^N                ponder = N + R, whose mean may be added to the loss, times a small τ

A position that has halted keeps its result. A decoder always makes T loops and keeps a state for each; an encoder stops
when every position has halted. T is n_layers, ε = 0.01. At the start w = 0 and σ(b) = 1 / T, for equal p^t.

Departs from the papers: those first weights. The weights of the loops sum to one, as in Graves (2016); the listing of
Dehghani et al. (2019), appendix, blends each x^t with the previous ones. Positions i count from 0.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.positions import sinusoidal
from nlmcore.transformer import DecoderStack
from nlmcore.variants.parts import Mask, Memories, Tokens, Vectors

EPSILON = 0.01  # a position halts once it has spent 1 − ε


class Universal(nn.ModuleList):
    """T = n_layers times one block, `stack[0]`."""

    moments: Tensor

    def __init__(self, block: nn.Module, n_layers: int, d_model: int) -> None:
        super().__init__([block] * n_layers)
        self.halt = nn.Parameter(torch.zeros(d_model))
        self.halt_bias = nn.Parameter(torch.tensor(-math.log(max(n_layers - 1, 1))))
        self.register_buffer("moments", sinusoidal(n_layers + 1, d_model)[1:], persistent=False)
        self.loops: Tokens = torch.zeros(0, 0, dtype=torch.long)  # N of every position in the last call
        self.pondering: Float[Tensor, ""] = torch.zeros(())  # the mean of N + R over its real tokens, part of its graph

    def ponder(
        self, x: Tensor, first: int, block: Callable[[int, Tensor], Tensor], real: Any = None, every_loop: bool = False
    ) -> Vectors:
        """Σ p^t x^t with p as above; block(t, x) applies it, t from 0."""
        positions = sinusoidal(first + x.shape[1], x.shape[2])[first:].to(x)
        left, result = x.new_ones(x.shape[:2]), torch.zeros_like(x)  # 1 − what was spent
        running, ponder = torch.ones_like(left, dtype=torch.bool), torch.zeros_like(left)
        loops = torch.zeros_like(left, dtype=torch.long)
        for t in range(len(self)):
            read = x + positions + self.moments[t]
            p = torch.sigmoid(read @ self.halt + self.halt_bias)
            x = block(t, read)
            last = running & ((left - p <= EPSILON) | (t + 1 == len(self)))
            spent = torch.where(last, left, torch.where(running, p, 0.0))
            result = result + spent.unsqueeze(-1) * x
            loops, ponder = loops + running, ponder + running + torch.where(last, left, 0.0)
            left, running = left - spent, running & ~last
            if not every_loop and not running.any():
                break
        real = torch.ones_like(running) if real is None else real
        self.loops, self.pondering = loops, ponder[real].sum() / real.sum().clamp(min=1)
        return result

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"pondering": self.pondering.detach()}  # a copy or a file keeps no graph


class UniversalEncoder(Universal):
    """Called like `EncoderStack`."""

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        real = None
        if mask is not None:
            real = mask.broadcast_to(torch.broadcast_shapes(mask.shape, (len(x), 1, 1, x.shape[1])))[:, 0, -1]
        return self.ponder(x, 0, lambda t, x: self[t](x, mask), real)


class UniversalDecoder(Universal, DecoderStack):
    """Called like `DecoderStack`. Its state is one of the block per loop, and how many positions were read."""

    def forward(
        self, x: Vectors, states: Sequence[Any] | None = None, memories: Memories = None, memory_mask: Mask = None
    ) -> tuple[Vectors, tuple[Any, ...]]:
        """Every loop continues from its own state."""
        for given, size in ((states, len(self) + 1), (memories, len(self))):
            if given is not None and len(given) != size:
                raise ValueError(f"state must come from a model of {len(self)} loops, got {len(given)} parts of {size}")
        first = 0 if states is None else states[-1]
        new = []

        def block(t: int, x: Tensor) -> Tensor:
            y, state = self[t](x, states and states[t], memories and memories[t], memory_mask)
            new.append(state)
            return y

        y = self.ponder(x, first, block, every_loop=True)
        return y, (*new, first + x.shape[1])


def build_universal(c: Any, causal: bool, cross: bool) -> nn.Module:
    """A part `stack`."""
    return (UniversalDecoder if causal else UniversalEncoder)(c.block(c, causal, cross), c.n_layers, c.d_model)


def ponder_cost(model: nn.Module) -> Float[Tensor, ""]:
    """The mean N + R of every Universal stack in `model`, an encoder and a decoder, summed."""
    found = [part.pondering for part in model.modules() if isinstance(part, Universal)]
    return torch.stack(found).sum() if found else torch.zeros(())
