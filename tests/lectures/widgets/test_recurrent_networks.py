"""The board's circuits, drawn; and the curve that follows a training."""

import math
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from lectures import widgets
from lectures.widgets.recurrent_networks import contributions_svg, restored_svg, states_svg, verdict_svg
from tests.lectures.seen import seen


@dataclass
class Record:
    step: int
    loss: float
    validation: float | None = None


def test_the_training_curve_follows_fit() -> None:
    curve = widgets.TrainingCurve(title="nats", every=1000)
    assert "has not started yet" in seen(curve)
    curve(Record(1, 4.0))
    first = seen(curve)
    assert "nats after 1 steps" in first
    curve(Record(2, 3.0))
    assert seen(curve) == first, "not redrawn so soon"
    curve(Record(3, 2.0, validation=2.5))
    assert "after 3 steps: 2.000" in seen(curve)
    assert curve._repr_mimebundle_()["text/html"] == seen(curve)
    with pytest.raises(ValueError, match="every"):
        widgets.TrainingCurve(every=-1)


def test_the_training_curve_is_what_fit_calls() -> None:
    from nlmcore.recurrent import RecurrentLM
    from nlmcore.training import fit

    curve = widgets.TrainingCurve(every=0)
    tokens = torch.randint(0, 7, (4, 6), generator=torch.Generator().manual_seed(0))
    history = fit(RecurrentLM(7, d_hidden=8), [tokens], steps=5, on_step=curve, progress=False)
    assert curve.losses == history.losses
    assert "after 5 steps" in seen(curve)


MINUS = "\N{MINUS SIGN}"


def test_a_state_fills_as_the_words_are_read() -> None:
    states = np.array([[0.0, 0.0], [0.5, -0.25], [0.75, -1.0]])
    chances = np.array([[0.9, 0.1], [0.2, 0.8]])
    half = states_svg(states, ["a", "b"], ["one", "two"], chances, ["x", "y"], read=1)
    assert f"{MINUS}0.25" in half
    assert f"{MINUS}1.00" not in half
    assert "has read “a”" in half
    assert "predicts x with probability 0.90" in half
    assert "predicts y with probability 0.80" in states_svg(states, ["a", "b"], ["one", "two"], chances, ["x", "y"])
    assert "before it reads" in states_svg(states, ["a", "b"], ["one", "two"], chances, ["x", "y"], read=0)
    with pytest.raises(ValueError, match="words \\+ 1"):
        states_svg(states[1:], ["a", "b"], ["one", "two"], chances, ["x", "y"])
    with pytest.raises(ValueError, match="read must lie"):
        states_svg(states, ["a", "b"], ["one", "two"], chances, ["x", "y"], read=3)


def test_a_triangle_of_contributions_sums_what_is_not_cut() -> None:
    parts = np.array([[0.5, 9.0], [-0.125, 0.25]])  # what stands above the diagonal is no pair
    whole = contributions_svg(parts, states=[0, 0.5, 0.2], slopes=[0.3, 0.4])
    assert "sum 0.6250" in whole
    assert "9.0" not in whole
    near = contributions_svg(parts, states=[0, 0.5, 0.2], slopes=[0.3, 0.4], cut=1)
    assert "sum 0.7500 of 0.6250" in near
    assert "line-through" in near
    with pytest.raises(ValueError, match="states"):
        contributions_svg(parts, states=[0, 1], slopes=[0.3, 0.4])


def test_restored_words_and_verdicts() -> None:
    picture = restored_svg(["to", "be"], ["To", "be,"], [0.5, 0.9], note="a < b")
    assert "Restored: To be, a &lt; b" in picture
    with pytest.raises(ValueError, match="one probability per word"):
        restored_svg(["to"], ["To"], [0.1, 0.2])
    verdict = verdict_svg(["o", "woe"], [0.4, 0.9], low="comedy", high="tragedy", read=1)
    assert "after 1 word: P(tragedy) = 0.40" in verdict
    assert verdict.count("<circle") == 1
    with pytest.raises(ValueError, match="read in"):
        verdict_svg(["o"], [0.4], low="a", high="b", read=2)


def step(x, h, U, W):
    return torch.tanh(h @ U + x @ W)


def state_player(yours=None):
    embedding = {"up": torch.tensor([1.0]), "still": torch.tensor([0.0])}
    U, W, V = torch.diag(torch.tensor([2.0, 0.0])), torch.ones(1, 2), torch.tensor([[3.0, 0.0], [0.0, 0.0]])
    sentences = ["up still still", "still up"]
    return widgets.state_player(step, sentences, embedding, U, W, V, ["kept", "lost"], ["yes", "no"], yours=yours)


def test_the_state_player_reads_on() -> None:
    player = state_player()
    assert f"kept {math.tanh(2 * math.tanh(1)):.2f}, lost 0.00" in seen(player, read=2)
    assert "kept 0.00, lost 0.00" in seen(player, scale=0.0)
    assert "has read “still up”" in seen(player, sentence="still up")
    assert player.controls["read"].max == 2, "a shorter sentence ends"
    player.controls["sentence"].value = "up still still"
    assert player.controls["read"].value == player.controls["read"].max == 3, "what was read whole is read whole"


def test_a_students_step_is_drawn_beside_it() -> None:
    assert "yours draws the same picture" in seen(state_player(lambda x, h, U, W: torch.tanh(x @ W + h @ U)))
    forgetful = state_player(lambda x, h, U, W: torch.tanh(x @ W))
    assert "yours draws a different picture" in seen(forgetful)
    exchanged = state_player(lambda x, h, U, W: torch.tanh(h @ W + x @ U))
    assert "yours raised an error" in seen(exchanged)


def test_the_gradient_player_cuts() -> None:
    def through_time(u, w, inputs, targets):
        return [0.0, 0.5, 0.25], [[1.0, 0.0], [u, 2.0]]

    player = widgets.through_time_player(through_time, [1.0, 0.0], [1.0, 1.0], u=0.5)
    assert "sum 3.5000" in seen(player)
    assert "sum 3.0000 of 3.5000" in seen(player, cut=1)
    assert "of 4.0000" in seen(player, u=1.0)


def test_marks_are_put_only_where_the_model_is_sure() -> None:
    asked = []

    def restore(text):
        asked.append(text)
        words = text.split()
        return words, [word.title() + "!" for word in words], [0.3 + 0.4 * i for i in range(len(words))], words

    player = widgets.restore_player(restore, ["come away"])
    assert "Restored: Come! Away!" in seen(player)
    assert "Restored: come Away!" in seen(player, least=0.5)
    assert "left out: 1" in seen(player)
    assert asked == ["come away"], "a slider does not ask the model again"
    assert "Restored: go " in seen(player, typed="go")
    assert "at most 60" in seen(player, typed="a " * 61)


def test_a_verdict_word_by_word() -> None:
    def verdict(text):
        words = text.split()
        return words, [0.1 * (i + 1) for i in range(len(words))], [word == "quux" for word in words]

    player = widgets.verdict_player(verdict, ["o quux o woe"], low="comedy", high="tragedy")
    assert "after 2 words: P(tragedy) = 0.20" in seen(player)
    assert "after 3 words: P(tragedy) = 0.30" in seen(player, read=3)
    assert "after 1 word: P(tragedy) = 0.10" in seen(player, typed="woe")
    assert 'font-style="italic"' not in seen(player)
    assert 'font-style="italic"' in seen(player, typed="quux")
