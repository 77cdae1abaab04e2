"""Question 3b: tokens back into a word."""

from autograder.exercise.declare import judged, question
from autograder.exercise.draw import Draw
from autograder.exercise.laws.lists import same_list
from autograder.exercise.specification import Case, case
from solutions.subwords.checks.common import CLOSED, different
from solutions.subwords.checks.encoding import ENCODE
from solutions.subwords.checks.learning import trained


def _tokens(draw: Draw) -> list[Case]:
    made, merges, symbols = trained(draw)
    return [
        case("a word in tokens", ENCODE.reference(max(made, key=len), merges, symbols), merges, symbols),
        case("any tokens", draw.integers(0, symbols + len(merges) - 1, 4).tolist(), merges, symbols),
    ]


def _deep(draw: Draw) -> list[Case]:
    symbols = max(3, draw.largest)
    a, b, c = different(draw, 3, symbols)
    merges = [[a, b], [symbols, c], [symbols + 1, symbols], [symbols + 2, a]]
    return [case("a merge of merges of merges", [b, symbols + 3, symbols + 1], merges, symbols)]


def _plain(draw: Draw) -> list[Case]:
    symbols = draw.largest
    return [
        case("no token is a merge", draw.integers(0, symbols - 1, 3).tolist(), [[0, 1]], symbols),
        case("one token, a merge", [symbols], [[0, 1]], symbols),
    ]


DECODE = question(
    "subwords.decode",
    minutes=15,
    difficulty="medium",
    returns=("symbols",),
    properties=[
        judged("tokens into symbols", 1.5, _tokens, same_list("symbols")),
        judged("merges of merges", 1, _deep, same_list("symbols")),
        judged("short words", 0.5, _plain, same_list("symbols")),
    ],
    closed=CLOSED,
    mistakes="""
one-level-only: You split a token once. Its halves may be merges themselves: continue until only symbols below `symbols`
are left.
- stands_for[left] + stands_for[right] → [left, right]

halves-exchanged: Within a token your symbols are in reverse order. First the left half, then the right one.
- stands_for[left] + stands_for[right] → stands_for[right] + stands_for[left]

word-backwards: Your whole word is in reverse order: a stack returns first what was put on it last. Push the right half
first.
- stands_for[token]] → stands_for[token]][::-1]

left-halves-only: You keep only the left half of every merge. A token stands for both of its halves.
- stands_for[left] + stands_for[right] → stands_for[left]

first-new-symbol-kept: You did not split the symbol with the id `symbols`. The letters end at `symbols` − 1; it is the
first that a merge made: use `>=`, not `>`.
- stands_for[left] + stands_for[right]
+ stands_for[left] + stands_for[right] if len(stands_for) > symbols else [symbols]

list-of-lists: You return one list per token. Return one list for the whole word: use `extend` or `+=` instead of
`append`.
- symbol for token in tokens for symbol in stands_for[token] → stands_for[token] for token in tokens
""",
)
