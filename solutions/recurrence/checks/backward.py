"""Question 3a: backpropagation through the whole text."""

import torch

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.recurrence.checks.common import read


def _texts(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [case("several steps", *read(draw, batch, draw.integer(3, 5), n_in, hidden))]


def _one_step(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [case("a single step", *read(draw, batch, 1, n_in, hidden))]


def _odd(draw: Draw) -> list[Case]:
    n = draw.size()
    xs, h0, hs, d_hs, U = read(draw, 2, 4, n, n)
    last = torch.zeros_like(d_hs)
    last[:, -1] = d_hs[:, -1]
    return [
        case("a loss at the last step only", xs, h0, hs, last, U),
        case("one text, one unit", *read(draw, 1, 3, n, 1)),
    ]


RNN_BACKWARD = question(
    "recurrence.rnn_backward",
    minutes=45,
    difficulty="hard",
    returns=("d_W", "d_U", "d_b", "d_h0"),
    properties=[
        shapes(0.5, _texts, "each gradient has its parameter's shape"),
        values("a single step", 1, _one_step),
        values("d_b", 1, _texts, "d_b"),
        values("d_W", 1, _texts, "d_W"),
        values("d_U", 1, _texts, "d_U"),
        values("d_h0", 0.5, _texts, "d_h0"),
        values("a loss at the end only, one unit", 1, _odd),
    ],
    numpy=True,
    mistakes="""
each-step-for-itself: Each step gets only the gradient of its own loss, and none from later times. The next state was
computed from this one: add what arrives from there, d_a Uᵀ of the next step.
- (d_hs[:, t] + from_later) → d_hs[:, t]

u-not-transposed: In the backward pass you multiply by U. The forward pass multiplies a state by U; the backward pass
multiplies by its transpose: d_a Uᵀ.
- U.T → U

state-of-the-same-time: You computed d_U with the state *after* each step. U was multiplied by the state *before* it: h0
at the first step, then each of hs except the last.
- hs[:, t - 1] if t > 0 else h0 → hs[:, t]

last-loss-only: You use only the loss at the last time. There is one at every time: on the way back, add d_hs[:, t] to
what arrives from later.
^ d_hs = np.concatenate([np.zeros_like(d_hs[:, :-1]), d_hs[:, -1:]], axis=1)

tanh-skipped: Your gradient skips the tanh. From a state to the sum inside the tanh, multiply by 1 − h².
-  * (1 - hs[:, t] ** 2) →
or
- d_a = (d_hs[:, t] + from_later) * (1 - hs[:, t] ** 2)
+ d_h = d_hs[:, t] + from_later
+     d_a = d_h * (1 - hs[:, t] ** 2)
- d_a @ U.T → d_h @ U.T

overwritten: Only the first step's part is left: perhaps each step overwrites the previous result (`=` instead of `+=`).
The weights are shared over time; their gradient is the sum over times.
* += → =

averaged-over-time: You divided by the number of steps. Gradients that arrive along several paths are added; if the loss
is a mean, d_hs already contains the division.
- return d_W, d_U, d_b → return d_W / xs.shape[1], d_U / xs.shape[1], d_b / xs.shape[1]

start-taken-for-zeros: At the first step U was multiplied by h0, but you use zeros (or leave it out). Here a text may
start from a state that was passed on.
- else h0 → else np.zeros_like(h0)

last-state-before-the-first: The state before the first step is h0, but you use the *last* state: at t = 0, `hs[:, t -
1]` is `hs[:, -1]`, which Python counts from the end.
- hs[:, t - 1] if t > 0 else h0 → hs[:, t - 1]

from-the-first-to-the-last: You go through time from the first step to the last. The gradient of a state needs those of
all later states: start with the last time, `reversed(range(time))`.
- reversed(range(xs.shape[1])) → range(xs.shape[1])

tanh-twice: You applied tanh to hs again. The states are already *outputs* of the tanh: the slope is 1 − h².
- hs[:, t] ** 2 → np.tanh(hs[:, t]) ** 2

slope-for-its-own-loss-only: The gradient from later times skips the tanh: you multiply only the loss of the same time
by the slope. Add both first, (own + later), and multiply the sum by 1 − h².
- (d_hs[:, t] + from_later) * (1 - hs[:, t] ** 2) → d_hs[:, t] * (1 - hs[:, t] ** 2) + from_later

d-u-transposed: Your d_U is the transpose of the right one. In h U the state is on the left: d_U is hᵀ times d_a, as d_W
is xᵀ times d_a.
- return d_W, d_U → return d_W, d_U.T

one-u-short-of-h0: Your d_h0 is the gradient of the first sum. To reach h0, multiply by U once more: d_a Uᵀ.
- d_b, from_later → d_b, d_a

averaged-over-texts: You divided by the number of texts. Add the gradients of the texts; if the loss is a mean over
them, d_hs already contains the division.
- return d_W, d_U, d_b → return d_W / len(xs), d_U / len(xs), d_b / len(xs)
""",
)
