"""What questions 3a and 3b share: a network that has read something, and the right way back."""

import torch
from torch import Tensor

from autograder.checks.recurrence.common import before, states, weights
from autograder.exercise.draw import Draw

Four = tuple[Tensor, Tensor, Tensor, Tensor]
Three = tuple[Tensor, Tensor, Tensor]


def read(draw: Draw, batch: int, time: int, n_in: int, hidden: int) -> tuple[Tensor, ...]:
    """xs, h0, hs, d_hs and U of a network that has read something."""
    xs, h0 = draw.normal(batch, time, n_in), draw.normal(batch, hidden) / 2
    W, U, b = weights(draw, n_in, hidden)
    return xs, h0, states(xs, h0, W, U, b), draw.normal(batch, time, hidden), U


def through(xs: Tensor, h0: Tensor, hs: Tensor, d_as: Tensor) -> Three:
    """From the gradients at all sums, before the tanh, to those of the parameters."""
    return (
        torch.einsum("nti,nth->ih", xs, d_as),
        torch.einsum("ntg,nth->gh", before(h0, hs), d_as),
        d_as.sum((0, 1)),
    )


def at_sums(hs: Tensor, d_hs: Tensor, V: Tensor) -> tuple[Tensor, Tensor]:
    """The gradient before each tanh, and that of h0; V takes it from a sum to the state before."""
    arriving, found = torch.zeros_like(d_hs[:, 0]), []
    for t in reversed(range(hs.shape[1])):
        d_a = (d_hs[:, t] + arriving) * (1 - hs[:, t] ** 2)
        found.append(d_a)
        arriving = d_a @ V
    return torch.stack(found[::-1], dim=1), arriving


def backward(xs: Tensor, h0: Tensor, hs: Tensor, d_hs: Tensor, U: Tensor) -> Four:
    d_as, d_h0 = at_sums(hs, d_hs, U.T)
    return *through(xs, h0, hs, d_as), d_h0
