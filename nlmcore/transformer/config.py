"""What makes one Transformer different from another: sizes, and the parts that are passed in.

A published variant is a change of a few fields (`dataclasses.replace`; `nlmcore.variants` has the catalogue). A part
is a callable that builds a module from the sizes it needs; nothing here is a string that a chain of ifs reads, except
`norm_position`, which has two values for good. The parts of the usual Transformer are built by the functions above the
configuration; each takes it as `c`.
"""

import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Literal

from torch import nn

from nlmcore.attention import MultiHeadAttention
from nlmcore.checks import Rate, Size, called, check_fields
from nlmcore.fast import Linear
from nlmcore.positions import LearnedPositions
from nlmcore.transformer.block import Block, FeedForward, PostNorm, PreNorm, Stack
from nlmcore.transformer.checks import check_part


def build_attention(c: Any, causal: bool) -> nn.Module:
    """Multi-head attention, with the positions inside it that the configuration names."""
    positions = c.attention_positions and c.attention_positions(c.n_heads, c.head_size, c.max_length, causal)
    sizes = {"d_head": c.d_head, "positions": positions, "window": c.window if causal else None}
    return MultiHeadAttention(c.d_model, c.n_heads, c.n_kv_heads, c.attention_bias, c.dropout, **sizes)


def build_cross_attention(c: Any) -> nn.Module:
    """Multi-head attention to the source, without positions: a source has no distance from a target."""
    return MultiHeadAttention(c.d_model, c.n_heads, c.n_kv_heads, c.attention_bias, c.dropout, c.d_head)


def build_residual(c: Any) -> nn.Module:
    return {"pre": PreNorm, "post": PostNorm}[c.norm_position](c.norm(c.d_model), c.dropout)


def build_final_norm(c: Any) -> nn.Module:
    """Pre-norm leaves the residual pathway itself unnormalised, so its end needs a norm."""
    return c.norm(c.d_model) if c.norm_position == "pre" else nn.Identity()


def build_block(c: Any, causal: bool, cross: bool) -> nn.Module:
    return Block(c, causal, cross)


def build_stack(c: Any, causal: bool, cross: bool) -> nn.Module:
    return Stack(c.block(c, causal, cross) for _ in range(c.n_layers))


def share_nothing(stack: nn.Module) -> None:
    """Every layer keeps its own modules."""


def build_output(c: Any, embedding: nn.Module) -> nn.Module:
    """logits = h Eᵀ with the embedding matrix, or with its own matrix; no bias."""
    output = Linear(c.d_model, c.vocab_size, bias=False)
    if c.tie_embeddings:
        weight = getattr(embedding, "weight", None)
        shape = tuple(output.weight.shape)
        if not isinstance(weight, nn.Parameter) or weight.shape != shape:
            got = type(embedding).__name__ if weight is None else str(tuple(weight.shape))
            raise ValueError(f"tie_embeddings needs an embedding with a matrix `weight` of shape {shape}, got {got}")
        output.weight = weight
    return output


