"""Question 1b: the loop over texts of different lengths."""

import torch
from torch import Tensor

from autograder.exercise.declare import judged, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.recurrence.checks.common import weights
from solutions.recurrence.laws import held


def _network(draw: Draw, batch: int, n_in: int, hidden: int, time: int) -> tuple[Tensor, tuple[Tensor, ...]]:
    return draw.normal(batch, time, n_in), (draw.normal(batch, hidden) / 2, *weights(draw, n_in, hidden))


def _full(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    time = batch + draw.integer(1, 2)  # never as many times as texts
    xs, rest = _network(draw, batch, n_in, hidden, time)
    return [case("texts of equal length", xs, torch.full((batch,), time), *rest)]


def _padded(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    time = draw.integer(4, 6)
    xs, rest = _network(draw, batch, n_in, hidden, time)
    lengths = draw.integers(2, time - 1, batch)
    lengths[draw.integer(0, batch - 1)] = time
    over = torch.arange(time) >= lengths[:, None]
    return [Case(label="texts of different lengths", calls=((xs, lengths, *rest),), known=(over,))]


def _odd_runs(draw: Draw) -> list[Case]:
    n_in, hidden = draw.sizes(2)
    xs, rest = _network(draw, 3, n_in, hidden, 4)
    one, few = _network(draw, 2, n_in, 1, 1)
    return [
        case("one of the texts is empty", xs, torch.tensor([2, 0, 4]), *rest),
        case("more padding than the longest needs", xs, torch.tensor([1, 2, 2]), *rest),
        case("one step, one unit", one, torch.tensor([1, 1]), *few),
    ]


RNN_FORWARD = question(
    "recurrence.rnn_forward",
    minutes=25,
    difficulty="medium",
    returns=("states", "last"),
    properties=[
        shapes(0.25, _full),
        values("all states of texts of equal length", 1, _full, "states"),
        values("the last state of texts of equal length", 0.5, _full, "last"),
        judged("the state is unchanged after a text's end", 0.75, _padded, held, "states"),
        values("texts of different lengths", 0.75, _padded),
        values("an empty text, and a single step", 0.75, _odd_runs),
    ],
    numpy=True,
    mistakes="""
padding-read: You processed the padding as well. Where t is not below a text's length, its state must not change:
`np.where` takes the new or the old state, text by text.
- t < lengths → lengths >= 0
or
^ xs = xs * (np.arange(xs.shape[1]) < lengths[:, None])[..., None]
- t < lengths → lengths >= 0

state-not-carried: Every step of yours starts from h0, so no state is passed on. Each step must use the state that the
previous step returned.
- rnn_step(xs[:, t], h, → rnn_step(xs[:, t], h0,

start-ignored: You start from zeros, but the state starts at h0. A text may be processed in chunks: then h0 is the last
state of the previous chunk.
^ h0 = np.zeros_like(h0)

one-tensor-for-all-times: All your states equal the final one: you changed one array in place, and the list holds it
many times. Create a new array at every step.
- np.stack(states, axis=1) → np.stack([h] * xs.shape[1], axis=1)

one-step-too-early: Your states start with h0, and the last one is missing: they are the states *before* each step.
Return those after it.
- np.stack(states, axis=1) → np.stack([h0, *states[:-1]], axis=1)

zero-after-the-end: After the end of a text you set its state to 0, so everything it has read is lost. Keep the state
that the text ended with.
- np.where(going_on, rnn_step(xs[:, t], h, W, U, b), h) → rnn_step(xs[:, t], h, W, U, b) * going_on

one-step-too-many: You process one step too many of each text: times are 0, 1, …, so a text of length n is over from
time n onwards. Use t < n, not t ≤ n.
- t < lengths → t <= lengths

one-step-too-few: You do not process the last word of each text: a text of length n has the times 0 to n − 1, and all of
them count. Use t < n, not t < n − 1.
- t < lengths → t < lengths - 1

time-before-texts: Time is the first axis of your states. `np.stack(states, axis=1)` makes it the second, after the
texts; a `reshape` only relabels the axes and mixes up the texts.
- np.stack(states, axis=1) → np.stack(states).reshape(len(xs), xs.shape[1], -1)
or
- np.stack(states, axis=1) → np.stack(states)
""",
)
