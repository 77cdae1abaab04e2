"""The "Vanilla Transformer" that every row of Narang et al. (2021), table 1, changes: section 3 of the paper.

The Transformer of 2017 with two changes: the norm stands before each sublayer, and positions are T5's relative bias,
one table for all layers. ReLU, LayerNorm, no biases in the matrices (T5's code), one embedding matrix for the encoder,
the decoder and the softmax.

    theirs      12 + 12 layers, d_model 768, 12 heads of 64, d_ff 3072; 223 M parameters
    default     6 layers, d_model 96, 6 heads of 16, d_ff 384; 0.7 M parameters without the embeddings

The default trains on a laptop, and 6 layers, 6 heads and d_ff = 384 can be multiplied by 2/3 and 3/2.

Departs from the paper: scores are divided by √d_head, and embeddings multiplied by √d_model, both as in 2017, where
T5 has other first weights instead; a table of the bias for the encoder and one for the decoder.
"""

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch.nn.functional as F
from torch import nn

from nlmcore.positions import NoPositions, RelativeBias
from nlmcore.transformer import FeedForward, TransformerConfig

DEFAULT_SIZES: dict[str, Any] = {"d_model": 96, "n_heads": 6, "n_layers": 6, "max_length": 128}
"""What `vanilla` takes for sizes that are not given; d_head is d_model / n_heads and d_ff is 4 · d_model."""

RELU = partial(FeedForward, activation=F.relu, bias=False)
"""FFN(x) = W2 max(0, W1 x)."""

SIZES = (*DEFAULT_SIZES, "d_head", "d_ff", "n_kv_heads", "window", "dropout")


def vanilla(vocab_size: int, **sizes: Any) -> TransformerConfig:
    """The baseline, for `TransformerLM` or `EncoderDecoder`.

    sizes: d_model, n_heads, n_layers, max_length, d_head, d_ff, n_kv_heads, window, dropout.

    Raises TypeError for a keyword that is none of these, ValueError for sizes that contradict each other.
    """
    check_known(sizes, SIZES)
    c = TransformerConfig(
        vocab_size=vocab_size,
        **{**DEFAULT_SIZES, **sizes},
        attention_bias=False,
        scale_embeddings=True,
        norm=nn.LayerNorm,
        feed_forward=RELU,
        positions=NoPositions,
        attention_positions=RelativeBias,
        share=share_positions,
    )
    return replace(c, d_head=c.head_size, d_ff=c.hidden_size)  # as numbers: rows that change the heads start from them


def check_known(given: Iterable[str], known: Sequence[str]) -> None:
    """Refuse, with TypeError, a keyword that is not among the sizes."""
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            raise TypeError(
                f"{name!r} is no size of this row{f', did you mean {near[0]!r}?' if near else '.'} Sizes are"
                f" {', '.join(known)}. Other fields: dataclasses.replace(variant.config(vocab_size), …)"
            )


def share_positions(stack: nn.Module, name: str = "attention") -> None:
    """All layers of a stack use the positions of its first: Raffel et al. (2020), section 2.1.

    A layer that mixes positions in another way than attention, and has no positions, is left alone.
    """
    parts: list[Any] = [getattr(layer, name, None) for layer in stack.children()]
    first, *others = [part for part in parts if hasattr(part, "positions")] or [None]
    for attention in others:
        attention.positions = first.positions