def initialise_normal(model: nn.Module, c: Any) -> None:
    """N(0, 0.02²) for matrices and embeddings, 0 for biases; what each branch adds to the residual pathway is scaled
    by 1/√(number of branches), so that the sum's variance does not grow with depth: Radford et al. (2019), section 2.3.

    Branches are counted, and their last matrices found, in the layers of every stack that have both as `Block` does.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
    for stack in [module for module in model.modules() if isinstance(module, nn.ModuleList)]:
        layers: list[Any] = [layer for layer in stack if hasattr(layer, "last_matrices") and hasattr(layer, "branches")]
        for last in [matrix for layer in layers for matrix in layer.last_matrices()]:
            nn.init.normal_(last.weight, std=0.02 / math.sqrt(sum(layer.branches for layer in layers)))


Part = Callable[..., nn.Module]


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Sizes and parts; `takes` is what a part is called with.

    Raises ValueError if two of them contradict each other, TypeError for a part that does not take what it is given.
    """

    vocab_size: Size
    """How many tokens there are."""
    d_model: Size
    """Width of the residual pathway."""
    n_heads: Size
    """Attention heads per layer; d_model must be a multiple unless d_head is given."""
    n_layers: Size
    """How many blocks are stacked."""
    max_length: Size
    """Longest text that learned positions cover."""
    n_kv_heads: Size | None = None
    """Heads of keys and values; None means n_heads, 1 is multi-query attention."""
    d_head: Size | None = None
    """Width of one head; None means d_model / n_heads."""
    d_ff: Size | None = None
    """Hidden width of the feed-forward network; None means 4 · d_model (2017)."""
    window: Size | None = None
    """Sliding window of a language model: how many positions a query sees, itself included. None: all."""
    attention_bias: bool = True
    """Whether the projections of attention carry a bias."""
    dropout: Rate = 0.0
    """Probability with which a number is dropped: attention weights, both branches, the embedding."""
    tie_embeddings: bool = True
    """Score the next token with the embedding matrix itself (Press & Wolf 2017). Models with an output only."""
    tie_source: bool = True
    """Encoder and decoder share one embedding matrix (2017, section 3.4), in an EncoderDecoder of one configuration: an
    encoder that has its own has its own vocabulary, of the same size or not, and its own matrix."""
    scale_embeddings: bool = False
    """Multiply embeddings by √d_model (2017, section 3.4)."""
    norm_position: Literal["pre", "post"] = "pre"
    """"post": LN(x + f(x)) as published in 2017; "pre": x + f(LN(x)), with one more norm at the end."""

    attention: Part = field(default=build_attention, metadata={"takes": "config, causal"})
    """Self-attention, called like MultiHeadAttention; it must have `step(x, state)` where it is causal."""
    cross_attention: Part = field(default=build_cross_attention, metadata={"takes": "config"})
    """The decoder's attention to the source, with `project_source` and `cross_attend`."""
    attention_positions: Part | None = field(default=None, metadata={"takes": "n_heads, d_head, max_length, causal"})
    """Positions inside self-attention: rotary, ALiBi, T5's bias, …"""
    feed_forward: Part = field(default=FeedForward, metadata={"takes": "d_model, d_ff"})
    """A module on (batch, time, d_model)."""
    norm: Part = field(default=nn.LayerNorm, metadata={"takes": "d_model"})
    """A normalisation."""
    residual: Part = field(default=build_residual, metadata={"takes": "config"})
    """The rule around one sublayer: `pre(x)` and `post(x, y)`; by default as `norm_position` says."""
    final_norm: Part = field(default=build_final_norm, metadata={"takes": "config"})
    """What ends the stack; by default `norm` for pre-norm and nothing for post-norm."""
    block: Part = field(default=build_block, metadata={"takes": "config, causal, cross"})
    """One layer; if it has `branches` and `last_matrices()`, as `Block` has, its first weights are scaled by depth."""
    stack: Part = field(default=build_stack, metadata={"takes": "config, causal, cross"})
    """All layers, called like `Stack`: their number and their order. A ModuleList of layers, or a module that has one
    and more besides (a looped block and what halts it)."""
    share: Callable[[nn.Module], None] = field(default=share_nothing, metadata={"takes": "stack"})
    """Makes layers of a finished stack share modules, by assigning one in the place of another."""
    positions: Part = field(default=LearnedPositions, metadata={"takes": "max_length, d_model"})
    """A module that adds positions to (batch, time, d_model); called with (x, first)."""
    embedding: Part = field(default=nn.Embedding, metadata={"takes": "vocab_size, d_model"})
    """Tokens (batch, time) to vectors (batch, time, d_model)."""
    embedding_norm: Part = field(default=nn.Identity, metadata={"takes": "d_model"})
    """Applied to the embeddings before the first block; BERT has a LayerNorm here."""
    output: Part = field(default=build_output, metadata={"takes": "config, embedding"})
    """Hidden vectors to logits; by default a matrix, tied as `tie_embeddings` says."""
    initialise: Callable[..., None] = field(default=initialise_normal, metadata={"takes": "model, config"})
    """Sets the first weights of a finished model."""

    def __post_init__(self) -> None:
        for name, arguments in PARTS.items():
            if name != "attention_positions" or self.attention_positions is not None:
                check_part(name, getattr(self, name), arguments)
        check_fields(self)
        if self.d_head is None and self.d_model % self.n_heads:
            raise ValueError(
                f"d_model must be a multiple of n_heads unless d_head is given, got d_model={self.d_model},"
                f" n_heads={self.n_heads}"
            )
        if self.n_kv_heads is not None and self.n_heads % self.n_kv_heads:
            raise ValueError(
                f"n_heads must be a multiple of n_kv_heads, got n_heads={self.n_heads}, n_kv_heads={self.n_kv_heads}"
            )

    def __repr__(self) -> str:
        """The sizes that every model has, and the fields that are not as usual: what makes this model itself."""
        shown = [f for f in fields(self) if f.default is MISSING or getattr(self, f.name) != f.default]
        return f"TransformerConfig({', '.join(f'{f.name}={called(getattr(self, f.name))}' for f in shown)})"

    @property
    def head_size(self) -> int:
        """d_head, given or d_model / n_heads."""
        return self.d_model // self.n_heads if self.d_head is None else self.d_head

    @property
    def hidden_size(self) -> int:
        """d_ff, given or 4 · d_model."""
        return 4 * self.d_model if self.d_ff is None else self.d_ff


PARTS: dict[str, str] = {f.name: f.metadata["takes"] for f in fields(TransformerConfig) if f.metadata}
"""Every part, and what it is called with."""
