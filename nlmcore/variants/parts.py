"""What several papers need: a layer's attentions, a part for encoders only, a stack of two kinds of layers."""

from collections.abc import Callable, Container
from typing import Any

from torch import nn

from nlmcore.transformer.block import STACKS
from nlmcore.transformer.checks import encoder_only
from nlmcore.transformer.config import build_attention


def attentions(layer: Any) -> list[Any]:
    """A layer's self-attention and cross-attention, as far as it has them."""
    found = (getattr(layer, name, None) for name in ("attention", "cross_attention"))
    return [attention for attention in found if attention is not None]


@encoder_only
def in_encoder(part: Callable[[Any], nn.Module], c: Any, causal: bool) -> nn.Module:
    """part(c) in an encoder, the usual attention in a decoder."""
    return build_attention(c, causal) if causal else part(c)


def stack_of_two_kinds(c: Any, causal: bool, cross: bool, other: Any, which: Container[int]) -> nn.Module:
    """A part `stack` of layers like c, but like the configuration `other` at `which`, counted from 0."""
    layers = (other if i in which else c for i in range(c.n_layers))
    return STACKS[causal](each.block(each, causal, cross) for each in layers)
