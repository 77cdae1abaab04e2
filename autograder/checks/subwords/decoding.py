"""Question 3b: tokens back into a word."""

from collections.abc import Sequence

from autograder.checks.subwords.common import REFERENCE_ITSELF, Merges, Word, encode, expand, trained
from autograder.exercise.draw import Draw
from autograder.exercise.laws.subwords import same_list
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

SYMBOLS = ("symbols",)


def decode(tokens: Sequence[int], merges: Merges, symbols: int) -> Word:
    return [symbol for token in tokens for symbol in expand(token, merges, symbols)]


def _tokens(draw: Draw) -> list[Case]:
    made, merges, symbols = trained(draw)
    longest = max(made, key=len)
    return [
        case("a word in tokens", encode(longest, merges, symbols), merges, symbols),
        case("any tokens", draw.integers(0, symbols + len(merges) - 1, 4).tolist(), merges, symbols),
    ]


def _deep(draw: Draw) -> list[Case]:
    symbols = max(3, draw.largest)
    a, b, c = draw.integers(0, 10**9, symbols).argsort()[:3].tolist()
    merges = [[a, b], [symbols, c], [symbols + 1, symbols], [symbols + 2, a]]
    return [case("a merge of merges of merges", [b, symbols + 3, symbols + 1], merges, symbols)]


def _plain(draw: Draw) -> list[Case]:
    symbols = draw.largest
    return [
        case("no token is a merge", draw.integers(0, symbols - 1, 3).tolist(), [[0, 1]], symbols),
        case("one token, which is", [symbols], [[0, 1]], symbols),
    ]


def _one_level(tokens: Sequence[int], merges: Merges, symbols: int) -> Word:
    return [s for t in tokens for s in ([t] if t < symbols else merges[t - symbols])]


def _mirrored(token: int, merges: Merges, symbols: int) -> Word:
    return expand(token, merges, symbols)[::-1]


def _first_new_symbol_kept(tokens: Sequence[int], merges: Merges, symbols: int) -> Word:
    out: Word = []
    for token in tokens:
        out += _first_new_symbol_kept(merges[token - symbols], merges, symbols) if token > symbols else [token]
    return out


DECODE = Exercise(
    name="subwords.decode",
    title="Tokens back into a word",
    signature="decode(tokens, merges, symbols)",
    arguments=("tokens", "merges", "symbols"),
    returns=SYMBOLS,
    minutes=15,
    difficulty="medium",
    reference=decode,
    properties=(
        Property(name="tokens into symbols", points=1.5, cases=_tokens, judge=same_list("symbols")),
        Property(name="merges of merges", points=1, cases=_deep, judge=same_list("symbols")),
        Property(name="short words", points=0.5, cases=_plain, judge=same_list("symbols")),
    ),
    misconceptions=(
        Misconception(
            id="one-level-only",
            sentence=(
                "You took a token apart once. Its halves may be merges themselves: go on until only symbols below"
                " `symbols` are left."
            ),
            implementation=_one_level,
        ),
        Misconception(
            id="halves-exchanged",
            sentence="Within a token the symbols come out backwards. First the left half, then the right one.",
            implementation=lambda tokens, merges, symbols: [s for t in tokens for s in _mirrored(t, merges, symbols)],
        ),
        Misconception(
            id="word-backwards",
            sentence=(
                "The whole word comes out backwards: a stack gives back what was put on it last. Put the right half on"
                " it first."
            ),
            implementation=lambda tokens, merges, symbols: decode(tokens, merges, symbols)[::-1],
        ),
        Misconception(
            id="left-halves-only",
            sentence="Only the left half of every merge is there. A token stands for both of its halves.",
            implementation=lambda tokens, merges, symbols: [expand(t, merges, symbols)[0] for t in tokens],
        ),
        Misconception(
            id="first-new-symbol-kept",
            sentence=(
                "The symbol with the id `symbols` is still there. The letters end at `symbols` − 1; it is the first"
                " that was made by a merge: `>=`, not `>`."
            ),
            implementation=_first_new_symbol_kept,
        ),
        Misconception(
            id="list-of-lists",
            sentence=(
                "You give one list per token. Asked is one list for the whole word: `extend` or `+=` where you have"
                " `append`."
            ),
            implementation=lambda tokens, merges, symbols: [expand(t, merges, symbols) for t in tokens],
        ),
    ),
    closed=REFERENCE_ITSELF,
)
