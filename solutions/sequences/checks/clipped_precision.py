"""Question 4: how a translation is scored."""

from collections import Counter

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.sequences.checks.common import CLOSED


def _pair(draw: Draw) -> tuple[list[int], list[int]]:
    """A text with a wrong word and a repetition, one word shorter than its reference."""
    reference = draw.integers(3, 6, 8 + draw.largest).tolist()
    hypothesis = reference[1:-2]
    hypothesis[draw.integer(1, 3)] = 9
    return [*hypothesis, hypothesis[0], hypothesis[0]], reference


def _in_any_order(hypothesis: list[int], reference: list[int], n: int) -> float:
    ours, theirs = (
        Counter(tuple(sorted(words[i : i + n])) for i in range(len(words) - n + 1)) for words in (hypothesis, reference)
    )
    return (ours & theirs).total() / ours.total()


def _telling(draw: Draw, n: int, label: str) -> Case:
    """Some n-grams are right, and some occur more often than in the reference; if n > 1, their order matters, and both
    texts end in the same word."""
    while True:
        made = hypothesis, reference = _pair(draw)
        right, found = CLIPPED_PRECISION.reference(*made, n), CLIPPED_PRECISION.mistake("not-clipped")(*made, n)
        if 0 < right < found and (n == 1 or (_in_any_order(*made, n) > right and hypothesis[-1] == reference[-1])):
            return case(label, hypothesis, reference, n)


def _words(draw: Draw) -> list[Case]:
    return [_telling(draw, 1, "single words"), _telling(draw, 1, "single words")]


def _pairs(draw: Draw) -> list[Case]:
    a, b, c, d = (draw.integer(1, 9) for _ in range(4))  # a, bc and ab, c: the same digits, other words
    digits = [a, 10 * b + c, 100 + d, a, b], [10 * a + b, c, 100 + d, a, b]
    return [
        _telling(draw, 2, "pairs of words"),
        case("three words", *_pair(draw), 3),
        case("ids of several digits", *digits, 2),
        case("an id that ends like another", [a, a, b], [10 * b + a, a, 10 * b], 2),
    ]


def _repeats(draw: Draw) -> list[Case]:
    a, b, c, d, e, f, g = (draw.integers(0, 10**9, 90).argsort()[:7] + 3).tolist()
    return [
        case("the same word many times", [b] * 6, [b, c, b, d, e, f], 1),
        case("shorter than n", [b, c], [b, c, d], 3),
        case("a perfect start, too short", [a, b, c], [a, b, c, d, e, f, g], 2),
        case("only the end is right", [b, c, a, d, e], [b, f, d, e], 2),
    ]


CLIPPED_PRECISION = question(
    "sequences.clipped_precision",
    minutes=20,
    difficulty="medium",
    returns=("precision",),
    properties=[
        values("single words", 1, _words),
        values("n-grams", 1, _pairs),
        values("repetitions and short texts", 1, _repeats),
    ],
    closed=CLOSED,
    mistakes="""
not-clipped: A word that you generate six times counts six times, although it occurs twice in the reference: “the the
the the” would be perfect. Each n-gram counts at most as often as it occurs in the reference.
- written & groups(reference) → {group: count for group, count in written.items() if group in groups(reference)}

recall: You divided by the number of n-grams in the *reference*: that is recall. Precision is the fraction of the
*hypothesis* that is right.
^ hypothesis, reference = reference, hypothesis

kinds-counted-once: You counted *different* n-grams. A correct n-gram that occurs twice counts twice.
- Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
+ Counter({tuple(words[i : i + n]) for i in range(len(words) - n + 1)})
or
- sum(right.values()) → len(right)

divided-by-words: You divided by the number of words. There are fewer n-grams than words: length − n + 1.
- max(1, sum(written.values())) → len(hypothesis)

last-group-left-out: You left out the last n-gram. There are length − n + 1 positions for n words, and `range` excludes
its end: `range(length - n + 1)`.
- len(words) - n + 1 → len(words) - n

shorter-groups-counted: At the end of a text you also count groups of fewer than n words. The last n-gram starts at
length − n.
- len(words) - n + 1 → len(words)
or
- len(words) - n + 1 → len(words)
- return sum(right → return (len(hypothesis) >= n) * sum(right

side-by-side: Your n-grams do not overlap, but they should: one starts at every word except the last few.
- range(len(words) - n + 1) → range(0, len(words) - n + 1, n)

n-ignored: You count single words, whatever n is.
^ n = 1
or
^ n = 1 if len(hypothesis) >= n else n
""",
)
