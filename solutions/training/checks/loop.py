"""Question 6: the loop, which can be interrupted anywhere."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.exercise.declare import judged, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged, same_values
from autograder.exercise.kinds import EQUAL
from autograder.exercise.outcome import arrays
from autograder.exercise.specification import Case, case
from solutions.training.laws import RUN, both, run_holds

Run = dict[str, Any]
PLAIN = {
    **{"rate": 0.1, "total": 100, "warmup": 0, "floor": 1.0, "max_norm": 1e6, "decay": 0.0, "dropout": 0.0},
    **{"batch": 4, "every": 100, "patience": 9},
}
FULL = {
    **{"rate": 0.2, "total": 8, "warmup": 3, "floor": 0.1, "max_norm": 0.2, "decay": 0.6, "dropout": 0.4},
    **{"batch": 5, "every": 2, "patience": 9},
}


def small_task(draw: Draw) -> tuple[Run, Tensor, Tensor]:
    """A run of a tiny network that has not taken any step, and its texts: two tokens to read, one to predict."""
    vocab, hidden = draw.integer(4, 6), draw.integer(3, 4)
    shapes = {"E": (vocab, 2), "W": (4, hidden), "b": (hidden,), "V": (hidden, vocab), "c": (vocab,)}
    weights = {name: draw.normal(*shape, dtype=torch.float64) / 2 for name, shape in shapes.items()}
    key = draw.integer(1, 10**6)
    run = {"step": 0, "weights": weights, "memory": {}, "key": key, "dev": [], "best": weights}
    return run, draw.integers(0, vocab - 1, 12, 3), draw.integers(0, vocab - 1, 5, 3)


def _trained(run: Run, plan: dict[str, float], windows: Tensor, dev: Tensor, steps: int) -> tuple[list[float], Run]:
    """The losses, and the run afterwards with tensors again."""

    def tensors(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: tensors(entry) for key, entry in value.items()}
        return torch.from_numpy(value) if isinstance(value, np.ndarray) else value

    losses, after = TRAIN.reference(*arrays([run, plan, windows, dev, steps]))
    return losses, tensors(after)


def _plain(draw: Draw) -> list[Case]:
    run, windows, dev = small_task(draw)
    return [case("a plain run", run, PLAIN, windows, dev, 4), case(EQUAL, run, PLAIN, windows[:3], dev[:3], 2)]


def _full(draw: Draw) -> list[Case]:
    run, windows, dev = small_task(draw)
    return [case("a run with everything", run, FULL, windows, dev, 7)]


def _lengths(run: Run) -> tuple[Tensor, ...]:
    """How many numbers each part of a run is, in the order of `RUN`."""

    def count(value: Any) -> int:
        if isinstance(value, dict):
            return sum(map(count, value.values()))
        return value.numel() if isinstance(value, Tensor) else len(value) if isinstance(value, list) else 1

    return (torch.tensor([count(run[key]) for key in RUN]),)


def _best(draw: Draw) -> list[Case]:
    """Of five evaluations one of the first two is the best; the fourth is better than the third, and than the last."""
    while True:
        run, windows, dev = small_task(draw)
        plan = {**PLAIN, "rate": 0.6, "every": 2, "dropout": 0.3}
        _, after = _trained(run, plan, windows, dev, 10)
        *early, third, fourth, last = after["dev"]
        if min(early) < fourth < min(third, last):
            call = (run, plan, windows, dev, 10)
            return [Case(label="the best in the middle", calls=(call,), known=_lengths(after))]


def _stops(draw: Draw) -> list[Case]:
    """The patience is used up after some of the steps, and not at the first occasion."""
    while True:
        run, windows, dev = small_task(draw)
        plan = {**PLAIN, "rate": 0.5, "every": 2, "patience": 2}
        losses, after = _trained(run, plan, windows, dev, 14)
        if 6 <= len(losses) < 14:
            call = (run, plan, windows, dev, 14)
            return [Case(label="patience used up", calls=(call,), known=_lengths(after))]


def _resumed(draw: Draw) -> list[Case]:
    """Saved between two evaluations; the best weights are those of the first part, and it gets worse and worse."""
    while True:
        run, windows, dev = small_task(draw)
        plan = {**FULL, "rate": 0.7, "max_norm": 0.5}
        _, saved = _trained(run, plan, windows, dev, 3)
        _, after = _trained(saved, plan, windows, dev, 4)
        first, *later = after["dev"]
        if first < later[0] < later[1]:
            call = (saved, plan, windows, dev, 4)
            return [Case(label="resumed after step 3", calls=(call,), known=_lengths(after)), _impatient(draw)]


def _impatient(draw: Draw) -> Case:
    """Saved after the first of two evaluations that bring nothing better: the second one ends the run."""
    (before,) = _stops(draw)
    run, plan, windows, dev, _ = before.calls[0]
    losses, _ = _trained(run, plan, windows, dev, 14)
    _, saved = _trained(run, plan, windows, dev, len(losses) - 1)
    _, after = _trained(saved, plan, windows, dev, 5)
    call = (saved, plan, windows, dev, 5)
    return Case(label="resumed when the patience is nearly used up", calls=(call,), known=_lengths(after))


NAMES = ("losses", "run")
LOSSES = same_values(NAMES, [0])
STOPPED = both(LOSSES, run_holds(["step"]))
RESUMED = both(LOSSES, run_holds(RUN))


TRAIN = question(
    "training.train",
    minutes=60,
    difficulty="hard",
    returns=NAMES,
    properties=[
        values("the losses of a plain run", 2, _plain, "losses"),
        values("the losses of a run with everything", 2, _full, "losses"),
        judged("development losses and best weights", 2, _best, run_holds(["best", "dev"]), "run"),
        judged("early stopping, and the step at which it ended", 1, _stops, STOPPED),
        values("the losses of a resumed run", 2, _resumed, "losses"),
        judged("all that a resumed run saves, the old one unchanged", 1, _resumed, and_inputs_unchanged(RESUMED)),
    ],
    numpy=True,
    mistakes="""
