"""The widgets of the lecture `training_well`: what they draw follows their functions, and what they say is true."""

import math
import re

import numpy as np
import pytest
import torch

from lectures import widgets
from nlmcore.metrics import mean_interval
from tests.lectures.seen import seen


def minibatch(gradients, size, generator):
    return gradients[torch.randint(len(gradients), (size,), generator=generator)].mean(dim=0)


def error_said(widget, **moved: int) -> float:
    return float(re.findall(r"the error is ([\d.]+) times", seen(widget, **moved))[-1])


def test_the_error_of_a_minibatch_falls_with_the_root_of_its_size() -> None:
    gradients = torch.randn(400, 7, generator=torch.Generator().manual_seed(0)) + 1
    widget = widgets.minibatch_cloud(minibatch, gradients, yours=lambda g, size, generator: g.mean(dim=0))
    at_one = error_said(widgets.minibatch_cloud(minibatch, gradients))
    assert "yours draws a different picture" in seen(widget, size=64)
    ours = widgets.minibatch_cloud(minibatch, gradients)
    assert error_said(ours, size=64) == pytest.approx(at_one / 8, rel=0.15)


def test_a_gradient_of_another_shape_is_refused_in_words() -> None:
    widget = widgets.minibatch_cloud(lambda g, size, generator: g[0, :2], torch.rand(9, 5) + 1)
    assert "must have shape (5,)" in seen(widget)


def sgd(w, g, memory, rate):
    return w - rate * g


def losses_said(widget, **moved: float) -> dict[str, float]:
    status = re.findall(r'role="status"[^>]*>loss after \d+ steps: ([^<]*)<', seen(widget, **moved))[0]
    return {part.rsplit(" ", 1)[0]: float(part.rsplit(" ", 1)[1]) for part in status.split("; ")}


def test_sgd_diverges_above_two_and_does_not_care_which_way_the_valley_lies() -> None:
    race = widgets.optimiser_race(sgd, {}, name="SGD", yours=lambda w, g, memory, rate: w - rate * np.sign(g))
    straight = losses_said(race, step=100)
    assert losses_said(race, angle=45) == straight
    assert "yours draws a different picture" in seen(race)
    assert losses_said(race, rate=2.1)["SGD"] > 1000
    assert losses_said(race, rate=1.9)["SGD"] < 0.1


def test_rows_of_means_say_their_interval() -> None:
    drawing = widgets.means_svg({"one": [1.0, 2.0, 3.0]}, low=0, high=4, alt="x", level=2.5)
    mean, half = mean_interval([1.0, 2.0, 3.0])
    assert f"{mean:.3f} ± {half:.3f}" in drawing


def sweep_of_two() -> dict:
    row = {"test": [2.0, 2.2], "dev": [2.0, 2.2], "curve": {"dev": [[4.0, 2.0], [4.0, 2.2]]}}
    lost = {"test": [None, 2.0], "dev": [None, 2.0], "curve": {"dev": [[4.0], [4.0, 2.0]]}}
    return {"guess": 4.4, "steps": 10, "by": {"SGD": {"rates": {"0.1": row, "1": lost}, "best": "0.1"}}}


def test_the_sweep_says_which_seeds_diverged() -> None:
    widget = widgets.sweep_explorer(sweep_of_two())
    assert "SGD, rate 0.1: test 2.100 ± 1.271" in seen(widget)
    assert "SGD, rate 1: 1 of 2 seeds diverged" in seen(widget, place=1)


def test_an_optimiser_with_fewer_rates_shows_its_largest() -> None:
    result = sweep_of_two()
    result["by"]["Adam"] = {"rates": {"0.01": result["by"]["SGD"]["rates"]["0.1"]}, "best": "0.01"}
    widget = widgets.sweep_explorer(result)
    assert "Adam, rate 0.01" in seen(widget, place=1, name="Adam")


def test_the_schedule_is_drawn_with_the_sliders_values() -> None:
    widget = widgets.schedule_playground(lambda step, total, warmup, floor: floor + warmup / total * step / total)
    assert "0.750 at step 1000" in seen(widget, warmup=500, floor=0.25)


def test_a_signal_is_said_by_its_last_layer() -> None:
    widget = widgets.signal_playground(lambda gain, activation, norm: ([1.0, gain], [0.5, 1.0]), ["ReLU"])
    assert "the signal is 0.25 after 1 layers" in seen(widget, gain=0.25)
    assert "gradient at layer 0 is 0.5" in seen(widget)


def test_a_remedy_is_compared_with_nothing() -> None:
    part = {"train": [[4.0, 1.0], [4.0, 1.2]], "dev": [[4.0, 5.0], [4.0, 5.2]], "test": [[4.0, 5.0], [4.0, 5.2]]}
    widget = widgets.remedies_explorer({"points": [0, 9], "curves": {"nothing": {"": part}, "dropout": {"0.5": part}}})
    assert "dropout 0.5, at the end: train 1.10 ± 1.27, dev 5.10 ± 1.27" in seen(widget, remedy="dropout 0.5")


def test_seeds_that_mislead_and_a_race_against_itself() -> None:
    draws = np.random.default_rng(0)
    losses = {"A": (2 + draws.normal(0, 0.1, 24)).tolist(), "B": (3 + draws.normal(0, 0.1, 24)).tolist()}
    widget = widgets.seeds_playground(mean_interval, losses)
    assert "a difference" in seen(widget, n=10)
    assert "0% with" in seen(widget)
    assert "A − A, other seeds" in seen(widget, pair="A against itself")


def test_a_patient_is_shown_with_its_losses() -> None:
    widget = widgets.patients({"A": ([4.0] * 20, [0.1] * 20), "B": ([1.0] * 20, [9.0] * 20)}, math.log(82))
    assert "B: loss 1.00 at the first step, 1.00 over the last ten; guessing gives 4.41" in seen(widget, patient="B")
