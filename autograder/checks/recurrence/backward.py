"""Question 3a: back through time, all the way."""

import torch
from torch import Tensor

from autograder.checks.recurrence.common import DIFFERENTIATES
from autograder.checks.recurrence.through_time import Four, at_sums, backward, read, through
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

BACK = ("d_W", "d_U", "d_b", "d_h0")


def _texts(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [case("several steps", *read(draw, batch, draw.integer(3, 5), n_in, hidden))]


def _one_step(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [case("a single step", *read(draw, batch, 1, n_in, hidden))]


def _odd(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    xs, h0, hs, d_hs, U = read(draw, 2, 4, n, n)
    last = torch.zeros_like(d_hs)
    last[:, -1] = d_hs[:, -1]
    return [
        case("a loss at the last step only", xs, h0, hs, last, U),
        case("one text, one unit", *read(draw, 1, 3, n, 1)),
    ]


def _step_for_itself(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as = d_hs * (1 - hs**2)
    return *through(xs, h0, hs, d_as), d_as[:, 0] @ U.T


def _not_transposed(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, d_h0 = at_sums(hs, d_hs, U)
    return *through(xs, h0, hs, d_as), d_h0


def _state_after(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_W, _, d_b, d_h0 = backward(xs, h0, hs, d_hs, U)
    d_as, _ = at_sums(hs, d_hs, U.T)
    return d_W, torch.einsum("ntg,nth->gh", hs, d_as), d_b, d_h0


def _last_only(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    alone = torch.zeros_like(d_hs)
    alone[:, -1] = d_hs[:, -1]
    return backward(xs, h0, hs, alone, U)


def _tanh_skipped(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, d_h0 = at_sums(torch.zeros_like(hs), d_hs, U.T)
    return *through(xs, h0, hs, d_as), d_h0


def _overwritten(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, d_h0 = at_sums(hs, d_hs, U.T)
    return *through(xs[:, :1], h0, hs[:, :1], d_as[:, :1]), d_h0


def _averaged(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_W, d_U, d_b, d_h0 = backward(xs, h0, hs, d_hs, U)
    time = xs.shape[1]
    return d_W / time, d_U / time, d_b / time, d_h0


def _start_forgotten(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    return backward(xs, torch.zeros_like(h0), hs, d_hs, U)


def _on_past_the_tanh(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    """The parameters get what is before the tanh, the state before gets what is after it."""
    d_h, d_h0 = at_sums(torch.zeros_like(hs), d_hs, U.T)
    return *through(xs, h0, hs, d_h * (1 - hs**2)), d_h0


def _slope_for_own_loss(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, d_h0 = at_sums(torch.zeros_like(hs), d_hs * (1 - hs**2), U.T)
    return *through(xs, h0, hs, d_as), d_h0


def _d_u_transposed(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_W, d_U, d_b, d_h0 = backward(xs, h0, hs, d_hs, U)
    return d_W, d_U.T.clone(), d_b, d_h0


def _stops_before_u(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_W, d_U, d_b, _ = backward(xs, h0, hs, d_hs, U)
    return d_W, d_U, d_b, at_sums(hs, d_hs, U.T)[0][:, 0]


def _tanh_twice(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, d_h0 = at_sums(torch.tanh(hs), d_hs, U.T)
    return *through(xs, h0, hs, d_as), d_h0


def _wrapped(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    return backward(xs, hs[:, -1], hs, d_hs, U)


def _forwards(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, arriving = at_sums(hs.flip(1), d_hs.flip(1), U.T)
    return *through(xs, h0, hs, d_as.flip(1)), arriving


def _averaged_over_texts(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_W, d_U, d_b, d_h0 = backward(xs, h0, hs, d_hs, U)
    return d_W / len(xs), d_U / len(xs), d_b / len(xs), d_h0


RNN_BACKWARD = Exercise(
    name="recurrence.rnn_backward",
    title="Back through time",
    signature="rnn_backward(xs, h0, hs, d_hs, U)",
    arguments=("xs", "h0", "hs", "d_hs", "U"),
    returns=BACK,
    minutes=45,
    difficulty="hard",
    reference=backward,
    properties=(
        Property(name="each gradient has its parameter's shape", points=0.5, cases=_texts, judge=same_shapes(BACK)),
        Property(name="a single step", points=1, cases=_one_step, judge=same_values(BACK), outputs=(0, 1, 2, 3)),
        Property(name="d_b", points=1, cases=_texts, judge=same_values(BACK, [2]), outputs=(2,)),
        Property(name="d_W", points=1, cases=_texts, judge=same_values(BACK, [0]), outputs=(0,)),
        Property(name="d_U", points=1, cases=_texts, judge=same_values(BACK, [1]), outputs=(1,)),
        Property(name="d_h0", points=0.5, cases=_texts, judge=same_values(BACK, [3]), outputs=(3,)),
        Property(
            name="a loss at the end only, one unit", points=1, cases=_odd, judge=same_values(BACK), outputs=(0, 1, 2, 3)
        ),
    ),
    misconceptions=(
        Misconception(
            id="each-step-for-itself",
            sentence=(
                "Each step gets the gradient of its own loss, and nothing comes back to it from later times. A state"
                " is also what the next one was made from: add what arrives from there, d_a Uᵀ of the next step."
            ),
            implementation=_step_for_itself,
        ),
        Misconception(
            id="u-not-transposed",
            sentence=(
                "On the way back the gradient goes through U as it stands. Forward, U takes a state to the next; back,"
                " its transpose: d_a Uᵀ."
            ),
            implementation=_not_transposed,
        ),
        Misconception(
            id="state-of-the-same-time",
            sentence=(
                "d_U was made with the state *after* each step. What U was multiplied with is the state *before* it:"
                " h0 at the first step, then each of hs but the last."
            ),
            implementation=_state_after,
        ),
        Misconception(
            id="last-loss-only",
            sentence=(
                "Only the loss at the last time is counted. There is one at every time: on the way back, add d_hs[:, t]"
                " to what arrives from later."
            ),
            implementation=_last_only,
        ),
        Misconception(
            id="tanh-skipped",
            sentence="The gradient goes past the tanh. From a state to the sum below it, multiply by 1 − h².",
            implementation=_tanh_skipped,
            also=(_on_past_the_tanh,),
        ),
        Misconception(
            id="overwritten",
            sentence=(
                "Only the first step's part is left: perhaps each step overwrites the last (`=` in the place of `+=`)."
                " The weights are shared over time; their gradient is the sum over times."
            ),
            implementation=_overwritten,
        ),
        Misconception(
            id="averaged-over-time",
            sentence=(
                "You divided by the number of steps. What comes by several ways is added; the mean, if there is one,"
                " is in d_hs already."
            ),
            implementation=_averaged,
        ),
        Misconception(
            id="start-taken-for-zeros",
            sentence=(
                "At the first step U met h0, and you count that as zeros (or leave it out). Here a text may begin with"
                " a state that is handed on."
            ),
            implementation=_start_forgotten,
        ),
        Misconception(
            id="last-state-before-the-first",
            sentence=(
                "Before the first step stands h0, and you have the *last* state there: at t = 0, `hs[:, t - 1]` is"
                " `hs[:, -1]`, and Python counts that from the end."
            ),
            implementation=_wrapped,
        ),
        Misconception(
            id="from-the-first-to-the-last",
            sentence=(
                "You go through the times from the first to the last. What a state has done later must be known before"
                " its gradient is: begin with the last time, `reversed(range(time))`."
            ),
            implementation=_forwards,
        ),
        Misconception(
            id="tanh-twice",
            sentence="You took the tanh of hs once more. They came *out* of the tanh: the slope is 1 − h².",
            implementation=_tanh_twice,
        ),
        Misconception(
            id="slope-for-its-own-loss-only",
            sentence=(
                "What arrives from later goes past the tanh: only the loss of its own time gets the slope. Add both"
                " first, (own + later), and multiply the sum by 1 − h²."
            ),
            implementation=_slope_for_own_loss,
        ),
        Misconception(
            id="d-u-transposed",
            sentence=(
                "Your d_U is the transpose of the right one. In h U the state stands on the left: d_U is hᵀ times d_a,"
                " as d_W is xᵀ times d_a."
            ),
            implementation=_d_u_transposed,
        ),
        Misconception(
            id="one-u-short-of-h0",
            sentence=(
                "Your d_h0 is the gradient of the first sum. From there to h0 it goes once more through U: d_a Uᵀ."
            ),
            implementation=_stops_before_u,
        ),
        Misconception(
            id="averaged-over-texts",
            sentence=(
                "You divided by the number of texts. The gradients of the texts are added; if the loss is a mean over"
                " them, d_hs comes divided."
            ),
            implementation=_averaged_over_texts,
        ),
    ),
    closed=DIFFERENTIATES,
)
