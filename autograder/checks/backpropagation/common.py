"""What the questions on backpropagation share: the names that would do the work."""

CLOSED = (
    "nlmcore.autodiff",
    "torch.autograd.grad",
    "torch.autograd.backward",
    "torch.Tensor.backward",
    "torch.func.grad",
    "torch.func.vjp",
)
"""Closed everywhere: automatic differentiation."""

LOSSES = (*CLOSED, "torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss")
"""Closed where the loss is part of the question."""
