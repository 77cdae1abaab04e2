"""Funnel Transformer: the text gets shorter with depth. Neighbours are pooled to their mean.

    x_t ← (x_{2t} + x_{2t+1}) / 2                              Dai et al. (2020), section 2.2 (mean pooling, stride 2)

between the attention and the feed-forward network of the first layer of every block of layers but the first. Three
blocks, the rule here, leave a quarter of the vectors: Narang et al. (2021) pool their 12 layers every 4. Padding is
left out of a mean, and a pooled vector is real if one of its two tokens was. Positions inside attention count the
vectors that are left.

Departs from the paper, with Narang et al.: it is the encoder of an encoder-decoder, so nothing restores the length of
the text; attention is computed in full and then pooled, where the paper pools only the queries; [CLS] is no exception.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.checks import Size, checked
from nlmcore.transformer import DecoderStack, EncoderStack
from nlmcore.transformer.block import build_stack
from nlmcore.transformer.checks import encoder_only
from nlmcore.variants.parts import Mask, Memories, Vectors, real_tokens
from nlmcore.variants.sandwich import build_attention_layer, build_feed_forward_layer


def pool(
    x: Vectors, mask: Bool[Tensor, "batch one one time"]
) -> tuple[Float[Tensor, "batch pair d_model"], Bool[Tensor, "batch one one pair"]]:
    """The means of two neighbours, and their mask; mask: True = real."""
    real = mask[:, 0, 0, :, None].to(x.dtype)
    odd = (0, 0, 0, x.shape[1] % 2)  # zeros after a text of odd length
    total, count = (F.pad(part, odd).unflatten(1, (-1, 2)).sum(2) for part in (x * real, real))
    return total / count.clamp(min=1), shorten(mask)


def shorten(mask: Bool[Tensor, "*batch time"]) -> Bool[Tensor, "*batch pair"]:
    """True where one of two neighbours is True."""
    return F.pad(mask, (0, mask.shape[-1] % 2)).unflatten(-1, (-1, 2)).any(-1)


class FunnelEncoder(EncoderStack):
    """Attention and feed-forward layers in turn; after those at `pooled` the text is half as long."""

    def __init__(self, layers: Iterable[nn.Module], pooled: Sequence[int]) -> None:
        super().__init__(layers)
        self.pooled = tuple(pooled)

    def forward(self, x: Vectors, mask: Mask = None) -> Float[Tensor, "batch seen d_model"]:
        real_tokens(x, mask)  # or refuse the mask
        mask = torch.ones(len(x), 1, 1, x.shape[1], dtype=torch.bool, device=x.device) if mask is None else mask
        for i, layer in enumerate(self):
            x = layer(x, mask)
            if i in self.pooled:
                x, mask = pool(x, mask)
        return x

    def extra_repr(self) -> str:
        return f"pooled={self.pooled}"


class FunnelDecoder(DecoderStack):
    """The usual layers; the source's mask is halved until it is as long as the encoder's output."""

    def forward(
        self, x: Vectors, states: Sequence[Any] | None = None, memories: Memories = None, memory_mask: Mask = None
    ) -> tuple[Vectors, tuple[Any, ...]]:
        kept = next((memory for memory in memories or () if memory is not None), None)
        if memory_mask is not None and kept is not None:
            while memory_mask.shape[-1] > kept.keys.shape[2]:
                memory_mask = shorten(memory_mask)
        return super().forward(x, states, memories, memory_mask)


@encoder_only
@checked
def build_funnel(c: Any, causal: bool, cross: bool, every: Size | None = None) -> nn.Module:
    """A part `stack`; every: how many layers a block has, n_layers / 3 unless given, rounded up."""
    every = -(-c.n_layers // 3) if every is None else every
    if causal:
        stack: Any = build_stack(c, causal, cross)
        return FunnelDecoder(stack) if cross else stack
    kinds = (build_attention_layer, build_feed_forward_layer) * c.n_layers  # in turn
    return FunnelEncoder((build(c, causal, cross) for build in kinds), range(2 * every, 2 * c.n_layers, 2 * every))
