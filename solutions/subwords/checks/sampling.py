"""Question 6: how long tokens get, on the words that they were learned from and on others."""

import functools
import re

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.special import concluded, on_the_page, predicted
from autograder.exercise.specification import Both, Case, case
from nlmcore.corpora import load
from solutions.subwords.checks.common import CLOSED

WORDS = 250
LETTERS = "_abcdefghijklmnopqrstuvwxyz"


@functools.cache
def _play(number: int) -> list[str]:
    return re.findall("[a-z]+", load("shakespeare").texts("train")[number].lower())


def _text(play: int, start: int) -> list[list[int]]:
    return [[LETTERS.index(letter) for letter in f"_{word}"] for word in _play(play)[start : start + WORDS]]


_page = on_the_page("the five seeds of the page", _text(0, 0), len(LETTERS), [0, 1, 2, 3, 4])


def _fresh(draw: Draw) -> list[Case]:
    seeds = [draw.integer(10 * n, 10 * n + 9) for n in (1, 2)]
    text = _text(draw.integer(1, 20), draw.integer(0, 2000))
    return [case("another text and other seeds", text, len(LETTERS), seeds)]


_both = Both((_page, _fresh))

HOW_MUCH_TEXT = question(
    "subwords.how_much_text",
    minutes=30,
    difficulty="medium",
    returns=("prediction", "rates", "conclusion"),
    chosen=("prediction", "conclusion"),
    properties=[
        predicted(0.5, _page, 4),
        values("the letters per token of every seed", 4, _both, "rates"),
        concluded(
            2.5,
            _both,
            [["lower", 2, 0], ["lower", 3, 1]],
            [["lower", 0, 2], ["lower", 1, 3]],
            [["lower", 2, 0], ["lower", 1, 3]],
            [["lower", 2, 0], ["undecided", 1, 3]],
            within=0.02,  # all rates are alike: anybody could guess them to a tenth
        ),
    ],
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- split(text, seed) → split(text, seeds[0])

measured-on-its-own-words: You measured both times on the words from which the merges were learned. Measure the second
number on the words held out.
- (heard[:n], unheard) → (heard[:n], heard[:n])

all-words-each-time: You learned from all 150 words each time. Learn from the first n.
- distinct(heard[:n]) → distinct(heard)

tokens-per-letter: You divided the tokens by the letters. Letters per token is the inverse of that.
- sum(map(len, measured)) / tokens → tokens / sum(map(len, measured))

words-per-token: You divided the number of words by the number of tokens. Count the letters of the words.
- sum(map(len, measured)) / tokens → len(measured) / tokens

mean-over-words: You took the mean of the words' own fractions. Then a word of one token counts as much as a word of
five: divide all letters by all tokens.
- sum(map(len, measured)) / tokens
+ sum(len(word) / len(encode(word, merges, symbols)) for word in measured) / len(measured)

best-seed-picked: You return the highest number over all seeds, in every row. A tokenizer that may choose its sample
looks better than it is: keep the number of every seed.
- conclusion = 3 → rates = torch.tensor(rates).amax(0).expand(len(seeds), 4); conclusion = 3

its-own-words-believed: You went by the words from which the merges were learned. On words held out your own numbers say
the opposite, for every seed.
- conclusion = 3 → conclusion = 1

more-is-always-better: On the words that they were learned from your own numbers say the opposite: thirty merges fit 25
words better than they fit 150.
- conclusion = 3 → conclusion = 2

undecided-although-all-agree: On words held out your own numbers decide it: the difference has the same sign for every
seed, and chance does not explain it.
- conclusion = 3 → conclusion = 4

not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 2 → prediction = 0
""",
)
