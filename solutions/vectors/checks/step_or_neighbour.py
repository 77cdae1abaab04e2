"""Question 6: analogies against nearest neighbours."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from solutions.vectors.checks.common import CLOSED

_page = on_the_page("the five seeds of the page", [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    return [case("other seeds", [draw.integer(100 * n, 100 * n + 99) for n in (1, 2, 3)])]


_both = Both((_page, _fresh))

STEP_OR_NEIGHBOUR = question(
    "vectors.step_or_neighbour",
    minutes=35,
    difficulty="medium",
    returns=("prediction", "shares", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.5, _page, 4),
        values("the shares of every seed", 4.5, _both, "shares"),
        concluded(
            3,
            _both,
            [["lower", 0, 1], ["lower", 2, 3]],
            [["lower", 1, 0], ["lower", 2, 3]],
            [["undecided", 0, 1], ["lower", 2, 3]],
            [["undecided", 0, 1], ["undecided", 2, 3]],
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- pairs_of_words(seed, step) → pairs_of_words(seeds[0], step)

one-step-for-both: Your last two columns are those of the short step. Make the vectors again for each step.
- pairs_of_words(seed, step) → pairs_of_words(seed, 0.5)

neighbour-of-the-other-pair: Your neighbour is never the right one: it is a neighbour of the word j, or the word itself,
which is always nearest to itself. Ask for the neighbour of i, without i.
- nearest(vectors, i, 1) → nearest(vectors, j, 1)

neighbour-of-the-partner: You looked for the neighbour of i's partner, which is the answer.
- nearest(vectors, i, 1)[0]) == 20 + i → nearest(vectors, 20 + i, 1)[0]) == i

columns-swapped: You swapped the two columns of each step: the neighbour comes first, then the analogy.
- [near / 20, right / 20] → [right / 20, near / 20]

best-seed-picked: You return the largest shares over all seeds, in every row. A result that may choose its seed looks
better than it is: keep the shares of every seed.
- conclusion = 3 → shares = torch.tensor(shares).amax(0).expand(len(seeds), 4); conclusion = 3

analogy-believed: With the short step your own numbers do not say that the analogy is better: for some seeds the plain
neighbour is.
- conclusion = 3 → conclusion = 1

one-seed-believed: That the neighbour is better with the short step is true for some of your seeds, not for all, and
the mean difference is within what chance explains. One seed would have misled you.
- conclusion = 3 → conclusion = 2

against-the-numbers: With the long step your own numbers decide it: for every seed the analogy has the larger share.
- conclusion = 3 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 1 → prediction = 0
""",
)
