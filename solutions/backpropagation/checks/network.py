"""Questions 3 and 4: a whole network, and a matrix that is used twice."""

from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case


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


def _odd_networks(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    return [
        case("one example", *_network(draw, 1, n, n, n)),
        case("one hidden unit", *_network(draw, n, n, 1, n + 1)),
    ]


MLP_GRADIENTS = question(
    "backpropagation.mlp_gradients",
    minutes=35,
    difficulty="hard",
    returns=("loss", "d_W1", "d_b1", "d_W2", "d_b2"),
    properties=[
        shapes(0.5, _networks, "each gradient has its parameter's shape"),
        values("the loss", 0.5, _networks, "loss"),
        values("the upper layer", 1.5, _networks, "d_W2", "d_b2"),
        values("the lower layer", 2.5, _networks, "d_W1", "d_b1"),
        values("one example, one hidden unit", 1, _odd_networks),
    ],
    numpy=True,
    mistakes="""
tanh-skipped: The gradients of the lower layer bypassed the tanh. After W2ᵀ you have the gradient of h; to get the
gradient before the tanh, multiply by 1 − h².
- tanh_backward(h, d_h) → d_h

before-for-after-the-tanh: You computed d_W2 with the hidden layer *before* its tanh. The input of W2 is h: its gradient
is hᵀ times the upstream gradient.
- linear_backward(h, W2, d_z) → linear_backward(x @ W1 + b1, W2, d_z)

slope-from-before-the-tanh: Your slope of the tanh is 1 − z², where z is its input. It is 1 − h², where h = tanh(z) is
its output.
- tanh_backward(h, d_h) → d_h * (1 - (x @ W1 + b1) ** 2)

tanh-twice: You applied the tanh to h once more. h is the *output* of the tanh: the slope is 1 − h².
- tanh_backward(h, d_h) → d_h * (1 - np.tanh(h) ** 2)

one-hot-forgotten: Your gradient of the logits is just the softmax: the loss is right, but all gradients after it are
not. Subtract 1 for the target, before you divide.
- loss, d_z = softmax_loss(h @ W2 + b2, targets)
+ loss, d_z = softmax_loss(h @ W2 + b2, targets)
+ d_z[np.arange(len(x)), targets] += 1 / len(x)

batch-forgotten: The loss is a mean, but your gradients are those of the sum: all are too large by a factor of the batch
size. Divide once, where the loss is computed.
- loss, d_z = softmax_loss(h @ W2 + b2, targets)
+ loss, d_z = softmax_loss(h @ W2 + b2, targets)
+ d_z = d_z * len(x)

in-another-order: You return the gradients in a different order. After the loss, return those of W1, b1, W2, b2, in the
order of the signature.
- d_W1, d_b1, d_W2, d_b2 → d_W1, d_W2, d_b1, d_b2
or
- d_W1, d_b1, d_W2, d_b2 → d_W2, d_b2, d_W1, d_b1

sign: All gradients point downhill. A gradient points where the loss grows: softmax − one-hot.
- loss, d_z = softmax_loss(h @ W2 + b2, targets)
+ loss, d_z = softmax_loss(h @ W2 + b2, targets)
+ d_z = -d_z
""",
)


# --- used twice -------------------------------------------------------------------------------------------


def _tied(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [case("a batch", draw.normal(batch, n_in), draw.normal(n_in, hidden) / n_in**0.5, draw.normal(batch, n_in))]


def _small(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    return [
        case("one example, one hidden unit", draw.normal(1, n), draw.normal(n, 1), draw.normal(1, n)),
        case("W is square", draw.normal(2, n), draw.normal(n, n) / n**0.5, draw.normal(2, n)),
    ]


TIED_GRADIENT = question(
    "backpropagation.tied_gradient",
    minutes=25,
    difficulty="hard",
    returns=("d_W",),
    properties=[
        shapes(0.25, _tied, "it has the shape of W"),
        values("the gradient", 2.75, _tied),
        values("small sizes", 1, _small),
    ],
    numpy=True,
    mistakes="""
second-use-only: You counted only W's second use, the upper one. W also produced h: its gradient is the sum over both
paths.
- upper + lower → upper

first-use-only: You counted only W's first use, the lower one; perhaps the second was overwritten (`=` instead of `+=`).
The gradient is the sum over both paths.
- upper + lower → lower

averaged: You took the mean of the two paths. Gradients that meet are *added*.
- upper + lower → (upper + lower) / 2

tanh-skipped: On the path through W's first use the tanh is missing: multiply by 1 − h².
- tanh_backward(h, d_y @ W) → d_y @ W

upper-use-not-transposed: For the upper use you computed the gradient of Wᵀ, (hidden, in). W itself gets its transpose,
d_yᵀ h; where W is square, only the values tell.
- (h.T @ d_y).T → h.T @ d_y

back-by-the-transpose: From y back to h you multiplied by Wᵀ. Forward, y = h Wᵀ; backward you need the transpose of
*that*, which is W itself.
- d_y @ W) → d_y @ W.T)
""",
)
