"""Question 7: how far a gradient reaches, without gates and along the cell state."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case

_page = on_the_page("the five seeds of the page", [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    return [case("other seeds", [draw.integer(100 * n, 100 * n + 99) for n in (1, 2)])]


_both = Both((_page, _fresh))

REACH = question(
    "gates.reach",
    minutes=35,
    difficulty="medium",
    returns=("prediction", "norms", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.5, _page, 4),
        values("the norms of every seed", 4.5, _both, "norms"),
        concluded(
            3,
            _both,
            [["lower", 0, 1], ["lower", 2, 3]],
            [["lower", 1, 0], ["lower", 3, 2]],
            [["lower", 1, 0], ["lower", 2, 3]],
            [["lower", 1, 0], ["undecided", 2, 3]],
        ),
    ],
    numpy=True,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- beginning(seed) → beginning(seeds[0])

first-step-counted: You multiplied the gates from the first step on. They lead to the first state; a distance of 5
begins after it.
- forget[1 : d + 1] → forget[:d]

input-gate-taken: You multiplied the input gates. The memory is multiplied by the forget gates, the second block.
- forget.append(gates[1]) → forget.append(gates[0])

mean-over-units: You took the mean over the units. The norm of a diagonal matrix is its largest entry.
- .prod(0).max() → .prod(0).mean()

another-block: Your plain network uses the block of another gate. Take the third block, that of the candidate g.
* [2] → [0]

seeds-averaged: You return the mean over the seeds in every row. Then nobody can see whether the seeds agree.
- conclusion = 3 → norms = np.broadcast_to(np.mean(norms, axis=0), (len(seeds), 4)); conclusion = 3

gates-always-win: At distance 5 your own numbers say the opposite: for every seed the plain network's norm is larger. A
gate is below 1, and an orthogonal matrix shrinks nothing.
- conclusion = 3 → conclusion = 1

short-distance-for-all: At distance 30 your own numbers say the opposite: for every seed the LSTM's norm is larger.
- conclusion = 3 → conclusion = 2

undecided-although-all-agree: At distance 30 your own numbers decide it: the LSTM's norm is larger for every seed, and
chance does not explain that.
- conclusion = 3 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 1 → prediction = 0
""",
)
