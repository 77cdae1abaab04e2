"""What the questions on backpropagation share: the names that are off limits."""

from autograder.exercise.closed import DIFFERENTIATION, DIFFERENTIATORS

CLOSED = (
    DIFFERENTIATION,
    "nlmcore.autodiff",
    "nlmcore.feedforward",
    "nlmcore.diagnostics",
    "nlmcore.metrics",
    "nlmcore.training",
    "nlmcore.word2vec",
    "sklearn",
    *DIFFERENTIATORS,
)
"""Closed in every question: what differentiates, and the rooms whose gradients or losses are asked for."""

LOSSES = (*CLOSED, "torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss")
"""Closed where the loss is part of the question."""
