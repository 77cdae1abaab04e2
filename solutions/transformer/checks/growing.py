"""Question 7: how large is the residual pathway after 4 and after 16 blocks?"""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from solutions.transformer.checks.common import CLOSED

_page = on_the_page("the five seeds of the page", 32, [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    seeds = [draw.integer(10 * n, 10 * n + 9) for n in (1, 2)]
    return [case("another width, other seeds", 16 + 8 * draw.integer(0, 1), seeds)]


_both = Both((_page, _fresh))

PATHWAY = question(
    "transformer.pathway",
    minutes=25,
    difficulty="medium",
    returns=("prediction", "rms", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.5, _page, 4),
        values("the sizes of every seed", 4, _both, "rms"),
        concluded(
            2.5,
            _both,
            [["lower", 1, 0, 0.75], ["lower", 3, 2, 0.75]],
            [["lower", 0, 1, 3.0], ["lower", 3, 2, 0.75]],
            [["lower", 0, 1, 1.5], ["lower", 1, 0, 1 / 3], ["lower", 2, 3, 0.75], ["lower", 3, 2, 0.75]],
            [["lower", 0, 1, 1.5], ["lower", 1, 0, 1 / 3], ["lower", 3, 2, 1.5]],
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- random_start(seed, width) → random_start(seeds[0], width)

all-blocks-each-time: Your first column is the same as the second: you went through all 16 blocks each time. Use the
first n.
- blocks[:n] → blocks

pathway-not-restarted: You start the next measurement where the previous one ended. Each begins with the x of
`random_start`.
-             x, blocks, sizes = random_start(seed, width)
+             pass
-     row = []
+     row = []
+     x, blocks, sizes = random_start(seed, width)

never-scaled: The last two columns are the same as the first two: the matrices are not scaled.
- (2 * n) ** -0.5 if scaled else 1.0 → 1.0

scaled-by-blocks: You scale by 1/√n. Each block adds twice, so n blocks add 2 n times: 1/√(2 n).
- (2 * n) ** -0.5 → n**-0.5

scaled-without-the-root: You scale by 1/(2 n). Independent additions grow like a root, so the factor is 1/√(2 n).
- (2 * n) ** -0.5 → (2 * n) ** -1.0

only-attention-scaled: You scale `output` only. Both sublayers add to the pathway, so `down` is scaled as well.
- , "down": factor * part["down"] →

norm-for-root-mean-square: You return the length of the pathway, which grows with the number of entries. Take the root
of the *mean* square.
- x.pow(2).mean().sqrt() → x.pow(2).sum().sqrt()

root-forgotten: You return the mean square. Its root is a size that can be compared with x.
- x.pow(2).mean().sqrt() → x.pow(2).mean()

best-seed-picked: You return the smallest size over all seeds, in every row. Keep the number of every seed.
- conclusion = 3 → rms = torch.tensor(rms).amin(0).expand(len(seeds), 4); conclusion = 3

as-expected-from-the-norm: Your own numbers do not say that the size stays the same: after 16 blocks it is about twice
that after 4. Each sublayer *reads* a normalised vector, but the pathway that it adds to is not normalised.
- conclusion = 3 → conclusion = 1

as-if-all-pointed-the-same-way: Your own numbers do not say that four times as many blocks give four times the size.
That would be so if all additions pointed in the same direction.
- conclusion = 3 → conclusion = 2

scaling-overrated: Your own numbers do not say that the scaled pathway shrinks. Compare the last two columns, seed by
seed.
- conclusion = 3 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers.
- prediction = 1 → prediction = 0
""",
)
