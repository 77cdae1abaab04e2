"""What the exercises of "recurrence" promise beyond what every assignment must (`test_checks.py`)."""

import pytest
import torch

from autograder.question.outcome import arrays
from nlmcore.recurrent import RNNCell, unroll
from nlmcore.training import clip_gradients
from solutions.recurrence.checks import EXERCISES


def reference(name, *arguments):
    """The results for tensors, as tensors, of a reference that takes and returns arrays."""
    found = EXERCISES[f"recurrence.{name}"].reference(*map(arrays, arguments))
    return tuple(map(torch.as_tensor, found)) if isinstance(found, tuple) else torch.as_tensor(found)


def test_the_references_are_the_librarys_network_and_what_pytorch_differentiates():
    draw = torch.Generator().manual_seed(0)
    cell = RNNCell(3, 4).double()
    xs, h0 = (torch.randn(*s, generator=draw, dtype=torch.float64) for s in ((2, 5, 3), (2, 4)))
    h0.requires_grad_()
    hs = unroll(cell, xs, h0).states
    d_hs = torch.randn(2, 5, 4, generator=draw, dtype=torch.float64)
    (hs * d_hs).sum().backward()
    U = cell.weight_hh.detach().T
    weights = cell.weight_ih.detach().T, U, cell.input_bias().detach()
    states, last = reference("rnn_forward", xs, torch.tensor([5, 5]), h0.detach(), *weights)
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
