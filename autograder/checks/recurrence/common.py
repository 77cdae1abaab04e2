"""What the questions on recurrence share: small networks, their states, names that would do the work."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw

REFERENCE_ITSELF = (
    "nlmcore.recurrent",
    "nlmcore.fast",
    "torch.nn.RNN",
    "torch.nn.RNNCell",
    "torch.rnn_tanh",
    "torch.rnn_tanh_cell",
)
"""Closed everywhere: it is what the student writes."""

DIFFERENTIATES = (
    *REFERENCE_ITSELF,
    "nlmcore.autodiff",
    "torch.autograd.grad",
    "torch.autograd.backward",
    "torch.Tensor.backward",
    "torch.func.grad",
    "torch.func.vjp",
)
"""Closed where the gradient is the question."""


def weights(draw: Draw, n_in: int, hidden: int) -> tuple[Tensor, Tensor, Tensor]:
    """W (n_in, hidden), U (hidden, hidden) and b (hidden,), small enough for tanh not to saturate."""
    return (
        draw.normal(n_in, hidden) / n_in**0.5,
        draw.normal(hidden, hidden) / hidden**0.5,
        draw.normal(hidden) / 2,
    )


def step(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Tensor:
    """The next state (batch, hidden)."""
    return torch.tanh(x @ W + h @ U + b)


def states(xs: Tensor, h0: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Tensor:
    """Every state (batch, time, hidden) of texts of one length."""
    h, found = h0, []
    for t in range(xs.shape[1]):
        h = step(xs[:, t], h, W, U, b)
        found.append(h)
    return torch.stack(found, dim=1)


def before(h0: Tensor, hs: Tensor) -> Tensor:
    """The state before each step (batch, time, hidden): h0, and all but the last."""
    return torch.cat([h0[:, None], hs[:, :-1]], dim=1)
