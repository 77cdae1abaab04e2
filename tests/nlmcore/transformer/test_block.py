"""The parts: residual rules, feed-forward networks, blocks, stacks, outputs, first weights; and that they are used."""

import dataclasses
import math
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from nlmcore.positions import RelativeBias
from nlmcore.transformer import (
    DecoderLayer,
    EncoderDecoder,
    FeedForward,
    GatedFeedForward,
    MaskedLM,
    PostNorm,
    PreNorm,
    TransformerEncoder,
    TransformerLM,
)
from tests.laws import assert_close
from tests.transformer_grid import CONFIG, TOLERANCE, config_of, lively

ACTIVATIONS = [F.relu, F.gelu, F.silu, torch.sigmoid, torch.tanh, nn.Identity()]


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def test_the_two_rules_are_their_equations() -> None:
    x, y, norm = draw(2, 3, 12), draw(2, 3, 12, seed=1), lively(nn.LayerNorm(12))
    pre, post = PreNorm(norm), PostNorm(norm)
    assert torch.equal(pre(x), norm(x))
    assert torch.equal(pre(x, y), x + y)
    assert torch.equal(post(x), x)
    assert torch.equal(post(x, y), norm(x + y))


@pytest.mark.parametrize("rule", [PreNorm, PostNorm])
def test_dropout_falls_on_the_branch_alone(rule: Any) -> None:
    around, x = rule(nn.Identity(), dropout=0.5), draw(40, 50, 12)
    after = around(x, torch.ones_like(x)) - x
    assert ((after.abs() < 1e-9) | ((after - 2).abs() < 1e-9)).all()
    assert after.mean().item() == pytest.approx(1.0, abs=0.05)
    around.eval()
    assert_close(around(x, torch.ones_like(x)), x + 1, "evaluation", 1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_feed_forward_is_its_equation(activation: Any) -> None:
    part, x = lively(FeedForward(12, 20, activation)), draw(2, 3, 12)
    inner, outer = part.inner, part.outer
    expected = activation(x @ inner.weight.T + inner.bias) @ outer.weight.T + outer.bias
    assert_close(part(x), expected, "W2 φ(W1 x + b1) + b2", TOLERANCE)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gated_feed_forward_is_its_equation(activation: Any) -> None:
    part, x = lively(GatedFeedForward(12, 20, activation)), draw(2, 3, 12)
    W, V = part.inner.weight.chunk(2)
    b, c = part.inner.bias.chunk(2)
    expected = (activation(x @ W.T + b) * (x @ V.T + c)) @ part.outer.weight.T + part.outer.bias
    assert_close(part(x), expected, "W2 (φ(W x + b) ⊙ (V x + c)) + b2", TOLERANCE)


@pytest.mark.parametrize("part", [FeedForward, GatedFeedForward])
def test_a_class_is_no_activation_and_its_instance_is(plain_errors: None, part: Any) -> None:
    with pytest.raises(TypeError, match=r"activation must be a function .*, got <class"):
        part(12, 20, nn.GELU)
    assert part(12, 20, nn.GELU())(draw(2, 3, 12).float()).shape == (2, 3, 12)


@pytest.mark.parametrize("position", ["pre", "post"])
def test_a_block_is_its_equations(position: str) -> None:
    block = lively(DecoderLayer(config_of("pre", norm_position=position), cross=True))
    x, source = draw(2, 3, 12), draw(2, 5, 12, seed=1)
    norms = [block.residual_attention.norm, block.residual_cross_attention.norm, block.residual_feed_forward.norm]
    branches = [
        lambda x: block.attention(x)[0],
        lambda x: block.cross_attention(x, source),
        block.feed_forward,
    ]
    y, _ = block(x, None, block.project_source(source))
    for norm, branch in zip(norms, branches, strict=True):
        x = x + branch(norm(x)) if position == "pre" else norm(x + branch(x))
    assert_close(y, x, "three sublayers", TOLERANCE)


def test_a_stack_is_its_layers_in_order() -> None:
    model = lively(TransformerEncoder(config_of("pre", n_layers=3)))
    x = draw(2, 3, 12)
    expected = model.layers[2](model.layers[1](model.layers[0](x)))
    assert torch.equal(model.layers(x), expected)


@pytest.mark.parametrize("given", [{"states": (None, None)}, {"memories": (None,) * 4}])
def test_a_stack_wants_one_state_per_layer(plain_errors: None, given: dict[str, Any]) -> None:
    model = TransformerLM(config_of("pre", n_layers=3))
    with pytest.raises(ValueError, match="a model of 3 layers, got one of"):
        model.layers(torch.zeros(1, 2, 12), **given)


def test_every_part_that_is_handed_in_is_used() -> None:
    built: list[str] = []

    def seen(name: str, build: Any) -> Any:
        def part(*arguments: Any) -> Any:
            built.append(name)
            return build(*arguments)

        return part

    names = [f.name for f in dataclasses.fields(CONFIG) if callable(getattr(CONFIG, f.name))]
    config = dataclasses.replace(CONFIG, **{name: seen(name, getattr(CONFIG, name)) for name in names})
    config = dataclasses.replace(config, attention_positions=seen("attention_positions", RelativeBias))
    EncoderDecoder(config)
    assert set(built) == {*names, "attention_positions"}
    assert len(names) == 14
    counted = {name: built.count(name) for name in ("attention", "cross_attention", "block", "stack", "feed_forward")}
    assert counted == {"attention": 4, "cross_attention": 2, "block": 4, "stack": 2, "feed_forward": 4}


def test_shared_modules_are_one_and_stay_one() -> None:
    model = TransformerLM(config_of("shared blocks")).double()
    assert len({id(layer) for layer in model.layers}) == 1
    assert len(list(model.parameters())) == len(list(TransformerLM(config_of("one layer")).parameters()))
    table = TransformerLM(config_of("T5")).layers
    assert table[0].attention.positions is table[1].attention.positions


def test_a_tied_output_is_the_embedding_and_an_untied_one_is_not() -> None:
    tied, untied = TransformerLM(CONFIG), TransformerLM(config_of("untied"))
    assert tied.output.weight is tied.embedding.weight
    assert untied.output.weight is not untied.embedding.weight
    assert sum(p.numel() for p in untied.parameters()) - sum(p.numel() for p in tied.parameters()) == 11 * 12
    masked = MaskedLM(CONFIG)
    assert masked.output.weight is masked.encoder.embedding.weight


def test_first_weights_are_those_of_gpt_2() -> None:
    torch.manual_seed(0)
    config = config_of("pre", d_model=96, n_layers=8, d_ff=None, vocab_size=500)
    model = TransformerLM(config)
    assert model.embedding.weight.std().item() == pytest.approx(0.02, rel=0.05)
    for block in model.layers:
        assert block.attention.projection.weight.std().item() == pytest.approx(0.02, rel=0.05)
        assert block.feed_forward.inner.weight.std().item() == pytest.approx(0.02, rel=0.05)
        for last in (block.attention.output, block.feed_forward.outer):
            assert last.weight.std().item() == pytest.approx(0.02 / math.sqrt(16), rel=0.05), "16 branches"
            assert not last.bias.any()
    both = EncoderDecoder(config)
    for block in both.decoder.layers:
        assert block.cross_attention.output.weight.std().item() == pytest.approx(0.02 / math.sqrt(24), rel=0.05)
    for block in both.encoder.layers:
        assert block.attention.output.weight.std().item() == pytest.approx(0.02 / math.sqrt(16), rel=0.05)
