"""The exercises of the assignment "recurrence", held to the law: right solutions earn all, mistakes are named."""

import numpy as np
import pytest
import torch

from autograder.check import examine
from autograder.checks.recurrence import EXERCISES
from nlmcore.recurrent import RNNCell, unroll
from nlmcore.training import clip_gradients
from tests.autograder.assignment_laws import AssignmentLaws
from tests.autograder.solutions_recurrence import SOLUTIONS
from tests.autograder.strangers import recurrence


def reference(name, *arguments):
    return EXERCISES[f"recurrence.{name}"].reference(*arguments)


def test_the_references_are_the_librarys_network_and_what_pytorch_differentiates():
    draw = torch.Generator().manual_seed(0)
    cell = RNNCell(3, 4).double()
    xs, h0 = (torch.randn(*s, generator=draw, dtype=torch.float64) for s in ((2, 5, 3), (2, 4)))
    h0.requires_grad_()
    hs = unroll(cell, xs, h0).states
    d_hs = torch.randn(2, 5, 4, generator=draw, dtype=torch.float64)
    (hs * d_hs).sum().backward()
    U = cell.weight_hh.detach().T
    states, last = reference(
        "rnn_forward", xs, torch.tensor([5, 5]), h0.detach(), cell.weight_ih.detach().T, U, cell.input_bias().detach()
    )
    assert torch.allclose(states, hs)
    assert torch.allclose(last, hs[:, -1])
    found = reference("rnn_backward", xs, h0.detach(), states.detach(), d_hs, U)
    wanted = (cell.weight_ih.grad.T, cell.weight_hh.grad.T, cell.bias_ih.grad, h0.grad)
    assert all(torch.allclose(a, b) for a, b in zip(found, wanted, strict=True))

    parameter = torch.nn.Parameter(torch.zeros(3, 2))
    parameter.grad = torch.randn(3, 2, generator=draw) * 9
    norm, clipped = reference("clip", [parameter.grad.clone()], 1.0)
    assert float(norm) == pytest.approx(clip_gradients([parameter], 1.0), rel=1e-5)
    assert torch.allclose(clipped.view(3, 2), parameter.grad)


def test_the_reference_of_the_loss_is_what_pytorch_differentiates():
    draw = torch.Generator().manual_seed(1)
    logits = torch.randn(2, 3, 5, generator=draw, dtype=torch.float64, requires_grad=True)
    targets, lengths = torch.randint(0, 5, (2, 3), generator=draw), torch.tensor([3, 1])
    counted = targets.masked_fill(torch.arange(3) >= lengths[:, None], -100)
    loss = torch.nn.functional.cross_entropy(logits.transpose(1, 2), counted)
    loss.backward()
    found, gradient = reference("text_loss", logits.detach(), targets, lengths)
    assert torch.allclose(found, loss)
    assert torch.allclose(gradient, logits.grad)


# --- right, in odd ways -----------------------------------------------------------------------------------


def with_one_product(x, h, W, U, b):
    both = torch.cat([x, h, torch.ones(len(x), 1, dtype=x.dtype)], 1) @ torch.cat([W, U, b[None]])
    return (1 - 2 / (both.mul(2).exp() + 1)).tolist()


class Reading:
    def __call__(self, xs, lengths, h0, W, U, b):
        states, h = [], h0.clone()
        for t in range(xs.shape[1]):
            awake = lengths > t
            h[awake] = torch.tanh(xs[awake, t] @ W + h[awake] @ U + b)  # in place, on a copy
            states.append(h.clone())
        return torch.stack(states, 1).double(), h.numpy()


def on_the_places_that_count(logits, targets, lengths):
    where = torch.arange(logits.shape[1])[None] < lengths[:, None]
    z, gradient = logits[where].double(), torch.zeros_like(logits)
    p = torch.softmax(z, -1)
    picked = torch.arange(len(z))
    loss = (torch.logsumexp(z, -1) - z[picked, targets[where]]).mean()
    p[picked, targets[where]] -= 1
    gradient[where] = (p / len(z)).float()
    return [loss, gradient]


def by_differences(xs, h0, hs, d_hs, U):
    """The weights are not given: the sums before the tanh are recovered from the states, and shifted."""
    xs, h0, hs, d_hs, U = (t.double() for t in (xs, h0, hs, d_hs, U))
    previous = torch.cat([h0[:, None], hs[:, :-1]], 1)
    rest = torch.atanh(hs) - previous @ U  # x W + b

    def value(U, h0, d_W, d_b):
        h, total = h0, 0.0
        for t in range(hs.shape[1]):
            h = torch.tanh(rest[:, t] + xs[:, t] @ d_W + d_b + h @ U)
            total += float((h * d_hs[:, t]).sum())
        return total

    at = [U, h0, torch.zeros(xs.shape[2], len(U), dtype=torch.float64), torch.zeros(len(U), dtype=torch.float64)]
    gradients = []
    for which, tensor in enumerate(at):
        gradient = np.zeros(tuple(tensor.shape))
        for place in np.ndindex(gradient.shape):
            ends = []
            for sign in (1, -1):
                moved = [t.clone() for t in at]
                moved[which][place] += sign * 1e-5
                ends.append(value(*moved))
            gradient[place] = (ends[0] - ends[1]) / 2e-5
        gradients.append(gradient)
    d_U, d_h0, d_W, d_b = gradients
    return d_W, d_U, d_b, d_h0


