"""Question 4: how a translation is counted."""

from collections import Counter
from collections.abc import Iterable, Sequence

from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

PRECISION = ("precision",)
Groups = Counter[tuple[int, ...]]


def _groups(words: Sequence[int], n: int) -> Groups:
    return _groups_from(words, n, range(len(words) - n + 1))


def _groups_from(words: Sequence[int], n: int, places: Iterable[int]) -> Groups:
    return Counter(tuple(words[i : i + n]) for i in places)


def _share(ours: Groups, theirs: Groups) -> float:
    return (ours & theirs).total() / ours.total() if ours else 0.0


def _clipped_precision(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    return _share(_groups(hypothesis, n), _groups(reference, n))


def _pair(draw: Draw) -> tuple[list[int], list[int]]:
    """A text with a wrong word and a repetition, one word shorter than its reference."""
    reference = draw.integers(3, 6, 8 + draw.largest).tolist()
    hypothesis = reference[1:-2]
    hypothesis[draw.integer(1, 3)] = 9
    return [*hypothesis, hypothesis[0], hypothesis[0]], reference


def _telling(draw: Draw, n: int, label: str) -> Case:
    """Of the groups some are right, and some are written more often than the reference has them; if they are of
    several words, it matters in which order, and both texts end in one word."""
    while True:
        hypothesis, reference = _pair(draw)
        right, found = _clipped_precision(hypothesis, reference, n), _unclipped(hypothesis, reference, n)
        if 0 < right < found and (
            n == 1 or (_in_any_order(hypothesis, reference, n) > right and hypothesis[-1] == reference[-1])
        ):
            return case(label, hypothesis, reference, n)


def _words(draw: Draw) -> list[Case]:
    return [_telling(draw, 1, "single words"), _telling(draw, 1, "single words")]


def _pairs(draw: Draw) -> list[Case]:
    return [_telling(draw, 2, "pairs of words"), case("three words", *_pair(draw), 3)]


def _repeats(draw: Draw) -> list[Case]:
    return [
        case("the same word again and again", [4] * 6, [4, 5, 4, 6, 7, 8], 1),
        case("shorter than n", [4, 5], [4, 5, 6], 3),
        case("a perfect beginning, too short", [3, 4, 5], [3, 4, 5, 6, 7, 8, 9], 2),
        case("only the end is right", [4, 5, 3, 6, 7], [4, 9, 6, 7], 2),
    ]


def _unclipped(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    ours, theirs = _groups(hypothesis, n), _groups(reference, n)
    return sum(count for group, count in ours.items() if group in theirs) / max(1, ours.total())


def _recall(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    return _clipped_precision(reference, hypothesis, n)


def _kinds(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    return _share(Counter(set(_groups(hypothesis, n))), Counter(set(_groups(reference, n))))


def _kinds_of_all(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    ours, theirs = _groups(hypothesis, n), _groups(reference, n)
    return len(ours.keys() & theirs.keys()) / max(1, ours.total())


def _over_words(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    ours, theirs = _groups(hypothesis, n), _groups(reference, n)
    return (ours & theirs).total() / len(hypothesis)


def _last_left_out(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    ours, theirs = (_groups_from(words, n, range(len(words) - n)) for words in (hypothesis, reference))
    return _share(ours, theirs)


def _stumps(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    ours, theirs = (_groups_from(words, n, range(len(words))) for words in (hypothesis, reference))
    return _share(ours, theirs)


def _stumps_of_long_ones(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    return _stumps(hypothesis, reference, n) if len(hypothesis) >= n else 0.0


def _side_by_side(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    ours, theirs = (_groups_from(words, n, range(0, len(words) - n + 1, n)) for words in (hypothesis, reference))
    return _share(ours, theirs)


def _in_any_order(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    ours, theirs = (
        Counter(tuple(sorted(group)) for group in _groups(words, n).elements()) for words in (hypothesis, reference)
    )
    return _share(ours, theirs)


def _single_words_of_long_ones(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    return _single_words(hypothesis, reference, n) if len(hypothesis) >= n else 0.0


def _single_words(hypothesis: Sequence[int], reference: Sequence[int], n: int) -> float:
    return _clipped_precision(hypothesis, reference, 1)


CLIPPED_PRECISION = Exercise(
    name="sequences.clipped_precision",
    title="The heart of BLEU",
    signature="clipped_precision(hypothesis, reference, n)",
    arguments=("hypothesis", "reference", "n"),
    returns=PRECISION,
    minutes=20,
    difficulty="medium",
    reference=_clipped_precision,
    properties=(
        Property(name="single words", points=1, cases=_words, judge=same_values(PRECISION)),
        Property(name="groups of words", points=1, cases=_pairs, judge=same_values(PRECISION)),
        Property(name="repetitions and short texts", points=1, cases=_repeats, judge=same_values(PRECISION)),
    ),
    misconceptions=(
        Misconception(
            id="not-clipped",
            sentence=(
                "A word that comes six times counts six times, although the reference has it twice: “the the the the”"
                " would be perfect. Each group counts at most as often as the reference has it."
            ),
            implementation=_unclipped,
        ),
        Misconception(
            id="recall",
            sentence=(
                "You divided by the groups of the *reference*: that is recall. Precision asks which share of what was"
                " *written* is right."
            ),
            implementation=_recall,
        ),
        Misconception(
            id="kinds-counted-once",
            sentence="You counted *different* groups. A group that was rightly written twice counts twice.",
            implementation=_kinds,
            also=(_kinds_of_all,),
        ),
        Misconception(
            id="divided-by-words",
            sentence="You divided by the number of words. There are fewer groups than words: length − n + 1.",
            implementation=_over_words,
        ),
        Misconception(
            id="last-group-left-out",
            sentence=(
                "The last group is missing. n words fit in at length − n + 1 places, and `range` leaves out its end:"
                " `range(length - n + 1)`."
            ),
            implementation=_last_left_out,
        ),
        Misconception(
            id="shorter-groups-counted",
            sentence=(
                "At the end of a text you also count groups of fewer than n words. The last one begins at length − n."
            ),
            implementation=_stumps,
            also=(_stumps_of_long_ones,),
        ),
        Misconception(
            id="side-by-side",
            sentence="Your groups stand side by side. They overlap: one begins at every word, the last few excepted.",
            implementation=_side_by_side,
        ),
        Misconception(
            id="n-ignored",
            sentence="You count single words, whatever n says.",
            implementation=_single_words,
            also=(_single_words_of_long_ones,),
        ),
    ),
    closed=("nlmcore.metrics",),
)
