"""Question 6: what is left of a rotary score at a distance?"""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from solutions.self_attention.checks.common import CLOSED

_page = on_the_page("the five seeds of the page", [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    return [case("other seeds", [draw.integer(100 * n, 100 * n + 99) for n in (1, 2, 3)])]


_both = Both((_page, _fresh))
_near = [["lower", 1, 0], ["lower", 4, 3]]

FADING = question(
    "self_attention.fading",
    minutes=30,
    difficulty="medium",
    returns=("prediction", "left", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.5, _page, 4),
        values("what is left for every seed", 4.5, _both, "left"),
        concluded(
            3,
            _both,
            [*_near, ["lower", 2, 1], ["lower", 5, 4]],
            [*_near, ["undecided", 2, 1], ["undecided", 5, 4]],
            [*_near, ["lower", 2, 1], ["undecided", 5, 4]],
            [["undecided", 0, 1], ["undecided", 1, 2], ["undecided", 3, 4], ["undecided", 4, 5]],
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- vector(seed) → vector(seeds[0])

score-not-divided: Your numbers are the scores themselves. Divide each by the score at distance 0, so that vectors of
different lengths can be compared.
- / (x @ x) →

one-base-for-both: Your last three columns are those of base 100.
- x.repeat(65, 1), base → x.repeat(65, 1), 100.0

positions-doubled: You rotated the rotated rows once more, so every distance counts twice.
- rotate(x.repeat(65, 1), base) → rotate(rotate(x.repeat(65, 1), base), base)

distance-off-by-one: Position 0 exists: the row at distance r from row 0 is row r.
- turned[r] → turned[r - 1]

best-seed-picked: You return the largest numbers over all seeds, in every row. A result that may choose its seed looks
better than it is: keep the numbers of every seed.
- conclusion = 2 → left = torch.tensor(left).amax(0).expand(len(seeds), 6); conclusion = 2

bound-believed: From 16 to 64 your own numbers do not fall for every seed, with either base, and the mean difference is
within what chance explains. A bound that falls does not make the score fall.
- conclusion = 2 → conclusion = 1

small-base-believed: With base 100 the score falls from 16 to 64 for some of your seeds, not for all, and the mean
difference is within what chance explains.
- conclusion = 2 → conclusion = 3

nothing-seen: From 4 to 16 your own numbers decide it: the score falls for every seed, with both bases.
- conclusion = 2 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 1 → prediction = 0
""",
)
