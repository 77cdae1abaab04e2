"""The widgets of the lecture on the Transformer language model, among them a training that stops and resumes."""

import html
import time

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from lectures import stored, widgets
from tests.lectures.seen import seen


def added(layers: int = 3) -> widgets.Added:
    words = ["the", "sea", "is", "deep"]
    parts = torch.arange(layers * 3.0).view(layers, 3)
    return widgets.Added(words, words[1:], torch.tensor([0.5, -1.0, 2.0]), parts.numpy(), -0.5 * parts.numpy())


def test_what_layers_add_is_summed() -> None:
    play = widgets.added_player(lambda model, sentence: added(), ["ours"], ["the sea is deep"])
    total = 2.0 + 0.5 * (2 + 5 + 8)
    assert f"'deep' ends at {total:+.2f}" in html.unescape(seen(play, place=2))
    assert "most is added by attention of layer 2 (+8.00)" in seen(play)
    assert "after 'the': the score of 'sea'" in html.unescape(seen(play, place=0))


def test_what_layers_add_has_one_shape() -> None:
    wrong = added()._replace(embedding=torch.zeros(2).numpy())
    with pytest.raises(ValueError, match="a value per layer and word"):
        widgets.added_player(lambda model, sentence: wrong, ["ours"], ["the sea is deep"])
    with pytest.raises(ValueError, match="at least one model"):
        widgets.added_player(lambda model, sentence: added(), [], ["the sea is deep"])


def test_a_norm_forgets_the_scale() -> None:
    def norm(x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, x.shape)

    play = widgets.norm_playground({"LayerNorm": norm}, [1.0, 2.0, 6.0], yours={"LayerNorm": lambda x: x})
    first = seen(play).split("yours")[0]
    play.controls["times"].value = 4.0
    said = "mean -0.00, root mean square 1.00" if "mean -0.00" in first else "mean +0.00, root mean square 1.00"
    assert said in first
    assert "yours draws a different picture" in seen(play)
    shorter = widgets.norm_playground({"LayerNorm": lambda x: x[:2]}, [1.0, 2.0, 6.0])
    assert "must return (3,) values" in seen(shorter)


def test_sizes_are_counted() -> None:
    def count(d_model: int, layers: int, vocab_size: int, n: int) -> tuple[dict, dict]:
        return {"layers": 12 * layers * d_model**2}, {"layers": 12 * layers * d_model**2 + n}

    play = widgets.size_playground(count, {"GPT-3": (12_288, 96, 50_257, 2048)})
    assert "174 billion parameters" in seen(play)
    assert "43.5 billion parameters" in seen(play, width=0.5)


def test_depth_is_measured_once() -> None:
    calls = []

    def measure(norm: str, depth: int) -> tuple[list[float], list[float]]:
        calls.append((norm, depth))
        return [1.0] * depth, [10.0**-layer for layer in range(depth)]

    play = widgets.depth_playground(measure, ["post", "pre"], [2, 4])
    assert "2 layers: gradient at the first layer ÷ at the last: post 10, pre 10" in seen(play, depth=2)
    assert len(calls) == 4


def test_stored_runs_are_drawn_against_steps_and_seconds() -> None:
    play = widgets.race_explorer(stored("why_transformer"))
    by_steps = seen(play)
    assert "training seconds" in seen(play, against="seconds")
    assert seen(play) != by_steps
    removed = widgets.removed_explorer(stored("changes_of_2017"))
    assert "without attention" in seen(removed, row="without attention")


class Line:
    """Learns to say the next integer: as deterministic as a learner has to be."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.model, self.draw = nn.Linear(1, 1), torch.Generator().manual_seed(0)
        self.optimiser = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def learn(self) -> float:
        x = torch.rand(4, 1, generator=self.draw)
        loss = F.mse_loss(self.model(x), x + 1)
        self.optimiser.zero_grad()
        loss.backward()
        self.optimiser.step()
        time.sleep(0.001)
        return loss.item()

    def write(self) -> str:
        return f"1 → {self.model(torch.ones(1)).item():.3f}"


EARLIER = {"losses": [2.0, 1.5, 1.0], "written": {"0": "noise", "400": "words"}}


def wait_for(play: widgets.TrainingPlayer, steps: int) -> None:
    until = time.monotonic() + 60
    while len(play.losses) < steps and play.running and time.monotonic() < until:
        time.sleep(0.005)


def test_a_training_stops_and_resumes_exactly() -> None:
    play = widgets.training_player({"from noise": Line}, EARLIER)
    assert "noise" in seen(play.view)
    play.train()
    play.train()  # it runs already
    wait_for(play, 20)
    play.stop()
    assert not play.running
    stopped = len(play.losses)
    assert 20 <= stopped < 400
    assert f"{stopped} steps, stopped" in seen(play.view)
    play.train()
    wait_for(play, 400)
    play.stop()
    alone = Line()
    assert play.losses == [alone.learn() for _ in range(400)]
    assert play.written[400] == alone.write()
    assert play.written[400] in seen(play.view)
    play.start_over()
    assert "Your run has not begun" in seen(play.view)
    assert play.learner is None


def test_a_learner_that_fails_is_told() -> None:
    class Broken(Line):
        def learn(self) -> float:
            raise RuntimeError("shapes do not fit")

    play = widgets.training_player({"from noise": Broken}, EARLIER)
    play.train()
    play.stop()
    assert "RuntimeError: shapes do not fit" in seen(play.view)
    with pytest.raises(ValueError, match="an earlier run"):
        widgets.training_player({"from noise": Line}, {"losses": [], "written": {}})
