"""Questions 3a and 3b: a word into tokens, and tokens back into a word."""

from collections.abc import Sequence

from autograder.checks.subwords.common import REFERENCE_ITSELF, Word, how_often, learn, merged, words
from autograder.draw import Draw
from autograder.judges import same_values
from autograder.specification import Case, Exercise, Misconception, Property, case

TOKENS, SYMBOLS = ("tokens",), ("symbols",)
Merges = Sequence[Sequence[int]]


def _trained(draw: Draw) -> tuple[list[Word], Merges, int]:
    symbols = draw.largest
    made = words(draw, 8, symbols, 8)
    return made, learn(made, how_often(draw, 8), symbols, 7), symbols


def encode(word: Sequence[int], merges: Merges, symbols: int) -> Word:
    """The merges one after the other, in the order in which they were learned."""
    for number, pair in enumerate(merges):
        word = merged(word, pair, symbols + number)
    return list(word)


def expand(token: int, merges: Merges, symbols: int) -> Word:
    if token < symbols:
        return [token]
    left, right = merges[token - symbols]
    return [*expand(left, merges, symbols), *expand(right, merges, symbols)]


def decode(tokens: Sequence[int], merges: Merges, symbols: int) -> Word:
    return [symbol for token in tokens for symbol in expand(token, merges, symbols)]


def _known_words(draw: Draw) -> list[Case]:
    made, merges, symbols = _trained(draw)
    return [case("a word that was trained on", word, merges, symbols) for word in sorted(made, key=len)[-2:]]


def _ranks(draw: Draw) -> list[Case]:
    """The word a b c where b c was learned before a b, and d c d d c, where the order decides as well."""
    symbols = max(4, draw.largest)
    a, b, c, d = draw.integers(0, 10**9, symbols).argsort()[:4].tolist()
    merges = [[b, c], [a, b], [a, symbols], [d, d]]
    return [
        case("a later merge stands further left", [d, a, b, d, d, d], merges, symbols),
        case("two merges want the same symbol", [a, b, c, a, b], merges[:2], symbols),
        case("a merge of a merge", [d, a, b, c, b, c], merges, symbols),
    ]


def _short(draw: Draw) -> list[Case]:
    made, merges, symbols = _trained(draw)
    return [
        case("a word of one symbol", [0], merges, symbols),
        case("no merges", made[0], [], symbols),
        case("the word is one token", [1, 0], [[1, 0]], symbols),
    ]


def _leftmost_first(word: Sequence[int], merges: Merges, symbols: int) -> Word:
    """Any merge that applies, from the left, until none does."""
    table = {tuple(pair): symbols + i for i, pair in enumerate(merges)}
    out = list(word)
    i = 0
    while i < len(out) - 1:
        new = table.get((out[i], out[i + 1]))
        if new is None:
            i += 1
        else:
            out[i : i + 2] = [new]
            i = max(i - 1, 0)
    return out


def _longest_first(word: Sequence[int], merges: Merges, symbols: int) -> Word:
    """The longest token that fits, from the left: what WordPiece does."""
    spelled = {tuple(expand(t, merges, symbols)): t for t in range(symbols + len(merges))}
    out: Word = []
    while word:
        length = max(n for n in range(1, len(word) + 1) if tuple(word[:n]) in spelled)
        out.append(spelled[tuple(word[:length])])
        word = word[length:]
    return out


def _last_learned_first(word: Sequence[int], merges: Merges, symbols: int) -> Word:
    for number in reversed(range(len(merges))):
        word = merged(word, merges[number], symbols + number)
    return list(word)


def _ids_of_merges(word: Sequence[int], merges: Merges, symbols: int) -> Word:
    """The merge's number stands in the place of the token's id."""
    return [t if t < symbols else t - symbols for t in encode(word, merges, symbols)]


ENCODE = Exercise(
    name="subwords.encode",
    title="A word into tokens",
    signature="encode(word, merges, symbols)",
    arguments=("word", "merges", "symbols"),
    returns=TOKENS,
    minutes=20,
    difficulty="medium",
    reference=encode,
    properties=(
        Property(name="words that were trained on", points=1.5, cases=_known_words, judge=same_values(TOKENS)),
        Property(name="the order of the merges", points=2, cases=_ranks, judge=same_values(TOKENS)),
        Property(name="words of one symbol or one token", points=0.5, cases=_short, judge=same_values(TOKENS)),
    ),
    misconceptions=(
        Misconception(
            id="leftmost-first",
            sentence=(
                "You merge whatever can be merged, from the left. The merges have an order: the one that was learned"
                " first is done first, wherever it stands, or the tokens are not those of the training."
            ),
            implementation=_leftmost_first,
        ),
        Misconception(
            id="longest-first",
            sentence=(
                "You take the longest token that fits, from the left. That is WordPiece's rule. Byte-pair encoding"
                " repeats the merges of the training, in their order."
            ),
            implementation=_longest_first,
        ),
        Misconception(
            id="last-learned-first",
            sentence=(
                "You go through the merges backwards. A later merge may need the symbol that an earlier one makes:"
                " begin with the first."
            ),
            implementation=_last_learned_first,
        ),
        Misconception(
            id="number-of-the-merge",
            sentence=(
                "You wrote the number of the merge where its symbol's id belongs: merge number i makes the symbol"
                " `symbols + i`."
            ),
            implementation=_ids_of_merges,
        ),
    ),
    closed=REFERENCE_ITSELF,
)


# --- and back ---------------------------------------------------------------------------------------------


def _tokens(draw: Draw) -> list[Case]:
    made, merges, symbols = _trained(draw)
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
        Property(name="tokens into symbols", points=1.5, cases=_tokens, judge=same_values(SYMBOLS)),
        Property(name="merges of merges", points=1, cases=_deep, judge=same_values(SYMBOLS)),
        Property(name="short words", points=0.5, cases=_plain, judge=same_values(SYMBOLS)),
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
    ),
    closed=REFERENCE_ITSELF,
)
