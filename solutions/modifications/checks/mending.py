"""Questions 5a and 5b: the wrong line of a friend who correlates two tables."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.modifications.checks.common import CLOSED, lines_of, shuffled
from solutions.modifications.checks.testing import RANK_CORRELATION

ROWS = ["Vanilla", "GeLU", "ELU", "GLU", "RMS Norm", "Rezero", "Fixup", "Funnel", "Switch"]


def _tables(draw: Draw, both: int, theirs_only: int, ours_only: int) -> tuple[dict[str, float], dict[str, float]]:
    """Two tables in different orders, correlated differently if their rows are taken one after the other."""
    while True:
        names = shuffled(draw, ROWS[: both + theirs_only + ours_only])
        names.remove(ROWS[0])
        shared = [ROWS[0], *names[: both - 1]]
        theirs_rows = shuffled(draw, shared + names[both - 1 : both - 1 + theirs_only])
        ours_rows = shuffled(draw, shared + names[both - 1 + theirs_only :])
        theirs = dict(zip(theirs_rows, lines_of(draw, len(theirs_rows), 2100, 2400), strict=True))
        ours = dict(zip(ours_rows, lines_of(draw, len(ours_rows), 3000, 4000), strict=True))
        near = [row for row in theirs if abs(theirs[row] - theirs[ROWS[0]]) <= 0.15]
        rows = [row for row in near if row in ours]
        if len(rows) < 4 or len(near) == len(theirs):
            continue
        left, right = [theirs[row] for row in rows], [ours[row] for row in rows]
        mixed = [ours[row] for row in ours if row in rows]
        found = [float(RANK_CORRELATION.reference(left, one)[1]) for one in (right, mixed)]
        if abs(found[0] - found[1]) > 0.2 and abs(found[0]) < 0.95:
            return theirs, ours


def _orders(draw: Draw) -> list[Case]:
    return [case("two tables in different orders", *_tables(draw, 7, 0, 0), ROWS[0], 0.15)]


def _missing(draw: Draw) -> list[Case]:
    return [case("rows that only one table has", *_tables(draw, 6, 1, 2), ROWS[0], 0.15)]


AGREEMENT = question(
    "modifications.agreement",
    minutes=5,
    difficulty="easy",
    returns=("rows", "rho"),
    properties=[
        values("two tables in different orders", 1, _orders),
        values("rows that only one table has", 1, _missing),
    ],
    closed=CLOSED,
    planted="- right = [ours[row] for row in rows] → right = [ours[row] for row in ours if row in rows]",
    mistakes="""
sorted-losses: You sorted the losses of one list. Then the pairs are torn apart as well: each loss has to stay with its
row.
- right = [ours[row] for row in rows] → right = sorted(ours[row] for row in rows)

both-sorted: You sorted both lists, so ρ is 1 for any two tables. A pair is a row, not a place in a sorted list.
- right = [ours[row] for row in rows] → left, right = sorted(left), sorted(ours[row] for row in rows)

backwards: Your second list goes through the rows from the end.
- right = [ours[row] for row in rows] → right = [ours[row] for row in rows[::-1]]

all-rows: You mended the pairs, but also dropped the condition that rows are near the baseline.
- near = [row for row in theirs if abs(theirs[row] - theirs[baseline]) <= within] → near = list(theirs)

baseline-left-out: You left the baseline itself out of the comparison. It is a row of both tables, at distance 0.
- if row in ours] → if row in ours and row != baseline]

distance-in-ours: You measure the distance from the baseline in our table. The rows are chosen by theirs.
- near = [row for row in theirs if abs(theirs[row] - theirs[baseline]) <= within]
+ near = [row for row in theirs if row in ours and abs(ours[row] - ours[baseline]) <= within]

only-better-rows: You kept only rows that are below the baseline. Near means near on both sides: the distance has no
sign.
- abs(theirs[row] - theirs[baseline]) <= within → -within <= theirs[row] - theirs[baseline] <= 0
""",
)

_listing = listing_of(AGREEMENT)
_at = _listing.number

WRONG_LINE = wrong_line(
    "modifications.wrong_line",
    AGREEMENT,
    minutes=10,
    points=1,
    mistakes=f"""
near-suspected: Line {_at("near =")} is right: the distance from the baseline's loss, whatever its sign, and the
baseline itself is at distance 0.
- {_listing.wrong} → {_at("near =")}

rows-suspected: Line {_at("rows =")} is right: of the rows that are near, those that the other table has too. They stay
in the order of the first table.
- {_listing.wrong} → {_at("rows =")}

left-suspected: Line {_at("left =")} is right: the losses of the first table, in the order of `rows`. Is the other
list in that order too?
- {_listing.wrong} → {_at("left =")}

call-suspected: Line {_at("rank_correlation(")} is right: your function returns ranks and ρ, and needs two lists of
pairs. Are they pairs?
- {_listing.wrong} → {_at("rank_correlation(")}

return-suspected: Line {_at("return")} is right: both lists are as long as `rows`.
- {_listing.wrong} → {_at("return")}
""",
)
