"""Synthesizers: scores by loops, who reads what, and places that a text cannot go beyond."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.inspect import capture
from nlmcore.positions import Rotary
from nlmcore.transformer import EncoderDecoder, TransformerEncoder, TransformerLM
from nlmcore.variants import CATALOGUE
from nlmcore.variants.synthesizer import (
    DenseScores,
    FactorisedDenseScores,
    FactorisedRandomScores,
    Plus,
    PlusAlpha,
    RandomScores,
    build_plain,
)
from nlmcore.variants.variant import vanilla
from tests.laws import assert_chunking_law, assert_close, assert_every_parameter_gets_a_gradient
from tests.nlmcore.variants.test_catalogue import MASK, SIZES, SOURCE, TOKENS, VOCAB, awake, build, logits, stirred

ROWS = {name: row for name, row in CATALOGUE.items() if name.startswith("Synthesizer")}
HEADS, WIDTH, LENGTH = 3, 4, 7
each_row = pytest.mark.parametrize("name", ROWS)


def normal(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def made(kind: Callable[..., nn.Module], **options: Any) -> Any:
    torch.manual_seed(0)
    return stirred(kind(HEADS, WIDTH, LENGTH, **options))


def by_hand(part: Any, q: Tensor, h: int, t: int, s: int) -> float:
    """S_ts of head h by the equations, one number at a time; q (d_head,)."""
    hidden = [max(0.0, number) for number in q.tolist()]

    def score(row: Tensor) -> float:
        return sum(w * x for w, x in zip(row.tolist(), hidden, strict=True))

    if isinstance(part, RandomScores):
        return part.table[h, t, s].item()
    if isinstance(part, FactorisedRandomScores):
        return sum((part.queries[h, t, r] * part.keys[h, s, r]).item() for r in range(part.keys.shape[2]))
    if isinstance(part, DenseScores):
        return score(part.outer.weight[s])
    return score(part.block.weight[s // 3]) * score(part.within.weight[s % 3])  # 3 · 3 places for 7


@pytest.mark.parametrize("kind", [RandomScores, FactorisedRandomScores, DenseScores, FactorisedDenseScores])
@pytest.mark.parametrize(("queries", "keys"), [(7, 7), (2, 5), (1, 1)])
def test_scores_are_their_equation_and_the_queries_are_the_last_places(kind: Any, queries: int, keys: int) -> None:
    part, q = made(kind), normal(2, HEADS, queries, WIDTH)
    scores = part(q, keys).expand(2, -1, -1, -1)
    assert scores.shape == (2, HEADS, queries, keys)
    for b, h, i, s in torch.cartesian_prod(*map(torch.arange, scores.shape)).tolist():
        expected = by_hand(part, q[b, h, i], h, keys - queries + i, s)
        assert scores[b, h, i, s].item() == pytest.approx(expected, abs=1e-5)


def test_both_halves_of_a_place_have_just_enough_room() -> None:
    for length in range(1, 40):
        part = FactorisedDenseScores(2, 3, length)
        a, b = part.block.out_features, part.within.out_features
        assert (a - 1) * b < length <= a * b
        assert abs(a - b) <= 1


def test_first_tables() -> None:
    torch.manual_seed(0)
    for part, std in (
        (RandomScores(4, 3, 60), 0.02),
        (RandomScores(4, 3, 60, trained=False), 1.0),
        (FactorisedRandomScores(4, 3, 60), 0.02),
    ):
        assert part(torch.zeros(1, 4, 60, 3), 60).std().item() == pytest.approx(std, rel=0.1)
    assert FactorisedRandomScores(4, 3, 60).keys.shape == (4, 60, 16)


def test_what_is_joined() -> None:
    scores, dots = normal(1, 2, 3, 4), normal(5, 2, 3, 4, seed=1)
    assert_close(Plus()(scores, dots), scores + dots, "plus")
    alpha = PlusAlpha()
    assert_close(alpha(scores, dots), (scores + dots) / 2, "α = 1/2 at the start")
    with torch.no_grad():
        alpha.alpha.fill_(math.log(3))  # σ = 3/4
    assert_close(alpha(scores, dots), 0.75 * scores + 0.25 * dots, "three of four parts S")


def mixed_by_hand(layer: Any, x: Tensor) -> Tensor:
    """A causal Synthesizer of one text x (time, d_model), by loops over heads and places."""
    heads, d = layer.n_heads, layer.d_head
    q, k, v = (
        (x @ part.weight.T).unflatten(-1, (heads, d)) if part is not None else None
        for part in (layer.query, layer.key, layer.value)
    )
    bias = layer.positions.bias(torch.zeros(1, heads, len(x), d), torch.zeros(1, heads, len(x), d))
    scores = layer.scores(torch.zeros(1, heads, len(x), d) if q is None else q.transpose(0, 1)[None], len(x))
    rows = []
    for t in range(len(x)):
        parts = []
        for h in range(heads):
            numbers = []
            for s in range(t + 1):
                number = scores[0, h, t, s]
                if layer.joined is not None:
                    dot = (q[t, h] @ k[s, h]) / math.sqrt(d)
                    a = layer.joined.alpha.sigmoid() if isinstance(layer.joined, PlusAlpha) else None
                    number = number + dot if a is None else a * number + (1 - a) * dot
                numbers.append(number + bias[0, h, t, s])
            weights = torch.stack(numbers).softmax(0)
            parts.append(sum(w * v[s, h] for s, w in enumerate(weights)))
        rows.append(torch.cat(parts))
    return torch.stack(rows) @ layer.output.weight.T


@each_row
def test_a_row_is_its_equation(name: str) -> None:
    layer, x = awake(ROWS[name]).layers[1].attention, normal(4, 20)
    with torch.no_grad():
        assert_close(layer(x[None])[0][0], mixed_by_hand(layer, x), name)


@each_row
def test_rows_have_the_matrices_that_they_use(name: str) -> None:
    """Random scores ask nobody, dense ones the queries, "plus" both; heads as in Narang's code where they are his."""
    layer = build(ROWS[name]).layers[0].attention
    assert (layer.query is not None) == ("dense" in name or "plus" in name)
    assert (layer.key is not None) == ("plus" in name)
    assert (layer.n_heads, layer.d_head) == ((6, 4) if "Tay" in ROWS[name].paper else (4, 8))


