"""What the questions on word vectors share: the names that are closed."""

from autograder.checks.backpropagation.common import CLOSED as DIFFERENTIATES

REFERENCE_ITSELF = ("nlmcore.word2vec",)
"""Closed everywhere: it is what the student writes."""
BY_HAND = (*REFERENCE_ITSELF, *DIFFERENTIATES)
"""Closed where a gradient is asked for."""
