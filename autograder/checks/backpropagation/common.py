"""What the questions on backpropagation share: what would do the work."""

from autograder.exercise.closed import DIFFERENTIATION

CLOSED = (
    DIFFERENTIATION,
    "nlmcore.autodiff",
    "nlmcore.feedforward",
    "nlmcore.diagnostics",
    "nlmcore.metrics",
    "nlmcore.training",
    "nlmcore.word2vec",
)
"""Closed in every question: what differentiates, and the rooms whose gradients or losses are asked for."""

LOSSES = (*CLOSED, "torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss")
"""Closed where the loss is part of the question."""
