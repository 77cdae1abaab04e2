"""Question 3a: a word into tokens."""

from collections.abc import Sequence

from autograder.checks.subwords.common import REFERENCE_ITSELF, Merges, Word, encode, expand, merged, trained
from autograder.exercise.draw import Draw
from autograder.exercise.laws.subwords import same_list
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

TOKENS = ("tokens",)


def _known_words(draw: Draw) -> list[Case]:
    made, merges, symbols = trained(draw)
    return [case("a word that was trained on", word, merges, symbols) for word in sorted(made, key=len)[-2:]]


def _ranks(draw: Draw) -> list[Case]:
    """a b c where b c was learned before a b, and where it was learned after it; a later merge further left."""
    symbols = max(4, draw.largest)
    a, b, c, d = draw.integers(0, 10**9, symbols).argsort()[:4].tolist()
    merges = [[b, c], [a, b], [a, symbols], [d, d]]
    return [
        case("a later merge stands further left", [d, a, b, d, d, d], merges, symbols),
        case("two merges want the same symbol", [a, b, c, a, b], merges[:2], symbols),
        case("two merges want the same symbol, the other way round", [a, b, c, b, c], merges[1::-1], symbols),
        case("a merge of a merge", [d, a, b, c, b, c], merges, symbols),
    ]


def _short(draw: Draw) -> list[Case]:
    made, merges, symbols = trained(draw)
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


def _one_pass(word: Sequence[int], merges: Merges, symbols: int) -> Word:
    """Once through the letters: what two of them make is never looked at again."""
    table = {tuple(pair): symbols + i for i, pair in enumerate(merges)}
    out: Word = []
    i = 0
    while i < len(word):
        new = table.get(tuple(word[i : i + 2]))
        out.append(word[i] if new is None else new)
        i += 1 if new is None else 2
    return out


def _one_too_large(word: Sequence[int], merges: Merges, symbols: int) -> Word:
    for number, pair in enumerate(merges, start=1):
        word = merged(word, pair, symbols + number)
    return list(word)


def _each_in_one_place(word: Sequence[int], merges: Merges, symbols: int) -> Word:
    word = list(word)
    for number, pair in enumerate(merges):
        here = next((i for i in range(len(word) - 1) if word[i : i + 2] == list(pair)), None)
        if here is not None:
            word[here : here + 2] = [symbols + number]
    return word


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
        Property(name="words that were trained on", points=1.5, cases=_known_words, judge=same_list("tokens")),
        Property(name="the order of the merges", points=2, cases=_ranks, judge=same_list("tokens")),
        Property(name="words of one symbol or one token", points=0.5, cases=_short, judge=same_list("tokens")),
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
        Misconception(
            id="one-pass",
            sentence=(
                "You went through the letters once, so a merge of a merge never happens. Do one merge in the whole"
                " word, then the next one in what has come out."
            ),
            implementation=_one_pass,
        ),
        Misconception(
            id="ids-one-too-large",
            sentence=(
                "Your new symbols are one too large. The ids of the letters end at `symbols` − 1, so merge number 0"
                " makes the symbol `symbols`."
            ),
            implementation=_one_too_large,
        ),
        Misconception(
            id="first-place-only",
            sentence="Each merge was done in one place only. It holds everywhere in the word: your `merge` does that.",
            implementation=_each_in_one_place,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
