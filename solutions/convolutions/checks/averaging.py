"""Question 1a: the average of a text's word vectors."""

import torch

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.convolutions.checks.common import CLOSED, doubles, full, lengths_below


def _full(draw: Draw) -> list[Case]:
    vocab, d, batch = draw.sizes(3)
    time = batch + 2
    return [
        case(
            "texts of equal length", draw.normal(vocab, d), draw.integers(0, vocab - 1, batch, time), full(batch, time)
        )
    ]


def _padded(draw: Draw) -> list[Case]:
    vocab, d, batch = draw.sizes(3)
    time = batch + 3
    tokens = draw.integers(0, vocab - 1, batch, time)
    return [case("texts of several lengths", draw.normal(vocab, d), tokens, lengths_below(draw, batch, time))]


def _odd(draw: Draw) -> list[Case]:
    vocab, d = draw.sizes(2)
    a, b = draw.integers(0, 10**6, vocab + 2).argsort().clamp(max=vocab - 1).tolist()[:2]
    twice = torch.tensor([[a, b, a, a], [b, a, a, b]])
    table, tokens = doubles(draw.normal(vocab, d), draw.integers(0, vocab - 1, 3, 2))
    return [
        case("a word that occurs three times", draw.normal(vocab, d), twice, torch.tensor([4, 2])),
        case("texts of one word, float64", table, tokens, torch.tensor([1, 1, 2])),
        case("one text of one word", draw.normal(vocab, d), draw.integers(0, vocab - 1, 1, 1), torch.tensor([1])),
    ]


AVERAGE_WORDS = question(
    "convolutions.average_words",
    minutes=10,
    difficulty="easy",
    returns=("means",),
    properties=[
        shapes(0.2, _full, "one vector per text"),
        values("texts of equal length", 0.55, _full),
        values("padding takes no part", 0.75, _padded),
        values("repeated words, texts of one word", 0.5, _odd),
    ],
    closed=CLOSED,
    mistakes="""
padding-averaged: Your mean includes the padding: its vectors are added, and its positions are counted. A short text in
a batch with a long one then looks like padding.
^ lengths = torch.full_like(lengths, tokens.shape[1])

divided-by-all-positions: Your sum leaves out the padding, but you divide by the number of *all* positions. Divide by
the number of words of each text.
- / lengths[:, None] → / tokens.shape[1]

padding-in-the-sum: You divide by the length of the text, but your sum includes the vectors of the padding.
- (table[tokens] * real[..., None]) → table[tokens]

sum-for-mean: That is the sum of the vectors. Divide it by the number of words, or long texts get long vectors.
-  / lengths[:, None] →

id-0-for-padding: You took id 0 for padding. Here only `lengths` says where a text ends: id 0 is a word like any other,
and padding can have any id.
- torch.arange(tokens.shape[1]) < lengths[:, None] → tokens != 0
- / lengths[:, None] → / real.sum(dim=1, keepdim=True).clamp(min=1)

one-position-too-many: You count one position of padding in every text that is shorter than the batch: a text of length
n has the positions 0 to n − 1. Use `<`, not `<=`.
- < lengths → <= lengths

words-counted-once: You averaged the *different* words of a text. A word that occurs three times counts three times.
+ means = [table[tokens[n, :length].unique()].mean(dim=0) for n, length in enumerate(lengths.tolist())]
+ return torch.stack(means)

maximum-for-mean: That is the largest value of each dimension. This question asks for the mean.
- (table[tokens] * real[..., None]).sum(dim=1) / lengths[:, None]
+ table[tokens].masked_fill(~real[..., None], -math.inf).amax(dim=1)
""",
)