moments-lost: After the interruption your optimiser begins with an empty memory. The losses after it differ from those
of an uninterrupted run from the second one on: start from `run["memory"]`.
- run["memory"], run["best"] → {}, run["best"]

schedule-restarted: Your schedule counts the steps of this call, so a resumed run warms up again. The number of the
step continues from `run["step"]`.
- schedule(step, → schedule(len(losses) + 1,

step-forgotten: You count the steps from 1 in every call, so in a resumed run the schedule, the evaluations and the
saved number are all wrong. Continue from `run["step"]`.
- run["step"], list → 0, list
or
- run["step"], list → 0, list
- "step": step → "step": run["step"] + step

asked-for-steps-saved: You save the number of the steps that you were asked for, but early stopping ended the run
before that, so a resumed run would jump ahead in the schedule. Save the number of the last step that was taken.
- "step": step → "step": run["step"] + steps

batches-repeated: The run that you return holds the key from *before* your steps: a resumed run gets the same
minibatches again. Save the key that the last `sample` returned.
- "key": key → "key": run["key"]

generator-restarted: Your first key is not the saved one, so a resumed run gets different minibatches. Start from
`run["key"]`.
- key, step, dev_losses, losses = run["key"], → key, step, dev_losses, losses = 0,
or
- key, step, dev_losses, losses = run["key"], → key, step, dev_losses, losses = run["step"],

other-generator-saved: Your steps are right, but as the key you save a different number, perhaps the seed of the
dropout. `sample` returns the next key last.
- "key": key → "key": seed
or
- "key": key → "key": step

last-for-best: Your best weights are those after the last evaluation, whatever its loss was. Keep them only if the
loss is the lowest so far. (If your steps change arrays in place, `best = weights` is only a second name: keep a
copy.)
- if lowest == len(dev_losses) - 1: → if True:
or
- "best": best} → "best": weights}

