"""What is closed in the questions on sequence to sequence."""

CLOSED = (
    "nlmcore.seq2seq",
    "nlmcore.decoding",
    "nlmcore.metrics",
    "nlmcore.recurrent",
    "nlmcore.training",
)
"""Closed in every question: what reads, trains, writes and measures."""
