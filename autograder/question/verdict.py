"""From answers to a verdict: which properties hold, and which known mistake the answers look like.

The grader's side: reference, judges, misconceptions. It sees what the student's function answered, never the
function itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

from autograder.question.interview import Answers, Question, answers, fresh_answers, questions, right_answers
from autograder.question.judges import close, implausible, inputs_unchanged, keeps_inputs, same
from autograder.question.mistakes import name_mistakes, still_planted
from autograder.question.outcome import Outcome
from autograder.question.specification import Case, Exercise, Misconception, Property

MUCH, MANY = 10_000, 20  # numbers in a result that are looked at, besides so many times as many as the right one has


class GraderFault(Exception):  # noqa: N818  (said to students and instructors, not an Error to them)
    """The grader is wrong, not the student. It never becomes a mark: grading of that submission stops."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """The result for one property; if it does not hold, the first case in which it did not."""

    about: Property
    complaint: str | None = None
    case: Case | None = None
    got: Answers = ()
    expected: Answers = ()
    misconception: Misconception | None = None
    fresh: bool = False  # it held on the public inputs; the case is a hidden one

    @property
    def holds(self) -> bool:
        return self.complaint is None

    @property
    def telling_call(self) -> int:
        """Of the case's calls, the first whose results are not the reference's; if there is none, the first without
        results."""
        for number, (mine, right) in enumerate(zip(self.got, self.expected, strict=True)):
            if mine.fault is None and not all(map(close, mine.outputs, right.outputs)):
                return number
        return next((number for number, mine in enumerate(self.got) if mine.fault is not None), 0)


def can_be_shown(exercise: Exercise, finding: Finding) -> bool:
    """Whether an example of a finding may be shown: not where the result that is chosen is wrong, such as a conclusion.
    Whether the numbers are right from which it was chosen is the business of another property."""
    about = range(len(exercise.returns)) if finding.about.outputs is None else finding.about.outputs
    return not any(exercise.returns[number] in exercise.chosen for number in about)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    exercise: Exercise
    findings: tuple[Finding, ...]
    unwritten: bool = False
    closed: tuple[str, ...] = ()
    seed: int | None = None  # the seed of the hidden inputs; None if the public ones alone were looked at
    longest: float = 0.0  # processor time of the longest call, in seconds, where it was measured
    together: float = 0.0  # of all calls

    @property
    def points(self) -> float:
        """Points earned; none if a closed name is used."""
        return 0.0 if self.closed else sum(f.about.points for f in self.findings if f.holds)

    @property
    def passed(self) -> bool:
        return not self.closed and all(finding.holds for finding in self.findings)

    @property
    def misconceptions(self) -> tuple[Misconception, ...]:
        seen = {f.misconception.id: f.misconception for f in self.findings if f.misconception is not None}
        return tuple(seen.values())


def judge(
    exercise: Exercise,
    asked: Sequence[Question],
    given: Sequence[Answers],
    *,
    right: Sequence[Answers] | None = None,
    closed: Sequence[str] = (),
    seed: int | None = None,
) -> Verdict:
    """The verdict on the answers `given` to the questions `asked`; `right` are the `expected_answers`, if known. Raises
    GraderFault if the reference itself fails to answer a question."""
    right = expected_answers(exercise, asked, seed) if right is None else right
    for question, outcomes in zip(asked, right, strict=True):
        fault = next((o.fault for o in outcomes if o.fault is not None), None)
        if fault is not None:
            raise GraderFault(f"{exercise.name}: the reference fails on {question.case.label!r}: {fault.words}")
    unwritten = all(o.fault is not None and o.fault.kind == "NotImplementedError" for row in given for o in row)
    unwritten = unwritten or still_planted(exercise, given)
    seconds = [outcome.seconds for row in {id(row): row for row in given}.values() for outcome in row]
    found = findings(exercise, asked, given, right)
    if not unwritten:  # of what failed in a public case, the mistake that explains it
        failed = [f.about for f in found if not f.holds and not f.fresh]
        names = name_mistakes(exercise, failed, asked, given) if failed else {}
        found = [replace(f, misconception=names.get(f.about.name)) for f in found]
    return Verdict(
        exercise=exercise,
        findings=tuple(found),
        unwritten=unwritten,
        closed=tuple(closed),
        seed=seed,
        longest=max(seconds, default=0.0),
        together=sum(seconds),
    )


def findings(
    exercise: Exercise, asked: Sequence[Question], given: Sequence[Answers], right: Sequence[Answers]
) -> list[Finding]:
    """The result for each property, from the answers `given` and the `right` ones."""
    public = len(questions(exercise))
    rows = [
        (question, _as_asked(got, expected), expected, number >= public)
        for number, (question, got, expected) in enumerate(zip(asked, given, right, strict=True))
        if not _exactly(got, expected)
    ]
    return [_finding(prop, rows, exercise.returns) for prop in exercise.properties]


def _exactly(got: Answers, expected: Answers) -> bool:
    """Whether all is the same, to the last digit. Then every judge says what it says of the right answer: nothing, or
    something that counts for nothing (`_finding`)."""
    return all(
        mine.fault is None
        and mine.changed == right.changed
        and len(mine.outputs) == len(right.outputs)
        and all(map(same, mine.outputs, right.outputs))
        for mine, right in zip(got, expected, strict=True)
    )


def _as_asked(got: Answers, expected: Answers) -> Answers:
    """A list of one number is accepted where a number is asked for."""

    def fitted(mine: Outcome, right: Outcome) -> Outcome:
        pairs = zip(mine.outputs, right.outputs, strict=False)  # none, if there is a fault
        outputs = (one.reshape(()) if one.shape == (1,) and wanted.ndim == 0 else one for one, wanted in pairs)
        return replace(mine, outputs=tuple(outputs))

    return tuple(map(fitted, got, expected))


def expected_answers(exercise: Exercise, asked: Sequence[Question], seed: int | None) -> list[Answers]:
    """The reference's answers to the questions, which are those of the seed or some of one's own."""
    known = questions(exercise, seed)
    if len(asked) != len(known) or any(one is not other for one, other in zip(asked, known, strict=True)):
        return answers(exercise.reference, exercise, asked)
    return [*right_answers(exercise), *(() if seed is None else fresh_answers(exercise, seed))]


def _finding(prop: Property, rows: Sequence[tuple[Question, Answers, Answers, bool]], names: Sequence[str]) -> Finding:
    """The first of the property's rows in which it does not hold, or, if it asks for unchanged inputs, of all rows; the
    last part of a row says whether it is a fresh one. `names`: those of the results."""
    complaints = ((row, _complaint(prop, row, names)) for row in rows if row[0].about is prop)
    changed = ((row, inputs_unchanged(row[0].case, *row[1:3])) for row in rows if keeps_inputs(prop.judge))
    for (question, got, expected, fresh), complaint in chain(complaints, changed):
        if complaint is not None:
            return Finding(about=prop, complaint=complaint, case=question.case, got=got, expected=expected, fresh=fresh)
    return Finding(about=prop)


def _complaint(prop: Property, row: tuple[Question, Answers, Answers, bool], names: Sequence[str]) -> str | None:
    question, got, expected, fresh = row
    if (fault := next((outcome.fault for outcome in got if outcome.fault is not None), None)) is not None:
        return fault.words
    try:
        said = _far_too_long(got, expected, names) or implausible(prop.judge, got, expected, names, prop.outputs)
        if said is None:
            said = prop.judge(question.case, got, expected)
            if said and fresh and prop.judge(question.case, expected, expected):
                return None  # a rare input, of which the law says nothing: the right answer breaks it too
        return said
    except Exception as error:
        raise GraderFault(f"judging {prop.name!r} on {question.case.label!r} failed: {error!r}") from error


def _far_too_long(got: Answers, expected: Answers, names: Sequence[str]) -> str | None:
    """Keeps the time for judging within a factor of that for the right answer, because the sandbox's limits do not
    apply to it."""
    for mine, right in zip(got, expected, strict=True):
        for name, output, wanted in zip(names, mine.outputs, right.outputs, strict=False):
            if output.numel() > MUCH + MANY * wanted.numel():
                return f"{name} holds far more numbers than were asked for"
    return None
