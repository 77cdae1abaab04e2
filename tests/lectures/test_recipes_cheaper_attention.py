"""Recipes about cheaper attention: what is counted, shuffled, hidden and masked is what their headers say."""

import statistics
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from lectures.recipes import attention_rank, needle, sparse_cost, windows
from lectures.recipes.costs import multiply_adds, seconds
from nlmcore.attention import causal_mask, window_mask
from nlmcore.transformer import MaskedLM, TransformerConfig, TransformerEncoder, TransformerLM

CONFIG = TransformerConfig(
    vocab_size=11, d_model=24, n_heads=3, n_kv_heads=1, n_layers=2, max_length=64, d_ff=40, attention_bias=False
)

# --- costs ---


@pytest.mark.parametrize("name", sparse_cost.layers(CONFIG, 8, 4, 5))
def test_multiply_adds_of_cheaper_layers_are_counted(name):
    part, n = sparse_cost.layers(CONFIG, 8, 4, 5)[name], 64
    x = torch.randn(1, n, 24)
    work = partial(sparse_cost.explicitly, part, x) if name == sparse_cost.WRITTEN else partial(part, x)
    assert multiply_adds(work) == sparse_cost.multiply_adds(name, part, CONFIG, n)


def test_the_equation_as_written_and_the_kernel_agree():
    part, x = sparse_cost.layers(CONFIG, 8, 4, 5)[sparse_cost.FUSED], torch.randn(1, 20, 24)
    assert torch.allclose(sparse_cost.explicitly(part, x), part(x), atol=1e-5)


def test_the_median_of_all_runs():
    taken = []

    def keep(times):
        taken.extend(times)
        return statistics.median(times)

    assert seconds({"a": lambda: None}, 5, keep)["a"] == statistics.median(taken)
    assert len(taken) == 5


# --- ranks ---


def test_singular_values_that_hold_nine_tenths():
    assert attention_rank.held_by(torch.tensor([[6.0, 2.0, 1.0, 1.0], [10.0, 0.0, 0.0, 0.0]])) == [3, 1]
    assert attention_rank.measured(torch.eye(10)) == {"sum": [9], "squares": [9]}
    assert attention_rank.measured(torch.full((7, 7), 1 / 7)) == {"sum": [1], "squares": [1]}


@pytest.mark.parametrize("causal", [False, True])
def test_shuffling_keeps_every_rows_weights_and_the_mask(causal):
    allowed = causal_mask(9) if causal else torch.ones(9, 9, dtype=torch.bool)
    weights = torch.randn(2, 3, 9, 9).masked_fill(~allowed, -torch.inf).softmax(-1)
    other = attention_rank.shuffled(weights, causal, torch.Generator().manual_seed(0))
    assert torch.equal(other.sort(-1).values, weights.sort(-1).values)
    assert (other[..., ~allowed] == 0).all()
    assert not torch.equal(other, weights)


def test_the_best_approximation_is_the_best():
    weights = torch.randn(6, 6).softmax(-1)
    near = attention_rank.rank_of(weights, 2)
    assert torch.linalg.matrix_rank(near, atol=1e-5) == 2
    values = torch.linalg.svdvals(weights)
    assert (weights - near).norm().item() == pytest.approx(values[2:].norm().item(), rel=1e-4)
    assert torch.allclose(attention_rank.rank_of(weights, 6), weights, atol=1e-5)


def test_a_model_is_approximated_meanwhile():
    torch.manual_seed(0)
    model = TransformerEncoder(replace(CONFIG, n_kv_heads=3)).eval()
    texts = torch.randint(11, (2, 9))
    assert min(attention_rank.moved(model, texts, partial(attention_rank.rank_of, k=9))) == pytest.approx(1, abs=1e-3)
    before = model(texts)
    with attention_rank.approximated(model, lambda weights: 0 * weights):
        assert not torch.allclose(model(texts), before, atol=1e-6)
    assert torch.equal(model(texts), before)


# --- windows ---


def test_four_more_keys_in_three_ways():
    seen = {way: windows.mask_of(way, 20, 5)[15].nonzero().flatten().tolist() for way in windows.WAYS}
    assert seen["window"] == [11, 12, 13, 14, 15]
    assert seen["and the first 4"] == [0, 1, 2, 3, *seen["window"]]
    assert seen[windows.STRANGER] == seen["and the first 4"]
    assert seen["and 4 others"] == [4, 5, 6, 7, *seen["window"]]
    assert seen["wider by 4"] == [7, 8, 9, 10, *seen["window"]]
    for way in windows.WAYS:
        assert not (windows.mask_of(way, 20, 5) & ~causal_mask(20)).any(), "nobody sees the future"


def test_a_stranger_begins_every_text():
    texts = torch.arange(30).view(3, 10)
    other = windows.with_first_of_another(texts)
    assert torch.equal(other[:, 4:], texts[:, 4:])
    assert other[:, 0].tolist() == [20, 0, 10]


def test_a_full_mask_gives_the_models_own_loss():
    torch.manual_seed(0)
    model, texts = TransformerLM(CONFIG).eval(), torch.randint(11, (2, 17))
    found = windows.losses(model, texts, window_mask(16, None))["loss"]
    with torch.no_grad():
        wanted = [F.cross_entropy(model(t[None, :-1])[0][0, 8:], t[9:]).item() for t in texts]
    assert found == pytest.approx(wanted, abs=1e-3)


# --- cards ---


def test_cards_are_hidden_and_asked_for():
    text = torch.randint(1, needle.CARD, (500,))
    tokens, asked_at, answers, cards = needle.hide(text, 30, torch.Generator().manual_seed(0))
    assert (tokens[:, : needle.BLOCK] == 0).all()
    for row in range(30):
        found = [int(t) for t in tokens[row] if needle.CARD <= t < needle.ASK]
        assert [(card - needle.CARD) // needle.RANKS for card in sorted(found)] == list(range(needle.SUITS))
        for at, answer, card in zip(asked_at[row], answers[row], cards[row], strict=True):
            assert tokens[row, card] == answer
            assert tokens[row, at] - needle.ASK == (answer - needle.CARD) // needle.RANKS
        assert len(set(asked_at[row].tolist())) == needle.QUESTIONS


@pytest.mark.parametrize("row", ["full", "window", "window + random", "window + global", "Linformer"])
def test_where_no_way_leads_nothing_arrives(row):
    """The answer depends on a card's embedding exactly where the count of layers says that a way exists."""
    torch.manual_seed(1)
    model = MaskedLM(needle.config(row)).eval()
    needed = needle.layers_to(model)
    x = model.encoder.embed(torch.randint(1, 28, (1, needle.LENGTH))).detach().requires_grad_()
    hidden = model.encoder.layers(x)[0]
    for query in (0, 9, 40, 63):
        (gradient,) = torch.autograd.grad(hidden[query, 0], x, retain_graph=True)
        np.testing.assert_array_equal(gradient[0].abs().sum(-1) > 0, needed[query] <= needle.LAYERS)


def test_keys_per_query():
    keys = {row: needle.keys_per_query(MaskedLM(needle.config(row))) for row in needle.ROWS}
    assert keys == {
        "full": 64,
        "window": 12,
        "wider window": 70 / 64 * 21,
        "window + random": 16,
        "window + global": 20,
        "window + random + global": 24,
        "Linformer": 16,
        "Linformer, k = n": 64,
    }
