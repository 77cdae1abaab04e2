"""The Evolved Transformer: both cells of figure 3, number by number, and the size of what they remember."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from nlmcore.transformer import EncoderDecoder, FeedForward, TransformerEncoder
from nlmcore.variants import CATALOGUE
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import SIZES, VOCAB, build, stirred

ROW = CATALOGUE["Evolved Transformer"]
X, SOURCE = (torch.randn(1, n, 20, generator=torch.Generator().manual_seed(n)) for n in (13, 4))


def model(**sizes: Any) -> Any:
    return stirred(build(replace(ROW, family=EncoderDecoder), n_layers=4, **sizes))


def convolved(weight: Tensor, x: Tensor, offsets: range) -> Tensor:
    """y_t = Σ_j W_j x_{t + offset_j}, weight (out, in, width); x (time, in), zeros around it."""
    y = torch.zeros(len(x), len(weight))
    for t in range(len(x)):
        for j, offset in enumerate(offsets):
            if 0 <= t + offset < len(x):
                y[t] += weight[:, :, j] @ x[t + offset]
    return y


def separated(part: Any, x: Tensor, offsets: range) -> Tensor:
    """A separable convolution is a convolution whose matrices are W diag(k_j)."""
    k = part.depthwise.weight[:, 0]
    return convolved(part.pointwise.weight[:, :, None] * k[None], x, offsets)


def test_an_encoder_cell_is_its_figure() -> None:
    cell = model().encoder.layers[1]
    x = X[0]
    h = cell.residual_gate.norm(x)
    x = x + (h @ cell.value.weight.T) * torch.sigmoid(h @ cell.gate.weight.T)
    h = cell.residual_convolution.norm(x)
    both = (h @ cell.wide.weight.T).clamp(min=0)
    both[:, :10] += convolved(cell.near.weight, h, range(-1, 2)).clamp(min=0)
    x = torch.cat([x[:, :10] + separated(cell.separable, cell.norm(both), range(-4, 5)), x[:, 10:]], 1)
    x = x + cell.attention(cell.residual_attention.norm(x)[None])[0]
    x = x + cell.feed_forward(cell.residual_feed_forward.norm(x)[None])[0]
    assert isinstance(cell.feed_forward, FeedForward)
    with torch.no_grad():
        assert_close(cell(X)[0], x, "the cell")


@pytest.mark.parametrize("cross", [True, False])
def test_a_decoder_cell_is_its_figure(cross: bool) -> None:
    cell = (model().decoder if cross else stirred(build(ROW, n_layers=4))).layers[1]
    x = X[0]
    h = cell.residual_wide_attention.norm(x)[None]
    x = x + cell.wide_attention(h)[0][0]
    if cross:
        x = x + cell.first_cross_attention(h, SOURCE)[0]
    h = cell.residual_convolution.norm(x)
    both = separated(cell.left, h, range(-10, 1)).clamp(min=0)
    both[:, :10] += separated(cell.right, h, range(-6, 1))
    x = x + separated(cell.last, cell.norm(both), range(-6, 1))
    x = x + cell.attention(cell.residual_attention.norm(x)[None])[0][0]
    if cross:
        x = x + cell.cross_attention(cell.residual_cross_attention.norm(x)[None], SOURCE)[0]
    inner = cell.residual_feed_forward.norm(x) @ cell.inner.weight.T
    x = x + cell.inner_norm(inner * torch.sigmoid(inner)) @ cell.outer.weight.T
    with torch.no_grad():
        y, state = cell(X, None, cell.project_source(SOURCE) if cross else None)
    assert_close(y[0], x.detach(), "the cell")
    assert state.inputs.shape == (1, 10, 20)
    assert state.sums.shape == (1, 6, 40)
    assert_close(state.inputs[0], h[-10:].detach(), "the last inputs of the first convolutions")
    assert_close(state.sums[0], cell.norm(both)[-6:].detach(), "the last inputs of the third")


def test_convolutions_remember_more_than_they_were_just_given() -> None:
    """Longer than any width, read in pieces shorter than any; the laws of every row read five tokens."""
    cell = model().decoder.layers[0]
    memory = cell.project_source(SOURCE)
    with torch.no_grad():
        whole, _ = cell(X, None, memory)
        pieces, state = [], None
        for piece in X.split([2, 1, 4, 1, 5], dim=1):
            y, state = cell(piece, state, memory)
            pieces.append(y)
    assert_close(torch.cat(pieces, 1), whole, "in pieces", 1e-4)


def test_padding_is_read_as_zeros() -> None:
    encoder = stirred(TransformerEncoder(ROW.config(VOCAB, **{**SIZES, "n_layers": 4})))
    text = torch.arange(9)[None] % VOCAB
    real = torch.arange(9)[None] < 6
    with torch.no_grad():
        assert_close(encoder(text, real)[:, :6], encoder(text[:, :6]), "real tokens", 1e-4)
        assert (encoder(text)[:, :6] - encoder(text[:, :6])).abs().max() > 1e-3


def test_cells_share_one_table_per_kind_of_attention() -> None:
    decoder = model().decoder.layers
    assert len(decoder) == 2, "half as many as layers"
    first, second = decoder
    assert first.attention.positions is second.attention.positions
    assert first.wide_attention.positions is second.wide_attention.positions
    assert first.wide_attention.positions is not first.attention.positions
    assert (first.wide_attention.n_heads, first.wide_attention.d_head) == (12, 4)
    assert (first.attention.n_heads, first.attention.d_head) == (6, 4)
    grouped = build(ROW, n_kv_heads=2).layers[0]
    assert (grouped.wide_attention.n_kv_heads, grouped.attention.n_kv_heads) == (4, 2)


def test_first_weights_are_scaled_where_a_branch_ends() -> None:
    torch.manual_seed(0)
    m = replace(ROW, family=EncoderDecoder).build(VOCAB, d_model=60, n_layers=4)
    for stack, each in ((m.encoder.layers, 4), (m.decoder.layers, 6)):
        for cell in stack:
            assert len(cell.last_matrices()) == cell.branches == each
            for matrix in cell.last_matrices():
                assert matrix.weight.std().item() == pytest.approx(0.02 / math.sqrt(2 * each), rel=0.1)


def test_a_network_too_narrow_to_pad_is_named(plain_errors: None) -> None:
    with pytest.raises(ValueError, match=r"d_ff must be at least d_model / 2, got d_ff=9, d_model=20"):
        TransformerEncoder(ROW.config(VOCAB, **{**SIZES, "d_ff": 9}))
