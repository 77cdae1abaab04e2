"""What the lecture `checked_rewards` computes itself: the pencil example, and the live run."""

from statistics import mean

import pytest
import torch


def test_the_pencil_example_is_the_derivative_of_the_mean_reward(ran: dict) -> None:
    scores = ran["pi"].log().requires_grad_()
    (scores.softmax(0) @ ran["r"]).backward()
    for baseline in (0.0, 0.3, -1.0):
        assert torch.allclose(ran["expected_step"](baseline)[0], scores.grad, atol=1e-6)
    assert scores.grad.tolist() == pytest.approx((ran["pi"] * (ran["r"] - ran["pi"] @ ran["r"])).tolist(), abs=1e-6)


def test_the_live_run_changes_its_habit(ran: dict) -> None:
    steps = [row["steps"] for row, _ in ran["history"]]
    assert mean(steps[-4:]) > mean(steps[:4]) + 0.2


def test_the_base_does_not_change(ran: dict) -> None:
    from lectures.trained import checkpoint

    stored = checkpoint("sums").model.state_dict()
    assert all(torch.equal(stored[name], value) for name, value in ran["base"].state_dict().items())


def test_what_is_taught_has_its_seeds(ran: dict) -> None:
    assert {len(row["right"]) for row in ran["rows"].values()} == {10}
    assert {len(row["right"]) for row in ran["judged"].values()} == {5}
