"""Transformers of every kind that the seams allow, small, with weights that are not near zero, for the laws.

Fresh weights are N(0, 0.02²): such a model is nearly linear, its logits are nearly zero, and a leak is smaller than a
tolerance. `lively` draws all weights anew, in float64, so that laws hold to 1e-10 and what breaks one is seen.
"""

import dataclasses
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.norms import RMSNorm
from nlmcore.positions import (
    ALiBi,
    ConcatenatedPositions,
    LearnableSinusoidal,
    LearnableSinusoidalDistances,
    LearnedPositions,
    MusicTransformerPositions,
    NoPositions,
    RelativeBias,
    Rotary,
    ShawPositions,
    SinusoidalDistances,
    SinusoidalPositions,
    TransformerXLPositions,
)
from nlmcore.transformer import FeedForward, GatedFeedForward, TransformerConfig

TOLERANCE = 1e-10
CONFIG = TransformerConfig(vocab_size=11, d_model=12, n_heads=6, n_layers=2, max_length=9, d_ff=20)
TOKENS = torch.tensor([[1, 2, 3, 4, 5, 6, 7], [6, 7, 8, 9, 10, 0, 1], [3, 1, 4, 1, 5, 9, 2]])


def share_blocks(stack: Any) -> None:
    """One block, applied again and again: Lan et al. (2020), ALBERT."""
    for i in range(len(stack)):
        stack[i] = stack[0]


def share_positions(stack: Any) -> None:
    """One table of distances for all layers: Raffel et al. (2020), T5."""
    for layer in stack:
        layer.attention.positions = stack[0].attention.positions


class DoubleEmbedding(nn.Embedding):
    """An embedding handed in, with a matrix that can be tied."""

    def forward(self, tokens: Tensor) -> Tensor:
        return 2.0 * super().forward(tokens)


CHANGES: dict[str, dict[str, Any]] = {
    "pre": {},
    "post": {"norm_position": "post"},
    "one head": {"n_heads": 1},
    "grouped": {"n_kv_heads": 2},
    "multi-query": {"n_kv_heads": 1},
    "d_head": {"d_head": 5},
    "d_head, multi-query": {"d_head": 5, "n_kv_heads": 1},
    "window 1": {"window": 1},
    "window 3": {"window": 3},
    "window 3, grouped": {"window": 3, "n_kv_heads": 2, "norm_position": "post"},
    "window of the length": {"window": 9},
    "no bias": {"attention_bias": False, "feed_forward": partial(FeedForward, bias=False)},
    "RMSNorm": {"norm": RMSNorm},
    "no norm": {"norm": nn.Identity},
    "ReLU": {"feed_forward": partial(FeedForward, activation=F.relu)},
    "gated": {"feed_forward": partial(GatedFeedForward, activation=F.sigmoid)},
    "scaled embeddings": {"scale_embeddings": True},
    "embedding norm": {"embedding_norm": nn.LayerNorm, "embedding": DoubleEmbedding},
    "untied": {"tie_embeddings": False, "tie_source": False},
    "one layer": {"n_layers": 1},
    "shared blocks": {"n_layers": 3, "share": share_blocks},
    "sinusoidal": {"positions": SinusoidalPositions},
    "learnable sinusoidal": {"positions": LearnableSinusoidal},
    "concatenated": {"positions": ConcatenatedPositions},
    "no positions": {"positions": NoPositions},
    "rotary": {"positions": NoPositions, "attention_positions": Rotary},
    "rotary, grouped, window": {
        "positions": NoPositions,
        "attention_positions": partial(Rotary, layout="interleaved"),
        "n_kv_heads": 2,
        "window": 3,
    },
    "ALiBi": {"positions": NoPositions, "attention_positions": ALiBi},
    "ALiBi, window": {"positions": NoPositions, "attention_positions": ALiBi, "window": 3},
    "T5": {
        "positions": NoPositions,
        "attention_positions": partial(RelativeBias, n_buckets=4, max_distance=5),
        "share": share_positions,
        "n_kv_heads": 2,
    },
    "Shaw": {"positions": NoPositions, "attention_positions": partial(ShawPositions, max_distance=3)},
    "Shaw, grouped, window": {
        "positions": LearnedPositions,
        "attention_positions": partial(ShawPositions, max_distance=2),
        "n_kv_heads": 2,
        "window": 3,
    },
    "Music Transformer": {"positions": NoPositions, "attention_positions": MusicTransformerPositions},
    "Transformer-XL": {"positions": NoPositions, "attention_positions": TransformerXLPositions, "n_kv_heads": 2},
    "Transformer-XL, window": {"positions": NoPositions, "attention_positions": TransformerXLPositions, "window": 3},
    "sinusoids of distance": {"positions": NoPositions, "attention_positions": SinusoidalDistances},
    "learnable sinusoids of both": {
        "positions": LearnableSinusoidal,
        "attention_positions": LearnableSinusoidalDistances,
        "n_kv_heads": 2,
    },
}


def config_of(name: str, **sizes: Any) -> TransformerConfig:
    return dataclasses.replace(CONFIG, **{**CHANGES[name], **sizes})


def lively(model: Any, seed: int = 0, dtype: torch.dtype = torch.float64) -> Any:
    """The model in evaluation mode, every parameter drawn anew and none of them small."""
    generator = torch.Generator().manual_seed(seed)
    model = model.to(dtype).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) * 0.4)
    return model


def copy_layer(ours: Any, theirs: Any) -> None:
    """Give an encoder or decoder layer of torch.nn the weights of ours."""
    pairs = [
        (ours.attention, theirs.self_attn),
        *([(ours.cross_attention, theirs.multihead_attn)] if hasattr(theirs, "multihead_attn") else []),
    ]
    for mine, other in pairs:
        other.in_proj_weight.copy_(torch.cat([mine.query.weight, mine.key.weight, mine.value.weight]))
        other.in_proj_bias.copy_(torch.cat([mine.query.bias, mine.key.bias, mine.value.bias]))
        other.out_proj.load_state_dict(mine.output.state_dict())
    theirs.linear1.load_state_dict(ours.feed_forward.inner.state_dict())
    theirs.linear2.load_state_dict(ours.feed_forward.outer.state_dict())
    rules = [ours.residual_attention, ours.residual_feed_forward]
    if len(pairs) == 2:
        rules.insert(1, ours.residual_cross_attention)
    for rule, norm in zip(rules, (theirs.norm1, theirs.norm2, getattr(theirs, "norm3", None)), strict=False):
        norm.load_state_dict(rule.norm.state_dict())
