"""What is off limits in the questions on translation, and the texts and weights that they draw."""

from typing import Any

import torch
from torch import Tensor

from autograder.exercise.draw import Draw

CLOSED = (
    "nlmcore.attention",
    "nlmcore.decoding",
    "nlmcore.fast",
    "nlmcore.metrics",
    "nlmcore.retrieval",
    "nlmcore.seq2seq",
    "nltk",
    "sacrebleu",
    "transformers",
)
"""Closed in every question: attention, everything built on it, what writes, what measures, what retrieves."""

FIRST = 3
"""The first id of a word: 0, 1 and 2 are padding, `bos` and `eos`."""
EOS = 2


def padded(draw: Draw, batch: int, time: int, vocab: int, shortest: int = 1, full: bool = True) -> Tensor:
    """Texts (batch, time), 0 after the words. Row 0 is `full`, if it shall be; row 1 is shorter."""
    lengths = draw.integers(shortest, max(shortest, time - 1), batch)
    if full:
        lengths[0] = time
    words = draw.integers(FIRST, vocab - 1, batch, time)
    return torch.where(torch.arange(time) < lengths[:, None], words, 0)


def ended(tokens: Tensor) -> Tensor:
    """The same with `eos` as the last word of every text."""
    last = (tokens > 0).sum(1) - 1
    tokens = tokens.clone()
    tokens[torch.arange(len(tokens)), last] = EOS
    return tokens


def started(tokens: Tensor) -> Tensor:
    """The same with `bos` as the first word."""
    tokens = tokens.clone()
    tokens[:, 0] = 1
    return tokens


def matrix(draw: Draw, rows: int, columns: int, scale: float = 1.0) -> Tensor:
    return scale * draw.normal(rows, columns) / rows**0.5


def attention_weights(draw: Draw, d: int) -> dict[str, Tensor]:
    scales = {"query": 2.0, "key": 2.0, "value": 1.0, "output": 2.0}
    return {name: matrix(draw, d, d, scale) for name, scale in scales.items()}


def layer_weights(draw: Draw, d: int, d_ff: int, cross: bool) -> dict[str, Any]:
    """Gains differ, so that a swapped norm shows."""
    made: dict[str, Any] = {"self_norm": draw.normal(d), "self": attention_weights(draw, d)}
    if cross:
        made |= {"cross_norm": draw.normal(d), "cross": attention_weights(draw, d)}
    return made | {
        "network_norm": draw.normal(d),
        "up": matrix(draw, d, d_ff),
        "down": matrix(draw, d_ff, d, 2.0),
    }


def model_weights(draw: Draw, d: int, d_ff: int, source: int, target: int, layers: int) -> dict[str, Any]:
    """Of vocabularies with `source` and `target` ids."""
    return {
        "source": draw.normal(source, d),
        "target": draw.normal(target, d),
        "encoder": [layer_weights(draw, d, d_ff, False) for _ in range(layers)],
        "encoder_norm": draw.normal(d),
        "decoder": [layer_weights(draw, d, d_ff, True) for _ in range(layers)],
        "decoder_norm": draw.normal(d),
    }
