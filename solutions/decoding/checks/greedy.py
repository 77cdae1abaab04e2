"""Question 1a: the most probable word, over and over."""

from autograder.exercise.declare import judged, question
from autograder.exercise.draw import Draw
from autograder.exercise.laws.decoding import same_path
from autograder.exercise.specification import Case, case
from solutions.decoding.checks.common import CLOSED, random_model


def _path(draw: Draw, least: int, most: int, max_length: int, ends: bool, label: str) -> Case:
    """A model whose greedy path has `least` to `most` tokens; eos is the last of them or does not occur."""
    while True:
        table, start, eos = random_model(draw)
        found = GREEDY.reference(table, start, eos, max_length)
        if found[0] == start:  # then a list that begins with it looks like one that is too long
            continue
        if least <= len(found) <= most and (found[-1] == eos) == ends:
            return case(label, table, start, eos, max_length)


def _ends(draw: Draw) -> list[Case]:
    return [_path(draw, 3, 7, 10, True, "a few words"), _path(draw, 2, 5, 10, True, "a few words")]


def _goes_on(draw: Draw) -> list[Case]:
    """A text that repeats itself, in which the start comes again."""
    while True:
        made = _path(draw, 6, 6, 6, False, "words in a circle")
        if made.calls[0][1] in GREEDY.reference(*made.calls[0]):
            return [made]


def _one(draw: Draw) -> list[Case]:
    return [_path(draw, 1, 1, 6, True, "it ends immediately"), _path(draw, 1, 1, 1, False, "one token is allowed")]


GREEDY = question(
    "decoding.greedy",
    minutes=15,
    difficulty="easy",
    returns=("tokens",),
    properties=[
        judged("a text that ends by itself", 1.5, _ends, same_path("the tokens")),
        judged("a text that does not end", 1, _goes_on, same_path("the tokens")),
        judged("one token", 0.5, _one, same_path("the tokens")),
    ],
    closed=CLOSED,
    mistakes="""
never-stops: You keep generating after `<eos>`. The text ends there: nothing follows it.
- and last != eos →

one-too-many: Your text that does not end by itself has one word too many. Return at most `longest` words, not counting
the start.
- < longest → <= longest

eos-left-out: You left `<eos>` out of your tokens. It is predicted like every other word, and the caller needs it to see
whether the text ended or was cut off.
- return tokens → return [token for token in tokens if token != eos]

first-word-not-looked-at: If the first word is `<eos>`, you keep generating. Check every word before you generate the
next one, the first word included.
- last != eos → (len(tokens) < 2 or last != eos)

start-included: You included the start in your list. It was given; return only the tokens that the model adds to it.
- return tokens → return [start, *tokens]

always-after-the-start: You chose all words by what may follow the *start*. After each word the context is that word:
look up its row.
+ order = log_probs[start].argsort(descending=True).tolist()[:longest]
+ return order[: order.index(eos) + 1] if eos in order else order

column-for-row: You used the column. Row a holds the log-probabilities of what follows a.
- log_probs[last] → log_probs[:, last]
""",
)
