"""What the lecture `training_well` claims is what its cells compute and what was measured."""

import math

import pytest
import torch

from lectures import stored
from nlmcore.metrics import mean_interval


def losses(result: dict, name: str) -> tuple[float, float]:
    one = result["by"][name]
    return mean_interval(one["rates"][one["best"]]["test"])


def test_the_optimisers_are_pytorchs(printed: dict) -> None:
    told = printed["def largest_difference(ours, theirs):"]
    differences = [float(line.split()[-1]) for line in told.splitlines()]
    assert len(differences) == 4
    assert max(differences) < 1e-15


def test_the_race_is_as_the_answer_says(ran: dict) -> None:
    race = stored("optimisers")
    (sgd, sgd_half), (momentum, momentum_half) = losses(race, "SGD"), losses(race, "momentum")
    (adam, adam_half), (adamw, _) = losses(race, "Adam"), losses(race, "AdamW")
    assert sgd - adam > sgd_half + adam_half, "'well outside the intervals'"
    assert momentum > sgd - sgd_half - momentum_half, "'momentum is no better'"
    assert abs(adamw - adam) < adam_half, "'lies inside Adam's'"


def test_every_optimiser_has_worse_rates_on_both_sides() -> None:
    for name, one in stored("optimisers")["by"].items():
        rates = list(one["rates"])
        assert 0 < rates.index(one["best"]) < len(rates) - 1, name


def test_the_schedules_are_as_the_answer_says() -> None:
    result = stored("schedules")
    (constant, half), (both, both_half) = losses(result, "constant"), losses(result, "warm-up, cosine")
    assert constant - both > half, "'together lower'"
    assert constant - both > both_half
    for alone in ("warm-up", "cosine"):
        mean, own = losses(result, alone)
        assert abs(mean - constant) < own + half, "'either one alone changes nothing'"


def test_a_strong_decay_wins_and_slower_overfitting_is_overfitting() -> None:
    ends = {name: mean_interval(row["test"]) for name, row in stored("overfitting")["results"].items()}
    (decay, half), (stopped, stopped_half) = ends["weight decay"], ends["early stopping"]
    assert stopped - decay > half + stopped_half
    assert min(ends["dropout"][0], ends["fewer units"][0]) > stopped + 0.5
    assert ends["more data"][0] < decay - 0.2
    assert stored("overfitting")["results"]["weight decay"]["strength"] == "1", "'the strongest that we tried'"


def test_adams_first_step_is_the_rate(ran: dict) -> None:
    assert ran["first_steps"] == pytest.approx({0.001: 0.05, 1.0: 0.05, 1000.0: 0.05}, rel=1e-4)


def test_normalisation_is_pytorchs(ran: dict) -> None:
    h = torch.randn(9, 5, dtype=torch.float64)
    torch.testing.assert_close(ran["normalise"](h, 1), torch.nn.functional.layer_norm(h, (5,)))
    torch.testing.assert_close(ran["normalise"](h, 0), torch.nn.functional.batch_norm(h, None, None, training=True))


def test_the_interval_is_that_of_the_library(ran: dict) -> None:
    for n in (2, 5, 12):
        values = torch.randn(n, dtype=torch.float64).tolist()
        assert ran["interval"](values) == pytest.approx(mean_interval(values))


def test_patients_show_what_is_said_of_them(ran: dict) -> None:
    by_fault = {fault: ran["charts"][f"patient {letter}"] for letter, fault in ran["FAULTS"].items()}
    last = {fault: sum(values[-10:]) / 10 for fault, (values, _) in by_fault.items()}
    assert last["reads the target"] < 0.5 * last["none"]
    assert by_fault["weights 0"][0][0] == pytest.approx(math.log(ran["V"]), abs=1e-4)
    norms = by_fault["gradients kept"][1]
    assert norms[-1] > 3 * norms[10]
    assert max(norms) > 3 * max(max(by_fault[fault][1]) for fault in by_fault if fault != "gradients kept")
    healthy = last.pop("none")
    assert all(healthy < value for fault, value in last.items() if fault != "reads the target")
