"""Questions 2a and 2b: one merge in one word, and the loop that learns them."""

from collections.abc import Sequence

import torch
from torch import Tensor

from autograder.checks.subwords.common import (
    REFERENCE_ITSELF,
    Word,
    best,
    how_often,
    learn,
    merged,
    pair_table,
    words,
)
from autograder.draw import Draw
from autograder.judges import same_values
from autograder.laws.subwords import right_up_to
from autograder.specification import Case, Exercise, Misconception, Property, case

WORD, MERGES = ("merged",), ("merges",)


def _once(draw: Draw) -> list[Case]:
    symbols = draw.largest + 3
    a, b, c, d = draw.integers(0, 10**9, symbols).argsort()[:4].tolist()
    return [
        case("the pair stands there once", [c, a, b, d], [a, b], symbols),
        case("the pair stands there twice", [a, b, c, d, a, b], [a, b], symbols),
        case("its symbols stand there the other way round", [b, a, c, a, b], [a, b], symbols),
    ]


def _runs(draw: Draw) -> list[Case]:
    symbols = draw.largest + 2
    a, b = draw.integers(0, 10**9, symbols).argsort()[:2].tolist()
    return [
        case("a symbol three times over", [b, a, a, a], [a, a], symbols),
        case("a symbol five times over", [a, a, a, a, a, b], [a, a], symbols),
    ]


def _nothing(draw: Draw) -> list[Case]:
    symbols = draw.largest + 2
    a, b = draw.integers(0, 10**9, symbols).argsort()[:2].tolist()
    return [
        case("a word of one symbol", [a], [a, b], symbols),
        case("the pair is the whole word", [a, b], [a, b], symbols),
        case("the pair is not there", [b, b, a], [a, b], symbols),
    ]


def _first_only(word: Sequence[int], pair: Sequence[int], new: int) -> Word:
    for i in range(len(word) - 1):
        if list(word[i : i + 2]) == list(pair):
            return [*word[:i], new, *word[i + 2 :]]
    return list(word)


def _from_the_right(word: Sequence[int], pair: Sequence[int], new: int) -> Word:
    return merged(word[::-1], pair[::-1], new)[::-1]


def _overlapping(word: Sequence[int], pair: Sequence[int], new: int) -> Word:
    """A new symbol for every place, and the right halves left out."""
    hits = [list(word[i : i + 2]) == list(pair) for i in range(len(word) - 1)]
    out = []
    for i, symbol in enumerate(word):
        if i < len(hits) and hits[i]:
            out.append(new)
        elif i == 0 or not hits[i - 1]:
            out.append(symbol)
    return out


def _either_way(word: Sequence[int], pair: Sequence[int], new: int) -> Word:
    out: Word = []
    i = 0
    while i < len(word):
        two = list(word[i : i + 2])
        if two in (list(pair), list(pair)[::-1]):
            out.append(new)
            i += 2
        else:
            out.append(word[i])
            i += 1
    return out


def _right_half_stays(word: Sequence[int], pair: Sequence[int], new: int) -> Word:
    hits = [list(word[i : i + 2]) == list(pair) for i in range(len(word))]
    return [new if hit else symbol for symbol, hit in zip(word, hits, strict=True)]


MERGE = Exercise(
    name="subwords.merge",
    title="One merge",
    signature="merge(word, pair, new)",
    arguments=("word", "pair", "new"),
    returns=WORD,
    minutes=20,
    difficulty="easy",
    reference=merged,
    properties=(
        Property(name="every place where the pair stands", points=1.5, cases=_once, judge=same_values(WORD)),
        Property(name="a symbol that meets itself", points=1, cases=_runs, judge=same_values(WORD)),
        Property(name="short words", points=0.5, cases=_nothing, judge=same_values(WORD)),
    ),
    misconceptions=(
        Misconception(
            id="first-place-only",
            sentence="Only the first occurrence was merged. A merge holds everywhere in the word.",
            implementation=_first_only,
        ),
        Misconception(
            id="from-the-right",
            sentence=(
                "You merged from right to left. In a a a both ends are possible: by agreement the leftmost pair is"
                " merged first, and what is left over stays."
            ),
            implementation=_from_the_right,
        ),
        Misconception(
            id="overlapping",
            sentence=(
                "In a a a you merged the first a with the second, and the second again with the third. A symbol can be"
                " merged once: after a merge go on *behind* both symbols."
            ),
            implementation=_overlapping,
        ),
        Misconception(
            id="either-order",
            sentence="You merged b a as well as a b. The order counts: only the pair as it is given.",
            implementation=_either_way,
        ),
        Misconception(
            id="right-half-stays",
            sentence=(
                "The new symbol took the place of the left one, and the right one is still there. It stands for both:"
                " skip two symbols."
            ),
            implementation=_right_half_stays,
        ),
    ),
    closed=REFERENCE_ITSELF,
)


