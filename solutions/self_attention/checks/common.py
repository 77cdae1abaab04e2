"""The names that are off limits in the questions on self-attention."""

CLOSED = (
    "nlmcore.attention",
    "nlmcore.convolutional",
    "nlmcore.fast",
    "nlmcore.feedforward",
    "nlmcore.metrics",
    "nlmcore.positions",
    "nlmcore.training",
    "transformers",
)
"""Closed in every question: attention, positions, the loss over a text."""
