"""The captioner by a naive loop over words and locations; the laws of every language model; beams."""

import pytest
import torch
from torch import nn

from nlmcore.inspect import capture
from nlmcore.seq2seq import Seq2Seq
from nlmcore.vision import Captioner, ConvEncoder, VisionTransformer, doubly_stochastic
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model

H, W, D, VOCAB, EMBEDDING = 4, 8, 10, 11, 7
ENCODERS = {
    "convolutional": lambda: ConvEncoder((6, D), pools=(2, 1)),
    "patches": lambda: VisionTransformer(H, W, 2, d_model=D, n_heads=2, n_layers=1, class_token=False),
    "patches and a class token": lambda: VisionTransformer(H, W, 2, d_model=D, n_heads=2, n_layers=1),
}


def build(name: str) -> Captioner:
    torch.manual_seed(0)
    model = Captioner(ENCODERS[name](), VOCAB, EMBEDDING)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    return model.eval()


def data() -> tuple[torch.Tensor, torch.Tensor]:
    chance = torch.Generator().manual_seed(1)
    return torch.rand(3, H, W, generator=chance), torch.randint(VOCAB, (3, 5), generator=chance)


@pytest.mark.parametrize("name", ENCODERS)
def test_it_is_a_language_model_of_captions(name):
    model, (images, tokens) = build(name), data()
    with torch.no_grad():
        state = model.encode(images)
    assert_language_model(model, tokens, state)


@pytest.mark.parametrize("name", ENCODERS)
def test_it_is_its_equations(unchecked, name):
    model, (images, tokens) = build(name), data()
    reader, cell, score = model.encoder, model.decoder.cell, model.decoder.attention.score
    theirs = nn.LSTMCell(EMBEDDING + D, D)
    with torch.no_grad():
        for part in ("weight_ih", "weight_hh"):
            getattr(theirs, part).copy_(getattr(cell, part))
        theirs.bias_ih.copy_(cell.input_bias())
        theirs.bias_hh.zero_()
        with capture(model) as tape:
            logits, _ = model(tokens, model.encode(images))
        weights = tape["decoder.attention"]
        for b in range(3):
            a = reader.encoder(images[b : b + 1])[0]
            a = a[1:] if name.endswith("token") else a
            mean = sum(a) / len(a)
            h, c = (torch.tanh(layer.weight @ mean + layer.bias) for layer in (reader.initial_h, reader.initial_c))
            for i, token in enumerate(tokens[b]):
                e = torch.stack([score.v @ torch.tanh(score.W_query @ h + score.W_key @ a_j) for a_j in a])
                alpha = e.exp() / e.exp().sum()
                z = sum(weight * a_j for weight, a_j in zip(alpha, a, strict=True))
                h, c = theirs(torch.cat([model.embedding.weight[token], z]), (h, c))
                read = torch.tanh(model.decoder.combine.weight @ torch.cat([z, h]))
                assert_close(weights[b, 0, i], alpha, f"attention of word {i}", 1e-4)
                assert_close(logits[b, i], model.output.weight @ read + model.output.bias, f"logits {i}", 1e-4)


@pytest.mark.parametrize("name", ENCODERS)
def test_every_parameter_gets_a_gradient(name):
    model, (images, tokens) = build(name), data()
    if name.endswith("token"):  # of the class token's own vector the decoder sees what other locations took from it
        assert model.encoder.encoder.class_token
    assert_every_parameter_gets_a_gradient(model, model(tokens, model.encode(images))[0])


def test_doubly_stochastic_by_loops():
    weights, mask = torch.rand(2, 3, 4).softmax(-1), torch.tensor([[True, True, False], [True, True, True]])
    for given in (None, mask):
        total = 0.0
        for b in range(2):
            for j in range(4):
                seen = sum(float(weights[b, i, j]) for i in range(3) if given is None or given[b, i])
                total += (1 - seen) ** 2
        assert float(doubly_stochastic(weights, given)) == pytest.approx(total / 2, rel=1e-5)
    assert float(doubly_stochastic(torch.full((1, 4, 4), 0.25))) == pytest.approx(0)


def test_what_is_refused():
    model = build("patches")
    with pytest.raises(TypeError, match="no source has been read"):
        model(torch.ones(1, 1, dtype=torch.long))
    with pytest.raises(ValueError, match="one source per text"):
        model(torch.ones(2, 1, dtype=torch.long), model.encode(torch.zeros(3, H, W)))
    for given in ({}, {"encoder": nn.Identity(), "source_vocab_size": 3}):
        with pytest.raises(TypeError, match="source_vocab_size or encoder must be given, and not both"):
            Seq2Seq(**{"source_vocab_size": None, "target_vocab_size": 3} | given)
