"""Transformer-XL: a segment is read with what the layers made of earlier ones, and positions are distances.

    h_l of segment τ+1 looks at [SG(h_{l−1} of segment τ); h_{l−1} of segment τ+1]    Dai et al. (2019), section 3.2
    score_ij = (q_i · k_j + q_i · r_{i−j} + u · k_j + v · r_{i−j}) / √d_head          section 3.3

SG stops the gradient. A memory is what this course calls a state: `TransformerLM` hands it back, the keys and values
of the last positions of every layer, and `nlmcore.training.fit(…, carry_state=True)` starts the next segment from it,
detached. Only distances are told, so what was read at places 0, 1, … of an earlier segment is not confused with
those of this one, and no text is too long.

Every query looks at `window` positions, itself included: max_length, unless the configuration has a window. With n
layers, what is seen reaches n (window − 1) positions back.

u and v are one pair for all layers, as in the paper; W_R, which turns sinusoids of distances into r, is each layer's.

Departs from the paper: every query looks equally far, where theirs looks at the whole memory and at its own segment, so
that late ones see more; a segment that was read in pieces gives the same here. Keys and values are kept, not h, so a
memory made before an optimiser's step is read as it was made. Norms stand before, as in the baseline. As an
encoder-decoder, whose source is read at once, the encoder has the positions alone.
"""

from dataclasses import replace
from typing import Any

from torch import nn

from nlmcore.transformer.config import build_attention


def build_transformer_xl(c: Any, causal: bool) -> nn.Module:
    """A part `attention`: the usual one, whose memory is of max_length positions unless there is a window."""
    return build_attention(replace(c, window=c.max_length if c.window is None else c.window), causal)


def share_u_and_v(stack: nn.Module) -> None:
    """All layers of a stack seek the same keys and the same distances everywhere; a part `share`.

    Raises TypeError for layers whose attention has no TransformerXLPositions.
    """
    parts: list[Any] = [getattr(getattr(layer, "attention", None), "positions", None) for layer in stack.children()]
    for part in parts:
        if not (hasattr(part, "u") and hasattr(part, "v")):
            raise TypeError(f"every layer's attention needs TransformerXLPositions, got {type(part).__name__}")
        part.u, part.v = parts[0].u, parts[0].v
