"""Question 5: which k, after little text and after more?"""

import functools
import re
from collections import Counter

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from nlmcore.corpora import load
from solutions.ngrams.checks.common import CLOSED, Sentences

LINES, VOCAB = 210, 60
BOS, EOS, UNKNOWN = 0, 1, 2


@functools.cache
def _words(play: int) -> list[list[str]]:
    lines = (
        re.findall(r"[a-z']+|[.,;:!?]", line.lower()) for line in load("shakespeare").texts("train")[play].splitlines()
    )
    return [line for line in lines if line]


def _lines(play: int, start: int) -> Sentences:
    lines = _words(play)[start : start + LINES]
    common = Counter(word for line in lines for word in line).most_common(VOCAB - 3)
    number = {word: i for i, (word, _) in enumerate(common, 3)}
    return [[number.get(word, UNKNOWN) for word in line] for line in lines]


_page = on_the_page("the five seeds of the page", _lines(0, 0), VOCAB, BOS, EOS, [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    seeds = [draw.integer(10 * n, 10 * n + 9) for n in (1, 2)]
    return [case("other lines and seeds", _lines(draw.integer(1, 20), draw.integer(0, 800)), VOCAB, BOS, EOS, seeds)]


_both = Both((_page, _fresh))

WHICH_K = question(
    "ngrams.which_k",
    minutes=35,
    difficulty="medium",
    returns=("prediction", "perplexities", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.25, _page, 4),
        values("the perplexities of every seed", 1.75, _both, "perplexities"),
        concluded(
            2,
            _both,
            [["lower", 0, 1], ["lower", 2, 3]],
            [["lower", 1, 0], ["lower", 3, 2]],
            [["lower", 0, 1], ["lower", 3, 2]],
            [["undecided", 0, 1], ["lower", 3, 2]],
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- split(lines, seed) → split(lines, seeds[0])

measured-on-what-was-counted: You measured the perplexity of the lines that you counted. Then a smaller k always wins.
Measure the held-out lines.
- unheard, bos → heard[:n], bos

all-lines-each-time: Your first two columns are the same as the last two: you counted all 150 lines each time. Count
the first n.
- heard[:n] → heard

columns-sorted: You sorted each column. Then a row no longer belongs to one seed, and the differences mix two samples.
- conclusion = 4 → perplexities = torch.tensor(perplexities).sort(0).values; conclusion = 4

best-seed-picked: You return the lowest perplexity over all seeds, in every row. A model that may choose its sample
looks better than it is: keep the number of every seed.
- conclusion = 4 → perplexities = torch.tensor(perplexities).amin(0).expand(len(seeds), 4); conclusion = 4

log-loss-for-perplexity: You return the log loss, which grows with the number of words. Take the second result of
`perplexity`.
- [1]) → [0])

always-the-smaller: With 20 lines your own numbers do not say that k = 0.01 is better: for some seeds k = 1 is. Look at
all five rows of the first two columns.
- conclusion = 4 → conclusion = 2

one-seed-believed: That k = 1 is better with 20 lines is true for some of your seeds, not for all, and the mean
difference is within what chance explains. One seed would have misled you.
- conclusion = 4 → conclusion = 3

against-the-numbers: With 150 lines your own numbers say the opposite: k = 0.01 has the lower perplexity for every
seed.
- conclusion = 4 → conclusion = 1

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 2 → prediction = 0
""",
)
