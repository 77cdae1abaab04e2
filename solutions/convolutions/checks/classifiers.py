"""Question 3b: the scores of two classifiers, from one list of parameters."""

import torch
from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.convolutions.checks.common import CLOSED, doubles, full, lengths_below, some_filters


def classifier(draw: Draw, vocab: int, d: int, classes: int, filters: int, *widths: int) -> list[Tensor]:
    """The parameters of a classifier: of averages if there are no widths."""
    weights, biases = some_filters(draw, d, filters, *widths)
    features = filters * len(widths) or d
    head = [draw.normal(vocab, d), draw.normal(features, classes) / features**0.5, draw.normal(classes) / 2]
    return [*head, *(p for pair in zip(weights, biases, strict=True) for p in pair)]


def _texts(draw: Draw, vocab: int, batch: int, time: int) -> tuple[Tensor, Tensor]:
    return draw.integers(0, vocab - 1, batch, time), lengths_below(draw, batch, time)


def _averages(draw: Draw) -> list[Case]:
    vocab, d, classes, batch = draw.sizes(4)
    return [case("averages", classifier(draw, vocab, d, classes, 0), *_texts(draw, vocab, batch, batch + 2))]


def _one_width(draw: Draw) -> list[Case]:
    vocab, d, classes, filters = draw.sizes(4)
    parameters = classifier(draw, vocab, d, classes, filters, 2)
    return [case("filters of one width", parameters, draw.integers(0, vocab - 1, 3, 7), full(3, 7))]


def _widths(draw: Draw) -> list[Case]:
    vocab, d, classes, filters = draw.sizes(4)
    parameters = classifier(draw, vocab, d, classes, filters, 1, 3)
    return [case("filters of two widths", parameters, *_texts(draw, vocab, 5, 8))]


def _odd(draw: Draw) -> list[Case]:
    vocab, d, classes = draw.sizes(3)
    low = classifier(draw, vocab, d, classes, 0)
    low[0] = low[0] - 3
    n = d
    square = classifier(draw, n, n, n, n, n)
    many = doubles(classifier(draw, vocab, d, classes, 2, 5, 1))[0]
    tokens = draw.integers(0, vocab - 1, 3, 2)
    return [
        case("averages that are negative", low, *_texts(draw, vocab, 2, 4)),
        case("texts shorter than a filter, float64", many, tokens, torch.tensor([2, 1, 1])),
        case("all sizes equal", square, draw.integers(0, n - 1, n, n), full(n, n)),
    ]


SCORES = question(
    "convolutions.scores",
    minutes=15,
    difficulty="easy",
    returns=("scores",),
    properties=[
        shapes(0.25, _averages, "one score per text and class"),
        values("averages", 0.75, _averages),
        values("filters of one width", 0.75, _one_width),
        values("filters of two widths", 0.75, _widths),
        values("short texts, negative averages", 0.5, _odd),
    ],
    closed=CLOSED,
    mistakes="""
relu-forgotten: You left out the ReLU between the features and the output matrix.
- torch.relu(text_features(table[tokens], lengths, filters[0::2], filters[1::2]))
+ text_features(table[tokens], lengths, filters[0::2], filters[1::2])

relu-on-the-average: You put the averages through the ReLU as well. It belongs to the filters only.
- h = average_words(table, tokens, lengths) → h = torch.relu(average_words(table, tokens, lengths))

probabilities: You returned probabilities. Return the scores: the loss takes the softmax, in one step with its
logarithm.
- return h @ V + c → return torch.softmax(h @ V + c, dim=-1)
or
- return h @ V + c → return torch.log_softmax(h @ V + c, dim=-1)

output-bias-forgotten: You left out the output bias c.
- @ V + c → @ V

relu-at-the-end: You put the scores through a ReLU. Scores may be negative; the ReLU is for the features.
- return h @ V + c → return torch.relu(h @ V + c)

first-width-only: You used the filters of the first width only. The list may contain more pairs of weights and biases.
- if filters:
+ V = V[: filters[0].shape[2]] if filters else V
+ filters = filters[:2]
+ if filters:

widths-in-reverse: Your features are in the wrong order: those of the first pair of weight and bias come first, and V
counts on it.
- filters[0::2], filters[1::2] → filters[0::2][::-1], filters[1::2][::-1]

padding-read: You never use the lengths, so padding takes part.
^ lengths = torch.full_like(lengths, tokens.shape[1])
""",
)
