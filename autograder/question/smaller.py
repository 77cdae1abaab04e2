"""The smallest input on which a function fails: smaller ones than the public inputs are tried, from the smallest up.

They are drawn by the question's own generators, because what is cut out of an input may be an input that the page does
not allow. Students get them as data, with the right answers.
"""

import contextlib
import functools
import time
from collections.abc import Callable
from itertools import product
from typing import Any

from torch import Tensor

from autograder.question.draw import Draw
from autograder.question.interview import Question, Recording, Watcher, answers, heard_answers, questions, unwatched
from autograder.question.specification import Case, Exercise, Small, parts
from autograder.question.verdict import Finding, Verdict, can_be_shown, findings

SIZES, ROUNDS, KEPT = (2, 3), 6, 2
PATIENCE = 2000
"""Numbers that may be drawn for one round of cases: where a generator waits for a case that so small sizes cannot give,
the round is left out."""
SECONDS = 1.0


def smaller(exercise: Exercise) -> tuple[tuple[Small, ...], ...]:
    """For each property, cases that are smaller than its public ones, with the right answers, from the smallest up."""
    if isinstance(exercise.reference, Recording):
        return tuple(prop.smaller for prop in exercise.properties)
    return _drawn(exercise)


@functools.cache
def _drawn(exercise: Exercise) -> tuple[tuple[Small, ...], ...]:
    found: list[tuple[Small, ...]] = []
    public = questions(exercise)
    for prop in exercise.properties:
        least = {q.case.label: size(q.case) for q in public if q.about is prop}
        cases: list[Case] = []
        for largest, number, kind in product(SIZES, range(ROUNDS), parts(prop.cases)):
            with contextlib.suppress(Exception):  # a generator that needs more room
                cases += kind(Draw(f"{exercise.name} {prop.name} smaller {number}", largest, PATIENCE))
        kept: list[Case] = []
        for case in sorted(cases, key=size):
            of_its_kind = sum(other.label == case.label for other in kept)
            if of_its_kind < KEPT and size(case) < least.get(case.label, 0):
                kept.append(case)
        right = answers(exercise.reference, exercise, [Question(prop, case) for case in kept])
        pairs = zip(kept, right, strict=True)
        found.append(tuple((case, row) for case, row in pairs if not any(o.fault for o in row)))
    return tuple(found)


def smallest(
    exercise: Exercise,
    verdict: Verdict,
    function: Callable[..., Any],
    watch: Watcher = unwatched,
) -> Finding | None:
    """Of the first property that failed, the smallest known case in which it does; None if none has failed. A case
    with values to show comes before one in which the function raises."""
    failed = [f for f in verdict.findings if not f.holds and f.case is not None and can_be_shown(exercise, f)]
    if not failed:
        return None
    first = next((f for f in failed if _has_values(f)), failed[0])
    number = next(i for i, prop in enumerate(exercise.properties) if prop is first.about)
    assert first.case is not None
    limit, started = size(first.case), time.monotonic()
    for case, right in smaller(exercise)[number]:
        if size(case) >= limit or time.monotonic() - started > SECONDS:
            break
        question = Question(first.about, case)
        given, _ = heard_answers(function, exercise, [question], exercise.closed, watch)
        (found,) = (f for f in findings(exercise, [question], given, [right]) if f.about is first.about)
        if not found.holds and (_has_values(found) or not _has_values(first)):
            return found
    return first


def _has_values(finding: Finding) -> bool:
    return any(outcome.fault is None for outcome in finding.got)


def size(case: Case) -> int:
    """How much a reader has to look at: the numbers, and the lists that they are in."""
    return _size(case.calls)


def _size(value: Any) -> int:
    if isinstance(value, Tensor):
        return value.numel()
    value = list(value.values()) if isinstance(value, dict) else value
    return 1 + sum(map(_size, value)) if isinstance(value, (list, tuple)) else 1
