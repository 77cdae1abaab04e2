"""The widgets of the lecture `checked_rewards` show the values that they are given."""

from typing import Any

import numpy as np
import pytest

from lectures import widgets
from lectures.widgets.checked_rewards import policy_steps
from tests.lectures.seen import seen


def run(right: list[float], kl: list[float]) -> dict[str, list[float]]:
    return {"right": right, "kl": kl, "reward": [0.25, 0.75], "length": [10.0, 30.0]}


def row(right: float) -> dict[str, Any]:
    curves = [run([0.1, right], [0.0, 2.0]), run([0.2, right], [0.0, 4.0])]
    texts = [[0, "1+1=2"], [1, f"1+1={right}"]]
    return {"right": [right, right], "length": [20.0, 30.0], "curves": curves, "texts": texts}


def test_the_expected_step_is_that_of_pencil_and_paper() -> None:
    p, r = np.array([0.6, 0.3, 0.1]), np.array([0.0, 1.0, 0.0])
    for b in (0.0, 0.3, 2.0):
        assert policy_steps(p, r, b)[0] == pytest.approx(p * (r - p @ r))
    spreads = [policy_steps(p, r, b)[1] for b in (-1.0, 0.3, 2.0)]
    assert spreads[1] < spreads[0]
    assert spreads[1] < spreads[2]


def test_the_baseline_changes_the_spread_only() -> None:
    widget = widgets.baseline_player({"523": 0.6, "633": 0.4}, {"523": 0.0, "633": 1.0})
    assert "expected step 523 -0.240, 633 +0.240" in seen(widget)
    before = seen(widget)
    assert "expected step 523 -0.240, 633 +0.240" in seen(widget, b=1.0)
    assert seen(widget) != before


def test_answers_follow_the_update() -> None:
    history = [{"right": 0.25, "steps": 0.5, "length": 9.0}, {"right": 0.75, "steps": 1.0, "length": 27.0}]
    widget = widgets.answers_player(history, [["1+1=<3"], ["1+1=2"]])
    assert "25% right" in seen(widget)
    assert "1+1=&lt;3" in seen(widget)
    assert "75% right, 100% in steps, 27 characters" in seen(widget, update=1)
    assert "1+1=2" in seen(widget)


def test_two_ticks_choose_one_of_four_cells() -> None:
    names = ("none", "none, by length", "mean", "mean, by length")
    widget = widgets.methods_player({name: row(0.1 * i) for i, name in enumerate(names, 1)})
    for i, name in enumerate(names, 1):
        told = seen(widget, mean="mean" in name, by_length="by length" in name)
        assert f"{10 * i} to {10 * i} % right, 20 to 30 characters" in told


def test_votes_of_each_model() -> None:
    attempts = {
        "one": [{"pass": {"1": 0.5, "4": 0.9}, "vote": {"1": 0.5, "4": 0.3}}] * 2,
        "other": [{"pass": {"1": 0.5, "4": 1.0}, "vote": {"1": 0.5, "4": 0.8}}] * 2,
    }
    widget = widgets.votes_player(attempts, "one")
    assert "at k = 4: one of k is right: 90 to 90 %; the vote of k is right: 30 to 30 %" in seen(widget)
    assert "the vote of k is right: 80 to 80 %" in seen(widget, model="other")


def test_the_leash_over_updates_and_over_the_divergence() -> None:
    widget = widgets.leash_player({"0": row(0.0), "0.1": row(0.8)})
    assert "reward 0.75 to 0.75, right 0.00 to 0.00, KL divergence 2.00 to 4.00 nats" in seen(widget)
    pictures = {seen(widget)}
    for moved in ({"over": "KL divergence"}, {"beta": "0.1"}, {"over": "updates"}):
        pictures.add(seen(widget, **moved))
    assert len(pictures) == 4
    assert "right 0.80 to 0.80" in seen(widget)
