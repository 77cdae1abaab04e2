"""What makes one Transformer different from another: sizes, and the parts that are handed in.

A published variant is a change of a few fields (`dataclasses.replace`; `nlmcore.variants` has the catalogue). A part
is a callable that builds a module from the sizes it needs; nothing here is a string that a chain of ifs reads, except
`norm_position`, which has two values for good.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from inspect import signature
from typing import Any, Literal

from torch import nn

from nlmcore.checks import called, check_dropout, check_sizes, check_switches
from nlmcore.positions import LearnedPositions
from nlmcore.transformer.defaults import (
    build_attention,
    build_block,
    build_cross_attention,
    build_final_norm,
    build_output,
    build_residual,
    build_stack,
    initialise_normal,
    share_nothing,
)
from nlmcore.transformer.feed_forward import FeedForward

SIZES = ("vocab_size", "d_model", "n_heads", "n_layers", "max_length")
OPTIONAL_SIZES = ("n_kv_heads", "d_head", "d_ff", "window")
SWITCHES = ("attention_bias", "tie_embeddings", "tie_source", "scale_embeddings")
PARTS = {
    "attention": "config, causal",
    "cross_attention": "config",
    "attention_positions": "n_heads, d_head, max_length, causal",
    "feed_forward": "d_model, d_ff",
    "norm": "d_model",
    "residual": "config",
    "final_norm": "config",
    "block": "config, causal, cross",
    "stack": "config, causal, cross",
    "share": "stack",
    "positions": "max_length, d_model",
    "embedding": "vocab_size, d_model",
    "embedding_norm": "d_model",
    "output": "config, embedding",
    "initialise": "model, config",
}
"""Every part, and what it is called with."""


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Sizes and parts.

    Raises ValueError if two of them contradict each other, TypeError for a part that does not take what it is given.
    """

    vocab_size: int
    """How many tokens there are."""
    d_model: int
    """Width of the residual pathway."""
    n_heads: int
    """Attention heads per layer; d_model must be a multiple unless d_head is given."""
    n_layers: int
    """How many blocks are stacked."""
    max_length: int
    """Longest text that learned positions cover."""
    n_kv_heads: int | None = None
    """Heads of keys and values; None means n_heads, 1 is multi-query attention."""
    d_head: int | None = None
    """Width of one head; None means d_model / n_heads."""
    d_ff: int | None = None
    """Hidden width of the feed-forward network; None means 4 · d_model (2017)."""
    window: int | None = None
    """Sliding window of a language model: how many positions a query sees, itself included. None: all."""
    attention_bias: bool = True
    """Whether the projections of attention carry a bias."""
    dropout: float | int = 0.0
    """Probability with which a number is dropped: attention weights, both branches, the embedding."""
    tie_embeddings: bool = True
    """Score the next token with the embedding matrix itself (Press & Wolf 2017). Models with an output only."""
    tie_source: bool = True
    """Encoder and decoder share one embedding matrix (2017, section 3.4). It says so only of an EncoderDecoder of one
    configuration: an encoder that has its own has its own vocabulary, of the same size or not, and its own matrix."""
    scale_embeddings: bool = False
    """Multiply embeddings by √d_model (2017, section 3.4)."""
    norm_position: Literal["pre", "post"] = "pre"
    """"post": LN(x + f(x)) as published in 2017; "pre": x + f(LN(x)), with one more norm at the end."""

    attention: Callable[[Any, bool], nn.Module] = build_attention
    """(config, causal) -> self-attention, called like MultiHeadAttention; `read(x, state)` where it is causal."""
    cross_attention: Callable[[Any], nn.Module] = build_cross_attention
    """config -> the decoder's attention to the source, with `remember` and `look`."""
    attention_positions: Callable[[int, int, int, bool], nn.Module] | None = None
    """(n_heads, d_head, max_length, causal) -> positions inside self-attention: rotary, ALiBi, T5's bias, …"""
    feed_forward: Callable[[int, int], nn.Module] = FeedForward
    """(d_model, d_ff) -> a module on (batch, time, d_model)."""
    norm: Callable[[int], nn.Module] = nn.LayerNorm
    """d_model -> a normalisation."""
    residual: Callable[[Any], nn.Module] = build_residual
    """config -> the rule around one sublayer: `before(x)` and `after(x, y)`; by default as `norm_position` says."""
    final_norm: Callable[[Any], nn.Module] = build_final_norm
    """config -> what ends the stack; by default `norm` for pre-norm and nothing for post-norm."""
    block: Callable[[Any, bool, bool], nn.Module] = build_block
    """(config, causal, cross) -> one layer; with `branches` and `last_matrices()`, as `Block` has them, its first
    weights are scaled by the depth."""
    stack: Callable[[Any, bool, bool], nn.Module] = build_stack
    """(config, causal, cross) -> all layers, called like `Stack`: their number and their order. A ModuleList of layers,
    or a module that has one and more besides (a looped block and what halts it)."""
    share: Callable[[nn.Module], None] = share_nothing
    """stack -> None: makes layers of a finished stack share modules, by assigning one in the place of another."""
    positions: Callable[[int, int], nn.Module] = LearnedPositions
    """(max_length, d_model) -> a module that adds positions to (batch, time, d_model); called with (x, first)."""
    embedding: Callable[[int, int], nn.Module] = nn.Embedding
    """(vocab_size, d_model) -> tokens (batch, time) to vectors (batch, time, d_model)."""
    embedding_norm: Callable[[int], nn.Module] = nn.Identity
    """d_model -> what is applied to the embeddings before the first block; BERT has a LayerNorm here."""
    output: Callable[[Any, nn.Module], nn.Module] = build_output
    """(config, embedding) -> hidden vectors to logits; by default a matrix, tied as `tie_embeddings` says."""
    initialise: Callable[[nn.Module, Any], None] = initialise_normal
    """(model, config) -> None: sets the first weights of a finished model."""

    def __post_init__(self) -> None:
        given = [name for name in OPTIONAL_SIZES if getattr(self, name) is not None]
        check_sizes(**{name: getattr(self, name) for name in (*SIZES, *given)})
        check_dropout(self.dropout)
        check_switches(**{name: getattr(self, name) for name in SWITCHES})
        for name, arguments in PARTS.items():
            if name != "attention_positions" or self.attention_positions is not None:
                _check_part(name, getattr(self, name), arguments)
        if self.d_head is None and self.d_model % self.n_heads:
            raise ValueError(
                f"d_model must be a multiple of n_heads unless d_head is given, got d_model={self.d_model},"
                f" n_heads={self.n_heads}"
            )
        if self.n_kv_heads is not None and self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_heads must be a multiple of n_kv_heads, got n_heads={self.n_heads}, n_kv_heads={self.n_kv_heads}"
            )
        if self.norm_position not in ("pre", "post"):
            raise ValueError(f"norm_position must be 'pre' or 'post', got {self.norm_position!r}")

    def __repr__(self) -> str:
        """The sizes that every model has, and the fields that are not as usual: what makes this model itself."""
        shown = [f for f in fields(self) if f.name in SIZES or getattr(self, f.name) != f.default]
        return f"TransformerConfig({', '.join(f'{f.name}={called(getattr(self, f.name))}' for f in shown)})"

    @property
    def head_size(self) -> int:
        """d_head, given or d_model / n_heads."""
        return self.d_model // self.n_heads if self.d_head is None else self.d_head

    @property
    def hidden_size(self) -> int:
        """d_ff, given or 4 · d_model."""
        return 4 * self.d_model if self.d_ff is None else self.d_ff


def _check_part(name: str, part: Any, arguments: str) -> None:
    if not callable(part) or isinstance(part, nn.Module):  # a module is callable, but builds none
        got = f"a finished {type(part).__name__}" if isinstance(part, nn.Module) else repr(part)
        raise TypeError(f"{name} must be a callable that builds a module, like a class or a partial, got {got}")
    try:
        takes = signature(part)
    except ValueError:  # some functions written in C do not say
        return
    try:
        takes.bind(*arguments.split(", "))
    except TypeError:
        raise TypeError(
            f"{name} must take ({arguments}), got {called(part)}, which takes ({', '.join(takes.parameters)})"
        ) from None
