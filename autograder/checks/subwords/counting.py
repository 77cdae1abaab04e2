"""Question 1a: neighbours counted."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from autograder.checks.subwords.common import REFERENCE_ITSELF, Word, how_often, pair_table, words
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

TABLE = ("table",)


def _each_once(draw: Draw) -> list[Case]:
    symbols = draw.largest + 1
    made = words(draw, 4, symbols, 5)
    return [case("every word occurs once", made, [1] * len(made), symbols)]


def _often(draw: Draw) -> list[Case]:
    symbols = draw.largest + 1
    made = words(draw, 4, symbols, 5)
    return [case("words occur several times", made, [2 + c for c in how_often(draw, 4)], symbols)]


def _odd(draw: Draw) -> list[Case]:
    symbols = draw.largest
    one, other = draw.integers(0, 10**9, symbols).argsort()[:2].tolist()
    return [
        case("a word of one symbol, and an empty one", [[one], [other, one], []], how_often(draw, 3), symbols),
        case("a symbol three times over", [[one, one, one], [other, one, one]], how_often(draw, 2), symbols),
    ]


def _across(made: Sequence[Word], counts: Sequence[int], symbols: int) -> Tensor:
    table = pair_table(made, counts, symbols)
    for (left, right), count in zip(pairwise([w for w in made if w]), counts, strict=False):
        table[left[-1], right[0]] += count
    return table


def _seen(made: Sequence[Word], counts: Sequence[int], symbols: int) -> Tensor:
    """A word says only that it has a pair, not how often."""
    table = torch.zeros(symbols, symbols, dtype=torch.int64)
    for word, count in zip(made, counts, strict=True):
        for a, b in set(pairwise(word)):
            table[a, b] += count
    return table


def _assigned(made: Sequence[Word], counts: Sequence[int], symbols: int) -> Tensor:
    table = torch.zeros(symbols, symbols, dtype=torch.int64)
    for word, count in zip(made, counts, strict=True):
        for a, b in pairwise(word):
            table[a, b] = count
    return table


def _without_overlap(made: Sequence[Word], counts: Sequence[int], symbols: int) -> Tensor:
    """Of a pair of equal symbols the next one begins behind the last, as `str.count` has it."""
    table = torch.zeros(symbols, symbols, dtype=torch.int64)
    for word, count in zip(made, counts, strict=True):
        text = "".join(map(chr, word))
        for a, b in set(pairwise(word)):
            table[a, b] += count * text.count(chr(a) + chr(b))
    return table


def _every_second(made: Sequence[Word], counts: Sequence[int], symbols: int) -> Tensor:
    table = torch.zeros(symbols, symbols, dtype=torch.int64)
    for word, count in zip(made, counts, strict=True):
        for a, b in zip(word[::2], word[1::2], strict=False):
            table[a, b] += count
    return table


COUNT_PAIRS = Exercise(
    name="subwords.count_pairs",
    title="Counting neighbours",
    signature="count_pairs(words, counts, size)",
    arguments=("words", "counts", "size"),
    returns=TABLE,
    minutes=15,
    difficulty="easy",
    reference=pair_table,
    properties=(
        Property(name="a table of pairs", points=0.25, cases=_each_once, judge=same_shapes(TABLE)),
        Property(name="words that occur once", points=1, cases=_each_once, judge=same_values(TABLE)),
        Property(name="words that occur often", points=1.25, cases=_often, judge=same_values(TABLE)),
        Property(name="short words and repeated symbols", points=0.5, cases=_odd, judge=same_values(TABLE)),
    ),
    misconceptions=(
        Misconception(
            id="counts-of-words-ignored",
            sentence=(
                "Every word counts once in your table. A word that occurs `counts[i]` times brings each of its pairs"
                " that many times."
            ),
            implementation=lambda words, counts, size: pair_table(words, [1] * len(words), size),
        ),
        Misconception(
            id="across-words",
            sentence=(
                "You also counted the last symbol of a word with the first of the next one. Words are apart: a token"
                " never crosses their border."
            ),
            implementation=_across,
        ),
        Misconception(
            id="left-and-right-exchanged",
            sentence="Row and column have changed places: the row is the left neighbour, the column the right one.",
            implementation=lambda words, counts, size: pair_table(words, counts, size).T,
        ),
        Misconception(
            id="order-ignored",
            sentence=(
                "You counted a b and b a as the same pair. They are two: “th” is a good token, “ht” hardly ever."
            ),
            implementation=lambda words, counts, size: (
                pair_table(words, counts, size) + pair_table([w[::-1] for w in words], counts, size)
            ),
        ),
        Misconception(
            id="once-per-word",
            sentence=("A pair that comes twice in one word was counted once there. Count every place where it stands."),
            implementation=_seen,
        ),
        Misconception(
            id="assigned-not-added",
            sentence=(
                "Each pair has the count of the last word in which it stands. Add (`+=`), do not overwrite (`=`): a"
                " pair stands in several words."
            ),
            implementation=_assigned,
        ),
        Misconception(
            id="every-second-pair",
            sentence=(
                "You cut a word into pieces of two. Pairs overlap: in *l o w* both *l o* and *o w* are neighbours, so"
                " go on by one symbol each time."
            ),
            implementation=_every_second,
        ),
        Misconception(
            id="overlap-not-counted",
            sentence=(
                "In *o o o* you found the pair *o o* once. It stands there twice, at the first place and at the second."
                " (`str.count` and regular expressions go on behind what they have found.)"
            ),
            implementation=_without_overlap,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
