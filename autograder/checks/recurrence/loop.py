"""Question 1b: the loop over texts of different lengths."""

import torch
from torch import Tensor

from autograder.checks.recurrence.common import REFERENCE_ITSELF, step, weights
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.laws.recurrence import held
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

RUN = ("states", "last")


def _network(draw: Draw, batch: int, n_in: int, hidden: int, time: int) -> tuple[Tensor, tuple[Tensor, ...]]:
    return draw.normal(batch, time, n_in), (draw.normal(batch, hidden) / 2, *weights(draw, n_in, hidden))


def _full(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    time = batch + draw.integer(1, 2)  # never as many times as texts
    xs, rest = _network(draw, batch, n_in, hidden, time)
    return [case("texts of one length", xs, torch.full((batch,), time), *rest)]


def _padded(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    time = draw.integer(4, 6)
    xs, rest = _network(draw, batch, n_in, hidden, time)
    lengths = draw.integers(2, time - 1, batch)
    lengths[draw.integer(0, batch - 1)] = time
    over = torch.arange(time) >= lengths[:, None]
    arguments = (xs, lengths, *rest)
    return [Case(label="texts of different lengths", calls=(arguments,), known=(over,))]


def _odd_runs(draw: Draw) -> list[Case]:
    n_in, hidden = draw.sizes(2)
    xs, rest = _network(draw, 3, n_in, hidden, 4)
    one, few = _network(draw, 2, n_in, 1, 1)
    return [
        case("one of the texts is empty", xs, torch.tensor([2, 0, 4]), *rest),
        case("one step, one unit", one, torch.tensor([1, 1]), *few),
    ]


def _run(xs: Tensor, lengths: Tensor, h0: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    h, states = h0, []
    for t in range(xs.shape[1]):
        h = torch.where((t < lengths)[:, None], step(xs[:, t], h, W, U, b), h)
        states.append(h)
    return torch.stack(states, dim=1), h


def _reads_padding(xs: Tensor, lengths: Tensor, h0: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    return _run(xs, torch.full_like(lengths, xs.shape[1]), h0, W, U, b)


def _not_carried(xs: Tensor, lengths: Tensor, h0: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    h, states = h0, []
    for t in range(xs.shape[1]):
        h = torch.where((t < lengths)[:, None], step(xs[:, t], h0, W, U, b), h)
        states.append(h)
    return torch.stack(states, dim=1), h


def _one_tensor(xs: Tensor, lengths: Tensor, h0: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    last = _run(xs, lengths, h0, W, U, b)[1]
    return torch.stack([last] * xs.shape[1], dim=1), last


def _too_early(xs: Tensor, lengths: Tensor, h0: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    states, last = _run(xs, lengths, h0, W, U, b)
    return torch.cat([h0[:, None], states[:, :-1]], dim=1), last


def _zeroed(xs: Tensor, lengths: Tensor, h0: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    h, states = h0, []
    for t in range(xs.shape[1]):
        h = step(xs[:, t], h, W, U, b) * (t < lengths)[:, None]
        states.append(h)
    return torch.stack(states, dim=1), h


def _blank_read(xs: Tensor, lengths: Tensor, h0: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    blank = (torch.arange(xs.shape[1]) < lengths[:, None])[..., None]
    return _reads_padding(xs * blank, lengths, h0, W, U, b)


def _mixed_up(xs: Tensor, lengths: Tensor, h0: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    states, last = _run(xs, lengths, h0, W, U, b)
    return states.transpose(0, 1).reshape(states.shape), last


def _time_first(xs: Tensor, lengths: Tensor, h0: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    states, last = _run(xs, lengths, h0, W, U, b)
    return states.transpose(0, 1).clone(), last


RNN_FORWARD = Exercise(
    name="recurrence.rnn_forward",
    title="The loop",
    signature="rnn_forward(xs, lengths, h0, W, U, b)",
    arguments=("xs", "lengths", "h0", "W", "U", "b"),
    returns=RUN,
    minutes=25,
    difficulty="medium",
    reference=_run,
    properties=(
        Property(name="the shapes are right", points=0.25, cases=_full, judge=same_shapes(RUN)),
        Property(
            name="all states of texts of one length", points=1, cases=_full, judge=same_values(RUN, [0]), outputs=(0,)
        ),
        Property(
            name="the last state of texts of one length",
            points=0.5,
            cases=_full,
            judge=same_values(RUN, [1]),
            outputs=(1,),
        ),
        Property(name="where a text is over, its state stays", points=0.75, cases=_padded, judge=held, outputs=(0,)),
        Property(name="texts of different lengths", points=0.75, cases=_padded, judge=same_values(RUN), outputs=(0, 1)),
        Property(
            name="an empty text, and a single step",
            points=0.75,
            cases=_odd_runs,
            judge=same_values(RUN),
            outputs=(0, 1),
        ),
    ),
    misconceptions=(
        Misconception(
            id="padding-read",
            sentence=(
                "You read the padding as well. Where t is not below a text's length, its state stays as it is:"
                " `torch.where` takes the new state or the old one, text by text."
            ),
            implementation=_reads_padding,
            also=(_blank_read,),
        ),
        Misconception(
            id="state-not-carried",
            sentence=(
                "Every step begins with h0: the state is not handed on. Each step reads the state that the one before"
                " it has made."
            ),
            implementation=_not_carried,
        ),
        Misconception(
            id="start-ignored",
            sentence=(
                "You begin with zeros, whatever h0 is. A text may be read in pieces: then h0 is what is remembered of"
                " the piece before."
            ),
            implementation=lambda xs, lengths, h0, W, U, b: _run(xs, lengths, torch.zeros_like(h0), W, U, b),
        ),
        Misconception(
            id="one-tensor-for-all-times",
            sentence=(
                "All states are the same, the last one: you changed one tensor in place, and the list holds it many"
                " times. Make a new tensor at every step."
            ),
            implementation=_one_tensor,
        ),
        Misconception(
            id="one-step-too-early",
            sentence=(
                "Your states begin with h0, and the last one is missing: they are those *before* each step. Asked are"
                " those after it."
            ),
            implementation=_too_early,
        ),
        Misconception(
            id="zero-after-the-end",
            sentence=(
                "Where a text is over you set its state to 0, and what was read is lost. It stays as it was at the"
                " text's end."
            ),
            implementation=_zeroed,
        ),
        Misconception(
            id="one-step-too-many",
            sentence=(
                "Each text is read one step too far: times are 0, 1, …, so a text of length n is over from time n on,"
                " and t < n is what you want, not t ≤ n."
            ),
            implementation=lambda xs, lengths, h0, W, U, b: _run(xs, lengths + 1, h0, W, U, b),
        ),
        Misconception(
            id="one-step-too-few",
            sentence=(
                "The last word of each text is not read: a text of length n has the times 0 to n − 1, and all of them"
                " count. It is t < n that you want, not t < n − 1."
            ),
            implementation=lambda xs, lengths, h0, W, U, b: _run(xs, lengths - 1, h0, W, U, b),
        ),
        Misconception(
            id="time-before-texts",
            sentence=(
                "Your states lie with time first. `torch.stack(states, dim=1)` puts it second, behind the texts; a"
                " `view` or `reshape` only relabels, and mixes the texts up."
            ),
            implementation=_mixed_up,
            also=(_time_first,),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
