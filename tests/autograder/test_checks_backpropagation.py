"""The exercises of the assignment "backpropagation", held to the law: right solutions earn all, mistakes are named."""

import numpy as np
import pytest
import torch

from autograder.check import examine
from autograder.checks.backpropagation import EXERCISES
from tests.autograder.assignment_laws import AssignmentLaws
from tests.autograder.solutions_backpropagation import SOLUTIONS
from tests.autograder.strangers import backpropagation


def test_the_references_are_what_pytorch_differentiates():
    g = torch.Generator().manual_seed(0)
    x, W1, b1, W2, b2 = (
        torch.randn(*s, generator=g, dtype=torch.float64) for s in ((5, 3), (3, 4), (4,), (4, 6), (6,))
    )
    targets = torch.randint(0, 6, (5,), generator=g)
    parameters = [p.requires_grad_() for p in (W1, b1, W2, b2)]
    loss = torch.nn.functional.cross_entropy(torch.tanh(x @ W1 + b1) @ W2 + b2, targets)
    wanted = [loss.detach(), *torch.autograd.grad(loss, parameters)]
    got = EXERCISES["backpropagation.mlp_gradients"].reference(x, targets, *(p.detach() for p in parameters))
    assert all(torch.allclose(a, b) for a, b in zip(got, wanted, strict=True))

    W = torch.randn(3, 4, generator=g, dtype=torch.float64, requires_grad=True)
    d_y = torch.randn(5, 3, generator=g, dtype=torch.float64)
    (wanted,) = torch.autograd.grad((torch.tanh(x @ W) @ W.T * d_y).sum(), W)
    assert torch.allclose(EXERCISES["backpropagation.tied_gradient"].reference(x, W.detach(), d_y), wanted)


# --- right, in odd ways -----------------------------------------------------------------------------------


def slope(function, array, h=1e-5):
    """Central differences of a function of an array, entry by entry."""
    gradient = np.zeros_like(array)
    for place in np.ndindex(array.shape):
        step = np.zeros_like(array)
        step[place] = h
        gradient[place] = (function(array + step) - function(array - step)) / (2 * h)
    return gradient


def neuron_by_differences(w, x, b):
    w, x, b = (t.numpy().astype(float) for t in (w, x, b))

    def value(w, x, b):
        return 1 / (1 + np.exp(-(w @ x + b)))

    return (
        value(w, x, b),
        slope(lambda w: value(w, x, b), w),
        slope(lambda x: value(w, x, b), x),
        slope(lambda b: value(w, x, b), b),
    )


class Loss:
    def __call__(self, logits, targets):
        logits = logits.double()
        hot = torch.eye(logits.shape[1], dtype=torch.float64)[targets]
        p = torch.softmax(logits, -1)
        return [(torch.logsumexp(logits, -1) - (hot * logits).sum(-1)).mean(), (p - hot).div(len(hot))]


def in_place_on_copies(h, d_h):
    slope = h.clone().square_().neg_().add_(1)
    return slope.mul_(d_h).numpy()


def mlp_by_differences(x, targets, W1, b1, W2, b2):
    x, W1, b1, W2, b2 = (t.numpy().astype(float) for t in (x, W1, b1, W2, b2))

    def loss(W1, b1, W2, b2):
        z = np.tanh(x @ W1 + b1) @ W2 + b2
        z = z - z.max(1, keepdims=True)
        return float(np.mean(np.log(np.exp(z).sum(1)) - z[np.arange(len(z)), targets.numpy()]))

    return (
        loss(W1, b1, W2, b2),
        slope(lambda p: loss(p, b1, W2, b2), W1),
        slope(lambda p: loss(W1, p, W2, b2), b1),
        slope(lambda p: loss(W1, b1, p, b2), W2),
        slope(lambda p: loss(W1, b1, W2, p), b2),
    )


ODD_BUT_RIGHT = [
    ("neuron", neuron_by_differences),
    ("softmax_loss", Loss()),
    ("linear_backward", lambda x, W, d_z: ((W @ d_z.T).T, torch.einsum("ni,no->io", x, d_z).double(), d_z.T.sum(1))),
    ("tanh_backward", in_place_on_copies),
    ("mlp_gradients", mlp_by_differences),
    (
        "tied_gradient",
        lambda x, W, d_y: slope(lambda W: (np.tanh(x.numpy() @ W) @ W.T * d_y.numpy()).sum(), W.numpy().astype(float)),
    ),
]


def test_what_differentiates_by_itself_is_closed():
    def by_autograd(x, W, d_y):
        W = W.clone().requires_grad_()
        (torch.tanh(x @ W) @ W.T * d_y).sum().backward()
        return W.grad

    verdict = examine(EXERCISES["backpropagation.tied_gradient"], by_autograd, 7)
    assert not verdict.passed
    assert verdict.closed


# --- wrong, in ways that are in no list -------------------------------------------------------------------


def right(name):
    return SOLUTIONS[f"backpropagation.{name}"]


def forgets_the_bias(w, x, b):
    return right("neuron")(w, x, b * 0)


def label_smoothing(logits, targets):
    loss, gradient = right("softmax_loss")(logits, targets)
    return loss, gradient + 0.01


def weights_from_one_example(x, W, d_z):
    d_x, _, d_b = right("linear_backward")(x, W, d_z)
    return d_x, np.outer(x[0].numpy(), d_z[0].numpy()), d_b


def clipped(h, d_h):
    return (d_h * (1 - h * h)).clamp(-0.5, 0.5)


def updates_first(x, targets, W1, b1, W2, b2):
    loss, _, _, d_W2, d_b2 = right("mlp_gradients")(x, targets, W1, b1, W2, b2)
    _, e_W1, e_b1, _, _ = right("mlp_gradients")(x, targets, W1, b1, W2 - torch.as_tensor(d_W2).float(), b2)
    return loss, e_W1, e_b1, d_W2, d_b2


def twice_the_second(x, W, d_y):
    h = torch.tanh(x @ W)
    return 2 * d_y.T @ h


WRONG = [
    ("neuron", forgets_the_bias),
    ("softmax_loss", label_smoothing),
    ("linear_backward", weights_from_one_example),
    ("tanh_backward", clipped),
    ("mlp_gradients", updates_first),
    ("tied_gradient", twice_the_second),
]


@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda e: e.function)
def test_zeros_earn_next_to_nothing(exercise):
    def zeros(*given):
        shapes = (
            [tuple(o.shape) for o in map(torch.as_tensor, SOLUTIONS[exercise.name](*given))]
            if len(exercise.returns) > 1
            else [given[1].shape if exercise.function == "tied_gradient" else given[0].shape]
        )
        made = tuple(torch.zeros(shape) for shape in shapes)
        return made if len(made) > 1 else made[0]

    assert examine(exercise, zeros, 5).points <= 0.1 * exercise.points


def shifts_what_it_was_given(logits, targets):
    logits -= logits.max(1, keepdim=True).values
    p, rows = logits.exp() / logits.exp().sum(1, keepdim=True), torch.arange(len(targets))
    loss = -p[rows, targets].log().mean()
    p[rows, targets] -= 1
    return loss, p / len(p)


def test_a_mistake_is_named_also_where_an_argument_was_written_over():
    verdict = examine(EXERCISES["backpropagation.softmax_loss"], shifts_what_it_was_given, None)
    assert [m.id for m in verdict.misconceptions] == ["log-of-zero"]


class TestBackpropagation(AssignmentLaws):
    exercises, solutions = EXERCISES, SOLUTIONS
    odd, wrong = ODD_BUT_RIGHT, WRONG
    strangers = backpropagation
