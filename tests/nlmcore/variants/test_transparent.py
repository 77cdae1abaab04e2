"""Transparent attention: each layer of a decoder looks at its own mixture of all layers of the encoder."""

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch

from nlmcore.transformer import EncoderDecoder
from nlmcore.variants import CATALOGUE
from nlmcore.variants.transparent import build_transparent
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import MASK, SIZES, SOURCE, TOKENS, VOCAB, build, logits, stirred

TRANSPARENT = CATALOGUE["Transparent attention"]


def awake(**sizes: Any) -> Any:
    return stirred(build(TRANSPARENT, n_layers=3, **sizes))


def test_the_encoder_hands_on_every_layer() -> None:
    model = awake()
    encoder = model.encoder
    h = [encoder.embed(SOURCE)]
    for layer in encoder.layers:
        h.append(layer(h[-1], MASK[:, None, None]))
    encoded = model.encode(SOURCE, MASK).encoded
    assert encoded.shape == (3, 4, 4 * 20)
    for i in range(4):
        assert_close(encoded[..., 20 * i : 20 * i + 20], encoder.final_norm.norm(h[i]), f"h^{i}")


def test_each_layer_looks_at_a_mixture_of_its_own() -> None:
    model = awake()
    decoder = model.decoder.layers
    state = model.encode(SOURCE, MASK)
    weights = decoder.weights.detach()
    assert weights.shape == (4, 3)
    for j in range(3):
        total = sum(weights[k, j].exp() for k in range(4))
        z = sum(weights[i, j].exp() / total * state.encoded[..., 20 * i : 20 * i + 20] for i in range(4))
        for ours, theirs in zip(state.memories[j], decoder[j].cross_attention.project_source(z), strict=True):
            assert_close(ours, theirs, f"keys or values of layer {j}")
    assert (state.memories[0].keys - decoder[0].project_source(state.encoded[..., -20:]).keys).abs().max() > 0.01


def test_it_begins_with_the_mean_of_all_layers() -> None:
    assert build(TRANSPARENT, n_layers=3).decoder.layers.shares.flatten().tolist() == pytest.approx([1 / 4] * 12)


def plain_twin(model: Any) -> Any:
    plain = EncoderDecoder(CATALOGUE["Vanilla Transformer"].config(VOCAB, **{**SIZES, "n_layers": 3})).eval()
    names = {name.replace("final_norm.norm.", "final_norm."): p for name, p in model.state_dict().items()}
    del names["decoder.layers.weights"]
    plain.load_state_dict(names)
    return plain


def test_if_only_the_last_layer_counts_it_is_the_usual_model() -> None:
    model = awake()
    with torch.no_grad():
        assert (logits(model) - logits(plain_twin(model))).abs().max() > 1e-3
        model.decoder.layers.weights[-1] = 60.0
        assert_close(logits(model), logits(plain_twin(model)), "all on h^N")


def test_an_encoder_of_another_depth_is_told_of(plain_errors: None) -> None:
    deep, shallow = (TRANSPARENT.config(VOCAB, **{**SIZES, "n_layers": n}) for n in (3, 2))
    told = replace(shallow, stack=partial(build_transparent, n_encoder_layers=3))
    model = stirred(EncoderDecoder(told, deep))
    assert model.decoder.layers.weights.shape == (4, 2)
    assert logits(model, TOKENS).shape == (3, 5, VOCAB)
    with pytest.raises(ValueError, match=r"needs 3 vectors of width 20 .* 2 encoder layers\), got a width of 80"):
        EncoderDecoder(shallow, deep).encode(SOURCE)
