"""Question 2c: how narrow is one vector, and what does attention pooling change?"""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import columns, concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from solutions.attention.checks.common import CLOSED

_page = on_the_page("the five seeds of the page", [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    return [case("other seeds", [draw.integer(100 * n, 100 * n + 99) for n in (1, 2)])]


_both = Both((_page, _fresh))

ONE_VECTOR = question(
    "attention.one_vector",
    minutes=35,
    difficulty="medium",
    returns=("prediction", "errors", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.5, _page, 4),
        columns("the errors of one vector", 2, _both, "errors", 0, 1, 2, 3),
        values("the errors of attention as well", 1.5, _both, "errors"),
        concluded(
            2,
            _both,
            [["lower", 0, 1], ["undecided", 0, 2], ["undecided", 3, 4]],
            [["lower", 0, 1], ["lower", 0, 2], ["undecided", 3, 4]],
            [["lower", 0, 1], ["undecided", 0, 2], ["lower", 4, 3]],
            [["lower", 0, 1], ["lower", 0, 2], ["lower", 4, 3]],
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
* d, seed) → d, seeds[0])
- facts(16, 64, seed) → facts(16, 64, seeds[0])

keys-left-out: You summed the values without their keys. Such a vector contains all places, but not who is where.
Multiply each value by its key before you sum.
- (keys * values).sum → values.sum

asked-without-a-key: You gave the same summary as the answer to every question. Multiply it by the key of the person
that the question is about.
- wrong(keys * summary, → wrong(0 * keys + summary,

summed-over-the-texts: You summed over the texts. Each text has a summary of its own: sum over its facts.
- .sum(1, keepdims=True) → .sum(0, keepdims=True)

product-of-all: You multiplied the facts with each other. Add the products of key and value.
- .sum(1, keepdims=True) → .prod(1, keepdims=True)

plain-mean-for-attention: You pooled the values with equal weights, so every question gets the same answer. The weights
should depend on the query.
- found, _ = scaled_dot_product_attention(keys, keys, values) → found = 0 * values + values.mean(1, keepdims=True)

queries-meet-values: Your attention compares the queries with the values. Compare them with the keys; the values are
what is pooled.
- scaled_dot_product_attention(keys, keys, values) → scaled_dot_product_attention(keys, values, values)

keys-pooled: Your attention pools the keys. A place is in a value.
- scaled_dot_product_attention(keys, keys, values) → scaled_dot_product_attention(keys, keys, keys)

columns-sorted: You sorted each column. Then a row no longer belongs to one seed, and the differences mix two samples.
- conclusion = 1 → errors = np.sort(errors, axis=0); conclusion = 1

mean-over-seeds: You return one row, the mean over the seeds. Then nobody can see whether the seeds agree: keep a row
for each.
- conclusion = 1 → errors = [np.mean(errors, axis=0)]; conclusion = 1

one-seed-believed: That column 3 has more errors than column 1 is true for some of your seeds, not for all, and the mean
difference is within what chance explains. One seed would have misled you.
- conclusion = 1 → conclusion = 2

attention-believed-better: Columns 4 and 5 do not differ in your own numbers. Attention keeps as many numbers as that
vector. What it changes is that its memory grows with the text.
- conclusion = 1 → conclusion = 3

both-believed: Neither of the two claims holds for your own numbers. Compare columns 1 and 3, and columns 4 and 5, row
by row.
- conclusion = 1 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 4 → prediction = 0
""",
)
