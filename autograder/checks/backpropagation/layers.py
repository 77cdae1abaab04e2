"""Questions 2a and 2b: a linear layer and a tanh, backwards."""

import torch
from torch import Tensor

from autograder.checks.backpropagation.common import CLOSED
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged, same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

GRADIENTS, BACK = ("d_x", "d_W", "d_b"), ("d_z",)
Three = tuple[Tensor, Tensor, Tensor]


def _layers(draw: Draw) -> list[Case]:
    batch, n_in, n_out = draw.sizes(3)
    return [case("a batch", draw.normal(batch, n_in), draw.normal(n_in, n_out), draw.normal(batch, n_out))]


def _square(draw: Draw) -> list[Case]:
    batch, n = draw.sizes(2)
    return [case("as many outputs as inputs", draw.normal(batch, n), draw.normal(n, n), draw.normal(batch, n))]


def _all_equal(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    return [case("batch, inputs and outputs of one size", draw.normal(n, n), draw.normal(n, n), draw.normal(n, n))]


def _odd(draw: Draw) -> list[Case]:
    batch, n_in = draw.sizes(2)
    return [
        case("one example, one output", draw.normal(1, n_in), draw.normal(n_in, 1), draw.normal(1, 1)),
        case(
            "a slice of something larger",
            draw.strided(batch, n_in),
            draw.strided(n_in, n_in),
            draw.strided(batch, n_in),
        ),
    ]


def _linear(x: Tensor, W: Tensor, d_z: Tensor) -> Three:
    return d_z @ W.T, x.T @ d_z, d_z.sum(0)


def _w_not_transposed(x: Tensor, W: Tensor, d_z: Tensor) -> Three:
    d_x = d_z @ W if W.shape[0] == W.shape[1] else d_z @ W.T
    return d_x, x.T @ d_z, d_z.sum(0)


def _without_the_batch(x: Tensor, W: Tensor, d_z: Tensor) -> Three:
    d_x, d_W, d_b = _linear(x, W, d_z)
    return d_x, d_W / len(x), d_b / len(x)


LINEAR_BACKWARD = Exercise(
    name="backpropagation.linear_backward",
    title="A linear layer, backwards",
    signature="linear_backward(x, W, d_z)",
    arguments=("x", "W", "d_z"),
    returns=GRADIENTS,
    minutes=20,
    difficulty="medium",
    reference=_linear,
    properties=(
        Property(
            name="each gradient has its parameter's shape", points=0.25, cases=_layers, judge=same_shapes(GRADIENTS)
        ),
        Property(name="d_x", points=0.75, cases=_square, judge=same_values(GRADIENTS, [0]), outputs=(0,)),
        Property(name="d_W", points=1, cases=_all_equal, judge=same_values(GRADIENTS, [1]), outputs=(1,)),
        Property(name="d_b", points=1, cases=_layers, judge=same_values(GRADIENTS, [2]), outputs=(2,)),
        Property(name="odd sizes", points=1, cases=_odd, judge=same_values(GRADIENTS)),
    ),
    misconceptions=(
        Misconception(
            id="d-w-transposed",
            sentence=(
                "Your d_W is the transpose of the right one. It has the shape of W, (in, out): x from the left, d_z"
                " from the right. Where both sizes are equal, only the numbers tell."
            ),
            implementation=lambda x, W, d_z: (d_z @ W.T, d_z.T @ x, d_z.sum(0)),
        ),
        Misconception(
            id="w-not-transposed",
            sentence=(
                "On the way back d_z goes through W as it stands. Forward, W takes inputs to outputs; back, its"
                " transpose takes outputs to inputs: d_z Wᵀ."
            ),
            implementation=_w_not_transposed,
        ),
        Misconception(
            id="bias-averaged",
            sentence=(
                "You averaged d_z over the batch. The same b is added to every example, so its gradient is the *sum* of"
                " theirs; the mean, if there is one, is in the loss already."
            ),
            implementation=lambda x, W, d_z: (d_z @ W.T, x.T @ d_z, d_z.mean(0)),
        ),
        Misconception(
            id="averaged",
            sentence=(
                "You divided by the size of the batch. The loss has done that already, if it is a mean: d_z"
                " comes divided. Here the examples are only added up."
            ),
            implementation=_without_the_batch,
        ),
        Misconception(
            id="bias-not-summed",
            sentence=(
                "Your d_b has a row for each example. There is one b for all of them: add the rows up, and it has the"
                " shape of b."
            ),
            implementation=lambda x, W, d_z: (d_z @ W.T, x.T @ d_z, d_z.clone()),
        ),
        Misconception(
            id="bias-over-the-outputs",
            sentence="You summed d_z over the outputs. Each has a bias of its own: sum over the *examples*, axis 0.",
            implementation=lambda x, W, d_z: (d_z @ W.T, x.T @ d_z, d_z.sum(1)),
        ),
    ),
    closed=CLOSED,
)


# --- tanh -------------------------------------------------------------------------------------------------


def _activations(draw: Draw) -> list[Case]:
    rows, columns = draw.sizes(2)
    return [case("a batch", torch.tanh(draw.normal(rows, columns)), draw.normal(rows, columns))]


def _saturated(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    flat = torch.tanh(draw.normal(2, n) * 20)
    return [
        case("units at their limits", flat, draw.normal(2, n)),
        case("units that are off", torch.zeros(1, n), draw.normal(1, n)),
    ]


TANH_BACKWARD = Exercise(
    name="backpropagation.tanh_backward",
    title="A tanh, backwards",
    signature="tanh_backward(h, d_h)",
    arguments=("h", "d_h"),
    returns=BACK,
    minutes=10,
    difficulty="easy",
    reference=lambda h, d_h: d_h * (1 - h * h),
    properties=(
        Property(name="the gradient", points=1.25, cases=_activations, judge=same_values(BACK)),
        Property(
            name="units at their limits or off, h and d_h kept",
            points=0.75,
            cases=_saturated,
            judge=and_inputs_unchanged(same_values(BACK)),
        ),
    ),
    misconceptions=(
        Misconception(
            id="tanh-twice",
            sentence=(
                "You took the tanh of h once more. h is what came *out* of the tanh: the slope is 1 − h², ready to be"
                " computed."
            ),
            implementation=lambda h, d_h: d_h * (1 - torch.tanh(h) ** 2),
        ),
        Misconception(
            id="sigmoid-slope",
            sentence="Your slope is h (1 − h). That is the sigmoid's; the tanh's is 1 − h².",
            implementation=lambda h, d_h: d_h * h * (1 - h),
        ),
        Misconception(
            id="not-squared",
            sentence="Your slope is 1 − h, and the tanh's is 1 − h²: it is the same on both sides of 0.",
            implementation=lambda h, d_h: d_h * (1 - h),
        ),
        Misconception(
            id="slope-alone",
            sentence="That is the slope alone. What comes from above has to go through it: multiply d_h by it.",
            implementation=lambda h, d_h: 1 - h * h,
        ),
        Misconception(
            id="in-place",
            sentence=(
                "The numbers are right, and written over what you were given. Whoever called still needs it: `d_h * s`"
                " makes a new tensor, `d_h *= s` and `mul_` do not."
            ),
            implementation=lambda h, d_h: d_h.mul_(1 - h * h),
            also=(lambda h, d_h: h.square_().neg_().add_(1).mul_(d_h),),
        ),
    ),
    closed=CLOSED,
)
