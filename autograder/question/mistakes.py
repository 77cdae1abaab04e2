"""Which known mistake do these answers look like? Found by comparing values, never by looking at code.

A wrong diagnosis is worse than none: where two mistakes explain an answer equally well, none is named, and a mistake is
ruled out if it would have spoilt an answer that is right.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from autograder.question.interview import Answers, Question, answers, questions, right_answers
from autograder.question.judges import same
from autograder.question.specification import Exercise, Misconception, Property


@dataclass(frozen=True)
class Known:
    """The answers of one way of writing a misconception to the public questions, and where they differ from the right
    ones."""

    misconception: Misconception
    alone: bool  # its own implementation, with this one mistake; not one of the other ways
    given: list[Answers]
    differs: list[bool]


@functools.cache
def known_mistakes(exercise: Exercise) -> list[Known]:
    """Every way of writing every misconception, put to the public questions."""
    asked, right = questions(exercise), right_answers(exercise)
    known = []
    for misconception in exercise.misconceptions:
        for number, implementation in enumerate((misconception.implementation, *misconception.also)):
            given = answers(implementation, exercise, asked)
            differs = [not same for same in _agreement(exercise, asked, given, right)]
            known.append(Known(misconception, number == 0, given, differs))
    return known


def alike(
    one: Answers, other: Answers, exercise: Exercise, outputs: Sequence[int] | None = None, more: bool = False
) -> bool:
    """Whether two answers cannot be distinguished: same shapes and values (NaN for NaN), same kind of fault, same
    changed arguments. With `outputs`, only by those results. With `more`, the first may have changed further
    arguments."""
    for a, b in zip(one, other, strict=True):
        if a.fault is not None or b.fault is not None:
            if a.fault is None or b.fault is None or a.fault.kind != b.fault.kind:
                return False
            continue
        if outputs is None and a.changed != b.changed and not (more and set(a.changed) > set(b.changed)):
            return False
        which = range(len(a.outputs)) if outputs is None else outputs
        if not all(_same(a.outputs[i], b.outputs[i], exercise.tolerance) for i in which):
            return False
    return True


def _same(x: Tensor, y: Tensor, tolerance: float) -> bool:
    if x.shape != y.shape:
        return False
    return same(x, y) or bool(x.double().allclose(y.double(), rtol=tolerance, atol=tolerance, equal_nan=True))


def _agreement(
    exercise: Exercise,
    asked: Sequence[Question],
    one: Sequence[Answers],
    other: Sequence[Answers],
    more: bool = False,
) -> list[bool]:
    return [alike(a, b, exercise, q.about.outputs, more) for q, a, b in zip(asked, one, other, strict=True)]


@functools.cache
def planted_answers(exercise: Exercise) -> tuple[Answers, ...]:
    """The answers of the function that was given to be mended to the public questions; none if there is none."""
    return () if exercise.planted is None else tuple(answers(exercise.planted, exercise, questions(exercise)))


def still_planted(exercise: Exercise, given: Sequence[Answers]) -> bool:
    """Whether the answers are those of the function that was given to be mended, in every public case."""
    planted = planted_answers(exercise)
    return bool(planted) and all(alike(a, b, exercise) for a, b in zip(planted, given, strict=False))


def name_mistakes(
    exercise: Exercise, failed: Sequence[Property], asked: Sequence[Question], given: Sequence[Answers]
) -> dict[str, Misconception]:
    """For each failed property, by its name, the misconception that explains it, if there is exactly one.

    It must give the student's own values in every public case of that property in which the student has values, and in
    one of them differ from the reference. That both raise an exception says nothing. In no public case, of any
    property, may the student be right where that mistake is not, unless each property is about results of its own, as
    in a derivation: one formula may be wrong and the next one right. If there are several, it is one that need not be
    excused in this way, then one that has no other mistake, then the one that agrees with the student in the most cases
    overall. Other failures may be explained by a mistake that was recognised elsewhere, including exceptions.
    """
    public = len(questions(exercise))
    asked, given = asked[:public], given[:public]
    faulty = [any(outcome.fault is not None for outcome in row) for row in given]
    right = _agreement(exercise, asked, given, right_answers(exercise))
    results = [result for prop in exercise.properties for result in prop.outputs or (None, None)]
    apart = len(set(results)) == len(results)
    tables = [
        (known, fits, _agreement(exercise, asked, given, known.given, more=True))
        for known in known_mistakes(exercise)
        for fits in [not any(same and differs for same, differs in zip(right, known.differs, strict=True))]
        if fits or apart
    ]
    places = {prop.name: [i for i, question in enumerate(asked) if question.about is prop] for prop in failed}

    def by_numbers(here: Sequence[int]) -> Misconception | None:
        explaining = [
            ((fits, known.alone, sum(agrees)), known.misconception)
            for known, fits, agrees in tables
            if all(agrees[i] or faulty[i] for i in here)
            and any(agrees[i] and known.differs[i] and not faulty[i] for i in here)
        ]
        best = max((score for score, _ in explaining), default=None)
        return _only([misconception for score, misconception in explaining if score == best])

    names = {name: found for name, here in places.items() if (found := by_numbers(here)) is not None}

    def known_elsewhere(here: Sequence[int]) -> Misconception | None:
        seen = [known.misconception for known, _, agrees in tables if all(agrees[i] for i in here)]
        return _only([m for m in seen if any(m is name for name in names.values())])

    rest = {name: known_elsewhere(here) for name, here in places.items() if name not in names}
    return names | {name: found for name, found in rest.items() if found is not None}


def _only(winners: Sequence[Misconception]) -> Misconception | None:
    if not winners:
        return None
    first = winners[0]
    return first if all(other is first or other.id in first.looks_like for other in winners) else None
