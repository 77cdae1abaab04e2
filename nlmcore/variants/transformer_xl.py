"""Transformer-XL: a segment is read with the hidden states of earlier ones, and positions are distances.

    h_l of segment τ+1 looks at [SG(h_{l−1} of segment τ); h_{l−1} of segment τ+1]    Dai et al. (2019), section 3.2
    score_ij = (q_i · k_j + q_i · r_{i−j} + u · k_j + v · r_{i−j}) / √d_head          section 3.3

SG stops the gradient. Their memory is this course's state: the keys and values of the last positions of every layer,
which `nlmcore.training.fit(…, carry_state=True)` passes, detached, to the next segment. No text is too long. A query
sees `window` positions, itself included. All layers share u and v; each has its own W_R.

Departs from the paper: every query sees equally far, where theirs sees the whole memory and its own segment. Keys and
values are kept, not h, so an optimiser's step leaves an earlier memory as it was. Pre-norm, as in the baseline. An
encoder has only the positions.
"""

from dataclasses import replace
from typing import Any

from torch import nn

from nlmcore.transformer.config import build_attention


def build_transformer_xl(c: Any, causal: bool) -> nn.Module:
    """A part `attention`: the usual one, with a window of max_length unless the configuration has one."""
    return build_attention(replace(c, window=c.max_length if c.window is None else c.window), causal)


def share_u_and_v(stack: nn.Module) -> None:
    """All layers of a stack have the u and v of the first; a part `share`."""
    parts: list[Any] = [getattr(getattr(layer, "attention", None), "positions", None) for layer in stack.children()]
    for part in parts:
        if not (hasattr(part, "u") and hasattr(part, "v")):
            raise TypeError(f"every layer's attention needs TransformerXLPositions, got {type(part).__name__}")
        part.u, part.v = parts[0].u, parts[0].v
