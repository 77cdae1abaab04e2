"""Question 7: does the softmax harden with the width of the vectors?"""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from solutions.attention.checks.common import CLOSED

_page = on_the_page("the five seeds of the page", [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    return [case("other seeds", [draw.integer(100 * n, 100 * n + 99) for n in (1, 2, 3)])]


_both = Both((_page, _fresh))

HARDENING = question(
    "attention.hardening",
    minutes=30,
    difficulty="medium",
    returns=("prediction", "largest", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.5, _page, 4),
        values("the largest weights of every seed", 3.5, _both, "largest"),
        concluded(
            2,
            _both,
            [["lower", 0, 2], ["undecided", 1, 3]],
            [["lower", 0, 2], ["lower", 1, 3]],
            [["lower", 0, 2], ["lower", 3, 1]],
            [["undecided", 0, 2], ["undecided", 1, 3]],
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- sample(d, seed) → sample(d, seeds[0])

largest-of-all: You took the largest weight of the whole table. Take the largest of each query, then the mean over the
queries.
* .max(-1).mean() → .max()

columns-for-rows: You took the largest weight that each *key* gets. A row belongs to a query, and its weights sum to 1.
* .max(-1).mean() → .max(-2).mean()

both-divided: Your plain scores are divided as well. For the first of the two numbers, pass the dot products to
`attend` as they are.
- attend(q @ k.T, v) → attend(q @ k.T / math.sqrt(d), v)

mean-over-seeds: You return one row, the mean over the seeds. Then nobody can see whether the seeds agree: keep a row
for each.
- conclusion = 1 → largest = [np.mean(largest, axis=0)]; conclusion = 1

columns-sorted: You sorted each column. Then a row no longer belongs to one seed, and the differences mix two samples.
- conclusion = 1 → largest = np.sort(largest, axis=0); conclusion = 1

first-seed-believed: With the division your own numbers do not decide it: at width 128 the largest weight is larger for
some seeds and smaller for others.
- conclusion = 1 → conclusion = 2

second-seed-believed: With the division your own numbers do not say that the largest weight is smaller at width 128. It
is for some seeds; one seed would have misled you.
- conclusion = 1 → conclusion = 3

against-the-numbers: Without the division your own numbers decide it: for every seed the largest weight is larger at
width 128.
- conclusion = 1 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 1 → prediction = 0
""",
)
