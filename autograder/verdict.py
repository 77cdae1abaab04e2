"""From outcomes to a verdict: which properties hold, and which known mistake the outputs look like.

    questions(exercise, seed)     the cases to be put to the student's function
    answers(function, questions)  the student's side: `autograder.outcome.call`, nothing else
    judge(exercise, ...)          the grader's side: reference, judges, misconceptions; never the function

The two sides exchange arguments and outcomes only, so they can live in different processes.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from autograder.draw import Draw
from autograder.outcome import Outcome, call
from autograder.specification import Case, Exercise, Misconception, Property

PUBLIC_SEED = 0
PUBLIC_LARGEST = 4
HIDDEN_LARGEST = 9
HIDDEN_ROUNDS = 3


class GraderFault(Exception):  # noqa: N818  (said to students and instructors, not an Error to them)
    """The grader, not the student, is wrong. It never becomes a mark: grading that submission stops."""


@dataclass(frozen=True)
class Question:
    """A case, and the property that it is about."""

    about: Property
    case: Case


Answers = tuple[Outcome, ...]
"""The outcomes of one question's calls."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """What became of one property. For one that does not hold: the first case in which it did not."""

    about: Property
    complaint: str | None = None
    case: Case | None = None
    got: Answers = ()
    expected: Answers = ()
    misconception: Misconception | None = None
    fresh: bool = False
    """It held on the public inputs; the case is a hidden one."""

    @property
    def holds(self) -> bool:
        return self.complaint is None


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """All that is known about one function."""

    exercise: Exercise
    findings: tuple[Finding, ...]
    unwritten: bool = False
    closed: tuple[str, ...] = ()
    seed: int | None = None
    """The seed of the hidden inputs; None if the public ones alone were looked at."""

    @property
    def points(self) -> float:
        """Points earned. Whoever uses a closed name earns none."""
        return 0.0 if self.closed else sum(f.about.points for f in self.findings if f.holds)

    @property
    def passed(self) -> bool:
        return not self.closed and all(finding.holds for finding in self.findings)

    @property
    def misconceptions(self) -> tuple[Misconception, ...]:
        """The mistakes that were recognised, each once."""
        seen = {f.misconception.id: f.misconception for f in self.findings if f.misconception is not None}
        return tuple(seen.values())


def questions(exercise: Exercise, seed: int | None = None) -> list[Question]:
    """The public questions; with a seed, the public ones and fresh ones of the same kinds."""
    asked = [
        Question(prop, case)
        for prop in exercise.properties
        for case in prop.cases(Draw(f"{exercise.name} {prop.name} {PUBLIC_SEED}", PUBLIC_LARGEST))
    ]
    for number in range(HIDDEN_ROUNDS if seed is not None else 0):
        for prop in exercise.properties:
            draw = Draw(f"{exercise.name} {prop.name} hidden {seed} {number}", HIDDEN_LARGEST)
            asked.extend(Question(prop, case) for case in prop.cases(draw))
    return asked


