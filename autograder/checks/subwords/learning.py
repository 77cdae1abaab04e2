"""Question 2b: the loop that learns the merges."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

from autograder.checks.subwords.common import REFERENCE_ITSELF, Word, best, how_often, learn, merged, pair_table, words
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged
from autograder.exercise.laws.subwords import right_up_to, same_list
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

MERGES = ("merges",)


def _corpus(draw: Draw, number: int, longest: int) -> tuple[list[Word], list[int], int]:
    symbols = draw.largest
    made = words(draw, number, symbols, longest)
    return made, how_often(draw, number), symbols


def _first_merge(draw: Draw) -> list[Case]:
    return [case("one merge", *_corpus(draw, 5, 6), 1)]


def _several(draw: Draw) -> list[Case]:
    a, b, c = draw.integers(0, 10**9, draw.largest).argsort()[:3].tolist()
    runs = [[a, a, a, b], [c, a, a, a], [b, a, a, a, a, a, c], [c, b]]
    return [
        case("several merges", *_corpus(draw, 6, 8), 5),
        case("and again", *_corpus(draw, 5, 6), 4),
        case("a symbol several times over", runs, [5, 3, 2, 1], draw.largest, 5),
    ]


def _until_nothing_is_left(draw: Draw) -> list[Case]:
    """Two last pairs that stand in the text once; and an old pair, c d, of which merges of merges leave nothing."""
    a, b, c, d = draw.integers(0, 10**9, 4).argsort().tolist()
    words = [[a, b, a, b], [c], [a, b, c], [a, b, c, d], [d, a, d]]
    return [case("more merges are asked than there are", words, [3, 2, 2, 2, 1], 4, 50)]


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


def _first_met(words: Sequence[Word], counts: Sequence[int], symbols: int, merges: int) -> list[list[int]]:
    """Of equals the pair that was met first, as `Counter.most_common` and `max` over a dictionary have it."""
    words, found = [list(word) for word in words], []
    for new in range(symbols, symbols + merges):
        seen: Counter[tuple[int, int]] = Counter()
        for word, count in zip(words, counts, strict=True):
            for pair in pairwise(word):
                seen[pair] += count
        if not seen:
            break
        winner = max(seen, key=seen.__getitem__)
        found.append(list(winner))
        words = [merged(word, found[-1], new) for word in words]
    return found


def _ends_at(words: Sequence[Word], counts: Sequence[int], symbols: int, merges: int, enough: int) -> list[list[int]]:
    """Stops when the best pair stands there less than `enough` times."""
    words, found = [list(word) for word in words], []
    for new in range(symbols, symbols + merges):
        table = pair_table(words, counts, new)
        if int(table.max()) < enough:
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


def _in_the_words_themselves(words: list[Word], counts: Sequence[int], symbols: int, merges: int) -> list[list[int]]:
    found = learn(words, counts, symbols, merges)
    for new, pair in enumerate(found, start=symbols):
        words[:] = [merged(word, pair, new) for word in words]
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
        Property(name="the first merge", points=1, cases=_first_merge, judge=same_list("merges")),
        Property(name="the first two of several", points=1, cases=_several, judge=right_up_to("merges", 2)),
        Property(name="all of several", points=2, cases=_several, judge=same_list("merges")),
        Property(
            name="until nothing is left",
            points=1,
            cases=_until_nothing_is_left,
            judge=and_inputs_unchanged(same_list("merges")),
        ),
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
            id="first-met",
            sentence=(
                "Of pairs that are equally frequent you took the one that was met first (`most_common` and `max` over a"
                " dictionary do that): the tokens then depend on the order of the words. Here the smaller ids win."
            ),
            implementation=_first_met,
        ),
        Misconception(
            id="never-stops",
            sentence=(
                "When no pair is left, the largest entry of the table is 0, and `best_pair` still names one: [0, 0]."
                " That is no pair. Look at the largest entry, and stop."
            ),
            implementation=lambda words, counts, symbols, merges: _ends_at(words, counts, symbols, merges, 0),
        ),
        Misconception(
            id="stops-at-one",
            sentence=(
                "You stopped when no pair stood in the text twice. A sensible rule, but not this one: go on as long as"
                " there is any pair."
            ),
            implementation=lambda words, counts, symbols, merges: _ends_at(words, counts, symbols, merges, 2),
        ),
        Misconception(
            id="one-too-few",
            sentence=(
                "The last merge is missing. Count how often your loop runs: `merges` times, and each time one pair goes"
                " into the list."
            ),
            implementation=lambda words, counts, symbols, merges: learn(words, counts, symbols, merges - 1),
        ),
        Misconception(
            id="words-themselves-changed",
            sentence=(
                "You merged in the list that you were given, and the caller's words are tokens now. Make a list of your"
                " own, `words = [merge(word, …) for word in words]`; if your `merge` changes its word, mend it there."
            ),
            implementation=_in_the_words_themselves,
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
