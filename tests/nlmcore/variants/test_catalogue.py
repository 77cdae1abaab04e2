"""Every row of the catalogue: its laws, its parameters, its gradients; ReZero and Fixup begin as the identity."""

import copy
import dataclasses
import math
import re
from collections.abc import Callable
from contextlib import nullcontext
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lectures.recipes.narang import THEIRS
from nlmcore.norms import RMSNorm
from nlmcore.transformer import (
    EncoderDecoder,
    GatedFeedForward,
    MaskedLM,
    TransformerEncoder,
    TransformerLM,
)
from nlmcore.variants import CATALOGUE, POSITIONS, Variant
from nlmcore.variants.fixup import Fixup, FixupFeedForward
from nlmcore.variants.fnet import FourierMixing
from nlmcore.variants.gated_universal import build_gated_universal
from nlmcore.variants.rezero import ReZero
from nlmcore.variants.switch import build_switch
from nlmcore.variants.variant import Times, vanilla
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient, assert_language_model
from tests.shapes import shapes_unchecked

VOCAB = 11
SIZES = {"d_model": 20, "n_heads": 6, "d_head": 4, "n_layers": 2, "max_length": 9, "d_ff": 36}
GENERATOR = torch.Generator().manual_seed(3)
TOKENS = torch.randint(0, VOCAB, (3, 5), generator=GENERATOR)
SOURCE = torch.randint(0, VOCAB, (3, 4), generator=GENERATOR)
MASK = torch.arange(4) < torch.tensor([4, 2, 3])[:, None]

ROWS = list(CATALOGUE.values())
AS_THE_PAPER_RAN_IT = [dataclasses.replace(row, family=EncoderDecoder) for row in ROWS]
SPARSE = {"Longformer", "BigBird"}
LANGUAGE_MODELS = [row for row in ROWS if row.family is TransformerLM]
LANGUAGE_MODELS += [dataclasses.replace(CATALOGUE[name], family=TransformerLM) for name in sorted(SPARSE)]
EXPERTS = {"Mixture of experts", "Switch Transformer"}
MILLIONS = dict.fromkeys(CATALOGUE, 223) | {
    "Block sharing": 65,
    "Block sharing + Factorized embeddings": 45,
    "Block sharing + Factorized & shared embeddings": 20,
    "Encoder only block sharing": 170,
    "Decoder only block sharing": 144,
    "Factorized Embedding": 227,
    "Factorized & shared embeddings": 202,
    "24 layers, d_ff = 1536, H = 6": 224,
    "Tied encoder/decoder input embeddings": 248,
    "Tied decoder input and output embeddings": 248,
    "Untied embeddings": 273,
    "Adaptive input embeddings": 204,
    "Adaptive softmax": 204,
    "Mixture of softmaxes": 232,
    "Evolved Transformer": 217,
    "Weighted Transformer": 280,
    "Synthesizer (dense)": 224,
    "Synthesizer (dense plus)": 243,
    "Synthesizer (dense plus alpha)": 243,
    "Synthesizer (factorized)": 207,
    "Synthesizer (random)": 254,
    "Synthesizer (random plus)": 292,
    "Synthesizer (random plus alpha)": 292,
    "Mixture of experts": 648,
    "Switch Transformer": 1100,
    "Product key memory": 421,
    "Universal Transformer": 84,
    "Lightweight convolution": 224,
    "Dynamic convolution": 257,
}

ENCODER_ONLY = {
    "Encoder only block sharing",
    "Transparent attention",
    "Funnel Transformer",
    "Linformer",
    "FNet",
    "MLP-Mixer",
}

each_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
each_language_model = pytest.mark.parametrize("row", LANGUAGE_MODELS, ids=lambda row: row.name)
each_encoder_decoder = pytest.mark.parametrize("row", AS_THE_PAPER_RAN_IT, ids=lambda row: row.name)


def build(row: Variant, **sizes: Any) -> Any:
    torch.manual_seed(0)
    if row.name == "Universal Transformer":  # four loops
        row = dataclasses.replace(row, changes=row.changes | {"stack": partial(build_gated_universal, outside=1)})
        sizes = {"n_layers": 1} | sizes
    return row.build(VOCAB, **{**SIZES, **sizes})


def awake(row: Variant) -> Any:
    return stirred(build(row))


