"""Block sharing, as in ALBERT: all layers are one, which shares all parameters.

    h^l = layer(h^{l−1}),  the same layer for every l          Lan et al. (2020), section 3.1

In Narang et al. (2021), table 1, encoder and decoder have a layer each; two rows share on one side only; the softmax
has its own matrix (section 2.5) unless the row says "shared". Every depth has its own cache.

Departs from the papers: nothing.
"""

from typing import Any

from torch import nn

from nlmcore.transformer.block import build_stack
from nlmcore.transformer.checks import encoder_only


def share_blocks(stack: Any) -> Any:
    """The stack with the first layer in the place of every other, norms included; a part `share`."""
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
