"""What makes one Transformer different from another: sizes, and the parts that are passed in.

A published variant is a change of a few fields (`dataclasses.replace`; `nlmcore.variants` has the catalogue). A part
is a callable that builds a module from the sizes it needs. The functions at the top build the usual parts.
"""

# ruff: noqa: RUF009  (`part` is a dataclass field)

import math
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, replace
from typing import Any, Literal

from torch import nn

from nlmcore.attention import CausalAttention, MultiHeadAttention
from nlmcore.attention.multi_head import check_heads
from nlmcore.checks import Rate, Size, called, check_fields
from nlmcore.fast import Linear
from nlmcore.positions import LearnedPositions
from nlmcore.transformer.block import FeedForward, PostNorm, PreNorm, build_layer, build_stack
from nlmcore.transformer.checks import check_part, check_tied


def build_attention(c: Any, causal: bool) -> nn.Module:
    """Multi-head attention, with the positions inside it that the configuration names."""
    positions = c.attention_positions and c.attention_positions(c.n_heads, c.head_size, c.max_length, causal)
    sizes = (c.d_model, c.n_heads, c.n_kv_heads, c.attention_bias, c.dropout, c.d_head, positions)
    return CausalAttention(*sizes, window=c.window) if causal else MultiHeadAttention(*sizes)


def build_cross_attention(c: Any) -> nn.Module:
    """The same to a source, without positions and window: a source has no distance from a target."""
    return build_attention(replace(c, attention_positions=None), causal=False)


def build_residual(c: Any) -> nn.Module:
    return {"pre": PreNorm, "post": PostNorm}[c.norm_position](c.norm(c.d_model), c.dropout)


def build_final_norm(c: Any) -> nn.Module:
    """Pre-norm leaves the residual pathway itself unnormalised, so its end needs a norm."""
    return c.norm(c.d_model) if c.norm_position == "pre" else nn.Identity()


def share_nothing(stack: nn.Module) -> None:
    """Every layer keeps its own modules."""


def build_output(c: Any, embedding: nn.Module) -> nn.Module:
    """logits = h Eᵀ with the embedding matrix, or with its own matrix; no bias."""
    output = Linear(c.d_model, c.vocab_size, bias=False)
    if c.tie_embeddings:
        check_tied(embedding, output.weight)
        output.weight = embedding.weight  # type: ignore[assignment]  # one parameter under two names
    return output


