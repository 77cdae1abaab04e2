"""The names that are off limits in the questions on sequence to sequence."""

CLOSED = (
    "nlmcore.seq2seq",
    "nlmcore.decoding",
    "nlmcore.metrics",
    "nlmcore.recurrent",
    "nlmcore.training",
    "nltk",
    "sacrebleu",
)
"""Closed in every question: what reads, trains, writes and measures."""
