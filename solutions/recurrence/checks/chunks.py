"""Question 7: the error of truncation, for two memories and two lengths of chunks."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case

_page = on_the_page("the five seeds of the page", [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    return [case("other seeds", [draw.integer(100 * n, 100 * n + 99) for n in (1, 2)])]


_both = Both((_page, _fresh))
_longer = [["lower", 1, 0], ["lower", 3, 2]]

CHUNK_ERROR = question(
    "recurrence.chunk_error",
    minutes=35,
    difficulty="medium",
    returns=("prediction", "errors", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.5, _page, 4),
        values("the errors of every seed", 3.5, _both, "errors"),
        concluded(
            2,
            _both,
            [*_longer, ["undecided", 0, 3]],
            [*_longer, ["lower", 3, 0]],
            [*_longer, ["lower", 0, 3]],
            [["undecided", 0, 1], ["lower", 3, 2]],
        ),
    ],
    numpy=True,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- network(seed, scale) → network(seeds[0], scale)

not-relative: Your errors are not divided by the norm of the full gradient. A network with a long memory has larger
gradients, so plain differences cannot be compared.
- / np.linalg.norm(full) →

divided-by-the-truncated: You divided by the norm of the truncated gradient. The full gradient is the right one, so
measure against it.
- / np.linalg.norm(full) → / np.linalg.norm(truncated)

norms-compared: You compared the lengths of the two gradients. Two gradients of the same length may point in different
directions: take the norm of their difference.
- np.linalg.norm(truncated - full) → abs(np.linalg.norm(truncated) - np.linalg.norm(full))

gradient-of-another-parameter: That is the error of the gradient of W. The gradient of U is the second result.
* [1] → [0]

columns-sorted: You sorted each column. Then a row no longer belongs to one seed, and the differences mix two samples.
- conclusion = 1 → errors = np.sort(errors, axis=0); conclusion = 1

first-seed-believed: That the long memory with 20 steps has the smaller error is true for some of your seeds, not for
all, and the mean difference is within what chance explains.
- conclusion = 1 → conclusion = 2

second-seed-believed: That the long memory with 20 steps has the larger error is true for some of your seeds, not for
all, and the mean difference is within what chance explains. One seed would have misled you.
- conclusion = 1 → conclusion = 3

against-the-numbers: With the short memory your own numbers decide it: for every seed the error is smaller with 20
steps than with 5.
- conclusion = 1 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 3 → prediction = 0
""",
)
