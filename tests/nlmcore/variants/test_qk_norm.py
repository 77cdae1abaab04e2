"""QK-norm: attention by PyTorch's norm and kernel, the bound of a score, lengths that do not matter, a model's laws."""

import math
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.attention import CausalAttention
from nlmcore.positions import ALiBi, Rotary, rotary
from nlmcore.transformer import TransformerConfig, TransformerLM
from nlmcore.variants.qk_norm import QKNorm
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model

HEADS, KV_HEADS, D_HEAD, TIME, D_MODEL = 4, 2, 6, 7, 12


def draw(*shape: int, seed: int = 0, size: float = 1.0) -> Tensor:
    return size * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def attention(size: float = 1.0) -> CausalAttention:
    """Its queries and keys are `size` times as long as those of attention(); gains differ from 1."""
    torch.manual_seed(0)
    norm = QKNorm(HEADS, D_HEAD, 20, True)
    part = CausalAttention(D_MODEL, HEADS, KV_HEADS, False, d_head=D_HEAD, positions=norm)
    with torch.no_grad():
        norm.norm.weight.copy_(draw(D_HEAD, seed=2).abs() + 0.2)
        part.projection.weight[: (HEADS + KV_HEADS) * D_HEAD] *= size
    return part


def test_attention_is_that_of_pytorchs_norm_and_kernel() -> None:
    part, x = attention(), draw(2, TIME, D_MODEL, seed=1)
    norm = nn.RMSNorm(D_HEAD, eps=1e-6)
    with torch.no_grad():
        norm.weight.copy_(part.positions.norm.weight)
        q, k, v = (
            project(x).unflatten(-1, (-1, D_HEAD)).transpose(1, 2) for project in (part.query, part.key, part.value)
        )
        q, k = (rotary(norm(vectors), torch.arange(TIME)) for vectors in (q, k))
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        assert_close(part(x)[0], part.output(mixed.transpose(1, 2).flatten(2)), "normalised, then rotated")


@pytest.mark.parametrize("size", [0.1, 1.0, 100.0])
def test_a_score_has_a_bound_and_the_length_of_queries_and_keys_does_not_matter(size: float) -> None:
    x = draw(2, TIME, D_MODEL, seed=1)
    with torch.no_grad():
        assert_close(attention(size)(x)[0], attention()(x)[0], "another length", tolerance=1e-3)
        norm = QKNorm(HEADS, D_HEAD, 20, True)
        q, k = (norm.rotate(draw(1, HEADS, TIME, D_HEAD, seed=seed, size=size)) for seed in (3, 4))
        scores = (q @ k.mT).abs() / math.sqrt(D_HEAD)
        assert 0.5 * math.sqrt(D_HEAD) < scores.max() <= math.sqrt(D_HEAD) * (1 + 1e-5)


def model() -> TransformerLM:
    sizes: dict[str, Any] = {"vocab_size": 11, "d_model": D_MODEL, "n_heads": 2, "n_layers": 2, "max_length": 20}
    torch.manual_seed(0)
    built = TransformerLM(TransformerConfig(**sizes, attention_positions=partial(QKNorm, inside=Rotary)))
    for weight in built.parameters():
        nn.init.normal_(weight, std=0.5)
    return built.eval()


def test_a_language_model_with_it_keeps_the_laws() -> None:
    tokens = torch.randint(11, (2, TIME), generator=torch.Generator().manual_seed(0))
    assert_language_model(model(), tokens)
    read = model()
    assert_every_parameter_gets_a_gradient(read, read(tokens)[0])


def test_inside_must_rotate() -> None:
    with pytest.raises(TypeError, match=r"rotate.*ALiBi"):
        QKNorm(HEADS, D_HEAD, 20, True, inside=ALiBi)
