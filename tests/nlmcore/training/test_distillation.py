"""Distillation: the loss by a loop, its smallest value, and its gradient at a high temperature."""

import math

import pytest
import torch
from torch import Tensor

from nlmcore.training import distillation_loss


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


def test_only_the_teachers_own_probabilities_are_a_minimum() -> None:
    student = logits(2).requires_grad_()
    for teacher, flat in ((logits(2), True), (logits(2).log_softmax(-1), True), (logits(3), False)):
        (gradient,) = torch.autograd.grad(distillation_loss(student, teacher, 2.0), student)
        assert (float(gradient.abs().max()) < 1e-7) is flat
