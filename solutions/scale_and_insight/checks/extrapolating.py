"""Question 2: which form predicts the loss after a long text, for models that count pairs and triples of letters?"""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from solutions.scale_and_insight.checks.common import CLOSED

_page = on_the_page("the five seeds of the page", [250, 500, 1000, 2000, 4000, 8000], 128_000, [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    """Two seeds for which the forms differ, in both orders. Else the floor is hardly determined, and a right search may
    end elsewhere."""
    shortest, far = 50 * draw.integer(10, 18), 128_000
    lengths, seeds = [shortest * 2**i for i in range(6)], list[int]()
    while len(seeds) < 2:
        seed = draw.integer(10, 999)
        _, ((a, b, c, d),), _ = WHICH_FORM.reference(lengths, far, [seed])
        if abs(a - b) > 0.01 and abs(c - d) > 0.01 and min(a, b, c, d) > 0.004:
            seeds.append(seed)
    return [case("other lengths and seeds", lengths, far, seeds)]


_both = Both((_page, _fresh))

WHICH_FORM = question(
    "scale_and_insight.which_form",
    minutes=35,
    difficulty="medium",
    returns=("prediction", "errors", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.25, _page, 4),
        values("the errors of every seed", 2.25, _both, "errors", tolerance=2e-3),
        concluded(
            2.5,
            _both,
            [["lower", 0, 1], ["lower", 2, 3]],
            [["lower", 1, 0], ["lower", 3, 2]],
            [["lower", 1, 0], ["undecided", 2, 3]],
            [["lower", 1, 0], ["lower", 2, 3]],
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- [*short, far], seed) → [*short, far], seeds[0])

far-loss-fitted: Your fits have seen the loss at `far`, which they should predict. Hold it out.
- torch.tensor(short, dtype=torch.float64) → torch.tensor([*short, far], dtype=torch.float64)
- *near, last = ladder(order, [*short, far], seed).tolist()
+ near = ladder(order, [*short, far], seed).tolist()
+         last = near[-1]

judged-on-the-longest: You judge the laws by the longest text of the fit. The question is what they predict beyond it,
at `far`.
- *near, last = ladder(order, [*short, far], seed).tolist()
+ near = ladder(order, short, seed).tolist()
+         last = near[-1]
* far**-alpha → short[-1] ** -alpha

sign-kept: Your errors have signs. Take the absolute value: a law that is too low is as wrong as one that is too high.
- row.append(abs(math.log(A * far**-alpha / last))) → row.append(math.log(A * far**-alpha / last))
- row.append(abs(math.log((E + A * far**-alpha) / last))) → row.append(math.log((E + A * far**-alpha) / last))

difference-in-nats: Your errors are differences of losses. Compare the logarithms, so that an error is a fraction of
the loss.
- abs(math.log(A * far**-alpha / last)) → abs(A * far**-alpha - last)
- abs(math.log((E + A * far**-alpha) / last)) → abs(E + A * far**-alpha - last)

forms-swapped: Your columns are not in the order of the page: the power law comes first, then the law with a floor.
- errors.append(row) → errors.append([row[1], row[0], row[3], row[2]])

orders-swapped: Your columns are not in the order of the page: pairs come first, then triples.
- (2, 3) → (3, 2)

pairs-only: Your last two columns repeat the first two. They are for triples, so `order` is 3 there.
- ladder(order, → ladder(2,

mean-of-the-seeds: Every row is the mean over all seeds. Keep the numbers of each seed: only they show whether a
difference is more than chance.
- conclusion = 3 → errors = torch.tensor(errors).mean(0).expand(len(seeds), 4); conclusion = 3

power-law-believed: Compare the first two columns: the law with a floor has the smaller error for every seed.
- conclusion = 3 → conclusion = 1

floor-believed-everywhere: For pairs you are right. But compare the last two columns seed by seed: for triples each
form wins sometimes, and the interval of the difference contains 0.
- conclusion = 3 → conclusion = 2

first-seeds-believed: For pairs you are right. In the last two columns, some seeds favour the power law, but not all:
the interval of the difference contains 0.
- conclusion = 3 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 2 → prediction = 0
""",
)
