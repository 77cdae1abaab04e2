"""Distillation: the loss by a loop, its smallest value, and its gradient at a high temperature."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from nlmcore.training import distillation_loss, next_token_loss


def logits(seed: int) -> Tensor:
    return torch.randn(2, 3, 5, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
def test_the_loss_is_that_of_a_loop(temperature: float) -> None:
    student, teacher = logits(0), logits(1)
    total = 0.0
    for s, t in zip(student.flatten(0, 1).tolist(), teacher.flatten(0, 1).tolist(), strict=True):
        p, q = ([math.exp(z / temperature) for z in row] for row in (t, s))
        total -= sum(a / sum(p) * math.log(b / sum(q)) for a, b in zip(p, q, strict=True))
    assert float(distillation_loss(student, teacher, temperature)) == pytest.approx(
        temperature**2 * total / 6, rel=1e-5
    )


def test_a_sure_teacher_is_the_text() -> None:
    targets = torch.tensor([[0, 4, 2], [1, 1, 3]])
    sure = 1e4 * F.one_hot(targets, 5).float()
    assert torch.allclose(distillation_loss(logits(0), sure), next_token_loss(logits(0), targets))


def test_only_the_teachers_own_probabilities_are_a_minimum() -> None:
    student = logits(2).requires_grad_()
    for teacher, flat in ((logits(2), True), (logits(2).log_softmax(-1), True), (logits(3), False)):
        (gradient,) = torch.autograd.grad(distillation_loss(student, teacher, 2.0), student)
        assert (float(gradient.abs().max()) < 1e-7) is flat


def test_at_a_high_temperature_the_gradient_is_that_of_centred_logits() -> None:
    """Hinton et al. (2015), section 2.1: with T² in front it tends to (z − v) / N, for logits of mean zero."""
    student, teacher = (x - x.mean(-1, keepdim=True) for x in (logits(4), logits(5)))
    student.requires_grad_()
    (gradient,) = torch.autograd.grad(distillation_loss(student, teacher, 1e3), student)
    assert torch.allclose(6 * gradient, (student - teacher).detach() / 5, atol=1e-3)