def back_with_a_reset(xs, h0, hs, d_hs, U, k):
    arriving, sums = torch.zeros_like(h0), torch.zeros_like(hs)
    for t in range(hs.shape[1] - 1, -1, -1):
        if (t + 1) % k == 0:
            arriving = torch.zeros_like(h0)
        sums[:, t] = (1 + hs[:, t]) * (1 - hs[:, t]) * (d_hs[:, t] + arriving)
        arriving = sums[:, t] @ U.T
    previous = torch.cat([h0.unsqueeze(1), hs[:, :-1]], 1)
    return (
        torch.tensordot(xs, sums, ([0, 1], [0, 1])),
        torch.tensordot(previous, sums, ([0, 1], [0, 1])),
        sums.sum((0, 1)),
    )


ODD_BUT_RIGHT = [
    ("rnn_step", with_one_product),
    ("rnn_forward", Reading()),
    ("text_loss", on_the_places_that_count),
    ("rnn_backward", by_differences),
    ("truncated_backward", back_with_a_reset),
    (
        "clip",
        lambda gradients, largest: (
            np.linalg.norm(np.concatenate([g.numpy().ravel() for g in gradients])),
            np.concatenate([g.numpy().ravel() for g in gradients])
            / max(1.0, float(torch.cat([g.reshape(-1) for g in gradients]).norm()) / largest),
        ),
    ),
]


def test_what_does_the_work_is_closed():
    def by_autograd(xs, h0, hs, d_hs, U):
        U = U.clone().requires_grad_()
        (h0 @ U).sum().backward()
        return right("rnn_backward")(xs, h0, hs, d_hs, U.detach())

    def by_the_library(xs, lengths, h0, W, U, b):
        network = torch.nn.RNN(xs.shape[2], len(U), batch_first=True)
        return network(xs, h0[None])

    assert examine(EXERCISES["recurrence.rnn_backward"], by_autograd, 7).closed
    assert examine(EXERCISES["recurrence.rnn_forward"], by_the_library, 7).closed


# --- wrong, in ways that are in no list -------------------------------------------------------------------


def right(name):
    return SOLUTIONS[f"recurrence.{name}"]


def squashes_twice(x, h, W, U, b):
    return np.tanh(right("rnn_step")(x, h, W, U, b))


def reads_backwards(xs, lengths, h0, W, U, b):
    return right("rnn_forward")(xs.flip(1), lengths, h0, W, U, b)


def without_the_first_word(logits, targets, lengths):
    later = (lengths - 1).clamp(min=0)
    loss, gradient = right("text_loss")(logits[:, 1:], targets[:, 1:], later if later.sum() else later + 1)
    return loss, np.concatenate([np.zeros_like(logits[:, :1].numpy()), gradient], 1)


def forgets_half_of_what_arrives(xs, h0, hs, d_hs, U):
    return right("rnn_backward")(xs, h0, hs, d_hs, U * 0.5)


def pieces_one_too_long(xs, h0, hs, d_hs, U, k):
    return right("truncated_backward")(xs, h0, hs, d_hs, U, k + 1)


def by_the_largest_entry(gradients, largest):
    flat = torch.cat([g.flatten() for g in gradients])
    return flat.norm(), flat / max(1.0, float(flat.abs().max()) / largest)


WRONG = [
    ("rnn_step", squashes_twice),
    ("rnn_forward", reads_backwards),
    ("text_loss", without_the_first_word),
    ("rnn_backward", forgets_half_of_what_arrives),
    ("truncated_backward", pieces_one_too_long),
    ("clip", by_the_largest_entry),
]


@pytest.mark.parametrize("filling", [0.0, 1.0])
@pytest.mark.parametrize("exercise", EXERCISES.values(), ids=lambda e: e.function)
def test_a_constant_earns_next_to_nothing(exercise, filling):
    def constant(*given):
        answer = SOLUTIONS[exercise.name](*given)
        made = tuple(
            torch.full(torch.as_tensor(a).shape, filling) for a in (answer if isinstance(answer, tuple) else [answer])
        )
        return made if len(made) > 1 else made[0]

    assert examine(exercise, constant, 5).points <= 0.1 * exercise.points


class TestRecurrence(AssignmentLaws):
    exercises, solutions = EXERCISES, SOLUTIONS
    odd, wrong = ODD_BUT_RIGHT, WRONG
    strangers = recurrence
