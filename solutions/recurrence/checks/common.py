"""What the questions on recurrence share: small networks and their states."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw


def weights(draw: Draw, n_in: int, hidden: int) -> tuple[Tensor, Tensor, Tensor]:
    """W (n_in, hidden), U (hidden, hidden) and b (hidden,), small enough for tanh not to saturate."""
    return (
        draw.normal(n_in, hidden) / n_in**0.5,
        draw.normal(hidden, hidden) / hidden**0.5,
        draw.normal(hidden) / 2,
    )


def read(draw: Draw, batch: int, time: int, n_in: int, hidden: int) -> tuple[Tensor, ...]:
    """xs, h0, hs, d_hs and U of a network that has processed something."""
    xs, h0 = draw.normal(batch, time, n_in), draw.normal(batch, hidden) / 2
    W, U, b = weights(draw, n_in, hidden)
    h, hs = h0, []
    for x in xs.unbind(1):
        h = torch.tanh(x @ W + h @ U + b)
        hs.append(h)
    return xs, h0, torch.stack(hs, dim=1), draw.normal(batch, time, hidden), U