def initialise_normal(model: nn.Module, c: Any) -> None:
    """N(0, 0.02²) for matrices and embeddings, 0 for biases; what each branch adds to the residual pathway is scaled
    by 1/√(number of branches), so that the sum's variance does not grow with depth: Radford et al. (2019), section 2.3.
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


def part(takes: str, default: Any) -> Any:
    """A field that holds a part, and what it is called with."""
    return field(default=default, metadata={"takes": takes})


@dataclass(frozen=True, kw_only=True)
class TransformerConfig:
    """Sizes, and parts: callables that build a module from what is written in brackets.

    vocab_size           how many tokens there are
    d_model              width of the residual pathway
    n_heads              of attention, per layer; d_model must be a multiple unless d_head is given
    n_layers             how many blocks are stacked
    max_length           longest text that learned positions cover
    n_kv_heads           heads of keys and values; None: n_heads, 1: multi-query attention
    d_head               width of one head; None: d_model / n_heads
    d_ff                 hidden width of the feed-forward network; None: 4 · d_model (2017)
    window               how many positions a query of a language model sees, itself included; None: all
    attention_bias       whether the projections of attention carry a bias
    dropout              of attention weights, of what each sublayer adds, and of the embedding
    tie_embeddings       score the next token with the embedding matrix itself (Press & Wolf 2017)
    tie_source           encoder and decoder of one configuration share one embedding matrix (2017, section 3.4)
    scale_embeddings     multiply embeddings by √d_model (2017, section 3.4)
    norm_position        "pre": x + f(LN(x)), and one more norm at the end; "post" (2017): LN(x + f(x))

    attention            called like MultiHeadAttention, or where it is causal like CausalAttention [config, causal]
    cross_attention      called like MultiHeadAttention, with what its `project_source` makes of a source [config]
    attention_positions  inside self-attention, like Rotary; None: none [n_heads, d_head, max_length, causal]
    feed_forward         the network of each position [d_model, d_ff]
    norm                 what normalises a vector [d_model]
    residual             around one sublayer: called with x gives what it reads, with (x, y) the new x [config]
    final_norm           ends the stack [config]
    block                one layer, called like EncoderLayer, or where it is causal like DecoderLayer; first weights are
                         scaled by depth if it has their `branches` and `last_matrices()` [config, causal, cross]
    stack                called like EncoderStack or DecoderStack: is or has a ModuleList [config, causal, cross]
    share                makes layers of a finished stack share modules: assigns one in the place of another [stack]
    positions            added to the embeddings, called with (x, first) [max_length, d_model]
    embedding            from ids to vectors [vocab_size, d_model]
    embedding_norm       before the first block; BERT has a LayerNorm here [d_model]
    output               hidden vectors to logits, as `tie_embeddings` says [config, embedding]
    initialise           sets the first weights of a finished model [model, config]

    Raises ValueError if two of them contradict each other, TypeError for a part that does not take what it is given.
    """

    vocab_size: Size
    d_model: Size
    n_heads: Size
    n_layers: Size
    max_length: Size
    n_kv_heads: Size | None = None
    d_head: Size | None = None
    d_ff: Size | None = None
    window: Size | None = None
    attention_bias: bool = True
    dropout: Rate = 0.0
    tie_embeddings: bool = True
    tie_source: bool = True
    scale_embeddings: bool = False
    norm_position: Literal["pre", "post"] = "pre"

    attention: Part = part("config, causal", build_attention)
    cross_attention: Part = part("config", build_cross_attention)
    attention_positions: Part | None = part("n_heads, d_head, max_length, causal", None)
    feed_forward: Part = part("d_model, d_ff", FeedForward)
    norm: Part = part("d_model", nn.LayerNorm)
    residual: Part = part("config", build_residual)
    final_norm: Part = part("config", build_final_norm)
    block: Part = part("config, causal, cross", build_layer)
    stack: Part = part("config, causal, cross", build_stack)
    share: Callable[[nn.Module], None] = part("stack", share_nothing)
    positions: Part = part("max_length, d_model", LearnedPositions)
    embedding: Part = part("vocab_size, d_model", nn.Embedding)
    embedding_norm: Part = part("d_model", nn.Identity)
    output: Part = part("config, embedding", build_output)
    initialise: Callable[..., None] = part("model, config", initialise_normal)

    def __post_init__(self) -> None:
        for name, arguments in PARTS.items():
            if name != "attention_positions" or self.attention_positions is not None:  # the one part that may be None
                check_part(name, getattr(self, name), arguments)
        check_fields(self)
        check_heads(self.d_model, self.n_heads, self.n_kv_heads, self.d_head)

    def __repr__(self) -> str:
        shown = [f for f in fields(self) if f.default is MISSING or getattr(self, f.name) != f.default]
        return f"TransformerConfig({', '.join(f'{f.name}={called(getattr(self, f.name))}' for f in shown)})"

    def to_json(self) -> str:
        """What differs from the defaults, parts by their names. Raises ValueError for one without, like a lambda."""
        from nlmcore.transformer.names import to_json  # here: only who asks for JSON needs to know how it is written

        return to_json(self)

    @classmethod
    def from_json(cls, text: str) -> "TransformerConfig":
        """What `to_json` wrote. Raises ValueError for a name that is no layer or function of nlmcore or torch."""
        from nlmcore.transformer.names import from_json

        return cls(**from_json(text))

    @property
    def head_size(self) -> int:
        return self.d_model // self.n_heads if self.d_head is None else self.d_head

    @property
    def hidden_size(self) -> int:
        return 4 * self.d_model if self.d_ff is None else self.d_ff


PARTS: dict[str, str] = {f.name: f.metadata["takes"] for f in fields(TransformerConfig) if f.metadata}
