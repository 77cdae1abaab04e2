"""Question 6: which memory finds a needle?"""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from solutions.efficient_attention.checks.common import CLOSED

_page = on_the_page("the five seeds of the page", 96, [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    seeds = [draw.integer(10 * n, 10 * n + 9) for n in (1, 2)]
    return [case("another length, other seeds", 64 + 8 * draw.integer(0, 1), seeds)]


_both = Both((_page, _fresh))

WHICH_MEMORY = question(
    "efficient_attention.which_memory",
    minutes=35,
    difficulty="hard",
    returns=("prediction", "shares", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.5, _page, 4),
        values("the shares of every seed", 2.5, _both, "shares"),
        concluded(
            2,
            _both,
            [["lower", 1, 0], ["lower", 5, 4]],
            [["lower", 1, 0], ["undecided", 4, 5], ["lower", 2, 4, 1.5], ["lower", 3, 5, 1.5]],
            [["lower", 1, 0], ["undecided", 4, 5], ["undecided", 2, 4], ["undecided", 3, 5]],
            ["undecided", 0, 5],
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- k, v = haystack(n, seed) → k, v = haystack(n, seeds[0])
- features(q, count, seed), features(k, count, seed) → features(q, count, seeds[0]), features(k, count, seeds[0])

values-mapped: You send the values through a feature map of their own. Only queries and keys go through it.
- features(k, count, seed), v) → features(k, count, seed), features(v, 16, seed))

different-features: Your queries and keys go through *different* random features, so their dot products mean nothing.
The seed must be the same.
- features(q, count, seed), features → features(q, count, seed + 1), features

window-to-both-sides: Your window sees the future. Take the lower half of the mask only.
- .tril() →

only-the-strength-forgotten: Your queries are the keys themselves. They should be twice as long.
- 2 * k.roll(distance, 1) → k.roll(distance, 1)

rolled-backwards: Your queries ask for later tokens: roll the keys in the other direction, so that row t holds the key
of token t − distance.
- k.roll(distance, 1) → k.roll(-distance, 1)

rolled-dimensions: You rolled the dimensions of the keys. Roll along axis 1, the tokens.
- k.roll(distance, 1) → k.roll(distance, 2)

columns-in-another-order: Your columns are in the wrong order. For each memory come near and far, next to each other.
- shares.append(row) → shares.append(row[::2] + row[1::2])

best-seed-picked: You return the largest share over all seeds, in every row. Keep the number of every seed.
- conclusion = 2 → shares = torch.tensor(shares).amax(0).expand(len(seeds), 6); conclusion = 2

near-and-far-alike: Your last two columns of each memory are the same distance. The near one is 4, the far one n // 2.
- (4, n // 2) → (4, 4)

fading-believed: Your own numbers do not say that the linear state fades: compare the fifth and the sixth column, seed
by seed. Nothing in its sums knows how far back a token was.
- conclusion = 2 → conclusion = 1

features-underrated: Your own numbers say that more features do help: compare the third with the fifth column, and the
fourth with the sixth.
- conclusion = 2 → conclusion = 3

size-believed: Your own numbers say the opposite: the window finds nearly all near needles, and the linear state with
256 features finds a fraction of the far ones, although it is larger than the whole cache.
- conclusion = 2 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers.
- prediction = 1 → prediction = 0
""",
)
