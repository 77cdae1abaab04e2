"""Question 7: from which weights should the first layer begin?"""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case

_page = on_the_page("the five seeds of the page", [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    return [case("other seeds", [draw.integer(100 * n, 100 * n + 99) for n in (1, 2, 3)])]


_both = Both((_page, _fresh))

BEGINNINGS = question(
    "backpropagation.beginnings",
    minutes=35,
    difficulty="medium",
    returns=("prediction", "losses", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.5, _page, 4),
        values("the losses of every seed", 4.5, _both, "losses", tolerance=1e-3),
        concluded(
            3,
            _both,
            ["lower", 1, 0],
            [["undecided", 0, 1], ["lower", 0, 2]],
            [["lower", 0, 1], ["lower", 0, 2]],
            [["undecided", 0, 1], ["undecided", 0, 2]],
        ),
    ],
    numpy=True,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- network(seed, scale) → network(seeds[0], scale)

loss-before-the-last-step: That is the loss before the last step: `mlp_gradients` returns the loss of the parameters
that it was given. Call it once more after the last step.
- range(20) → range(19)

uphill: Your losses grow: the gradient points to where the loss grows fastest. Step in the opposite direction.
- p - 0.3 → p + 0.3

first-loss: That is the loss before any step. Train for 20 steps first.
- range(20) → range(0)

gradients-of-the-start: You computed the gradients once, at the start, and took all 20 steps along them. The slope
changes with every step: compute it again.
- for _ in range(20):
-             _, *gradients = mlp_gradients(x, targets, *parameters)
+ _, *gradients = mlp_gradients(x, targets, *parameters)
+         for _ in range(20):

columns-sorted: You sorted each column. Then a row no longer belongs to one seed, and the differences mix two networks.
- conclusion = 2 → losses = list(np.sort(losses, axis=0)); conclusion = 2

best-seed-picked: You return the lowest loss over all seeds, in every row. A result that may choose its seed looks
better than it is: keep the number of every seed.
- conclusion = 2 → losses = [np.min(losses, axis=0)] * len(seeds); conclusion = 2

against-the-numbers: Your own numbers do not say that a first layer of zeros ends with a higher loss: for most seeds it
is lower. Only if *all* weights are 0 do the units stay equal; here W2 tells them apart.
- conclusion = 2 → conclusion = 1

first-seed-believed: That scale 0 ends with a lower loss than scale 1 is true for some of your seeds, not for all, and
the mean difference is within what chance explains.
- conclusion = 2 → conclusion = 3

large-start-excused: Scales 0 and 10 can be told apart: for every seed the loss of scale 10 is higher.
- conclusion = 2 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 1 → prediction = 0
""",
)
