"""The marks of the whole course: a percentage for each assignment, and a total. A missing mark is not a zero.

An assignment counts for everybody as soon as somebody has handed it in. A total is the weighted mean of the percentages
that a student has, and provisional while a mark is still to be given. `drop` leaves out that many of the lowest
percentages, first of all what the student has not handed in; an assignment with a weight of its own is never dropped.
"""

import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from autograder.grading.course import Course, NotACourse
from autograder.instructor.rows import Row, report_rows
from autograder.instructor.table import Table
from autograder.question.find import exercises_of


@dataclass(frozen=True)
class Total:
    student: str
    first_name: str
    last_name: str
    email: str
    parts: Mapping[str, float | None]  # in percent, by assignment; None: no final mark
    percent: float | None
    dropped: tuple[str, ...]
    open: tuple[str, ...]  # handed in, and without a final mark: the total will change

    @property
    def handed_in(self) -> set[str]:
        return {name for name, part in self.parts.items() if part is not None or name in self.open}


def handed_in(course: Course) -> list[str]:
    """The assignments that somebody has handed in, by due date and name."""
    with course.gradebook() as gradebook:
        known = [each.name for each in gradebook.assignments]
    return [name for name in known if course.students(name)]


def totals(course: Course, weights: Mapping[str, float], drop: int, zero: bool) -> tuple[list[Total], list[Row]]:
    """Everybody's total, and all rows from which they come; `zero`: nothing handed in counts as zero. Raises
    NotACourse, and ValueError for the weight of an assignment that nobody has handed in, or if no weight is left."""
    names = handed_in(course)
    if not names:
        raise NotACourse("nobody has handed in anything yet, so there is nothing to add up")
    unknown = sorted(set(weights) - set(names))
    if unknown:
        raise ValueError(f"nobody has handed in {', '.join(unknown)}; there are marks for {', '.join(names)}")
    counted = {name: weights.get(name, 1.0) for name in names if weights.get(name, 1.0) > 0}
    if not counted:
        raise ValueError("every assignment has a weight of 0, so nothing is left to add up")
    by_student: dict[str, dict[str, Row]] = defaultdict(dict)
    for name in counted:
        for row in report_rows(course, name):
            by_student[row.student][name] = row
    made = [_total(rows, counted, weights, drop, zero) for _, rows in sorted(by_student.items())]
    return made, [row for rows in by_student.values() for row in rows.values()]


def _total(
    rows: Mapping[str, Row], counted: Mapping[str, float], weights: Mapping[str, float], drop: int, zero: bool
) -> Total:
    have: dict[str, float] = {}
    for name, row in rows.items():
        if row.state == "graded" and row.score is not None and row.of:
            have[name] = 100 * row.score / row.of
        elif row.state == "nothing handed in" and zero:
            have[name] = 0.0
    open_ = tuple(name for name in counted if name in rows and rows[name].state not in ("graded", "nothing handed in"))
    missing = [name for name in counted if name not in have and name not in open_]
    may = sorted((name for name in have if name not in weights), key=lambda name: have[name])
    less = max(0, drop - sum(name not in weights for name in missing))
    dropped = may[: min(less, len(have) - 1)] if have else []  # never everything
    kept = [name for name in have if name not in dropped]
    weight = sum(counted[name] for name in kept)
    person = next(iter(rows.values()))
    percent = sum(counted[name] * have[name] for name in kept) / weight if kept else None
    about = person.student, person.first_name, person.last_name, person.email
    return Total(*about, {name: have.get(name) for name in counted}, percent, tuple(dropped), open_)


def fallen(found: Sequence[Total], by: float = 25) -> list[str]:
    """The students whose latest percentage is that much below the mean of their earlier ones, of which there are two or
    more."""
    marks = {one.student: [part for part in one.parts.values() if part is not None] for one in found}
    return [who for who, theirs in marks.items() if len(theirs) > 2 and theirs[-1] <= mean(theirs[:-1]) - by]


def twice(found: Sequence[Total]) -> Iterator[tuple[str, str, int, list[str]]]:
    """Pairs of assignments with questions in common, as an assignment and its core sheet have; how many those are, and
    for which students they count twice."""
    names = found[0].parts if found else ()
    for one, other in itertools.combinations(names, 2):
        if both := exercises_of(one).keys() & exercises_of(other).keys():
            yield one, other, len(both), [each.student for each in found if {one, other} <= each.handed_in]


def as_table(found: Sequence[Total]) -> Table:
    names = list(found[0].parts) if found else []
    head = ["student", "first name", "last name", "email", "total (%)", *(f"{name} (%)" for name in names)]
    made: Table = [[*head, "dropped", "without a final mark"]]
    for one in found:
        percents = one.percent, *(one.parts[name] for name in names)
        marks = [part if part is None else round(part, 2) for part in percents]
        facts = [one.student, one.first_name, one.last_name, one.email]
        made.append([*facts, *marks, ", ".join(one.dropped), ", ".join(one.open)])
    return made
