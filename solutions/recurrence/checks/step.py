"""Question 1a: one step."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.recurrence.checks.common import weights


def _steps(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [case("a batch", draw.normal(batch, n_in), draw.normal(batch, hidden), *weights(draw, n_in, hidden))]


def _square(draw: Draw) -> list[Case]:
    batch, n = draw.sizes(2)
    return [case("as many units as inputs", draw.normal(batch, n), draw.normal(batch, n), *weights(draw, n, n))]


def _odd_steps(draw: Draw) -> list[Case]:
    n = draw.size()
    doubles = [t.double() for t in (draw.normal(2, n), draw.normal(2, n), *weights(draw, n, n))]
    return [
        case("one text, one unit", draw.normal(1, n), draw.normal(1, 1), *weights(draw, n, 1)),
        case("float64", *doubles),
    ]


RNN_STEP = question(
    "recurrence.rnn_step",
    minutes=10,
    difficulty="easy",
    returns=("h",),
    properties=[
        values("a batch", 1, _steps),
        values("as many units as inputs", 0.5, _square),
        values("one text, one unit, and float64", 0.5, _odd_steps),
    ],
    numpy=True,
    mistakes="""
u-and-w-exchanged: You swapped U and W. W multiplies the input, U the previous state. If both are square, there is no
error message; different sizes reveal it immediately.
- x @ W + h @ U → x @ U + h @ W

no-tanh: You computed the sum but left out the tanh: without it the state grows without bound.
- np.tanh(x @ W + h @ U + b) → x @ W + h @ U + b

sigmoid: You used a sigmoid, between 0 and 1. Here it is tanh, between −1 and 1.
- np.tanh(x @ W + h @ U + b) → 1 / (1 + np.exp(-(x @ W + h @ U + b)))

past-forgotten: You did not use the previous state: without h U this network reads only one word.
- x @ W + h @ U → x @ W

bias-forgotten: You left out the bias b. Add it before the tanh.
-  + b →

tanh-of-the-parts: You applied the tanh to x W and h U separately and added the results. Add first, then apply the tanh
once: the state stays between −1 and 1.
- np.tanh(x @ W + h @ U + b) → np.tanh(x @ W + b) + np.tanh(h @ U)

u-transposed: You transposed U. Vectors are rows here, so the state multiplies U from the left: h U. (PyTorch's
weight_hh is our U transposed.)
- h @ U → h @ U.T
or
- x @ W + h @ U → x @ W.T + h @ U.T

bias-after-the-tanh: You added b after the tanh, so the state can leave −1 to 1. It is part of the tanh's argument: it
shifts the point at which a unit changes sign.
- h @ U + b) → h @ U) + b

bias-twice: You added b twice, once with the input and once with the state. PyTorch has two biases there; here there is
one, added once.
- + b → + 2 * b
""",
)
