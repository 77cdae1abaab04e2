"""One row per student, from the gradebook and the records. A missing mark stays missing; it is not zero.

States of a row:
    graded          every question has a mark, and none waits
    waiting         some question waits for a mark by hand or a second look; `score` has the points so far
    blocked, fault  the submission could not be graded, by its own fault or the grader's; no score
    not graded      handed in, but not graded yet; no score
    nothing handed in   the gradebook knows the student; no score, which is not zero
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from autograder.grading import records
from autograder.grading.course import Course
from autograder.grading.gradebook import GradeRow, grade_rows, renew_penalties
from autograder.grading.records import Record
from autograder.grading.stale import in_words, stale
from autograder.pages import number

State = Literal["graded", "waiting", "blocked", "fault", "not graded", "nothing handed in"]


@dataclass(frozen=True, kw_only=True)
class Row:
    student: str
    first_name: str = ""
    last_name: str = ""
    email: str = ""
    state: State
    score: float | None  # less the penalty, with extra credit
    of: float
    penalty: float = 0.0
    extra: float = 0.0
    late: float = 0.0  # seconds
    questions: dict[str, float | None] = field(default_factory=dict)
    waiting: tuple[str, ...] = ()  # questions without a mark, or changed since somebody marked them by hand
    stale: bool = False  # graded before the assignment changed
    remarks: str = ""  # what the record says besides the marks, in one line
    words: str = ""  # the marks as they are now, and the remarks

    @property
    def shown(self) -> str:
        """The id, with the name if there is one."""
        name = f"{self.first_name} {self.last_name}".strip()
        return f"{self.student} ({name})" if name else self.student


Grades = dict[tuple[str, str], GradeRow]  # by notebook and cell


class Asked(NamedTuple):
    notebook: str
    cell: str
    of: float
    name: str  # the cell's name; with the notebook's before it where two notebooks have the same
    by_hand: bool = False  # a person marks it: a written answer, or a task


def questions_asked(course: Course, assignment: str) -> list[Asked]:
    """In the order of the notebooks. Raises NotACourse for an assignment that the gradebook does not know."""
    masters = course.masters(assignment)
    cells = [(master.name, cell) for master in masters for cell in master.cells if cell.grade or cell.task]
    several = Counter(cell.id for _, cell in cells)
    return [
        Asked(nb, c.id, float(c.points or 0.0), c.id if several[c.id] == 1 else f"{nb}/{c.id}", c.task or c.solution)
        for nb, c in cells
    ]


def automatic_alone(asked: Sequence[Asked], rows: Iterable[Row]) -> tuple[list[Asked], list[Row]]:
    """The automatically marked questions, and the rows as if there were no others; before late penalties."""
    kept = [question for question in asked if not question.by_hand]
    of = sum(question.of for question in kept)
    made = []
    for row in rows:
        marks = {question.name: row.questions[question.name] for question in kept}
        open_ = tuple(name for name in row.waiting if name in marks)
        about: dict[str, Any] = {"questions": marks, "waiting": open_, "penalty": 0.0, "extra": 0.0, "of": of}
        if row.score is not None:
            about |= {"score": sum(mark or 0.0 for mark in marks.values()), "state": "waiting" if open_ else "graded"}
            about |= {"words": _words(kept, marks, open_, 0.0, row.remarks)}
        made.append(replace(row, **about))
    return kept, made


def rows_asked_for(course: Course, assignment: str, automatic: bool = False) -> tuple[list[Asked], list[Row]]:
    """The questions and the rows of a report, with `automatic` those of the automatically marked questions only."""
    asked, rows = questions_asked(course, assignment), report_rows(course, assignment)
    return automatic_alone(asked, rows) if automatic else (asked, rows)


def report_rows(course: Course, assignment: str) -> list[Row]:
    """A row for everybody whom the gradebook knows or who has handed something in, by the student's name. Raises
    NotACourse for an assignment that the gradebook does not know."""
    asked = questions_asked(course, assignment)
    handed_in = set(course.students(assignment))
    rows = []
    with course.gradebook() as gradebook:
        renew_penalties(gradebook, assignment, course.config)
        people = {student.id: student for student in gradebook.students}
        grades, late = grades_of(gradebook, assignment)
        for student in sorted(set(people) | handed_in):
            record = records.load(course.root, assignment, student) if student in handed_in else None
            about = people.get(student), student, asked, grades.get(student, {}), late.get(student, 0.0)
            rows.append(row_of(*about, record, student in handed_in))
    old = stale(course, assignment, [row.student for row in rows if row.score is not None])
    return [_stale(row, old[row.student]) if row.student in old else row for row in rows]


def grades_of(gradebook: Any, assignment: str) -> tuple[dict[str, Grades], dict[str, float]]:
    """By student, the marks by notebook and cell, and by how many seconds the submission is late."""
    grades: dict[str, Grades] = defaultdict(dict)
    for row in grade_rows(gradebook, assignment):
        grades[row.student][row.notebook, row.cell] = row
    late = {s.student_id: float(s.total_seconds_late) for s in gradebook.assignment_submissions(assignment)}
    return grades, late


def _stale(row: Row, of: float) -> Row:
    then = f", when it was out of {number(of)}" if of != row.of else ""
    said = "; ".join(filter(None, (f"graded before the assignment changed{then}", row.remarks)))
    words = row.words.removesuffix(f"; {row.remarks}") if row.remarks else row.words
    return replace(row, stale=True, remarks=said, words=f"{words}; {said}")


def absent(rows: Iterable[Row]) -> list[str]:
    return [row.shown for row in rows if row.state == "nothing handed in"]


def stale_in(rows: Iterable[Row], assignment: str) -> str:
    """What to say of the rows with marks of an older version of the assignment; "" if there are none."""
    return in_words([row.student for row in rows if row.stale], assignment)


def row_of(
    person: Any,
    student: str,
    asked: Sequence[Asked],
    grades: Grades,
    late: float,
    record: Record | None,
    handed_in: bool,
) -> Row:
    marks: dict[str, float | None] = {}
    waiting, extra = list[str](), 0.0
    for question in asked:
        grade = grades.get((question.notebook, question.cell))
        given = None if grade is None else grade.auto if grade.manual is None else grade.manual
        more = 0.0 if grade is None or given is None else float(grade.extra or 0.0)
        marks[question.name] = None if given is None else float(given) + more
        extra += more
        if grade is None or given is None or grade.waiting:
            waiting.append(question.name)
    penalty = sum({notebook: float(grade.penalty or 0.0) for (notebook, _), grade in grades.items()}.values())
    state = _state(marks, record, handed_in, bool(waiting))
    said = "" if record is None else record.words
    if record is not None and record.state == "graded":
        said = "; ".join(records.remarks(record.findings, record.incidents))
    about: Any = {name: str(getattr(person, name, None) or "") for name in ("first_name", "last_name", "email")}
    about |= {"student": student, "state": state, "of": sum(question.of for question in asked), "late": late}
    if state not in ("graded", "waiting"):
        return Row(**about, score=None, questions=dict.fromkeys(marks), remarks=said, words=said)
    score = max(0.0, sum(mark or 0.0 for mark in marks.values()) - penalty)
    about |= {"score": score, "penalty": penalty, "extra": extra, "questions": marks, "waiting": tuple(waiting)}
    return Row(**about, remarks=said, words=_words(asked, marks, waiting, penalty, said))


def _words(
    asked: Iterable[Asked], marks: dict[str, float | None], waiting: Sequence[str], penalty: float, remarks: str
) -> str:
    """ "18 of 26, less 2 for being late, and 4 to be marked by hand (written)"."""
    of = {question.name: question.of for question in asked}
    given = {name: mark for name, mark in marks.items() if mark is not None}
    words = f"{number(sum(given.values()))} of {number(sum(of[name] for name in given))}"
    words += f", less {number(penalty)} for being late" if penalty else ""
    missing = [name for name in waiting if name not in given]
    again = [name for name in waiting if name in given]
    if missing:
        words += f", and {number(sum(of[name] for name in missing))} to be marked by hand ({', '.join(missing)})"
    if again:
        words += f"; to be confirmed, as the answer or its worth has changed since it was marked: {', '.join(again)}"
    return f"{words}; {remarks}" if remarks else words


def _state(marks: dict[str, float | None], record: Record | None, handed_in: bool, waits: bool) -> State:
    """A record of a failure outweighs marks of an older submission; marks without a record are nbgrader's own."""
    none = all(mark is None for mark in marks.values())
    if record is not None and record.state == "fault":
        return "fault"
    if record is not None and record.state == "blocked" and none:  # otherwise a person has given the marks
        return "blocked"
    if none and (record is None or not marks):
        return "not graded" if handed_in else "nothing handed in"
    return "waiting" if waits else "graded"
