"""What the exercises of "training" promise beyond what every assignment must (`test_checks.py`)."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from autograder.check import examine
from autograder.question.draw import Draw
from autograder.question.outcome import arrays
from nlmcore.training import clip_gradients, cosine_schedule
from solutions.training.checks import EXERCISES, FULL, small_task
from tests.autograder.answers import answers, second

ROOT = Path(__file__).resolve().parents[2]
SOLUTIONS = second(answers("training"))


def reference(name):
    return EXERCISES[f"training.{name}"].reference


@pytest.mark.parametrize("ours", ["momentum_step", "adamw_step"])
def test_the_steps_are_those_of_pytorch(ours):
    draw = Draw(0, 5)
    weights = {name: draw.normal(*shape, dtype=torch.float64) for name, shape in {"W": (3, 4), "b": (4,)}.items()}
    parameters = {name: torch.nn.Parameter(w.clone()) for name, w in weights.items()}
    groups = [{"params": [parameters["W"]]}, {"params": [parameters["b"]], "weight_decay": 0.0}]
    if ours == "momentum_step":
        theirs, options = torch.optim.SGD(groups, lr=0.1, momentum=0.8), (0.1, 0.8)
    else:
        theirs, options = torch.optim.AdamW(groups, lr=0.1, weight_decay=0.3), (0.1, 0.3)
    memory = {}
    for step in range(6):
        gradients = {"W": torch.sin(3 * weights["W"]), "b": torch.cos(weights["b"])}
        if step in (0, 3):
            del gradients["b"]
        for name, parameter in parameters.items():
            parameter.grad = gradients.get(name)
        theirs.step()
        now, memory = reference(ours)(arrays(weights), arrays(gradients), memory, *options)
        weights = {name: torch.from_numpy(w) for name, w in now.items()}
    for name, parameter in parameters.items():
        assert torch.allclose(weights[name], parameter.detach())


def test_schedule_and_clipping_are_the_librarys():
    for warmup in (0, 3):
        for step in range(1, 12):
            assert reference("schedule")(step, 9, warmup, 0.2) == pytest.approx(cosine_schedule(step, 9, warmup, 0.2))
    gradients = {"W": torch.randn(3, 2, generator=torch.Generator().manual_seed(0)) * 9, "b": torch.ones(2)}
    parameters = [torch.nn.Parameter(torch.zeros_like(g)) for g in gradients.values()]
    for parameter, g in zip(parameters, gradients.values(), strict=True):
        parameter.grad = g.clone()
    clipped, norm = reference("clip_gradients")(arrays(gradients), 1.0)
    assert norm == pytest.approx(clip_gradients(parameters, 1.0), rel=1e-5)
    assert all(np.allclose(p.grad, g) for p, g in zip(parameters, clipped.values(), strict=True))


def test_the_gradients_on_the_page_are_those_of_pytorch():
    run, windows, _ = small_task(Draw(1, 5))
    on_the_page = reference("train").__globals__["loss_and_gradients"]
    found, gradients = on_the_page(arrays(run["weights"]), windows.numpy(), 0.4, True, 3)
    leaves = {name: w.clone().requires_grad_() for name, w in run["weights"].items()}
    scale = torch.from_numpy(reference("dropout")(np.ones((len(windows), len(leaves["b"]))), 0.4, True, 3))
    h = torch.tanh(leaves["E"][windows[:, :-1]].flatten(1) @ leaves["W"] + leaves["b"]) * scale
    loss = torch.nn.functional.cross_entropy(h @ leaves["V"] + leaves["c"], windows[:, -1])
    loss.backward()
    assert found == pytest.approx(loss.item())
    assert all(np.allclose(gradients[name], leaf.grad) for name, leaf in leaves.items())


def test_a_run_that_was_saved_to_a_file_continues_exactly():
    run, windows, dev = arrays(small_task(Draw(2, 5)))
    train = reference("train")
    whole, end = train(run, FULL, windows, dev, 8)
    losses, after = train(run, FULL, windows, dev, 3)
    more, after = train(pickle.loads(pickle.dumps(after)), FULL, windows, dev, 5)
    assert losses + more == whole
    assert after["dev"] == end["dev"]
    assert all(np.array_equal(after["best"][name], w) for name, w in end["best"].items())


@pytest.mark.parametrize("seed", range(30))
def test_an_honest_dropout_never_fails_by_chance(seed):
    assert examine(EXERCISES["training.dropout"], SOLUTIONS["dropout"], seed).passed


def test_the_page_names_one_goal_and_a_ratio_that_is_derived():
    page = ROOT / "solutions" / "training" / "training.py"
    text = page.read_text(encoding="utf-8")
    (goal,) = re.findall(r"^GOAL = ([\d.]+)$", text, re.MULTILINE)
    assert f"a development loss of {goal} nats" in text
    derived = reference("same_gradient")(1.0, 0.9, 0.5, 0.9, 0.999, 1)
    assert f"it is {derived[2]:.2f} at the first step" in text
