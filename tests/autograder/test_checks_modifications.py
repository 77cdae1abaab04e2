"""What the exercises of "modifications" promise beyond what every assignment must (`test_checks.py`)."""

import random
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np
import pytest
import torch

from autograder.question.draw import Draw
from lectures.recipes.narang import RATE, VANILLA, ours
from nlmcore.metrics import significance
from nlmcore.transformer import FeedForward
from nlmcore.variants.factorised import FactorisedEmbedding
from nlmcore.variants.mixture_of_experts import MixtureOfExperts
from solutions.modifications.checks import EXERCISES, experts_of, layer_of


def reference(name):
    return EXERCISES[f"modifications.{name}"].reference


def some(count):
    chance = random.Random(count)
    return [round(chance.gauss(3, 0.2), 3) for _ in range(count)]


def test_experts_are_those_of_the_course():
    draw = Draw(1, 5)
    layer, x = experts_of(draw, 5, 7, 3), draw.normal(2, 4, 5)
    model: Any = MixtureOfExperts(5, 7, 3, 1, partial(FeedForward, activation=torch.relu, bias=False)).eval()
    with torch.no_grad():
        model.router.weight.copy_(layer["router"].T)
        for e, expert in enumerate(model.experts):
            expert.inner.weight.copy_(layer["inner"][e].T)
            expert.outer.weight.copy_(layer["outer"][e].T)
        wanted = model(x)
        y, balance, dropped = reference("experts")(x, layer, 3.0)
    assert torch.allclose(y, wanted, atol=1e-5)
    assert torch.allclose(balance, model.balance)
    assert dropped == 0


def test_the_gradient_is_that_of_the_balance_loss():
    scores = torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    share, _, loss = reference("balance")(scores)
    (wanted,) = torch.autograd.grad(loss, scores)
    _, gradient = reference("balance_gradient")(scores.softmax(1).detach().numpy(), share.detach().numpy())
    assert np.allclose(gradient, wanted)


def test_factorised_embeddings_are_those_of_the_course():
    model, tokens = FactorisedEmbedding(11, 6, 2), torch.tensor([[3, 10, 3]])
    hidden = torch.randn(1, 3, 6)
    vectors, scores = reference("embed")(tokens, hidden, model.narrow.weight, model.widen.weight.T)
    assert torch.allclose(vectors, model(tokens), atol=1e-6)
    assert torch.allclose(scores, model.scores(hidden), atol=1e-5)


def test_costs_are_those_of_the_layers_of_the_page():
    draw, d, d_ff, vocab, time = Draw(1, 5), 6, 10, 13, 4
    sizes = {"vocab": vocab, "d_model": d, "d_ff": d_ff, "time": time, "inner": 0, "untied": False}
    for n in (1, 3):
        layer = layer_of(draw, d, d_ff, 0.0) | (experts_of(draw, d, d_ff, n) if n > 1 else {})
        entries = sum(w.numel() for w in layer.values() if torch.is_tensor(w))
        parameters, _ = reference("costs")(sizes | {"n_layers": 2, "experts": n})
        assert parameters == 2 * entries + (vocab + time) * d


def test_tests_corrections_and_correlations_are_those_of_the_course():
    x, y = some(5), some(8)
    _, freedom, p = reference("welch")(x, y)
    assert p == pytest.approx(significance.welch(significance.summary(x), significance.summary(y)), rel=1e-6)
    gap, half = reference("paired")(x, y[:5])
    assert half == pytest.approx(significance.critical(4) * np.std(np.subtract(x, y[:5]), ddof=1) / 5**0.5, rel=1e-6)
    assert gap == pytest.approx(fmean(x) - fmean(y[:5]))
    values = {str(i): v for i, v in enumerate((0.3, 0.001, 0.02, 0.021, 0.02, 0.9))}
    assert reference("holm")(list(values.values())) == pytest.approx(list(significance.holm(values).values()))
    tied = [1.0, 2.0, 2.0, 3.0, 2.0, 0.5, 7.0, 0.5]
    ranks, rho = reference("rank_correlation")(tied, y)
    assert ranks.tolist() == significance.ranks(tied).tolist()
    assert float(rho) == pytest.approx(float(significance.spearman(tied, y)))
    assert freedom > 3


def test_the_judge_says_of_the_stored_trainings_what_the_course_says():
    runs = ours()
    stored = [run["job"] | {"losses": [run["early"], run["final"]]} for of in runs.values() for run in of]
    gaps, corrected, verdicts = reference("judge")(stored, VANILLA, RATE)
    losses = {row: significance.summary([run["final"] for run in of]) for row, of in runs.items()}
    wanted = significance.against(losses.pop(VANILLA), losses)
    assert set(gaps) == set(wanted)
    for row, of in wanted.items():
        assert gaps[row] == pytest.approx(of.difference)
        assert corrected[row] == pytest.approx(of.corrected, rel=1e-4)
        assert verdicts[row] == (of.corrected < 0.05) * (1 if of.difference < 0 else -1)
