"""One block applied again and again: block sharing, and the Universal Transformer.

**Block sharing.** All layers are one, as in ALBERT, which shares all parameters.

    h^l = layer(h^{l−1}),  the same layer for every l          Lan et al. (2020), section 3.1

The operations of the whole stack, the parameters of one layer: at the sizes of Narang et al. (2021), table 1, 65 M
instead of 223 M, most of them in the embeddings. There, encoder and decoder have a layer each; two rows share on one
side only; the softmax has its own matrix (section 2.5) unless the row says "shared". Every depth has its own cache.
Departs from the papers: nothing.

**Universal Transformer.** The block is told where and when it is, and each position chooses how often it is applied.

    x^0 = embeddings,   x^t = block(x^{t−1} + P^t),   t = 1 … T          Dehghani et al. (2019), section 2.1

    P^t_{i,2j} = sin(i / 10000^{2j/d}) + sin(t / 10000^{2j/d}),   P^t_{i,2j+1} = cos(…) + cos(…)

with the block of 2017, post-norm. Adaptive computation time, section 2.2, after Graves (2016):

    p^t = σ(w · (x^{t−1} + P^t) + b)             how much of its one unit of time a position spends at loop t
    N   = the first t with p^1 + … + p^t ≥ 1 − ε, at most T;   R = 1 − (p^1 + … + p^{N−1})
    y   = Σ_{t<N} p^t x^t + R x^N                ponder = N + R, whose mean may be added to the loss, times a small τ

A position that has halted keeps its result, but is still computed for those that continue and attend to it. A later
token may continue longer, so a decoder always makes T loops and keeps a state for each; an encoder, which has the whole
text, stops when every position has halted. T is n_layers, ε = 0.01. At the start w = 0 and σ(b) = 1 / T, for equal p^t.

Departs from the papers: those first weights. The weights of the loops sum to one, as in Graves (2016); the listing of
Dehghani et al. (2019), appendix, blends each x^t with the previous ones. Positions i count from 0.

**The Universal Transformer of Narang et al. (2021)**, as their code and its settings have it: no halting; one pre-norm
block is applied 2 + 24 + 2 times, for 12 layers of the baseline; before each of the 24 it is told a learned e^t.

    x^t = block(x^{t−1} + e^t),   each sublayer f of the block   x ← x + (1 − z) ⊙ y + z ⊙ c,   y = f(LN(x))

    z = σ(W_z [LN(x); LN(y)] + b_z),   r = σ(W_r [LN(x); LN(y)] + b_r),   c = σ(W_c [LN(r ⊙ x); LN(y)] + b_c)

Departs from their code: the second gate's input is not normalised twice. (A GRU has tanh in c; their code has σ.)
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Count, door
from nlmcore.positions import sinusoidal
from nlmcore.transformer import DecoderStack, PreNorm
from nlmcore.transformer.block import build_stack
from nlmcore.transformer.checks import check_layers, encoder_only
from nlmcore.variants.shapes import Mask, Memories, Tokens, Vectors


def share_blocks(stack: Any) -> Any:
    """The stack, of which every layer is now the first one, norms included; a part `share`."""
    for i in range(1, len(stack)):
        stack[i] = stack[0]
    return stack


@encoder_only
def share_in_encoder(c: Any, causal: bool, cross: bool) -> nn.Module:
    """The usual layers, of which an encoder has only one; a part `stack`."""
    stack = build_stack(c, causal, cross)
    return stack if causal else share_blocks(stack)


def share_in_decoder(c: Any, causal: bool, cross: bool) -> nn.Module:
    """The usual layers, of which a decoder has only one; a part `stack`."""
    stack = build_stack(c, causal, cross)
    return share_blocks(stack) if causal else stack


class GRUGates(PreNorm):
    """x + (1 − z) ⊙ y + z ⊙ c; a part `residual`, c: a TransformerConfig."""

    def __init__(self, c: Any) -> None:
        super().__init__(c.norm(c.d_model), c.dropout)
        self.norm_x, self.norm_y, self.norm_reset = (c.norm(c.d_model) for _ in range(3))
        self.update, self.reset, self.candidate = (nn.Linear(2 * c.d_model, c.d_model) for _ in range(3))

    def forward(self, x: Vectors, y: Vectors | None = None) -> Vectors:
        if y is None:
            return self.norm(x)
        normed = self.norm_y(y)
        both = torch.cat([self.norm_x(x), normed], -1)
        z, r = torch.sigmoid(self.update(both)), torch.sigmoid(self.reset(both))
        candidate = torch.sigmoid(self.candidate(torch.cat([self.norm_reset(r * x), normed], -1)))
        return super().forward(x, (1 - z) * y + z * candidate)


class GatedUniversal(nn.ModuleList):
    """One block, `outside` + n_layers + `outside` times. e^t is `moments`, at first of our embeddings' size,
    0.02 √d_model (theirs are 1).
    """

    def __init__(self, block: nn.Module, n_layers: int, d_model: int, outside: int) -> None:
        super().__init__([block] * (n_layers + 2 * outside))
        self.outside = outside
        self.moments = nn.Parameter(torch.empty(n_layers, d_model).normal_(std=0.02 * math.sqrt(d_model)))

    def times(self) -> Float[Tensor, "loop d_model"]:
        """e^t, or zeros in the loops outside."""
        return nn.functional.pad(self.moments, (0, 0, self.outside, self.outside))


class GatedUniversalEncoder(GatedUniversal):
    """Called like `EncoderStack`."""

    def forward(self, x: Vectors, mask: Mask = None) -> Vectors:
        for layer, e in zip(self, self.times(), strict=True):
            x = layer(x + e, mask)
        return x


class GatedUniversalDecoder(GatedUniversal, DecoderStack):
    """Called like `DecoderStack`."""

    def forward(
        self, x: Vectors, states: Sequence[Any] | None = None, memories: Memories = None, memory_mask: Mask = None
    ) -> tuple[Vectors, tuple[Any, ...]]:
        check_layers(len(self), states, memories)
        new = []
        for i, (layer, e) in enumerate(zip(self, self.times(), strict=True)):
            x, state = layer(x + e, states and states[i], memories and memories[i], memory_mask)
            new.append(state)
        return x, tuple(new)


@door
def build_gated_universal(c: Any, causal: bool, cross: bool, outside: Count = 2) -> nn.Module:
    """A part `stack`."""
    kind = GatedUniversalDecoder if causal else GatedUniversalEncoder
    return kind(c.block(c, causal, cross), c.n_layers, c.d_model, outside)


EPSILON = 0.01  # a position halts once it has spent 1 − ε


class Universal(nn.ModuleList):
    """T = n_layers times one block, `stack[0]`. Raises ValueError for an odd d_model."""

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
        """Every loop continues from its own state. Raises ValueError for a state of another number of loops."""
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
