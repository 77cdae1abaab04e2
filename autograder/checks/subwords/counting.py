"""Questions 1a and 1b: neighbours counted, and the pair that wins."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from autograder.checks.subwords.common import REFERENCE_ITSELF, Word, best, how_often, pair_table, words
from autograder.draw import Draw
from autograder.judges import same_shapes, same_values
from autograder.specification import Case, Exercise, Misconception, Property, case

TABLE, PAIR = ("table",), ("pair",)


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
    made = [[one], [one, one, one], [], [other, one, one]]
    return [case("a word of one symbol, an empty one, a symbol three times over", made, how_often(draw, 4), symbols)]


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
    ),
    closed=REFERENCE_ITSELF,
)


# --- the pair that wins -----------------------------------------------------------------------------------


def _one_winner(draw: Draw) -> list[Case]:
    size = draw.largest + 1
    made = []
    for _ in range(2):
        table = draw.integers(0, 20, size, size)
        a, b = draw.integer(0, size - 2), draw.integer(1, size - 1)
        table[a, b] = 30
        if a != b:
            table[b, a] = 25
        made.append(case("one pair is ahead", table))
    return made


def _ties(draw: Draw) -> list[Case]:
    size = max(4, draw.largest)
    made = []
    for low, high in ((0, 1), (1, 0)):
        table = draw.integers(0, 9, size, size)
        rows = sorted(draw.integers(0, 10**9, size).argsort()[:2].tolist())
        columns = sorted(draw.integers(0, 10**9, size).argsort()[:2].tolist())
        table[rows[0], columns[high]] = table[rows[1], columns[low]] = 15
        made.append(case("two pairs are equally frequent", table))
    return made


def _last_of_equals(table: Tensor) -> list[int]:
    return torch.nonzero(table == table.max())[-1].tolist()


def _by_right_id(table: Tensor) -> list[int]:
    b, a = best(table.T)
    return [a, b]


def _rows_sum(table: Tensor) -> list[int]:
    return [int(table.sum(1).argmax()), int(table.sum(0).argmax())]


BEST_PAIR = Exercise(
    name="subwords.best_pair",
    title="The pair that wins",
    signature="best_pair(table)",
    arguments=("table",),
    returns=PAIR,
    minutes=10,
    difficulty="easy",
    reference=best,
    properties=(
        Property(name="the most frequent pair", points=1, cases=_one_winner, judge=same_values(PAIR)),
        Property(name="ties", points=1, cases=_ties, judge=same_values(PAIR)),
    ),
    misconceptions=(
        Misconception(
            id="last-of-equals",
            sentence=(
                "Of two pairs that are equally frequent you took the one with the larger ids. Take the smaller left id,"
                " and of equals the smaller right one: whoever trains again must get the same tokens."
            ),
            implementation=_last_of_equals,
        ),
        Misconception(
            id="right-id-first",
            sentence=(
                "Of two pairs that are equally frequent you took the one with the smaller *right* id. The left id"
                " decides first."
            ),
            implementation=_by_right_id,
        ),
        Misconception(
            id="symbols-for-pairs",
            sentence=(
                "You took the most frequent left symbol and the most frequent right symbol. They need not stand"
                " together: look for the largest entry of the table."
            ),
            implementation=_rows_sum,
        ),
        Misconception(
            id="exchanged",
            sentence="You gave the pair as [right, left]. The row, which comes first, is the left symbol.",
            implementation=lambda table: best(table)[::-1],
        ),
        Misconception(
            id="rarest",
            sentence="You took the smallest count. Merged is the pair that is most frequent.",
            implementation=lambda table: best(-table),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
