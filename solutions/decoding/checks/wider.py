"""Question 5: what does a wider beam find?"""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from solutions.decoding.checks.common import CLOSED

_page = on_the_page("the five seeds of the page", [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    return [case("other seeds", [draw.integer(100 * n, 100 * n + 99) for n in (1, 2)])]


_both = Both((_page, _fresh))

WIDER = question(
    "decoding.wider",
    minutes=30,
    difficulty="medium",
    returns=("prediction", "found", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.25, _page, 4),
        values("the numbers of every seed", 1.75, _both, "found"),
        concluded(
            2,
            _both,
            [["lower", 0, 1], ["lower", 2, 3]],
            [["lower", 0, 1], ["lower", 3, 2]],
            [["lower", 0, 1], ["undecided", 2, 3]],
            ["undecided", 0, 1],
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- models(seed) → models(seeds[0])

longest-for-length: You divided by the largest length allowed. Divide by the number of words that were found, which
differs from text to text.
- log_prob / len(tokens) → log_prob / 10

sum-of-words: You divided the sum of the log-probabilities by the number of all words. That gives long texts more
weight; here every text counts the same.
- sum(log_prob / len(tokens) for tokens, log_prob in searched) / 10 → whole[-1] * 10 / sum(len(t) for t, _ in searched)

eos-not-counted: You did not count `eos` as a word. It is predicted like every other, and belongs to the length.
- len(tokens) for → max(1, len(tokens) - (tokens[-1] == 0)) for

one-table: You searched the first table only. Take the mean over all ten.
- in models(seed)] → in models(seed)[:1]] * 10

best-seed-picked: You return the best numbers over all seeds, in every row. A result that may choose its seed looks
better than it is: keep the numbers of every seed.
- conclusion = 2 → found = torch.tensor(found).amax(0).expand(len(seeds), 4); conclusion = 2

wider-is-better: Per word your own numbers say the opposite: for every seed the texts of the wide beam have the lower
log-probability per word. They are more probable as a whole because they are short.
- conclusion = 2 → conclusion = 1

undecided-although-all-agree: Per word your own numbers decide it: the difference has the same sign for every seed, and
chance does not explain it.
- conclusion = 2 → conclusion = 3

search-doubted: Your own numbers decide it: for every seed the wide beam finds the higher log-probability.
- conclusion = 2 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 1 → prediction = 0
""",
)
