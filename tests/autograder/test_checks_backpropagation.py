"""What the exercises of "backpropagation" promise beyond what every assignment must (`test_checks.py`)."""

import numpy as np
import torch

from autograder.check import examine
from autograder.question.report import Report
from solutions.backpropagation.checks import EXERCISES


def test_the_references_are_what_pytorch_differentiates():
    g = torch.Generator().manual_seed(0)
    x, W1, b1, W2, b2 = (
        torch.randn(*s, generator=g, dtype=torch.float64) for s in ((5, 3), (3, 4), (4,), (4, 6), (6,))
    )
    targets = torch.randint(0, 6, (5,), generator=g)
    parameters = [p.requires_grad_() for p in (W1, b1, W2, b2)]
    loss = torch.nn.functional.cross_entropy(torch.tanh(x @ W1 + b1) @ W2 + b2, targets)
    wanted = [loss.detach(), *torch.autograd.grad(loss, parameters)]
    got = EXERCISES["backpropagation.mlp_gradients"].reference(*(t.detach().numpy() for t in (x, targets, *parameters)))
    assert all(np.allclose(a, b) for a, b in zip(got, wanted, strict=True))

    W = torch.randn(3, 4, generator=g, dtype=torch.float64, requires_grad=True)
    d_y = torch.randn(5, 3, generator=g, dtype=torch.float64)
    (wanted,) = torch.autograd.grad((torch.tanh(x @ W) @ W.T * d_y).sum(), W)
    reference = EXERCISES["backpropagation.tied_gradient"].reference
    assert np.allclose(reference(*(t.detach().numpy() for t in (x, W, d_y))), wanted)


def test_what_differentiates_by_itself_is_not_there():
    def by_autograd(x, W, d_y):
        x, W, d_y = torch.from_numpy(x), torch.from_numpy(W).requires_grad_(), torch.from_numpy(d_y)
        (torch.tanh(x @ W) @ W.T * d_y).sum().backward()
        return W.grad.numpy()

    verdict = examine(EXERCISES["backpropagation.tied_gradient"], by_autograd, None)
    assert verdict.points == 0
    assert "without PyTorch" in str(Report(verdict))


def shifts_what_it_was_given(logits, targets):
    logits -= logits.max(1, keepdims=True)
    p, rows = np.exp(logits) / np.exp(logits).sum(1, keepdims=True), np.arange(len(targets))
    loss = -np.log(p[rows, targets]).mean()
    p[rows, targets] -= 1
    return loss, p / len(p)


def test_a_mistake_is_named_also_where_an_argument_was_written_over():
    verdict = examine(EXERCISES["backpropagation.softmax_loss"], shifts_what_it_was_given, None)
    assert [m.id for m in verdict.misconceptions] == ["log-of-zero"]
