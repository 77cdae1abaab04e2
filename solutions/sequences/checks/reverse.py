"""Question 1b: sources in reverse order."""

import torch

from autograder.exercise.declare import judged, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged
from autograder.exercise.kinds import EQUAL
from autograder.exercise.laws.ngrams import right_where_known
from autograder.exercise.specification import Case
from solutions.sequences.checks.common import CLOSED


def _padded(draw: Draw, lengths: list[int], columns: int, label: str) -> Case:
    tokens = draw.integers(3, 99, len(lengths), columns)
    for row, length in enumerate(lengths):
        tokens[row, length:] = 0
    full = (torch.tensor(lengths) == columns)[:, None].expand(tokens.shape).clone()
    return Case(label=label, calls=((tokens, torch.tensor(lengths)),), known=(full,))


def _full(draw: Draw) -> list[Case]:
    return [_padded(draw, [4, 4], 4, "no padding")]


def _some(draw: Draw) -> list[Case]:
    columns = draw.largest + 2
    return [_padded(draw, [columns, 2, 3], columns, "several lengths")]


def _few(draw: Draw) -> list[Case]:
    return [
        _padded(draw, [1, 3], 5, "more room than the longest needs"),
        _padded(draw, [1], 1, "one word"),
        _padded(draw, [4, 2, 4, 3], 4, EQUAL),
    ]


REVERSE = question(
    "sequences.reverse",
    minutes=15,
    difficulty="easy",
    returns=("reversed",),
    properties=[
        values("without padding", 0.5, _full, "reversed"),
        values("the padding stays at the end", 1.5, _some, "reversed"),
        values("more room, one word", 0.5, _few, "reversed"),
        judged("the caller's tokens do not change", 0.5, _some, and_inputs_unchanged(right_where_known("reversed"))),
    ],
    closed=CLOSED,
    mistakes="""
padding-in-front: You reversed the whole row, so the padding comes first. Reverse only the words: each row up to its
length.
+ return tokens.flip(1)

by-the-longest: You reversed all rows by the length of the *longest* one, so shorter ones start with padding. Each row
has its own length.
^ lengths = torch.full_like(lengths, int(lengths.max()))

off-by-one: You are off by one: the first position gets the word at position length − 1, because positions start at 0.
+ place = torch.arange(tokens.shape[1])
+ back = torch.where(place < lengths[:, None], lengths[:, None] - place, place)
+ return tokens.gather(1, back.clamp(max=tokens.shape[1] - 1))

nothing-reversed: You reversed nothing: these are the tokens in their original order.
+ return tokens.clone()

rows-reversed: You reversed the order of the *sentences*. Reverse the *words* of each: the second axis.
+ return tokens.flip(0)

in-place: You reversed the caller's own tensor. Write into a copy, `tokens.clone()`: a slice such as `tokens[:]` is not
a copy, it shares the memory.
- return reversed_ → return tokens.copy_(reversed_)
""",
)
