"""Block sharing: one layer, applied again and again.

    h^l = layer(h^{l−1}),  the same layer for every l          Lan et al. (2020), section 3.1 (ALBERT: all parameters)

As deep and as slow as the stack that it replaces, with the parameters of one layer: at the sizes of Narang et al.
(2021), table 1, 65 M in place of 223 M, of which the embeddings are most. There, encoder and decoder each have a layer
of their own; two rows share on one side alone. The softmax has its own matrix in these rows (section 2.5), unless the
row says "shared embeddings".

What every layer keeps of a text is its own: one cache per depth, though the weights that made it are one.

Departs from the papers: nothing.
"""

from typing import Any

from torch import nn

from nlmcore.transformer.checks import encoder_only
from nlmcore.transformer.config import build_stack


def share_blocks(stack: Any) -> None:
    """Every layer is the first one, norms included; a part `share` of `TransformerConfig`."""
    for i in range(1, len(stack)):
        stack[i] = stack[0]


@encoder_only
def share_in_encoder(c: Any, causal: bool, cross: bool) -> nn.Module:
    """The usual layers, of which an encoder has only one; a part `stack`."""
    stack = build_stack(c, causal, cross)
    if not causal:
        share_blocks(stack)
    return stack


def share_in_decoder(c: Any, causal: bool, cross: bool) -> nn.Module:
    """The usual layers, of which a decoder has only one; a part `stack`."""
    stack = build_stack(c, causal, cross)
    if causal:
        share_blocks(stack)
    return stack
