"""What the questions on backpropagation share: right steps for the mistakes to use, names that would do the work."""

import torch
from torch import Tensor

CLOSED = (
    "nlmcore.autodiff",
    "torch.autograd.grad",
    "torch.autograd.backward",
    "torch.Tensor.backward",
    "torch.func.grad",
    "torch.func.vjp",
)
"""Closed everywhere: what differentiates by itself."""


def log_softmax(logits: Tensor) -> Tensor:
    shifted = logits - logits.amax(-1, keepdim=True)
    return shifted - shifted.exp().sum(-1, keepdim=True).log()


def mean_loss(logits: Tensor, targets: Tensor) -> Tensor:
    return -log_softmax(logits)[torch.arange(len(targets)), targets].mean()


def logits_gradient(logits: Tensor, targets: Tensor) -> Tensor:
    """(softmax − one-hot) / batch."""
    gradient = log_softmax(logits).exp()
    gradient[torch.arange(len(targets)), targets] -= 1
    return gradient / len(targets)
