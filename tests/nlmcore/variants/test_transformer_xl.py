"""Transformer-XL: segments with a memory by hand, no gradient into the past, one u and one v."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from nlmcore.positions import TransformerXLPositions
from nlmcore.training import detach
from nlmcore.transformer import TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.transformer_xl import build_transformer_xl, share_u_and_v
from nlmcore.variants.variant import vanilla
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import TOKENS, VOCAB, awake, build

ROW = CATALOGUE["Transformer-XL"]


def wave(distance: int, width: int) -> Tensor:
    """PE(distance): sine and cosine by turns."""
    angles = [distance / 10_000 ** (2 * i / width) for i in range(width // 2)]
    return torch.tensor([f(a) for a in angles for f in (math.sin, math.cos)])


@torch.no_grad()
def test_a_segment_after_another_is_the_papers_equation() -> None:
    """One head: the second segment's queries, by hand, over what the first segment left of its keys."""
    torch.manual_seed(0)
    c = ROW.config(VOCAB, d_model=6, n_heads=1, max_length=4)
    part = build_transformer_xl(c, causal=True)
    for parameter in part.parameters():
        parameter.add_(torch.randn(parameter.shape), alpha=0.4)
    x = torch.randn(1, 10, 6)
    _, memory = part(x[:, :5])
    y, _ = part(x[:, 5:], memory)
    W_q, W_k, W_v = part.projection.weight.split(6)
    W_R, u, v = part.positions.projection.weight, part.positions.u[0], part.positions.v[0]
    for i in range(5, 10):
        q, e = W_q @ x[0, i], {}
        for j in range(i - 3, i + 1):  # 4 positions, itself included
            k, r = W_k @ x[0, j], W_R @ wave(i - j, 6)
            e[j] = math.exp((q @ k + q @ r + u @ k + v @ r).item() / math.sqrt(6))
        expected = part.output.weight @ sum(p / sum(e.values()) * (W_v @ x[0, j]) for j, p in e.items())
        assert_close(y[0, i - 5], expected, f"place {i}", 1e-4)


def test_one_u_and_one_v_and_a_matrix_of_distances_for_every_layer() -> None:
    model = build(ROW, n_layers=3)
    parts = [layer.attention.positions for layer in model.layers]
    assert len({id(part.u) for part in parts}) == len({id(part.v) for part in parts}) == 1
    assert len({id(part.projection.weight) for part in parts}) == 3
    with pytest.raises(TypeError, match="every layer's attention needs TransformerXLPositions, got NoneType"):
        TransformerLM(replace(vanilla(VOCAB), attention_positions=None, share=share_u_and_v))


def test_the_memory_is_as_long_as_the_configuration_says() -> None:
    assert ROW.build(VOCAB).layers[0].attention.window == 128
    assert ROW.build(VOCAB, window=17).layers[0].attention.window == 17
    assert isinstance(ROW.build(VOCAB).layers[0].attention.positions, TransformerXLPositions)
    model, state = awake(ROW), None  # max_length 9
    with torch.no_grad():
        for _ in range(12):
            _, state = model(TOKENS, state)
    assert state.position == 60, "no text is too long"
    assert all(layer.keys.shape[2] < 40 for layer in state.layers), "and none needs memory for all of it"


def test_no_gradient_goes_into_the_memory() -> None:
    torch.manual_seed(0)
    model = ROW.build(VOCAB, d_model=24, n_layers=2, max_length=6)
    first, second = TOKENS, TOKENS.flip(1)
    _, carried = model(first)
    with_memory, _ = model(second, detach(carried))
    assert_close(with_memory, model(torch.cat([first, second], 1))[0][:, 5:], "segments and the whole", 1e-4)
    (gradient,) = torch.autograd.grad(with_memory.sum(), carried.layers[0].keys, allow_unused=True)
    assert gradient is None
