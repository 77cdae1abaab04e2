"""Question 6: what can be read out of a context, if the source is reversed and if it is not."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from solutions.sequences.checks.common import CLOSED

_page = on_the_page("the five seeds of the page", [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    return [case("other seeds", [draw.integer(100 * n, 100 * n + 99) for n in (1, 2)])]


_both = Both((_page, _fresh))

REVERSED_OR_NOT = question(
    "sequences.reversed_or_not",
    minutes=30,
    difficulty="medium",
    returns=("prediction", "errors", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.25, _page, 4),
        values("the errors of every seed", 1.75, _both, "errors"),
        concluded(
            2,
            _both,
            [["lower", 1, 0], ["lower", 3, 2]],
            [["undecided", 0, 1], ["lower", 3, 2]],
            [["lower", 1, 0], ["undecided", 2, 3]],
            [["undecided", 0, 1], ["undecided", 2, 3]],
            within=0.01,  # the seeds differ by two to nine hundredths
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
* seed, shortest → seeds[0], shortest
- encode(read, seed) → encode(read, seeds[0])

words-reversed-as-well: You asked for the reversed words. Whatever the encoder read, the words to be read out are those
of the source, in its own order.
- misread(contexts, tokens, lengths) → misread(contexts, read, lengths)

padding-reversed-as-well: You reversed whole rows, padding included, so the encoder begins with padding and the context
comes too early. Your `reverse` leaves the padding where it is.
- reverse(tokens, lengths) → tokens.flip(1)

last-column: You took the last column of the states. In a short sentence the encoder has read padding there: your
`last_states` takes the state after the last word.
- last_states(encode(read, seed), lengths) → encode(read, seed)[:, -1]

one-length-only: All your sentences have 8 words. `sources` with `shortest` = 4 makes sentences of 4 to 8.
- in (8, 4) → in (8, 8)

never-reversed: Your columns come in equal pairs: the encoder read the same tokens each time. Give it your `reverse` of
them the second time.
- reverse(tokens, lengths) → tokens

best-seed-picked: You return the lowest error over all seeds, in every row. A method that may choose its seed looks
better than it is: keep the number of every seed.
- conclusion = 2 → errors = list(torch.stack(errors).amin(0).expand(len(seeds), 4)); conclusion = 2

one-seed-believed: That reversing lowers the error when all sentences have 8 words is true for one of your seeds, not
for all, and the mean difference is within what chance explains.
- conclusion = 2 → conclusion = 1

lengths-swapped: You have the two lengths the wrong way round. Compare columns 1 and 2 for 8 words, and columns 3
and 4 for 4 to 8.
- conclusion = 2 → conclusion = 3

undecided-although-all-agree: With 4 to 8 words your own numbers decide it: reversing lowers the error for every seed.
- conclusion = 2 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 1 → prediction = 0
""",
)
