"""What the questions on n-grams share: small texts of ids, tables of counts."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw

CLOSED = ("nlmcore.ngram", "nlmcore.metrics", "nltk")
"""Closed in every question: it is what the student writes."""

Sentences = list[list[int]]


def text(draw: Draw, vocab_size: int, sentences: int, longest: int) -> tuple[Sentences, int, int]:
    """Sentences of ids, and the ids of <bos> and <eos>, which are in none of the sentences and may be anywhere in the
    vocabulary.

    Words come in a habitual order with exceptions, so that pairs repeat, as they do in language.
    """
    ids = draw.integers(0, 10**9, vocab_size).argsort().tolist()
    bos, eos, words = ids[0], ids[1], ids[2:]
    made = []
    for _ in range(sentences):
        place = draw.integer(0, len(words) - 1)
        sentence = []
        for _ in range(draw.integer(1, longest)):
            sentence.append(words[place % len(words)])
            place += draw.integer(0, 2)
        made.append(sentence)
    return made, bos, eos


def several_digits(draw: Draw) -> tuple[Sentences, int, int, int]:
    """Sentences of ids of one digit and of two, written without spaces the same: (sentences, vocab_size, bos, eos)."""
    a, b, c = (draw.integer(1, 3) for _ in range(3))
    return [[a, 10 * b + c, a], [10 * a + b, c, 10 * a + b], [c, 10 * a + b, c, 10 * b + c]], 36, 34, 35


def table(draw: Draw, size: int, unseen: int = 0) -> Tensor:
    """Counts (size, size): about half of them 0, and `unseen` contexts, at random, never seen.

    Every seen context has two followers or more that differ in their counts.
    """
    counts = draw.integers(0, 6, size, size) * draw.integers(0, 1, size, size)
    for row in range(size):
        one = draw.integer(0, size - 1)
        counts[row, one], counts[row, one - 1] = draw.integer(4, 9), draw.integer(1, 3)
    empty = draw.integers(0, 10**9, size).argsort()[:unseen]
    counts[empty] = 0
    return counts.to(torch.int64)
