"""The Weighted Transformer: its equation and its first weights."""

import math
from dataclasses import replace

import pytest
import torch

from nlmcore.transformer import EncoderDecoder, FeedForward
from nlmcore.variants import CATALOGUE
from nlmcore.variants.variant import vanilla
from nlmcore.variants.weighted import Branches
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import SIZES, VOCAB, build, stirred

ROW = CATALOGUE["Weighted Transformer"]
HEADS = torch.randn(2, 5, 24, generator=torch.Generator().manual_seed(0))  # 6 heads of 4


def branches() -> Branches:
    """With GELU and biases: with ReLU and none, FFN(κ x) is κ FFN(x), and κ could stand anywhere."""
    torch.manual_seed(1)
    part = Branches(replace(vanilla(VOCAB, **SIZES), feed_forward=FeedForward), 6, 4)
    with torch.no_grad():
        for p in part.parameters():
            p.copy_(torch.randn(p.shape))
    return part


def test_branches_are_their_equation() -> None:
    part = branches()
    expected = torch.zeros(2, 5, 20)
    for b in range(2):
        for t in range(5):
            for i in range(6):
                own = slice(4 * i, 4 * i + 4)
                read = part.kappa[i] * (part.matrix.weight[:, own] @ HEADS[b, t, own])
                expected[b, t] += part.alpha[i] * part.feed_forward(read[None, None])[0, 0]
    assert_close(part(HEADS), expected.detach(), "Σ α FFN(κ head W^O)")
    mixed = sum(part.kappa[i] * part.matrix.weight[:, 4 * i : 4 * i + 4] @ HEADS[0, 0, 4 * i :][:4] for i in range(6))
    assert (part.feed_forward(mixed[None, None])[0, 0] - expected[0, 0]).abs().max() > 0.1, "not one FFN of the sum"


def test_both_weights_are_shares_and_begin_alike() -> None:
    part = branches()
    for shares in (part.kappa, part.alpha):
        assert shares.sum().item() == pytest.approx(1.0)
        assert shares.min() > 0
        assert shares.std() > 0.05
    for part in (m for m in build(ROW).modules() if isinstance(m, Branches)):
        assert part.kappa.tolist() == part.alpha.tolist() == pytest.approx([1 / 6] * 6)


def test_a_layer_is_branched_attention_alone() -> None:
    model = stirred(build(replace(ROW, family=EncoderDecoder)))
    for layer in (*model.encoder.layers, *model.decoder.layers):
        assert layer.feed_forward is None
    layer = model.decoder.layers[1]
    assert layer.attention.output.feed_forward is not layer.cross_attention.output.feed_forward
    source, x = (torch.randn(2, n, 20, generator=torch.Generator().manual_seed(n)) for n in (3, 4))
    y, _ = layer(x, None, layer.project_source(source))
    h = x + layer.attention(layer.residual_attention.norm(x))[0]
    expected = h + layer.cross_attention(layer.residual_cross_attention.norm(h), source)
    assert_close(y, expected, "two branches of the residual pathway")


def test_first_weights_are_scaled_where_a_branch_ends() -> None:
    torch.manual_seed(0)
    model = replace(ROW, family=EncoderDecoder).build(VOCAB, d_model=60, n_layers=4)
    for stack, each in ((model.encoder.layers, 1), (model.decoder.layers, 2)):
        last = [matrix for layer in stack for matrix in layer.last_matrices()]
        assert len(last) == each * 4
        for matrix in last:
            assert matrix.weight.shape == (60, 240)
            assert matrix.weight.std().item() == pytest.approx(0.02 / math.sqrt(each * 4), rel=0.05)
