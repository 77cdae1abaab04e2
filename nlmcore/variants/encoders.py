"""Parts for encoders alone: they mix all places of a text at once, so a decoder, which reads on, keeps its attention.

Such a part is built by `part(config)` and called `y = part(x, mask)`; `partial(in_encoder, part)` is what the field
`attention` of `TransformerConfig` takes. They have no scores for pairs of places to which a bias by distance could be
added, so a row that has one of them says where a token stands by `positions`, if it must be said; the decoder is then
told that as well, beside its distances.

What stands at padding is taken as zero, or is not looked at: the vectors of real tokens are those of the text alone.
"""

from collections.abc import Callable
from typing import Any

from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.transformer.checks import encoder_only
from nlmcore.transformer.config import build_attention


@encoder_only
def in_encoder(part: Callable[[Any], nn.Module], c: Any, causal: bool) -> nn.Module:
    """part(c) where every position sees every other, the usual attention in a decoder."""
    return build_attention(c, causal) if causal else part(c)


def check_places(x: Float[Tensor, "batch time d_model"], places: int) -> int:
    """How long the text is. Raises ValueError if it is longer than the part has places."""
    if x.shape[1] > places:
        raise ValueError(f"a text may have {places} places, max_length, got {x.shape[1]}")
    return x.shape[1]


def real_places(
    x: Float[Tensor, "batch time d_model"], mask: Bool[Tensor, "..."] | None
) -> Bool[Tensor, "batch time"] | None:
    """Where a token is real. mask: that of a padded text, (batch, 1, 1, time), True = a real token.

    Raises ValueError for another: what mixes all places at once cannot hide some of them from some queries.
    """
    if mask is None:
        return None
    if mask.shape != (len(x), 1, 1, x.shape[1]):
        raise ValueError(
            f"mask must say which tokens are real, {(len(x), 1, 1, x.shape[1])} here, got {tuple(mask.shape)}"
        )
    return mask[:, 0, 0]


def without_padding(
    x: Float[Tensor, "batch time d_model"], mask: Bool[Tensor, "..."] | None
) -> Float[Tensor, "batch time d_model"]:
    """x with zeros where no token is real."""
    real = real_places(x, mask)
    return x if real is None else x * real[:, :, None]
