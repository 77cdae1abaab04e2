"""What the lecture `training_well` claims is what its cells compute and what was measured."""

import pytest
import torch

from lectures import stored
from nlmcore.metrics import mean_interval


def test_the_optimisers_are_pytorchs(ran: dict) -> None:
    differences = [ran["largest_difference"](our, its) for our, its in ran["theirs"].items()]
    assert len(differences) == 4
    assert max(differences) < 1e-15


@pytest.mark.parametrize("result", ["optimisers", "schedules", "minibatches"])
def test_every_contestant_has_worse_rates_on_both_sides(result: str) -> None:
    for name, one in stored(result)["by"].items():
        rates = list(one["rates"])
        assert 0 < rates.index(one["best"]) < len(rates) - 1, name


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
    norms = by_fault["gradients kept"][1]
    assert norms[-1] > 3 * norms[10]
    assert max(norms) > 3 * max(max(by_fault[fault][1]) for fault in by_fault if fault != "gradients kept")
    healthy = last.pop("none")
    assert all(healthy < value for fault, value in last.items() if fault != "reads the target")