# --- learning ---------------------------------------------------------------------------------------------


def _corpus(draw: Draw, number: int, longest: int) -> tuple[list[Word], list[int], int]:
    symbols = draw.largest
    made = words(draw, number, symbols, longest)
    return made, how_often(draw, number), symbols


def _first_merge(draw: Draw) -> list[Case]:
    return [case("one merge", *_corpus(draw, 5, 6), 1)]


def _several(draw: Draw) -> list[Case]:
    return [case("several merges", *_corpus(draw, 6, 8), 5), case("and again", *_corpus(draw, 5, 6), 4)]


def _until_nothing_is_left(draw: Draw) -> list[Case]:
    a, b, c = draw.integers(0, 10**9, 4).argsort()[:3].tolist()
    return [case("more merges are asked than there are", [[a, b, a, b], [c], [a, b, c]], [3, 2, 1], 4, 50)]


def _without_recounting(words: Sequence[Word], counts: Sequence[int], symbols: int, merges: int) -> Tensor:
    table = pair_table(words, counts, symbols)
    found = []
    for _ in range(merges):
        if int(table.max()) == 0:
            break
        found.append(best(table))
        table[found[-1][0], found[-1][1]] = 0
    return torch.tensor(found)


def _words_once(words: Sequence[Word], counts: Sequence[int], symbols: int, merges: int) -> list[list[int]]:
    return learn(words, [1] * len(words), symbols, merges)


def _larger_ids_first(words: Sequence[Word], counts: Sequence[int], symbols: int, merges: int) -> list[list[int]]:
    words, found = [list(word) for word in words], []
    for new in range(symbols, symbols + merges):
        table = pair_table(words, counts, new)
        if int(table.max()) == 0:
            break
        found.append(torch.nonzero(table == table.max())[-1].tolist())
        words = [merged(word, found[-1], new) for word in words]
    return found


def _old_symbols_only(words: Sequence[Word], counts: Sequence[int], symbols: int, merges: int) -> list[list[int]]:
    words, found = [list(word) for word in words], []
    for new in range(symbols, symbols + merges):
        table = pair_table(words, counts, new)[:symbols, :symbols]
        if int(table.max()) == 0:
            break
        found.append(best(table))
        words = [merged(word, found[-1], new) for word in words]
    return found


def _numbered_from_nought(words: Sequence[Word], counts: Sequence[int], symbols: int, merges: int) -> list[list[int]]:
    """The new symbol's id is one too large, as it is counted after it was added."""
    words, found = [list(word) for word in words], []
    for step in range(merges):
        new = symbols + step + 1
        table = pair_table(words, counts, new)
        if int(table.max()) == 0:
            break
        found.append(best(table))
        words = [merged(word, found[-1], new) for word in words]
    return found


LEARN_MERGES = Exercise(
    name="subwords.learn_merges",
    title="Learning the merges",
    signature="learn_merges(words, counts, symbols, merges)",
    arguments=("words", "counts", "symbols", "merges"),
    returns=MERGES,
    minutes=30,
    difficulty="medium",
    reference=learn,
    properties=(
        Property(name="the first merge", points=1, cases=_first_merge, judge=same_values(MERGES)),
        Property(name="the first two of several", points=1, cases=_several, judge=right_up_to("merges", 2)),
        Property(name="all of several", points=2, cases=_several, judge=same_values(MERGES)),
        Property(name="until nothing is left", points=1, cases=_until_nothing_is_left, judge=same_values(MERGES)),
    ),
    misconceptions=(
        Misconception(
            id="never-recounted",
            sentence=(
                "You counted once and took the most frequent pairs of that table. After every merge there are new"
                " pairs, with the new symbol, and old ones are rarer: count again."
            ),
            implementation=_without_recounting,
        ),
        Misconception(
            id="counts-of-words-ignored",
            sentence=(
                "Every word counts once. A merge is worth as much as the text gets shorter by it: frequent words"
                " decide."
            ),
            implementation=_words_once,
        ),
        Misconception(
            id="larger-ids-first",
            sentence=(
                "Of pairs that are equally frequent you took the one with the larger ids. Here the smaller ids win;"
                " your `best_pair` knows that."
            ),
            implementation=_larger_ids_first,
        ),
        Misconception(
            id="new-symbols-never-merged",
            sentence=(
                "You only merge the symbols that there were in the beginning. A merged symbol is a symbol like the"
                " others: that is how “th” and “e” become “the”."
            ),
            implementation=_old_symbols_only,
        ),
        Misconception(
            id="new-ids-one-too-large",
            sentence=(
                "The first new symbol should have the id `symbols`, as the ids before it are 0 to `symbols` − 1. Yours"
                " begins one higher."
            ),
            implementation=_numbered_from_nought,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