def stirred(model: Any) -> Any:
    """Weights far from the first ones: some rows begin as the identity, of which every law is true."""
    model.eval()
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.3)
    return model


def logits(model: Any, tokens: Tensor = TOKENS) -> Tensor:
    return model(tokens, model.encode(SOURCE, MASK) if isinstance(model, EncoderDecoder) else None)[0]


def train(model: Any, steps: int, learning_rate: float) -> list[float]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    losses = []
    for step in range(steps):
        with shapes_unchecked() if step else nullcontext():
            loss = F.cross_entropy(logits(model, TOKENS[:, :-1]).flatten(0, 1), TOKENS[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_rows_have_their_printed_names() -> None:
    assert not set(THEIRS) - set(CATALOGUE), "every row of table 1 of Narang et al."
    assert all(name == row.name and row.source and row.paper for name, row in CATALOGUE.items())


FREQUENCIES, TABLE, VECTORS = 2, 9 * 20, 2 * 33 * 4  # all layers share those inside attention, whose heads are 4 wide
THIRTEEN = {
    "none": 0,
    "absolute learned": TABLE,
    "absolute sinusoids": 0,
    "absolute learnable sinusoids": 10,
    "relative learned": VECTORS,
    "relative sinusoids": 0,
    "relative learnable sinusoids": FREQUENCIES,
    "absolute learned, relative learned": TABLE + VECTORS,
    "absolute learned, relative sinusoids": TABLE,
    "absolute learned, relative learnable sinusoids": TABLE + FREQUENCIES,
    "absolute learnable sinusoids, relative learned": 10 + VECTORS,
    "absolute learnable sinusoids, relative sinusoids": 10,
    "absolute learnable sinusoids, relative learnable sinusoids": 10 + FREQUENCIES,
}


@pytest.mark.parametrize("name", THIRTEEN)
def test_the_thirteen_rows_of_wang(unchecked: None, name: str) -> None:
    """Each can be built by name, learns what its kinds learn, and knows the order of words unless it is "none"."""
    assert list(POSITIONS) == list(THIRTEEN)
    model = stirred(build(POSITIONS[name]))
    assert isinstance(model, MaskedLM)
    assert sum(p.numel() for n, p in model.named_parameters() if "positions" in n) == THIRTEEN[name]
    assert_every_parameter_gets_a_gradient(model, model(TOKENS))
    moved = (model(TOKENS.flip(1)).flip(1) - model(TOKENS)).abs().max()
    assert (moved < 1e-4) == (name == "none")


@pytest.mark.parametrize("row", [row for row in AS_THE_PAPER_RAN_IT if "Narang" in row.paper], ids=lambda row: row.name)
def test_at_the_papers_sizes_a_row_has_the_papers_parameters(row: Variant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The column "Params" of table 1, rounded in more than one way; T5's vocabulary of 32,128."""
    for draw in ("normal_", "uniform_"):  # slow on tensors without numbers, and changes nothing about them
        monkeypatch.setattr(Tensor, draw, lambda self, *args, **kwargs: self)
    with torch.device("meta"):
        model = row.build(32_128, d_model=768, n_heads=12, n_layers=12, d_ff=3072, max_length=512)
    assert abs(sum(p.numel() for p in model.parameters()) / 1e6 - MILLIONS[row.name]) < 1


@pytest.mark.parametrize(
    ("size", "factor", "expected"), [(4, "2/3", 3), (5, "1/2", 3), (1, "1/3", 1), (7, "3/2", 11), (6, "2", 12)]
)
def test_sizes_are_rounded_to_the_nearest_halves_up_and_never_to_nothing(size, factor, expected) -> None:
    assert Times(Fraction(factor))(size) == expected


@each_row
def test_a_row_for_encoders_only_is_no_language_model(plain_errors: None, row: Variant) -> None:
    """It would see the future, or be the vanilla model under another name."""
    alone = dataclasses.replace(row, family=TransformerLM)
    if row.name not in ENCODER_ONLY:
        assert isinstance(build(alone), TransformerLM)
        return
    with pytest.raises(ValueError, match=r"is for encoders only: .* Build a TransformerEncoder or an EncoderDecoder"):
        build(alone)
    assert isinstance(TransformerEncoder(row.config(VOCAB, **SIZES)), TransformerEncoder)


def test_an_attention_without_a_state_is_no_part_of_a_decoder(plain_errors: None) -> None:
    blind = dataclasses.replace(vanilla(VOCAB, **SIZES), attention=lambda c, causal: FourierMixing(c))
    for model in (TransformerLM, EncoderDecoder):
        with pytest.raises(ValueError, match="FourierMixing is not called with"):
            model(blind)
    assert TransformerEncoder(blind)(TOKENS).shape == (3, 5, 20)


def test_a_part_of_another_size_is_handed_in() -> None:
    config = CATALOGUE["Switch Transformer"].config(VOCAB, **SIZES)
    model = TransformerLM(dataclasses.replace(config, stack=partial(build_switch, n_experts=3, every=1)))
    parts: list[Any] = [layer.feed_forward for layer in model.layers]
    assert [len(part.experts) for part in parts] == [3, 3]


@each_row
def test_a_row_changes_the_fields_it_names_and_no_other(row: Variant) -> None:
    base, c = vanilla(VOCAB, **SIZES), row.config(VOCAB, **SIZES)
    assert {name for name in base.__dict__ if getattr(base, name) != getattr(c, name)} <= set(row.changes)
    assert str(row).startswith(f"{row.name}: {row.difference}")
    assert str(row).endswith(f"; {row.source}")
    assert "0x" not in repr(row)
    assert "_VariableFunctions" not in str(row)


def test_unknown_names_and_sizes_are_named(plain_errors: None) -> None:
    with pytest.raises(KeyError, match="'swi-glu' is no row of the catalogue; did you mean 'SwiGLU'"):
        CATALOGUE["swi-glu"]
    with pytest.raises(KeyError, match="rows are 'Vanilla Transformer', 'GeLU'"):
        CATALOGUE["qqqq"]
    assert CATALOGUE.get("qqqq") is None
    row = CATALOGUE["GLU"]
    with pytest.raises(TypeError, match=r"the sizes of a row are d_model, .*, got 'n_layer', near n_layers"):
        row.build(VOCAB, n_layer=3)
    with pytest.raises(TypeError, match=r"the sizes of a row are .*, got 'tie_embeddings'"):
        CATALOGUE["Untied embeddings"].build(VOCAB, tie_embeddings=True)
    with pytest.raises(ValueError, match="d_model=100, n_heads=6"):
        row.build(VOCAB, d_model=100)
    with pytest.raises(ValueError, match="n_heads=3, n_kv_heads=2"):
        CATALOGUE["24 layers, d_ff = 1536, H = 6"].build(VOCAB, n_kv_heads=2)
    with pytest.raises(ValueError, match=r"fields of TransformerConfig, got \['n_layer'\]"):
        Variant("x", {"n_layer": 3}, "nobody")
    with pytest.raises(TypeError, match="changes must be a dictionary of fields of TransformerConfig, got None"):
        Variant("x", None, "nobody")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="family must be TransformerLM, EncoderDecoder or the like, got 'lm'"):
        Variant("x", {}, "nobody", "lm")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        row.changes["norm"] = RMSNorm  # type: ignore[index]


@each_language_model
def test_laws_of_a_language_model(row: Variant) -> None:
    model = awake(row)
    assert model(TOKENS)[0].std() > 0.1
    assert_language_model(model, TOKENS, tolerance=1e-4)


@each_encoder_decoder
def test_laws_of_an_encoder_decoder(row: Variant) -> None:
    model = awake(row)
    assert_language_model(model, TOKENS, model.encode(SOURCE, MASK), tolerance=1e-4)


@each_encoder_decoder
def test_padding_of_the_source_changes_nothing(unchecked: None, row: Variant) -> None:
    model = awake(row)
    with torch.no_grad():
        alone, _ = model(TOKENS, model.encode(SOURCE))
        longer = torch.cat([SOURCE, TOKENS[:, :3]], dim=1)
        padded, _ = model(TOKENS, model.encode(longer, torch.arange(7).expand(3, 7) < 4))
        seen, _ = model(TOKENS, model.encode(longer))
    assert_close(padded, alone, "logits of a padded source", 1e-4)
    assert (seen - alone).abs().max() > 1e-3, "without a mask the padding must be seen"


@pytest.mark.parametrize(
    "row", [row for row in AS_THE_PAPER_RAN_IT if row.name not in EXPERTS], ids=lambda row: row.name
)
def test_every_parameter_of_an_encoder_decoder_gets_a_gradient(row: Variant) -> None:
    model = build(row)
    train(model, 2, 0.01)  # the encoder is heard once the decoder's branches are
    model.zero_grad()
    assert_every_parameter_gets_a_gradient(model, logits(model))


def reached(model: Any) -> set[str]:
    """The names of parameters that the first gradient reaches, without the layer's place."""
    train(model, 1, 0.0)
    names = {name for name, p in model.named_parameters() if p.grad is not None and p.grad.any()}
    return {re.sub(r"layers\.\d+\.", "", name) for name in names}


def test_the_first_gradient_of_rezero_reaches_its_numbers_alone() -> None:
    alphas = {"residual_attention.alpha", "residual_feed_forward.alpha"}
    assert reached(build(CATALOGUE["Rezero"])) == {"embedding.weight"} | alphas


def test_the_first_gradient_of_fixup_reaches_the_last_matrices() -> None:
    last = {"attention.output.weight", "feed_forward.outer.weight"}
    assert reached(build(CATALOGUE["Fixup"])) == {"embedding.weight"} | last


@pytest.mark.parametrize("family", [TransformerLM, EncoderDecoder])
@pytest.mark.parametrize("name", ["Rezero", "Rezero + LayerNorm", "Rezero + RMS Norm", "Fixup"])
def test_a_new_network_is_the_identity(name: str, family: Callable) -> None:
    model = build(dataclasses.replace(CATALOGUE[name], family=family))
    x = torch.randn(3, 7, 20, generator=torch.Generator().manual_seed(1))
    stacks = [model.layers] if family is TransformerLM else [model.encoder.layers, model.decoder.layers]
    *encoders, decoder = stacks
    memories = decoder.project_source(x[:, :5]) if encoders else None
    assert all(torch.equal(y, x) for y in (decoder(x, None, memories)[0], *(stack(x) for stack in encoders)))
    train(model, 2, 0.02)
    assert not torch.equal(decoder(x, None, memories)[0], x)


def test_rezero_is_its_equation() -> None:
    norm = RMSNorm(4)
    rule = ReZero(dataclasses.replace(vanilla(VOCAB, **SIZES), norm=lambda d_model: norm))
    x, y = torch.randn(2, 1, 3, 4, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        rule.alpha.fill_(0.25)
        norm.weight.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    assert_close(rule(x), norm(x), "before")
    assert_close(rule(x, y), x + 0.25 * y, "after")


def test_dropout_is_applied_to_the_branch_alone() -> None:
    x = torch.ones(1, 200, 5)
    c = dataclasses.replace(vanilla(VOCAB, **SIZES), norm=nn.Identity, dropout=0.5)
    for rule in (ReZero(c), Fixup(c)):
        with torch.no_grad():
            for parameter in rule.parameters():
                parameter.fill_(1.0)
        torch.manual_seed(0)
        assert rule(x, x).unique().tolist() == [1.0, 3.0]  # x, or x + 2 y
        assert rule.eval()(x, x).unique().tolist() == [2.0]


def test_fixup_is_its_equations() -> None:
    rule, network = Fixup(vanilla(VOCAB, **SIZES)), FixupFeedForward(3, 5, torch.tanh)
    x, y = torch.randn(2, 1, 2, 3, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        rule.scale.fill_(3.0)
        rule.bias.fill_(0.5)
        network.inner_bias.fill_(0.7)
        network.outer_bias.fill_(-0.2)
    assert_close(rule(x), x + 0.5, "before")
    assert_close(rule(x, y), x + 3.0 * y, "after")
    inner, outer, expected = network.inner.weight.detach(), network.outer.weight.detach(), torch.zeros(1, 2, 3)
    for t in range(2):
        hidden = [math.tanh((inner[j] @ x[0, t]).item() + 0.7) - 0.2 for j in range(5)]
        for i in range(3):
            expected[0, t, i] = sum(outer[i, j].item() * hidden[j] for j in range(5))
    assert_close(network(x), expected, "feed-forward")


@pytest.mark.parametrize(("family", "branches"), [(TransformerLM, 2 * 3), (EncoderDecoder, 2 * 3 + 3 * 3)])
def test_fixups_first_weights(family: Callable, branches: int) -> None:
    """Uniform within ±√(6 / (in + out)) L^(−1/6) in attention and ±√(6 / in) L^(−1/2) before ReLU; the last ones 0."""
    row = dataclasses.replace(CATALOGUE["Fixup"], family=family)
    model = build(row, d_model=60, n_heads=5, d_head=8, n_layers=3, d_ff=150)
    layer = (model if family is TransformerLM else model.decoder).layers[1]
    bounds = {
        layer.attention.query: math.sqrt(6 / (60 + 40)) * branches ** (-1 / 6),
        layer.attention.value: math.sqrt(6 / (60 + 40)) * branches ** (-1 / 6),
        layer.feed_forward.inner: math.sqrt(6 / 60) * branches ** (-1 / 2),
    }
    for part, bound in bounds.items():
        assert part.weight.abs().max().item() == pytest.approx(bound, rel=0.02)
        assert part.weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)
    assert len(layer.last_matrices()) == (2 if family is TransformerLM else 3)
    assert not any(matrix.weight.any() for matrix in layer.last_matrices())


def test_fixups_softmax_starts_at_zero_where_it_is_its_own() -> None:
    config = CATALOGUE["Fixup"].config(VOCAB, **SIZES)
    assert not TransformerLM(dataclasses.replace(config, tie_embeddings=False)).output.weight.any()
    assert TransformerLM(config).output.weight.std() > 0.01


@pytest.mark.parametrize(
    ("name", "activation"),
    [
        ("GLU", torch.sigmoid),
        ("GeGLU", F.gelu),
        ("ReGLU", lambda x: x.clamp(min=0)),
        ("SwiGLU", lambda x: x * torch.sigmoid(x)),
        ("LiGLU", lambda x: x),
    ],
)
def test_gated_rows_are_their_equation(name: str, activation: Callable) -> None:
    network = build(CATALOGUE[name]).layers[1].feed_forward
    assert isinstance(network, GatedFeedForward)
    W, V = network.inner.weight[:24], network.inner.weight[24:]  # 24 = 2/3 of 36
    x = torch.randn(2, 3, 20, generator=torch.Generator().manual_seed(5))
    expected = (activation(x @ W.T) * (x @ V.T)) @ network.outer.weight.T
    assert_close(network(x), expected, name)


@pytest.mark.parametrize(
    ("name", "activation"),
    [
        ("Vanilla Transformer", lambda x: x.clamp(min=0)),
        ("GeLU", lambda x: x * (1 + torch.erf(x / math.sqrt(2))) / 2),
        ("Swish", lambda x: x / (1 + torch.exp(-x))),
        ("ELU", lambda x: torch.where(x > 0, x, torch.exp(x) - 1)),
        ("SeLU", lambda x: 1.0507010 * torch.where(x > 0, x, 1.6732632 * (torch.exp(x) - 1))),
        ("Sigmoid", lambda x: 1 / (1 + torch.exp(-x))),
        ("Softplus", lambda x: torch.log(1 + torch.exp(x))),
    ],
)
def test_activations_are_their_equation(name: str, activation: Callable) -> None:
    part = CATALOGUE[name].config(VOCAB).feed_forward
    assert isinstance(part, partial)
    x = torch.linspace(-4, 4, 41)
    assert_close(part.keywords["activation"](x), activation(x), name)


def test_all_layers_of_a_stack_have_one_table_of_positions() -> None:
    model = build(dataclasses.replace(CATALOGUE["Vanilla Transformer"], family=EncoderDecoder))
    for stack in (model.encoder.layers, model.decoder.layers):
        assert len({id(layer.attention.positions) for layer in stack}) == 1
    assert model.encoder.layers[0].attention.positions is not model.decoder.layers[0].attention.positions
    assert model.decoder.layers[0].cross_attention.positions is None


@pytest.mark.parametrize(
    ("name", "source", "output"),
    [
        ("Tied encoder/decoder input embeddings", True, False),
        ("Tied decoder input and output embeddings", False, True),
        ("Untied embeddings", False, False),
    ],
)
def test_embeddings_are_tied_as_the_row_says_and_stay_so(name: str, source: bool, output: bool) -> None:
    model = build(CATALOGUE[name])
    for fresh in (model, copy.deepcopy(model)):
        train(fresh, 1, 0.01)
        encoder, decoder, softmax = fresh.encoder.embedding.weight, fresh.decoder.embedding.weight, fresh.output.weight
        assert (encoder is decoder) is source
        assert (softmax is decoder) is output
        assert torch.equal(encoder, decoder) is source
        assert torch.equal(softmax, decoder) is output