better-than-the-previous: You keep the weights whenever an evaluation is better than the previous one. The best are
those with the lowest loss of *all* evaluations.
- if lowest == len(dev_losses) - 1: → if dev_losses[-1] < min(dev_losses[-2:-1], default=math.inf):

best-restarted: After the interruption your best weights are those that you resumed with, although the saved ones were
better. Start from `run["best"]`.
- run["memory"], run["best"] → run["memory"], run["weights"]

best-never-kept: Your best weights are still those that you were given. Replace them when an evaluation brings the
lowest loss so far.
- best = weights → pass

resumed-from-the-best: You resume from the best weights. The memory and the schedule belong to the *latest* ones:
continue from `run["weights"]`.
- = run["weights"], run["memory"] → = run["best"], run["memory"]

losses-of-dev-forgotten: Your run forgets the development losses from before the interruption, so early stopping
starts its count again, and a worse loss can pass for the best.
- list(run["dev"]) → []

evaluated-with-dropout: You evaluate with dropout on. Development losses are then too high and depend on chance:
`training=False`.
- plan["dropout"], False, 0 → plan["dropout"], True, seed
or
- plan["dropout"], False, 0 → plan["dropout"], True, 0

trained-without-dropout: You train without dropout. In the steps, `training` is `True` and the rate is
`plan["dropout"]`.
- plan["dropout"], True, seed → plan["dropout"], False, seed
or
- plan["dropout"], True, seed → 0.0, True, seed

one-dropout-seed: Your dropout drops the same units at every step. `sample` gives you a new seed with each minibatch.
- plan["dropout"], True, seed → plan["dropout"], True, 0

evaluated-before-the-step: You evaluate the weights from before the step. First take the step, then evaluate.
- dev_losses.append(float(loss_and_gradients(weights, dev → dev_losses.append(float(loss_and_gradients(old, dev
- weights, memory = adamw_step
+ old = weights
+     weights, memory = adamw_step

not-clipped: Your step uses the gradients from before clipping.
- adamw_step(weights, clipped → adamw_step(weights, gradients

not-decayed: Your steps do not decay the weights: AdamW needs `plan["decay"]`.
- plan["decay"] → 0.0

rate-not-scheduled: Your learning rate is the same at every step. Multiply `plan["rate"]` by the schedule's factor.
-  * schedule(step, plan["total"], plan["warmup"], plan["floor"]) →

factor-for-rate: Your learning rate is the schedule's factor, which is 1 at its largest. Multiply it by
`plan["rate"]`.
- plan["rate"] * schedule → schedule

schedule-one-behind: Your schedule is one step behind: the first step of a run has the number 1, not 0.
- schedule(step, → schedule(step - 1,

same-batch: Your minibatch is the same at every step. Sample a new one each time.
-     batch, seed, key = sample(windows, plan["batch"], key)
+     pass
- while len(losses) < steps:
+ batch, seed, key = sample(windows, plan["batch"], key)
+ while len(losses) < steps:

patience-restarted: Your early stopping counts only the evaluations of this call, so an interruption makes it patient
again. Give it all development losses, including those in `run["dev"]`.
- over = early_stopping(dev_losses, plan["patience"])
+ _ = early_stopping(dev_losses, plan["patience"])
+         over = early_stopping(dev_losses[len(run["dev"]) :], plan["patience"])[1]

never-stops-early: You take all the steps, although the patience is used up. Leave the loop as soon as
`early_stopping` says so.
- if over: → if False:

loss-after-the-step: Your losses are those of the minibatches *after* the step. Record the loss from which the
gradients came.
- losses.append(float(loss)) → losses.append(float(loss_and_gradients(weights, batch, plan["dropout"], True, seed)[0]))

saved-run-changed: You changed the run that you were given: you appended to its list of development losses, wrote into
the dictionary or changed its arrays in place. A saved run must be good for a second resume: work on copies.
- list(run["dev"]) → run["dev"]
""",
)
