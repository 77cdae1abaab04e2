"""What is off limits in the questions on the Transformer, and the weights and sizes that they draw."""

from typing import Any

from torch import Tensor

from autograder.exercise.draw import Draw

CLOSED = (
    "nlmcore.attention",
    "nlmcore.decoding",
    "nlmcore.fast",
    "nlmcore.norms",
    "nlmcore.positions",
    "transformers",
)
"""Closed in every question: the parts of a Transformer, and everything built on them."""


def sizes_of(heads: int, sets: int, base: float = 100.0, eps: float = 1e-8) -> dict[str, Any]:
    """By default `eps` is small, so that a norm with ε in the wrong position costs little in later questions."""
    return {"n_heads": heads, "n_kv_heads": sets, "base": base, "eps": eps}


def matrix(draw: Draw, rows: int, columns: int, scale: float = 1.0) -> Tensor:
    return scale * draw.normal(rows, columns) / rows**0.5


def attention_weights(draw: Draw, d_model: int, d_head: int, heads: int, sets: int) -> dict[str, Tensor]:
    return {
        "query": matrix(draw, d_model, heads * d_head, 2.0),
        "key": matrix(draw, d_model, sets * d_head, 2.0),
        "value": matrix(draw, d_model, sets * d_head),
        "output": matrix(draw, heads * d_head, d_model, 2.0),
    }


def network_weights(draw: Draw, d_model: int, d_ff: int) -> dict[str, Tensor]:
    return {
        "gate": matrix(draw, d_model, d_ff),
        "up": matrix(draw, d_model, d_ff),
        "down": matrix(draw, d_ff, d_model, 2.0),
    }


def block_weights(draw: Draw, d_model: int, d_head: int, d_ff: int, heads: int, sets: int) -> dict[str, Tensor]:
    return {
        "attention_norm": draw.normal(d_model),
        **attention_weights(draw, d_model, d_head, heads, sets),
        "feed_forward_norm": draw.normal(d_model),
        **network_weights(draw, d_model, d_ff),
    }
