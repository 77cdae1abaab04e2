"""The parts of the usual Transformer, as `TransformerConfig` builds them when nothing else is handed in.

Each takes the configuration (`c`) and gives a module. A variant replaces one of them.
"""

import math
from typing import Any

from torch import nn

from nlmcore.attention import MultiHeadAttention
from nlmcore.fast import Linear
from nlmcore.transformer.block import Block
from nlmcore.transformer.residual import PostNorm, PreNorm
from nlmcore.transformer.stack import Stack


def build_attention(c: Any, causal: bool) -> nn.Module:
    """Multi-head attention, with the positions inside it that the configuration names."""
    positions = c.attention_positions and c.attention_positions(c.n_heads, c.head_size, c.max_length, causal)
    return MultiHeadAttention(
        c.d_model,
        c.n_heads,
        c.n_kv_heads,
        bias=c.attention_bias,
        dropout=c.dropout,
        d_head=c.d_head,
        positions=positions,
        window=c.window if causal else None,
    )


def build_cross_attention(c: Any) -> nn.Module:
    """Multi-head attention to the source; it has no positions: a source has no distance from a target."""
    return MultiHeadAttention(
        c.d_model, c.n_heads, c.n_kv_heads, bias=c.attention_bias, dropout=c.dropout, d_head=c.d_head
    )


def build_residual(c: Any) -> nn.Module:
    return {"pre": PreNorm, "post": PostNorm}[c.norm_position](c.norm(c.d_model), c.dropout)


def build_final_norm(c: Any) -> nn.Module:
    """Pre-norm leaves the residual pathway itself unnormalised, so its end needs one."""
    return c.norm(c.d_model) if c.norm_position == "pre" else nn.Identity()


def build_block(c: Any, causal: bool, cross: bool) -> nn.Module:
    return Block(c, causal, cross)


def build_stack(c: Any, causal: bool, cross: bool) -> nn.Module:
    return Stack(c.block(c, causal, cross) for _ in range(c.n_layers))


def share_nothing(stack: nn.Module) -> None:
    """Every layer keeps its own modules."""


def build_output(c: Any, embedding: nn.Module) -> nn.Module:
    """logits = h Eᵀ with the embedding matrix, or with a matrix of its own; no bias."""
    output = Linear(c.d_model, c.vocab_size, bias=False)
    if c.tie_embeddings:
        weight = getattr(embedding, "weight", None)
        if not isinstance(weight, nn.Parameter):
            raise ValueError(
                f"tie_embeddings needs an embedding with a matrix `weight`, got {type(embedding).__name__}"
            )
        if weight.shape != output.weight.shape:
            raise ValueError(
                f"tie_embeddings needs an embedding of shape {tuple(output.weight.shape)}, got {tuple(weight.shape)}"
            )
        output.weight = weight
    return output


def initialise_normal(model: nn.Module, c: Any) -> None:
    """N(0, 0.02²) for matrices and embeddings, 0 for biases; what each branch adds to the residual pathway is scaled
    by 1/√(number of branches), so that the sum's variance does not grow with depth: Radford et al. (2019), section 2.3.

    Branches are counted, and their last matrices found, in the layers of every stack that say so as `Block` does.
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
