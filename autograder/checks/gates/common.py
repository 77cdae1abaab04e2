"""What the questions on gates share: blocks of weights, names that would do the work."""

from torch import Tensor

from autograder.draw import Draw

REFERENCE_ITSELF = (
    "nlmcore.recurrent",
    "nlmcore.diagnostics",
    "torch.nn.GRU",
    "torch.nn.GRUCell",
    "torch.nn.LSTM",
    "torch.nn.LSTMCell",
    "torch.gru",
    "torch.gru_cell",
    "torch.lstm",
    "torch.lstm_cell",
)
"""Closed everywhere: it is what the student writes."""

DIFFERENTIATES = (
    *REFERENCE_ITSELF,
    "nlmcore.autodiff",
    "torch.autograd.grad",
    "torch.autograd.backward",
    "torch.autograd.functional.jacobian",
    "torch.Tensor.backward",
    "torch.func.grad",
    "torch.func.vjp",
    "torch.func.jacrev",
    "torch.func.jacfwd",
)
"""Closed where a derivative is the question."""


def blocks(draw: Draw, count: int, n_in: int, hidden: int) -> tuple[Tensor, Tensor, Tensor]:
    """W (count, n_in, hidden), U (count, hidden, hidden) and b (count, hidden)."""
    return (
        draw.normal(count, n_in, hidden) / n_in**0.5,
        draw.normal(count, hidden, hidden) / hidden**0.5,
        draw.normal(count, hidden),
    )