def answers(function: Callable[..., Any], exercise: Exercise, asked: Sequence[Question]) -> list[Answers]:
    """Put the questions to a function, on one thread: for inputs this small, more only get in each other's way."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return [
            tuple(call(function, arguments, exercise.arguments, exercise.returns) for arguments in question.case.calls)
            for question in asked
        ]
    finally:
        torch.set_num_threads(threads)


def judge(
    exercise: Exercise,
    asked: Sequence[Question],
    given: Sequence[Answers],
    *,
    closed: Sequence[str] = (),
    seed: int | None = None,
) -> Verdict:
    """The verdict on the answers `given` to the questions `asked`.

    Raises GraderFault if the reference itself has no answer to one of them.
    """
    right = answers(exercise.reference, exercise, asked)
    for question, outcomes in zip(asked, right, strict=True):
        fault = next((o.fault for o in outcomes if o.fault is not None), None)
        if fault is not None:
            raise GraderFault(f"{exercise.name}: the reference fails on {question.case.label!r}: {fault.words}")
    findings = []
    for prop in exercise.properties:
        rows = [row for row in zip(asked, given, right, strict=True) if row[0].about is prop]
        findings.append(_finding(prop, rows, public=sum(q.about is prop for q in questions(exercise))))
    unwritten = all(o.fault is not None and o.fault.kind == "NotImplementedError" for row in given for o in row)
    verdict = Verdict(exercise=exercise, findings=tuple(findings), unwritten=unwritten, closed=tuple(closed), seed=seed)
    return verdict if unwritten or verdict.passed else _name_mistakes(verdict, asked, given)


def _finding(prop: Property, rows: Sequence[tuple[Question, Answers, Answers]], public: int) -> Finding:
    """The first of the rows in which the property does not hold; the first `public` rows are the public ones."""
    for number, (question, got, expected) in enumerate(rows):
        fault = next((outcome.fault for outcome in got if outcome.fault is not None), None)
        if fault is not None:
            complaint: str | None = fault.words
        else:
            try:
                complaint = prop.judge(question.case, got, expected)
            except Exception as error:
                raise GraderFault(f"judging {prop.name!r} on {question.case.label!r} failed: {error!r}") from error
        if complaint is not None:
            return Finding(
                about=prop,
                complaint=complaint,
                case=question.case,
                got=got,
                expected=expected,
                fresh=number >= public,
            )
    return Finding(about=prop)


# --- known mistakes ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """What a misconception answers to the public questions, and where that differs from the reference."""

    misconception: Misconception
    given: list[Answers]
    differs: list[bool]


@functools.cache
def _known_mistakes(exercise: Exercise) -> list[Known]:
    asked = questions(exercise)
    right = answers(exercise.reference, exercise, asked)
    known = []
    for misconception in exercise.misconceptions:
        given = answers(misconception.implementation, exercise, asked)
        differs = [not alike(mine, theirs, exercise) for mine, theirs in zip(given, right, strict=True)]
        known.append(Known(misconception, given, differs))
    return known


def alike(one: Answers, other: Answers, exercise: Exercise) -> bool:
    """Whether two answers cannot be told apart: same shapes and numbers (NaN for NaN), same kind of fault."""
    for a, b in zip(one, other, strict=True):
        if (a.fault is None) != (b.fault is None) or a.changed != b.changed:
            return False
        if a.fault is not None and b.fault is not None:
            if a.fault.kind != b.fault.kind:
                return False
        elif not all(_same(x, y, exercise.tolerance) for x, y in zip(a.outputs, b.outputs, strict=True)):
            return False
    return True


def _same(x: Tensor, y: Tensor, tolerance: float) -> bool:
    if x.shape != y.shape:
        return False
    return bool(x.double().allclose(y.double(), rtol=tolerance, atol=tolerance, equal_nan=True))


def _name_mistakes(verdict: Verdict, asked: Sequence[Question], given: Sequence[Answers]) -> Verdict:
    """Add to every failed property the misconception that explains it, if there is exactly one.

    It must give the student's own outputs in all public cases of that property, and differ from the
    reference there. Of several, the one that agrees with the student in the most cases overall; if two agree
    equally often, none is named: a wrong diagnosis is worse than none.
    """
    public = len(questions(verdict.exercise))
    asked, given = asked[:public], given[:public]
    tables = [
        (
            known,
            [alike(mine, theirs, verdict.exercise) for mine, theirs in zip(given, known.given, strict=True)],
        )
        for known in _known_mistakes(verdict.exercise)
    ]
    findings = []
    for finding in verdict.findings:
        here = [i for i, question in enumerate(asked) if question.about is finding.about]
        explaining = [
            (sum(agrees), known.misconception)
            for known, agrees in tables
            if all(agrees[i] for i in here) and any(known.differs[i] for i in here)
        ]
        best = max((score for score, _ in explaining), default=0)
        winners = [misconception for score, misconception in explaining if score == best]
        named = None if finding.holds or not winners or not _one(winners) else winners[0]
        findings.append(replace(finding, misconception=named))
    return replace(verdict, findings=tuple(findings))


def _one(winners: Sequence[Misconception]) -> bool:
    """One winner, or several that are declared to look the same."""
    first = winners[0]
    return all(other is first or other.id in first.looks_like for other in winners)
