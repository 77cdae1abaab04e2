"""What is closed in the questions on self-attention."""

CLOSED = (
    "nlmcore.attention",
    "nlmcore.convolutional",
    "nlmcore.fast",
    "nlmcore.feedforward",
    "nlmcore.metrics",
    "nlmcore.positions",
    "nlmcore.training",
)
"""Closed in every question: attention, positions, the loss over a text."""
