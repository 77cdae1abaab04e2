"""Question 2a: one merge in one word."""

from collections.abc import Sequence

from autograder.checks.subwords.common import REFERENCE_ITSELF, Word, merged
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged
from autograder.exercise.laws.subwords import same_list
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

WORD = ("merged",)


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


def _last_symbol_lost(word: Sequence[int], pair: Sequence[int], new: int) -> Word:
    out: Word = []
    i = 0
    while i < len(word) - 1:
        hit = list(word[i : i + 2]) == list(pair)
        out.append(new if hit else word[i])
        i += 2 if hit else 1
    return out


def _last_symbol_twice(word: Sequence[int], pair: Sequence[int], new: int) -> Word:
    """What is left is appended at the end, also where the last pair was merged."""
    return [*_last_symbol_lost(word, pair, new), *word[-1:]]


def _in_steps_of_two(word: Sequence[int], pair: Sequence[int], new: int) -> Word:
    out: Word = []
    for i in range(0, len(word), 2):
        out += [new] if list(word[i : i + 2]) == list(pair) else word[i : i + 2]
    return out


def _new_symbol_twice(word: Sequence[int], pair: Sequence[int], new: int) -> Word:
    out = list(word)
    for i in range(len(out) - 1):
        if out[i : i + 2] == list(pair):
            out[i] = out[i + 1] = new
    return out


def _in_the_word_itself(word: list[int], pair: Sequence[int], new: int) -> Word:
    i = 0
    while i < len(word) - 1:
        if word[i : i + 2] == list(pair):
            word[i : i + 2] = [new]
        i += 1
    return word


def _word_used_up(word: list[int], pair: Sequence[int], new: int) -> Word:
    out = merged(word, pair, new)
    word.clear()
    return out


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
        Property(name="every place where the pair stands", points=1.5, cases=_once, judge=same_list("merged")),
        Property(name="a symbol that meets itself", points=1, cases=_runs, judge=same_list("merged")),
        Property(name="short words", points=0.5, cases=_nothing, judge=and_inputs_unchanged(same_list("merged"))),
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
        Misconception(
            id="word-itself-changed",
            sentence=(
                "You changed the list that you were given: whoever asks for the word afterwards does not find it any"
                " more. Work on a copy, `list(word)`, or fill a new list."
            ),
            implementation=_in_the_word_itself,
            also=(_word_used_up,),
        ),
        Misconception(
            id="last-symbol-lost",
            sentence=(
                "The last symbol of the word is lost when it is not merged: the loop ends where there is no pair any"
                " more. What is left over belongs to the word as well."
            ),
            implementation=_last_symbol_lost,
        ),
        Misconception(
            id="last-symbol-twice",
            sentence=(
                "You always put the word's last symbol behind the rest, also where it has just been merged. Only what"
                " is *left over* is appended."
            ),
            implementation=_last_symbol_twice,
        ),
        Misconception(
            id="steps-of-two",
            sentence=(
                "You look at the places 0, 2, 4, … only. A pair may begin at any place: where nothing is merged, go on"
                " by *one* symbol."
            ),
            implementation=_in_steps_of_two,
        ),
        Misconception(
            id="new-symbol-twice",
            sentence=(
                "The new symbol stands there twice, once for each half. It replaces both together, so every merge makes"
                " the word shorter by one."
            ),
            implementation=_new_symbol_twice,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
