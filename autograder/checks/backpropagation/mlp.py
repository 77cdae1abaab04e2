"""Question 3: a whole network."""

import torch
from torch import Tensor

from autograder.checks.backpropagation.common import CLOSED, logits_gradient, mean_loss
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

MLP = ("loss", "d_W1", "d_b1", "d_W2", "d_b2")
Five = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def _network(draw: Draw, batch: int, n_in: int, hidden: int, classes: int) -> tuple[Tensor, ...]:
    return (
        draw.normal(batch, n_in),
        draw.integers(0, classes - 1, batch),
        draw.normal(n_in, hidden),
        draw.normal(hidden),
        draw.normal(hidden, classes),
        draw.normal(classes),
    )


def _networks(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [case("a batch", *_network(draw, batch, n_in, hidden, max(n_in, hidden) + 1))]


def _odd(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    return [
        case("one example", *_network(draw, 1, n, n, n)),
        case("one hidden unit", *_network(draw, n, n, 1, n + 1)),
    ]


def _gradients(x: Tensor, targets: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Five:
    h = torch.tanh(x @ W1 + b1)
    logits = h @ W2 + b2
    d_logits = logits_gradient(logits, targets)
    d_z = d_logits @ W2.T * (1 - h * h)
    return mean_loss(logits, targets), x.T @ d_z, d_z.sum(0), h.T @ d_logits, d_logits.sum(0)


def _parts(x: Tensor, targets: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> tuple[Tensor, ...]:
    z = x @ W1 + b1
    h = torch.tanh(z)
    logits = h @ W2 + b2
    return z, h, logits, logits_gradient(logits, targets), mean_loss(logits, targets)


def _through(x: Tensor, d_z: Tensor, h: Tensor, d_logits: Tensor, loss: Tensor) -> Five:
    return loss, x.T @ d_z, d_z.sum(0), h.T @ d_logits, d_logits.sum(0)


def _without_the_tanh(x: Tensor, targets: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Five:
    _, h, _, d_logits, loss = _parts(x, targets, W1, b1, W2, b2)
    return _through(x, d_logits @ W2.T, h, d_logits, loss)


def _before_the_tanh(x: Tensor, targets: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Five:
    z, h, _, d_logits, loss = _parts(x, targets, W1, b1, W2, b2)
    return _through(x, d_logits @ W2.T * (1 - h * h), z, d_logits, loss)


def _slope_of_z(x: Tensor, targets: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Five:
    z, h, _, d_logits, loss = _parts(x, targets, W1, b1, W2, b2)
    return _through(x, d_logits @ W2.T * (1 - z * z), h, d_logits, loss)


def _tanh_again(x: Tensor, targets: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Five:
    _, h, _, d_logits, loss = _parts(x, targets, W1, b1, W2, b2)
    return _through(x, d_logits @ W2.T * (1 - torch.tanh(h) ** 2), h, d_logits, loss)


def _softmax_alone(x: Tensor, targets: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Five:
    _, h, logits, _, loss = _parts(x, targets, W1, b1, W2, b2)
    d_logits = torch.softmax(logits, -1) / len(x)
    return _through(x, d_logits @ W2.T * (1 - h * h), h, d_logits, loss)


def _of_the_sum(x: Tensor, targets: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Five:
    loss, *gradients = _gradients(x, targets, W1, b1, W2, b2)
    d_W1, d_b1, d_W2, d_b2 = (gradient * len(x) for gradient in gradients)
    return loss, d_W1, d_b1, d_W2, d_b2


def _another_order(x: Tensor, targets: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Five:
    loss, d_W1, d_b1, d_W2, d_b2 = _gradients(x, targets, W1, b1, W2, b2)
    return loss, d_W1, d_W2, d_b1, d_b2


def _upper_first(x: Tensor, targets: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Five:
    loss, d_W1, d_b1, d_W2, d_b2 = _gradients(x, targets, W1, b1, W2, b2)
    return loss, d_W2, d_b2, d_W1, d_b1


def _downhill(x: Tensor, targets: Tensor, W1: Tensor, b1: Tensor, W2: Tensor, b2: Tensor) -> Five:
    loss, d_W1, d_b1, d_W2, d_b2 = _gradients(x, targets, W1, b1, W2, b2)
    return loss, -d_W1, -d_b1, -d_W2, -d_b2


MLP_GRADIENTS = Exercise(
    name="backpropagation.mlp_gradients",
    title="A whole network",
    signature="mlp_gradients(x, targets, W1, b1, W2, b2)",
    arguments=("x", "targets", "W1", "b1", "W2", "b2"),
    returns=MLP,
    minutes=35,
    difficulty="hard",
    reference=_gradients,
    properties=(
        Property(name="each gradient has its parameter's shape", points=0.5, cases=_networks, judge=same_shapes(MLP)),
        Property(name="the loss", points=0.5, cases=_networks, judge=same_values(MLP, [0]), outputs=(0,)),
        Property(name="the upper layer", points=1.5, cases=_networks, judge=same_values(MLP, [3, 4]), outputs=(3, 4)),
        Property(name="the lower layer", points=2.5, cases=_networks, judge=same_values(MLP, [1, 2]), outputs=(1, 2)),
        Property(name="one example, one hidden unit", points=1, cases=_odd, judge=same_values(MLP)),
    ),
    misconceptions=(
        Misconception(
            id="tanh-skipped",
            sentence=(
                "The lower layer's gradients went past the tanh. After W2ᵀ you have the gradient of h; to get to what"
                " is before the tanh, multiply by 1 − h²."
            ),
            implementation=_without_the_tanh,
        ),
        Misconception(
            id="before-for-after-the-tanh",
            sentence=(
                "d_W2 was made with the hidden layer *before* its tanh. What goes into W2 is h: its gradient is hᵀ"
                " times what comes from above."
            ),
            implementation=_before_the_tanh,
        ),
        Misconception(
            id="slope-from-before-the-tanh",
            sentence=(
                "Your slope of the tanh is 1 − z², with z what goes in. It is 1 − h², with h = tanh(z) what comes out."
            ),
            implementation=_slope_of_z,
        ),
        Misconception(
            id="tanh-twice",
            sentence="You took the tanh of h once more. h came *out* of the tanh: the slope is 1 − h².",
            implementation=_tanh_again,
        ),
        Misconception(
            id="one-hot-forgotten",
            sentence=(
                "Your gradient of the logits is the softmax alone: the loss is right, and all gradients after it are"
                " not. For the target subtract 1, before you divide."
            ),
            implementation=_softmax_alone,
        ),
        Misconception(
            id="batch-forgotten",
            sentence=(
                "The loss is a mean, your gradients are those of the sum: all are too large by the size of the batch."
                " Divide once, where the loss begins."
            ),
            implementation=_of_the_sum,
        ),
        Misconception(
            id="in-another-order",
            sentence=(
                "The gradients come back in another order. Asked are, after the loss, those of W1, b1, W2, b2: as the"
                " parameters stand in the signature."
            ),
            implementation=_another_order,
            also=(_upper_first,),
        ),
        Misconception(
            id="sign",
            sentence="All gradients point downhill. A gradient points where the loss grows: softmax − one-hot.",
            implementation=_downhill,
        ),
    ),
    closed=(*CLOSED, "torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss"),
)
