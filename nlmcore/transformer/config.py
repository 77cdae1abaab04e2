"""What makes one Transformer different from another: sizes, and the parts that are handed in.

A published variant is a change of a few fields (`dataclasses.replace`). A part is a callable that builds a
module from the sizes it needs; nothing here is a string that a chain of ifs reads, except `norm_position`,
which has two values for good.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from torch import nn

from nlmcore.attention import MultiHeadAttention
from nlmcore.checks import check_dropout, check_sizes
from nlmcore.positions import LearnedPositions
from nlmcore.transformer.feed_forward import FeedForward


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Sizes and parts. Raises ValueError if two of them contradict each other."""

    vocab_size: int
    """How many tokens there are."""
    d_model: int
    """Width of the residual pathway."""
    n_heads: int
    """Attention heads per layer; d_model must be a multiple."""
    n_layers: int
    """How many blocks are stacked."""
    max_length: int
    """Longest text that the positions cover."""
    n_kv_heads: int | None = None
    """Heads of keys and values; None means n_heads, 1 is multi-query attention."""
    d_ff: int | None = None
    """Hidden width of the feed-forward network; None means 4 · d_model (2017)."""
    dropout: float | int = 0.0
    """Probability with which a number is dropped: attention weights, both branches, the embedding."""
    tie_embeddings: bool = True
    """Score the next token with the embedding matrix itself (Press & Wolf 2017). Language models only."""
    scale_embeddings: bool = False
    """Multiply embeddings by √d_model (2017, section 3.4)."""
    norm_position: Literal["pre", "post"] = "pre"
    """"post": LN(x + f(x)) as published in 2017; "pre": x + f(LN(x)), with one more norm at the end."""

    attention: Callable[[int, int, int | None, float], nn.Module] = field(
        default=lambda d_model, n_heads, n_kv_heads, dropout: MultiHeadAttention(
            d_model, n_heads, n_kv_heads, dropout=dropout
        )
    )
    """(d_model, n_heads, n_kv_heads, dropout) -> a module called like MultiHeadAttention."""
    feed_forward: Callable[[int, int], nn.Module] = FeedForward
    """(d_model, d_ff) -> a module on (batch, time, d_model)."""
    norm: Callable[[int], nn.Module] = nn.LayerNorm
    """d_model -> a normalisation."""
    positions: Callable[[int, int], nn.Module] = LearnedPositions
    """(max_length, d_model) -> a module that adds positions to (batch, time, d_model)."""
    embedding_norm: Callable[[int], nn.Module] = nn.Identity
    """d_model -> what is applied to the embeddings before the first block; BERT has a LayerNorm here."""

    def __post_init__(self) -> None:
        sizes = ("vocab_size", "d_model", "n_heads", "n_layers", "max_length", "n_kv_heads", "d_ff")
        check_sizes(**{name: getattr(self, name) for name in sizes if getattr(self, name) is not None})
        check_dropout(self.dropout)
        for name in ("attention", "feed_forward", "norm", "positions", "embedding_norm"):
            if not callable(getattr(self, name)):
                raise TypeError(f"{name} must be a callable that builds a module, got {getattr(self, name)!r}")
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model must be a multiple of n_heads, got d_model={self.d_model}, n_heads={self.n_heads}"
            )
        if self.n_kv_heads is not None and self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_heads must be a multiple of n_kv_heads, got n_heads={self.n_heads}, n_kv_heads={self.n_kv_heads}"
            )
        if self.norm_position not in ("pre", "post"):
            raise ValueError(f"norm_position must be 'pre' or 'post', got {self.norm_position!r}")
