"""EncoderDecoder: the laws with a source, agreement with torch.nn.Transformer, and what is refused."""

import copy
import dataclasses
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.attention import causal_mask
from nlmcore.inspect import capture
from nlmcore.transformer import Backbone, EncoderDecoder, TransformerEncoder, TransformerLM
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model
from tests.transformer_grid import CHANGES, CONFIG, TOKENS, TOLERANCE, config_of, lively

SOURCE = torch.tensor([[2, 4, 6, 8, 10], [1, 3, 5, 0, 0], [9, 0, 0, 0, 0]])
REAL = torch.tensor([[True] * 5, [True] * 3 + [False] * 2, [True] + [False] * 4])


@pytest.mark.parametrize("name", CHANGES)
def test_every_configuration_is_a_language_model_of_its_target(name: str) -> None:
    model = lively(EncoderDecoder(config_of(name)))
    with torch.no_grad():
        state = model.encode(SOURCE, REAL)
    assert_language_model(model, TOKENS[:, :5], state, TOLERANCE)


@pytest.mark.parametrize("name", CHANGES)
def test_every_parameter_gets_a_gradient(name: str) -> None:
    model = lively(EncoderDecoder(config_of(name)))
    logits, _ = model(TOKENS, model.encode(SOURCE, REAL))
    assert_every_parameter_gets_a_gradient(model, logits)
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())


@pytest.mark.parametrize("name", CHANGES)
def test_padding_of_the_source_changes_nothing(unchecked: None, name: str) -> None:
    model = lively(EncoderDecoder(config_of(name)))
    with torch.no_grad():
        together, _ = model(TOKENS, model.encode(SOURCE, REAL))
        for row, length in enumerate(REAL.sum(1).tolist()):
            alone, _ = model(TOKENS[row : row + 1], model.encode(SOURCE[row : row + 1, :length]))
            assert_close(together[row], alone[0], f"a source of {length}, padded and not", TOLERANCE)
        unmasked, _ = model(TOKENS, model.encode(SOURCE))
    assert (unmasked - together)[1:].abs().max() > 1e-4, "without a mask the padding must be seen"


@pytest.mark.parametrize("name", CHANGES)
def test_fused_and_explicit_attention_give_the_same_logits(unchecked: None, name: str) -> None:
    model = lively(EncoderDecoder(config_of(name)))
    with torch.no_grad():
        fused, _ = model(TOKENS, model.encode(SOURCE, REAL))
        with capture(model) as tape:
            explicit, _ = model(TOKENS, model.encode(SOURCE, REAL))
    assert_close(explicit, fused, "explicit against fused", TOLERANCE)
    layers, heads = model.config.n_layers, model.config.n_heads
    assert len(tape) == 3 * layers
    for i in range(layers):
        assert tape[f"encoder.layers.{i}.attention"].shape == (3, heads, 5, 5)
        assert tape[f"decoder.layers.{i}.attention"].shape == (3, heads, 7, 7)
        looked = tape[f"decoder.layers.{i}.cross_attention"]
        assert looked.shape == (3, heads, 7, 5)
        assert not looked.masked_select(~REAL[:, None, None, :]).any(), "nobody looks at padding"
        assert_close(looked.sum(-1), torch.ones(3, heads, 7, dtype=torch.float64), "rows", TOLERANCE)


def test_the_source_is_read_once() -> None:
    model = lively(EncoderDecoder(CONFIG))
    calls: list[str] = []
    model.encoder.register_forward_hook(lambda *_: calls.append("encoder"))
    for layer in model.decoder.layers:
        project = layer.cross_attention.project_source
        layer.cross_attention.project_source = lambda source, project=project: calls.append("memory") or project(source)
    with torch.no_grad():
        state = model.encode(SOURCE, REAL)
        for t in range(7):
            _, state = model(TOKENS[:, t : t + 1], state)
    assert calls == ["encoder", "memory", "memory"]
    assert state.target is not None
    assert state.target.position == 7