def test_a_fixed_table_is_no_parameter_and_is_kept_with_the_model() -> None:
    model = build(ROWS["Synthesizer (random, fixed)"])
    assert not [name for name, _ in model.named_parameters() if "table" in name]
    assert "layers.0.attention.scores.table" in model.state_dict()
    tables = [layer.attention.scores.table for layer in model.layers]
    assert not torch.equal(*tables), "each layer has its own"


@pytest.mark.parametrize("window", [2, 9])
def test_a_window_is_what_a_position_sees(window: int) -> None:
    row = ROWS["Synthesizer (dense plus alpha)"]
    model = awake(replace(row, changes={**row.changes, "window": window}))
    with torch.no_grad():
        assert_chunking_law(model, TOKENS, tolerance=1e-4)
    with capture(model) as tape, torch.no_grad():
        model(TOKENS)
    seen = (tape["layers.1.attention"][0, 0] > 0).sum(-1).tolist()
    assert seen == ([1, 2, 2, 2, 2] if window == 2 else [1, 2, 3, 4, 5])


def test_a_text_with_nothing_to_see_gives_finite_vectors() -> None:
    config = ROWS["Synthesizer (dense)"].config(VOCAB, **SIZES)
    model = stirred(EncoderDecoder(config))
    mask = MASK.clone()
    mask[0] = False
    out = logits(model)
    assert torch.isfinite(model(TOKENS, model.encode(SOURCE, mask))[0]).all()
    assert_every_parameter_gets_a_gradient(model, out)


def test_dropout_falls_on_the_weights_in_training_alone() -> None:
    config = replace(vanilla(VOCAB, **{**SIZES, "n_layers": 1}), dropout=0.5)
    layer = build_plain(config, True, RandomScores)
    x = normal(2, 5, 20)
    torch.manual_seed(0)
    first, second = layer(x)[0], layer(x)[0]
    assert not torch.equal(first, second)
    assert torch.equal(layer.eval()(x)[0], layer(x)[0])


def test_what_does_not_fit_is_named(plain_errors: None) -> None:
    row = ROWS["Synthesizer (random)"]
    model = build(row)
    long = torch.zeros(1, 10, dtype=torch.long)
    with pytest.raises(ValueError, match="the text has 10 tokens, this model knows 9 positions"):
        model(long)
    _, state = model(long[:, :9])
    with pytest.raises(ValueError, match="the text has 10 tokens"):
        model(long[:, :1], state)
    with pytest.raises(ValueError, match="this model knows 9 positions"):
        TransformerEncoder(row.config(VOCAB, **SIZES))(long)
    with pytest.raises(ValueError, match="n_kv_heads must be None: every head has values of its own, got 2"):
        build(row, n_kv_heads=2)
    with pytest.raises(TypeError, match="KeyValueCache of an earlier call, got tuple"):
        model.layers[0].attention(normal(1, 2, 20), (1, 2))
    with pytest.raises(TypeError, match="a bias of the scores alone, like RelativeBias, got Rotary"):
        TransformerLM(replace(row.config(VOCAB, **SIZES), attention_positions=Rotary, share=lambda stack: None))
