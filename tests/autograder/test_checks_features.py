"""What the exercises of "features" promise beyond what every assignment must (`test_checks.py`)."""

import itertools

import pytest
import torch
from torch.nn import functional as F

from autograder.question.draw import Draw
from nlmcore.inspect import SparseAutoencoder, ToyAutoencoder, unexplained
from nlmcore.metrics import exposure
from nlmcore.metrics.significance import mcnemar
from solutions.features.checks import EXERCISES, activations, answered, features, probabilities, scored, tied, untended

REFERENCE = {exercise.function: exercise.reference for exercise in EXERCISES.values()}


def test_the_toy_is_the_librarys():
    x, weight, bias, importance = features(Draw(0, 5), 4, 2, 5)
    toy = ToyAutoencoder(5, 2)
    toy.load_state_dict({"weight": weight[None], "bias": bias[None]})
    read, loss = REFERENCE["toy_loss"](x, weight, bias, importance)
    assert torch.allclose(read, toy(x[None])[0])
    assert torch.allclose(loss, toy.loss(x[None], importance)[0])


def test_the_losses_in_one_dimension_are_those_of_the_toy():
    p, importance = 0.4, torch.tensor([1.5, 0.6], dtype=torch.float64)
    draw = torch.Generator().manual_seed(0)
    x = torch.rand(400_000, 2, generator=draw, dtype=torch.float64)
    x = x * (torch.rand(400_000, 2, generator=draw, dtype=torch.float64) < p)
    alone, shared, linear, turn = REFERENCE["two_in_one"](p, *importance.tolist())
    none = torch.zeros(2, dtype=torch.float64)
    for weight, wanted in (([[1.0, 0.0]], alone), ([[1.0, -1.0]], shared)):
        found = REFERENCE["toy_loss"](x, torch.tensor(weight, dtype=torch.float64), none, importance)[1]
        assert float(found) == pytest.approx(wanted, rel=0.02)
    apart = x[:, :1] - x[:, 1:]
    lost = importance * (x - torch.cat([apart, -apart], 1)) ** 2
    assert float(lost.sum(1).mean()) == pytest.approx(linear, rel=0.02)
    same = REFERENCE["two_in_one"](turn, *importance.tolist())
    assert same[0] == pytest.approx(same[1])


def test_the_autoencoder_is_the_librarys_and_tending_changes_nothing_that_it_computes():
    x, encoder, directions, centre, k = activations(Draw(0, 5), 6, 3, 5)
    library = SparseAutoencoder(3, 5, k)
    library.load_state_dict({"encoder": encoder, "directions": directions, "centre": centre})
    z, back, loss, left = REFERENCE["sparse_code"](x, encoder, directions, centre, k)
    assert torch.allclose(z, library.encode(x))
    assert torch.allclose(back, library(x))
    assert float(loss) == pytest.approx(float((x - back).square().sum(1).mean()))
    assert float(left) == pytest.approx(unexplained(x, back))
    long, encoder, _ = untended(Draw(1, 5), 6, 3, 5)
    short, grown, _ = REFERENCE["tend"](long, encoder, torch.ones(1, 5))
    assert torch.allclose(short, F.normalize(long, dim=1))
    back = REFERENCE["sparse_code"](x, grown, short, centre, 5)[1]
    assert torch.allclose(back, ((x - centre) @ encoder.T).relu() @ long + centre)


def test_the_exposure_is_the_librarys():
    for log_p, secret in (probabilities(Draw(0, 9), 3, 8), tied(Draw(1, 5))):
        found = REFERENCE["exposure"](log_p, secret)[1].tolist()
        assert found == pytest.approx([exposure(row, int(i)) for row, i in zip(log_p, secret, strict=True)])


def test_the_paired_test_is_the_librarys_and_what_was_needed_suffices():
    for gone, new in itertools.product(range(9), repeat=2):
        before, after = answered(Draw(gone, 5), gone, new)
        *counts, p, needed = REFERENCE["changed"](before, after)
        assert counts == [gone, new]
        assert p == pytest.approx(mcnemar(before, after))
        n = gone + new
        signs = {k: mcnemar([1] * k + [0] * (n - k), [0] * k + [1] * (n - k)) for k in range(n + 1) if 2 * k >= n}
        enough = [k for k, p in signs.items() if p <= 0.05]
        assert needed == min(enough, default=0)


def test_a_level_moves_the_share_and_not_the_agreement():
    table, control = scored(Draw(0, 5), 6, 3)
    lead, share, agreement = REFERENCE["lean"](table, control)
    moved = REFERENCE["lean"](table + 9, control)
    assert moved[1] == 1 != share
    assert moved[2] == agreement
    both = REFERENCE["lean"](table + 9, control + 9)
    assert torch.allclose(both[0], lead, atol=1e-5)


def test_on_the_page_seeds_differ_and_the_control_is_not_exposed():
    _, bits, signs = REFERENCE["which_secret"](6, [0, 1, 2, 3, 4])
    assert {row[0] for row in signs} == {-1}
    assert {row[1] for row in signs} == {1}
    assert {row[3] for row in signs} == {-1, 1}
    assert all(row[1] > row[2] > row[0] for row in bits)


def test_over_many_seeds_the_bar_promises_what_the_page_says():
    _, bits, signs = REFERENCE["which_secret"](6, range(200))
    none, _, removed, near = (sum(row[i] > 0 for row in signs) for i in range(4))
    assert none == pytest.approx(200 / 20, abs=6)
    assert none < removed < near
    assert sum(row[2] - row[0] for row in bits) > 0
