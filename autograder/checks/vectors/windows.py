"""Question 1a: which pairs of words are learned from."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from autograder.checks.vectors.common import REFERENCE_ITSELF
from autograder.exercise.draw import Draw
from autograder.exercise.laws.vectors import same_pairs
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

PAIRS = ("pairs",)
Place = tuple[int, int]
"""Of the centre and of its context."""
Window = Callable[[Sequence[int], int], Iterable[Place]]


def _text(draw: Draw, length: int) -> list[int]:
    """Ids that are all different, so that every pair says where it comes from."""
    return draw.integers(0, 10**9, length + 5).argsort().tolist()[:length]


def _window(words: Sequence[int], m: int) -> list[Place]:
    n = len(words)
    return [(i, j) for i in range(n) for j in range(max(0, i - m), min(n, i + m + 1)) if j != i]


def window_pairs(words: Sequence[int], m: int) -> list[list[int]]:
    return [[words[i], words[j]] for i, j in _window(words, m)]


def _inside(draw: Draw) -> list[Case]:
    return [case("m = 3", _text(draw, draw.largest + 5), 3), case("m = 1", _text(draw, draw.largest + 2), 1)]


def _edges(draw: Draw) -> list[Case]:
    return [
        case("a text shorter than the window", _text(draw, 3), 4),
        case("two words", _text(draw, 2), 1),
        case("one word alone", _text(draw, 1), 2),
    ]


def _repeated(draw: Draw) -> list[Case]:
    a, b, c = _text(draw, 3)
    return [case("a word that comes twice in one window", [a, b, a, c, c], 2)]


def _in_order(window: Window, order: Callable[[Place], Any] | None) -> Callable[[Sequence[int], int], list[list[int]]]:
    def pairs(words: Sequence[int], m: int) -> list[list[int]]:
        places = list(window(words, m))
        return [[words[i], words[j]] for i, j in (places if order is None else sorted(places, key=order))]

    return pairs


def _distance(place: Place) -> int:
    return abs(place[1] - place[0])


def _mistake(name: str, sentence: str, *windows: Window) -> Misconception:
    """The pairs may come in any order, and a mistake is known by numbers: so here it is in the usual ones, from left to
    right, by distance from each centre, and distance after distance, centre by centre or both ways at once."""
    orders = (
        None,
        lambda place: (place[0], _distance(place)),
        _distance,
        lambda place: (_distance(place), min(place)),
    )
    ways = [_in_order(window, order) for window in windows for order in orders]
    return Misconception(id=name, sentence=sentence, implementation=ways[0], also=tuple(ways[1:]))


def _around_the_end(words: Sequence[int], m: int) -> list[Place]:
    n = len(words)
    return [(i, i + d) for i in range(n) for d in range(-m, m + 1) if d != 0 and -n < i + d < n]


def _slice_below_nought(words: Sequence[int], m: int) -> list[Place]:
    places = list(range(len(words)))
    return [(i, j) for i in places for j in places[i - m : i] + places[i + 1 : i + m + 1]]


def _first_place_of_the_word(words: Sequence[int], m: int) -> list[Place]:
    return [(i, j) for word in words for i, j in _window(words, m) if i == list(words).index(word)]


def _equal_pairs_once(order: Callable[[list[Place]], Iterable[Place]]) -> Callable[..., list[list[int]]]:
    return lambda words, m: [list(pair) for pair in order([(a, b) for a, b in window_pairs(words, m)])]


WINDOW_PAIRS = Exercise(
    name="vectors.window_pairs",
    title="Who stands near whom",
    signature="window_pairs(words, m)",
    arguments=("words", "m"),
    returns=PAIRS,
    minutes=15,
    difficulty="easy",
    reference=window_pairs,
    properties=(
        Property(name="words in the middle and at the ends", points=1.5, cases=_inside, judge=same_pairs("pairs")),
        Property(name="texts shorter than the window", points=0.75, cases=_edges, judge=same_pairs("pairs")),
        Property(name="a word twice in one window", points=0.75, cases=_repeated, judge=same_pairs("pairs")),
    ),
    misconceptions=(
        _mistake(
            "only-to-the-right",
            "You only look at the words *after* the centre. The window reaches m words to both sides: 2m words in all.",
            lambda words, m: [(i, j) for i, j in _window(words, m) if j > i],
        ),
        _mistake(
            "only-to-the-left",
            "You only look at the words *before* the centre. The window reaches m words to both sides: 2m in all.",
            lambda words, m: [(i, j) for i, j in _window(words, m) if j < i],
        ),
        _mistake(
            "with-itself",
            "The centre is paired with itself. A word does not predict itself: leave its own place out.",
            lambda words, m: sorted([*_window(words, m), *((i, i) for i in range(len(words)))]),
        ),
        _mistake(
            "around-the-end",
            "At the beginning of the text you took words from its end: an index below 0 counts from the back in Python."
            " Cut the window off at 0.",
            _around_the_end,
        ),
        _mistake(
            "slice-below-nought",
            "Near the beginning of the text words are missing: in `words[i - m : i]` an i − m below 0 counts from the"
            " back, and the slice is empty or too short. Begin at `max(0, i - m)`.",
            _slice_below_nought,
        ),
        _mistake(
            "whole-windows-only",
            "Words near the ends of the text are never a centre. Their window is cut off, not left out: they are paired"
            " with the neighbours that they have.",
            lambda words, m: [(i, j) for i, j in _window(words, m) if m <= i < len(words) - m],
        ),
        _mistake(
            "window-too-small",
            "The window's last word is missing on the right: `range` ends one before its second argument.",
            lambda words, m: [(i, j) for i, j in _window(words, m) if j < i + m],
        ),
        _mistake(
            "one-less-on-both-sides",
            "Your window is one word too small on both sides: `range(1, m)` ends before m. The word that is m places"
            " away still belongs to it.",
            lambda words, m: _window(words, m - 1),
        ),
        _mistake(
            "m-words-in-all",
            "Your window has m words in all, half of them on each side. m is how far it reaches on *each* side.",
            lambda words, m: _window(words, m // 2),
        ),
        _mistake(
            "equal-words-left-out",
            "You left out pairs of equal *words*. Left out is the centre's own *place*; the same word two places on is"
            " a neighbour like any other.",
            lambda words, m: [(i, j) for i, j in _window(words, m) if words[i] != words[j]],
        ),
        _mistake(
            "first-place-of-the-word",
            "`words.index(word)` is the *first* place of a word. Where it stands a second time you looked around the"
            " first place again: let the loop run over places, not over words.",
            _first_place_of_the_word,
            lambda words, m: [(i, j) for i, j in _first_place_of_the_word(words, m) if words[i] != words[j]],
        ),
        Misconception(
            id="equal-pairs-once",
            sentence=(
                "Equal pairs are in your list once. Two words that stand near each other in two places are a pair"
                " twice, and are learned from twice: a list, no set."
            ),
            implementation=_equal_pairs_once(lambda pairs: sorted(set(pairs))),
            also=(_equal_pairs_once(set), _equal_pairs_once(dict.fromkeys)),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
