"""Question 1b: the pair that wins."""

import torch
from torch import Tensor

from autograder.checks.subwords.common import REFERENCE_ITSELF, best
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

PAIR = ("[left, right]",)


def _one_winner(draw: Draw) -> list[Case]:
    """The winner is off the diagonal and on it. Other rows and columns have larger sums than its own."""
    size = max(4, draw.largest + 1)
    made = []
    for label in ("one pair is ahead", "a symbol is ahead with itself"):
        low, a, high, other = draw.integers(0, 10**9, size).argsort()[:4].tolist()
        b = a if label.endswith("itself") else low
        table = draw.integers(0, 9, size, size)
        table[high], table[:, other] = draw.integers(18, 24, size), draw.integers(18, 24, size)
        table[high, other] = 0  # the best of that row, and of that column, is elsewhere
        table[b, a], table[a, b] = 27, 30
        made.append(case(label, table))
    return made


def _ties(draw: Draw) -> list[Case]:
    """Ties in which the first left id goes with the larger right one, with the smaller one, and with both.

    Where it goes with the larger one, the winner's ids have once the larger sum, and once the smaller one.
    """
    size = max(4, draw.largest)
    made = []
    for sign in (1, -1, 0):
        table = draw.integers(0, 9, size, size)
        while True:
            rows = draw.integers(0, size - 1, 2).sort().values.tolist()
            columns = draw.integers(0, size - 1, 2).sort().values.tolist()
            apart = rows[0] + columns[1] - rows[1] - columns[0]
            if rows[0] < rows[1] and columns[0] < columns[1] and (sign == 0 or sign * apart > 0):
                break
        table[rows[0], columns[1]] = table[rows[1], columns[0]] = 15
        if sign == 0:
            table[rows[0], columns[0]] = table[rows[1], columns[1]] = 15
        made.append(
            case("several pairs are equally frequent" if sign == 0 else "two pairs are equally frequent", table)
        )
    return made


def _last_of_equals(table: Tensor) -> list[int]:
    return torch.nonzero(table == table.max())[-1].tolist()


def _by_right_id(table: Tensor) -> list[int]:
    b, a = best(table.T)
    return [a, b]


def _rows_sum(table: Tensor) -> list[int]:
    return [int(table.sum(1).argmax()), int(table.sum(0).argmax())]


def _row_then_column(table: Tensor) -> list[int]:
    row = int(table.sum(1).argmax())
    return [row, int(table[row].argmax())]


def _column_then_row(table: Tensor) -> list[int]:
    column = int(table.sum(0).argmax())
    return [int(table[:, column].argmax()), column]


def _row_and_column_apart(table: Tensor) -> list[int]:
    return [int(table.max(1).values.argmax()), int(table.max(0).values.argmax())]


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
            id="row-of-the-largest-sum",
            sentence=(
                "You took the left symbol that has the most neighbours in all, and then the best of its row. The"
                " largest entry of the table may stand in another row."
            ),
            implementation=_row_then_column,
        ),
        Misconception(
            id="column-of-the-largest-sum",
            sentence=(
                "You took the right symbol that has the most neighbours in all, and then the best of its column. The"
                " largest entry of the table may stand in another column."
            ),
            implementation=_column_then_row,
        ),
        Misconception(
            id="row-and-column-apart",
            sentence=(
                "You looked for the best row and for the best column, each for itself. Where pairs are equally"
                " frequent, the row of one may go with the column of another, and that is no pair at all."
            ),
            implementation=_row_and_column_apart,
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
