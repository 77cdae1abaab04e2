"""PyTorch's Transformer layers in ours, with their weights and their numbers.

    nn.TransformerEncoderLayer, nn.TransformerDecoderLayer     block_from_torch(layer)
    nn.TransformerEncoder                                      TransformerEncoder.from_torch(module, embedding)
    nn.Transformer                                             EncoderDecoder.from_torch(module, source, target)

PyTorch's modules begin at vectors, so the embedding comes with them, and with it the positions, if any. Ours are batch
first; in our masks True = may attend, where PyTorch's padding masks say True = ignore.

Departs from PyTorch: nothing in what is computed.
"""

from functools import partial
from typing import Any

import torch
from torch import nn

from nlmcore.positions import NoPositions
from nlmcore.transformer.block import DecoderLayer, EncoderLayer, FeedForward
from nlmcore.transformer.config import TransformerConfig


def config_from_torch(layer: Any, n_layers: int = 1, vocab_size: int = 1, norm: Any = None) -> TransformerConfig:
    """The configuration that agrees with layers like this one; norm: what ends their stack, or None."""
    bias = layer.linear1.bias is not None  # their one switch is for all matrices and norms
    return TransformerConfig(
        vocab_size=vocab_size,
        d_model=layer.self_attn.embed_dim,
        n_heads=layer.self_attn.num_heads,
        n_layers=n_layers,
        max_length=1,  # without positions of its own, any length will do
        d_ff=layer.linear1.out_features,
        dropout=layer.dropout1.p,
        attention_bias=bias,
        norm_position="pre" if layer.norm_first else "post",
        norm=partial(nn.LayerNorm, eps=layer.norm1.eps, bias=bias),
        final_norm=nn.Identity if norm is None else partial(build_norm, norm.eps, norm.bias is not None),
        feed_forward=partial(FeedForward, activation=layer.activation, bias=bias),
        positions=NoPositions,
    )


def build_norm(eps: float, bias: bool, c: Any) -> nn.Module:
    """The norm at the end of a stack, whatever the norm position."""
    return nn.LayerNorm(c.d_model, eps=eps, bias=bias)


def block_from_torch(
    layer: nn.TransformerEncoderLayer | nn.TransformerDecoderLayer,
) -> EncoderLayer | DecoderLayer:
    """One layer: an encoder's, or a decoder's with cross-attention."""
    c = config_from_torch(layer)
    decoder = isinstance(layer, nn.TransformerDecoderLayer)
    block = (DecoderLayer(c, cross=True) if decoder else EncoderLayer(c)).to(layer.linear1.weight)
    copy_layer(block, layer)
    return block.train(layer.training)


@torch.no_grad()
def copy_layer(ours: Any, theirs: Any) -> None:
    """Give a block the weights of PyTorch's layer."""
    ours.attention.load_state_dict(type(ours.attention).from_torch(theirs.self_attn).state_dict())
    rules = [ours.residual_attention, ours.residual_feed_forward]  # norm1, norm2 in an encoder
    if hasattr(theirs, "multihead_attn"):
        cross = type(ours.cross_attention).from_torch(theirs.multihead_attn)
        ours.cross_attention.load_state_dict(cross.state_dict())
        rules.insert(1, ours.residual_cross_attention)  # in a decoder norm2 is that of cross-attention
    for rule, norm in zip(rules, ("norm1", "norm2", "norm3"), strict=False):
        rule.norm.load_state_dict(getattr(theirs, norm).state_dict())
    ours.feed_forward.inner.load_state_dict(theirs.linear1.state_dict())
    ours.feed_forward.outer.load_state_dict(theirs.linear2.state_dict())


def config_of_stack(stack: Any, embedding: nn.Embedding) -> TransformerConfig:
    """The configuration that agrees with an nn.TransformerEncoder or an nn.TransformerDecoder."""
    return config_from_torch(stack.layers[0], len(stack.layers), embedding.num_embeddings, stack.norm)


@torch.no_grad()
def copy_stack(ours: Any, theirs: Any, embedding: nn.Embedding) -> None:
    """Give a Backbone the embedding and the weights of all layers."""
    ours.embedding.load_state_dict(embedding.state_dict())
    for block, layer in zip(ours.layers, theirs.layers, strict=True):
        copy_layer(block, layer)
    if theirs.norm is not None:
        ours.final_norm.load_state_dict(theirs.norm.state_dict())