@pytest.mark.parametrize("grad", [False, True])
def test_a_source_that_is_all_padding_gives_a_context_of_zeros(grad: bool) -> None:
    model = lively(EncoderDecoder(CONFIG))
    mask = REAL.clone()
    mask[1] = False
    with torch.set_grad_enabled(grad):
        state = model.encode(SOURCE, mask)
        logits, _ = model(TOKENS, state)
    assert torch.isfinite(state.encoded).all()
    assert torch.isfinite(logits).all()
    cross = model.decoder.layers[0].cross_attention
    query = torch.randn(3, 7, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    looked = cross(query, state.memories[0], mask[:, None, None, :])
    assert_close(looked[1], cross.output.bias.expand(7, 12), "the context is zeros: the output's bias stays", TOLERANCE)
    if grad:
        logits.sum().backward()
        assert all(torch.isfinite(p.grad).all() for p in model.parameters())
    with torch.no_grad():
        whole, _ = model(TOKENS, model.encode(SOURCE, REAL))
    assert_close(logits[[0, 2]], whole[[0, 2]], "the other rows", TOLERANCE)


def test_encoder_and_decoder_may_differ() -> None:
    other = dataclasses.replace(CONFIG, vocab_size=13, n_layers=3, n_heads=2, n_kv_heads=1, max_length=5)
    model = lively(EncoderDecoder(CONFIG, other))
    assert (model.vocab_size, model.source_vocab_size) == (11, 13)
    with torch.no_grad():
        state = model.encode(SOURCE + 2)
    assert_language_model(model, TOKENS, state, TOLERANCE)
    assert model.encoder.embedding is not model.decoder.embedding


class Patches(Backbone):
    """An encoder of images, (batch, patch, pixels), in the place of one of tokens."""

    def forward(self, patches: Tensor, mask: Tensor | None = None) -> Tensor:
        keys = None if mask is None else mask[:, None, None, :]
        return self.final_norm(self.layers(self.embed(patches), keys))


def test_an_encoder_may_be_handed_in() -> None:
    """Captioning: nothing of the decoder knows that no token was read."""
    reads_pixels = dataclasses.replace(CONFIG, vocab_size=4, embedding=nn.Linear, n_layers=1)
    model = lively(EncoderDecoder(CONFIG, encoder=Patches(reads_pixels, causal=False)))
    image = torch.randn(3, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        for state in (model.encode(image), model.encode(image, REAL)):
            assert_language_model(model, TOKENS[:, :5], state, TOLERANCE)
        alone, _ = model(TOKENS[1:2], model.encode(image[1:2, :3]))
        assert_close(model(TOKENS, model.encode(image, REAL))[0][1:2], alone, "three patches of five", TOLERANCE)
    assert_every_parameter_gets_a_gradient(model, model(TOKENS, model.encode(image, REAL))[0])
    assert model.source_vocab_size is None


def test_an_encoder_that_is_handed_in_keeps_its_weights() -> None:
    trained = lively(TransformerEncoder(config_of("pre", vocab_size=13)), dtype=torch.float32)
    before = {name: weight.clone() for name, weight in trained.state_dict().items()}
    model = EncoderDecoder(CONFIG, encoder=trained)
    assert model.encoder is trained
    assert all(torch.equal(weight, before[name]) for name, weight in trained.state_dict().items())
    assert model.decoder.layers[0].feed_forward.inner.weight.std() < 0.03, "the decoder's are new"
    assert model.source_vocab_size == 13
    assert model.encoder.embedding is not model.decoder.embedding


def test_one_matrix_serves_source_target_and_softmax() -> None:
    tied = EncoderDecoder(CONFIG)
    assert tied.encoder.embedding.weight is tied.decoder.embedding.weight is tied.output.weight
    apart = EncoderDecoder(dataclasses.replace(CONFIG, tie_source=False))
    assert apart.encoder.embedding.weight is not apart.decoder.embedding.weight
    assert apart.output.weight is apart.decoder.embedding.weight
    untied = EncoderDecoder(dataclasses.replace(CONFIG, tie_source=False, tie_embeddings=False))
    assert sum(p.numel() for p in untied.parameters()) == sum(p.numel() for p in tied.parameters()) + 2 * 11 * 12
    twin = copy.deepcopy(tied)
    assert twin.encoder.embedding.weight is twin.output.weight is not tied.output.weight


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda m, s: m(TOKENS), TypeError, r"state must come from encode\(source\): no source has been read"),
        (lambda m, s: m(TOKENS, TransformerLM(CONFIG)(TOKENS)[1]), TypeError, "got TransformerState"),
        (lambda m, s: m(TOKENS[:2], s), ValueError, "one source per text, got 3 for 2 texts"),
        (lambda m, s: m(torch.ones(3, 10, dtype=torch.long), s), ValueError, "10 tokens"),
        (lambda m, s: m(TOKENS, m(TOKENS, s)[1]), ValueError, r"14 tokens \(7 before and 7 now\)"),
        (lambda m, s: m(TOKENS, EncoderDecoder(config_of("one layer")).encode(SOURCE)), ValueError, "of 2 layers"),
        (lambda m, s: m.encode(SOURCE, REAL[:, :4]), ValueError, r"tokens' shape \(3, 5\), got \(3, 4\)"),
        (
            lambda m, s: EncoderDecoder(CONFIG, config_of("pre", d_model=18)),
            ValueError,
            "18 for the encoder and 12",
        ),
        (
            lambda m, s: EncoderDecoder(CONFIG, encoder=TransformerEncoder(config_of("pre", d_model=18))),
            ValueError,
            "18 for the encoder and 12",
        ),
        (lambda m, s: EncoderDecoder(CONFIG, CONFIG, encoder=TransformerEncoder(CONFIG)), ValueError, "not both"),
        (
            lambda m, s: EncoderDecoder(CONFIG, encoder=CONFIG),
            TypeError,
            "encoder must be a Module, got Transformer",
        ),
        (
            lambda m, s: EncoderDecoder(CONFIG, encoder=nn.Bilinear(2, 2, 5)).encode(
                torch.ones(1, 2), torch.ones(1, 2)
            ),
            ValueError,
            r"source must have shape \(batch, key, d_model\) with d_model = 12 .*, got \(1, 5\)",
        ),
        (
            lambda m, s: m.encode(SOURCE, causal_mask(5).expand(3, 5, 5)),
            ValueError,
            r"source_mask must have shape \(batch, so",
        ),
    ],
)
def test_what_cannot_be_read_is_named(plain_errors: None, call: Any, error: type[Exception], words: str) -> None:
    model = EncoderDecoder(CONFIG)
    with pytest.raises(error, match=words):
        call(model, model.encode(SOURCE, REAL))
