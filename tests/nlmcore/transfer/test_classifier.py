"""Fine-tuning and probing: states of any layer of any model, what is trained and what is not."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from nlmcore.attention import AttentionPool, FixedPool, last_pool
from nlmcore.inspect import pathway
from nlmcore.transfer import Classifier
from nlmcore.transfer.classifier import states_of
from nlmcore.transformer import TransformerEncoder
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient
from tests.nlmcore.transfer.models import CONFIG, MASK, TOKENS, made

LAYERS = {
    "GPT": ["", "layers.0", "layers.1", "embedding"],
    "Block sharing": ["", "layers.0", "layers.1"],
    "encoder": ["", "layers.0", "layers.1.feed_forward"],
    "LSTM": ["", "recurrent", "embedding"],
    "tagger": ["recurrent"],
    "ConvLM": [""],
    "Bengio": ["hidden"],
}
CASES = [(name, layer) for name, layers in LAYERS.items() for layer in layers]


@pytest.mark.parametrize(("name", "layer"), CASES)
def test_any_layer_of_any_model_is_probed_and_fine_tuned(name: str, layer: str) -> None:
    states = states_of(made(name), TOKENS, MASK, layer)
    probe = Classifier(made(name), 4, layer=layer, frozen=True).train()
    assert [n for n, p in probe.named_parameters() if p.requires_grad] == ["output.weight", "output.bias"]
    mean = torch.stack([h[real].mean(0) for h, real in zip(states, MASK, strict=True)])
    assert_close(probe(TOKENS, MASK), probe.output(mean), "softmax's logits")
    assert_every_parameter_gets_a_gradient(probe, probe(TOKENS, MASK))
    tuned = Classifier(made(name), 4, layer=layer)
    tuned(TOKENS, MASK).square().sum().backward()
    assert any(p.grad is not None and p.grad.any() for p in tuned.model.parameters()), "the model learns too"


def test_states_are_those_of_the_residual_pathway() -> None:
    """Another way to see them: after the last sublayer of each layer."""
    for name in ("GPT", "Block sharing", "encoder"):
        model = made(name)
        with pathway(model) as branches:
            states_of(model, TOKENS)
        for i in (0, 1):
            result = [branch.result for branch in branches][2 * i + 1]
            assert_close(states_of(model, TOKENS, layer=f"layers.{i}"), result, f"{name}, layer {i}")
        assert "forward" not in vars(model.layers[0]), "afterwards nobody listens"
        assert "step" not in vars(model.layers[0])


@pytest.mark.parametrize(
    "pool", [None, last_pool, AttentionPool(12), FixedPool(12, 5)], ids=["none", "last", "attention", "fixed"]
)
def test_pools_and_none_for_a_class_per_token(pool: nn.Module | None) -> None:
    model = Classifier(made("encoder"), 4, pool=pool)
    logits = model(TOKENS, MASK)
    assert logits.shape == ((3, 5, 4) if pool is None else (3, 4))
    assert_every_parameter_gets_a_gradient(model, logits)


def test_a_frozen_model_has_no_dropout() -> None:
    for frozen in (True, False):
        model = TransformerEncoder(replace(CONFIG, dropout=0.5))
        probe = Classifier(model, 4, frozen=frozen).train()
        assert torch.equal(probe(TOKENS), probe(TOKENS)) is frozen
        assert model.training, "afterwards the mode is the old one"


def test_padding_changes_no_class() -> None:
    for name in ("encoder", "GPT"):
        model = Classifier(made(name), 4, pool=last_pool)
        assert_close(model(TOKENS, MASK)[1], model(TOKENS[1:2, :3])[0], name)


def test_what_does_not_fit_is_named(plain_errors: None) -> None:
    with pytest.raises(ValueError, match=r"TransformerLM has no module 'layer\.0'; close: layers\.0"):
        Classifier(made("GPT"), 2, layer="layer.0")
    with pytest.raises(ValueError, match="layer must be called while the model reads, but 'output' is not"):
        states_of(made("GPT"), TOKENS, layer="output")
    with pytest.raises(ValueError, match=r"layer must give states \(1, 1, d_model\), got .* \(1, 3\)"):
        Classifier(made("TextCNN"), 2)
