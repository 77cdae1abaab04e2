"""Question 1b: the pair that wins."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.subwords.checks.common import CLOSED, different


def _one_winner(draw: Draw) -> list[Case]:
    """The winner is off the diagonal and on it. Other rows and columns have larger sums than its own."""
    size = max(4, draw.largest + 1)
    made = []
    for label in ("one pair is ahead", "a symbol is ahead with itself"):
        low, a, high, other = different(draw, 4, size)
        b = a if label.endswith("itself") else low
        table = draw.integers(0, 9, size, size)
        table[high], table[:, other] = draw.integers(18, 24, size), draw.integers(18, 24, size)
        table[high, other] = 0  # the best of that row, and of that column, is elsewhere
        table[b, a], table[a, b] = 27, 30
        made.append(case(label, table))
    return made


def _ties(draw: Draw) -> list[Case]:
    """Ties in which the first left id goes with the larger right one, with the smaller one, and with both.

    Where it goes with the larger one, the winner's ids have the larger sum in one case and the smaller sum in the
    other.
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
        made.append(case(f"{'two' if sign else 'several'} pairs are equally frequent", table))
    return made


BEST_PAIR = question(
    "subwords.best_pair",
    minutes=10,
    difficulty="easy",
    returns=("[left, right]",),
    properties=[values("the most frequent pair", 1, _one_winner), values("ties", 1, _ties)],
    closed=CLOSED,
    mistakes="""
last-of-equals: Of two equally frequent pairs you took the one with the larger ids. Take the smaller left id and, if
those are equal, the smaller right id, so that training again gives the same tokens.
- [0]  # row by row → [-1]

right-id-first: Of two equally frequent pairs you took the one with the smaller *right* id. The left id decides first.
- table == table.max())[0] → table.T == table.max())[0].flip(0)

symbols-for-pairs: You took the most frequent left symbol and the most frequent right symbol. They need not occur
together: find the largest entry of the table.
+ return [int(table.sum(1).argmax()), int(table.sum(0).argmax())]

row-of-the-largest-sum: You took the left symbol with the most neighbours in total, and then the best entry of its row.
The largest entry of the table may be in another row.
+ row = int(table.sum(1).argmax())
+ return [row, int(table[row].argmax())]

column-of-the-largest-sum: You took the right symbol with the most neighbours in total, and then the best entry of its
column. The largest entry of the table may be in another column.
+ column = int(table.sum(0).argmax())
+ return [int(table[:, column].argmax()), column]

row-and-column-apart: You found the best row and the best column separately. If several pairs are equally frequent, you
may combine the row of one with the column of another, which need not be a pair at all.
+ return [int(table.max(1).values.argmax()), int(table.max(0).values.argmax())]

exchanged: You return the pair as [right, left]. The row, which comes first, is the left symbol.
- int(first[0]), int(first[1]) → int(first[1]), int(first[0])

rarest: You took the smallest count. Return the most frequent pair.
- table.max() → table.min()
""",
)
