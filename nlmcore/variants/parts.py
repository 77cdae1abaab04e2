"""What several papers need: names for what parts are given, real tokens, a part for encoders, a stack of two kinds."""

from collections.abc import Callable, Container, Sequence
from typing import Any

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.attention import Memory
from nlmcore.transformer.block import STACKS
from nlmcore.transformer.checks import encoder_only
from nlmcore.transformer.config import build_attention

Vectors = Float[Tensor, "batch time d_model"]
Logits = Float[Tensor, "batch time vocab"]
Tokens = Int[Tensor, "batch time"]
Mask = Bool[Tensor, "..."] | None  # True = may attend; of a padded text (batch, 1, 1, time), True = a real token
Memories = Sequence[Memory | None] | None  # what each layer keeps of a source


def real_tokens(x: Vectors, mask: Mask) -> Bool[Tensor, "batch time"] | None:
    """Where a token of a padded text is real; None: everywhere."""
    shape = (len(x), 1, 1, x.shape[1])
    if mask is not None and mask.shape != shape:
        raise ValueError(f"mask must say which tokens are real, {shape} here, got {tuple(mask.shape)}")
    return None if mask is None else mask[:, 0, 0]


def without_padding(x: Vectors, mask: Mask) -> Vectors:
    """x with zeros where no token is real; mask and errors as in `real_tokens`."""
    real = real_tokens(x, mask)
    return x if real is None else x * real[:, :, None]


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
