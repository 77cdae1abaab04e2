"""Linformer, FNet, MLP-Mixer against loops from the papers' equations; all of them leave padding out."""

import cmath
import math
from typing import Any

import pytest
import torch

from nlmcore.attention import CausalAttention, MultiHeadAttention
from nlmcore.inspect import capture
from nlmcore.transformer import EncoderDecoder, TransformerEncoder
from nlmcore.variants import CATALOGUE
from nlmcore.variants.fnet import FourierMixing
from nlmcore.variants.linformer import LinformerAttention
from nlmcore.variants.mlp_mixer import TokenMixing
from nlmcore.variants.variant import vanilla
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient
from tests.nlmcore.variants.test_catalogue import VOCAB, build, stirred

C = vanilla(VOCAB, d_model=10, n_heads=4, d_head=3, n_kv_heads=2, max_length=8)
X = torch.randn(2, 8, 10, generator=torch.Generator().manual_seed(0))
PARTS = {"Linformer": LinformerAttention, "FNet": FourierMixing, "MLP-Mixer": TokenMixing}


def made(part: Any, **sizes: Any) -> Any:
    torch.manual_seed(2)
    return stirred(part(C, **sizes))


@torch.no_grad()
@pytest.mark.parametrize("time", [8, 5])
def test_linformer_is_its_equation(time: int) -> None:
    part, x = made(LinformerAttention, k=3), X[0, :time]
    W, out = part.attention.projection.weight, []
    for h in range(4):
        q, k, v = (x @ W[3 * r : 3 * r + 3].T for r in (h, 4 + h // 2, 6 + h // 2))
        keys = [sum(part.E[m, j] * k[j] for j in range(time)) for m in range(3)]
        values = [sum(part.F[m, j] * v[j] for j in range(time)) for m in range(3)]
        rows = []
        for i in range(time):
            e = [math.exp((q[i] @ key).item() / math.sqrt(3)) for key in keys]
            rows.append(sum(p / sum(e) * value for p, value in zip(e, values, strict=True)))
        out.append(torch.stack(rows))
    assert_close(part(X[:1, :time])[0], torch.cat(out, 1) @ part.attention.output.weight.T, "Linformer", 1e-4)


def test_linformer_looks_at_a_quarter_as_many_keys() -> None:
    encoder = TransformerEncoder(CATALOGUE["Linformer"].config(VOCAB))
    with capture(encoder) as tape:
        encoder(torch.zeros(1, 128, dtype=torch.long))
    assert tape["layers.3.attention.attention"].shape == (1, 6, 128, 32)
    assert encoder.layers[0].attention.E.shape == (32, 128)
    assert encoder.layers[0].attention.E.std().item() == pytest.approx(128**-0.5, rel=0.05)


@pytest.mark.parametrize("time", [8, 5])
def test_fnet_is_its_equation(time: int) -> None:
    """Σ_t Σ_c x_tc e^(−2πi (t k / 8 + c l / 10)), over all 8 places, of which the last may be empty."""
    y = FourierMixing(C)(X[:1, :time])[0]
    for k in range(time):
        for m in (0, 1, 9):
            waves = [cmath.exp(-2j * math.pi * (t * k / 8 + c * m / 10)) for t in range(time) for c in range(10)]
            both = sum(w * v for w, v in zip(waves, X[0, :time].flatten().tolist(), strict=True))
            assert y[k, m].item() == pytest.approx(both.real / math.sqrt(80), abs=1e-5)


@pytest.mark.parametrize("time", [8, 5])
def test_the_mixer_is_its_equation(time: int) -> None:
    part = made(TokenMixing, hidden=3)
    W1, b1, W2, b2 = (p.tolist() for p in (*part.inner.parameters(), *part.outer.parameters()))
    y = part(X[:1, :time])[0]
    for c in range(10):
        h = [sum(W1[m][t] * X[0, t, c].item() for t in range(time)) + b1[m] for m in range(3)]
        h = [a * (1 + math.erf(a / math.sqrt(2))) / 2 for a in h]
        for t in range(time):
            assert y[t, c].item() == pytest.approx(sum(W2[t][m] * h[m] for m in range(3)) + b2[t], abs=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("name", PARTS)
def test_a_text_is_read_as_it_is_with_padding(name: str) -> None:
    part = made(PARTS[name])
    for time in (1, 3, 8):
        mask = (torch.arange(8) < time)[None, None, None].expand(2, 1, 1, 8)
        assert_close(part(X, mask)[:, :time], part(X[:, :time]), "the text alone")
        assert torch.isfinite(part(X, mask & False)).all(), "a text of nothing"
    assert (part(X)[:, :5] - part(X[:, :5])).abs().max() > 1e-3, "what is not masked is seen"


@pytest.mark.parametrize("name", PARTS)
def test_every_parameter_gets_a_gradient_and_every_place_sees_every_other(name: str) -> None:
    part, x = made(PARTS[name]), X.clone().requires_grad_()
    assert_every_parameter_gets_a_gradient(part, part(x))
    for t in range(8):
        (gradient,) = torch.autograd.grad(part(x)[0, t, 1], x)
        assert (gradient[0].abs().amax(-1) > 0).all()
        assert not gradient[1].any(), "another text"


def test_what_does_not_fit_is_named(plain_errors: None) -> None:
    for part in PARTS.values():
        with pytest.raises(ValueError, match="the text has 9 tokens, this model knows 8 positions"):
            part(C)(torch.zeros(1, 9, 10))
        with pytest.raises(ValueError, match=r"mask must say which tokens are real, \(2, 1, 1, 8\) here, got \(8, 8\)"):
            part(C)(X, torch.ones(8, 8).tril().bool())


@pytest.mark.parametrize("name", [*PARTS, "Longformer", "BigBird"])
def test_the_encoder_has_the_part_and_the_decoder_its_attention(name: str) -> None:
    model = build(CATALOGUE[name])
    assert isinstance(model, EncoderDecoder)
    assert all(not isinstance(layer.attention, MultiHeadAttention) for layer in model.encoder.layers)
    assert all(isinstance(layer.attention, CausalAttention) for layer in model.decoder.layers)
    assert len({id(layer.attention.positions) for layer in model.decoder.layers}) == 1
