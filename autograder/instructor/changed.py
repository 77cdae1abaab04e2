"""The changes that grading again would make: whose marks, in which question, by how much, and why.

A mark given by hand stays. If only the automatic mark underneath it changes, or what the question is worth, this is
reported, and no total changes.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from autograder.grading import records
from autograder.grading.answers import Known
from autograder.grading.course import Course
from autograder.grading.drafts import Draft
from autograder.grading.gradebook import GradeRow, late_penalty
from autograder.grading.records import Record
from autograder.instructor.rows import Asked, Grades, Row, grades_of, questions_asked, row_of
from autograder.instructor.table import Table, plain
from autograder.question.find import exercises_of


@dataclass(frozen=True)
class Change:
    """One question of one student whose mark changes, or (question "") the state of the submission."""

    assignment: str
    student: str
    question: str
    old: float | None
    new: float | None
    of: float
    old_total: float | None
    new_total: float | None
    why: str

    @property
    def moves(self) -> bool:
        """Whether the mark itself changes, and not only the automatic mark underneath one given by hand."""
        return self.old != self.new or self.question == ""


HEAD = ["assignment", "student", "question", "old mark", "new mark", "out of", "old total", "new total", "why"]


def changes_table(changes: Iterable[Change]) -> Table:
    rows = (asdict(change).values() for change in changes)
    return [HEAD, *([value if isinstance(value, str) else plain(value) for value in row] for row in rows)]


def changes_of(course: Course, assignment: str, drafts: Sequence[Draft]) -> list[list[Change]]:
    """The changes that each draft would make now. Raises NotACourse for an assignment that the gradebook does not
    know."""
    asked = questions_asked(course, assignment)
    with course.gradebook() as gradebook:
        grades, late = grades_of(gradebook, assignment)
    made = []
    for draft in drafts:
        student = draft.record.student
        known = grades.get(student) or _without_marks(draft.record)
        seconds = late.get(student, 0.0)
        before = records.load(course.root, assignment, student)
        old = row_of(None, student, asked, known, seconds, before, True)
        worth = Known(course.root, assignment, student, course.directory.db_url).points()
        again = {(q.notebook, q.cell) for q in asked if worth.get((q.notebook, q.cell), q.of) != q.of}
        fresh = _graded_again(known, draft.record, course.config, seconds, again)
        new = row_of(None, student, asked, fresh, seconds, draft.record, True)
        made.append(list(_changes(assignment, asked, (old, known, before), (new, fresh, draft.record))))
    return made


def _without_marks(record: Record) -> Grades:
    """For a gradebook that does not know the submission."""
    return {
        (notebook, cell): GradeRow(record.student, notebook, cell, "GradeCell", None, None, None, True, None)
        for notebook, cells in record.scores.items()
        for cell in cells
    }


def _graded_again(
    known: Grades, record: Record, config: Any, late: float, again: Collection[tuple[str, str]] = ()
) -> Grades:
    """The gradebook's rows as they would be. again: cells whose marks by hand wait for a second look."""
    made = {key: row._replace(waiting=True) if key in again else row for key, row in known.items()}
    for (notebook, cell), row in list(made.items()):
        if row.kind != "TaskCell":
            auto = record.scores.get(notebook, {}).get(cell)
            made[notebook, cell] = row._replace(auto=auto, waiting=auto is None if row.manual is None else row.waiting)
    for notebook in {notebook for notebook, _ in made}:
        rows = [row for (name, _), row in made.items() if name == notebook]
        score = sum((r.auto if r.manual is None else r.manual) or 0.0 for r in rows) + sum(r.extra or 0.0 for r in rows)
        penalty = late_penalty(config, record.student, score, late) if late > 0 and notebook in record.scores else None
        made |= {(r.notebook, r.cell): r._replace(penalty=penalty) for r in rows}
    return made


Side = tuple[Row, Grades, Record | None]


def _changes(assignment: str, asked: Sequence[Asked], before: Side, after: Side) -> Iterable[Change]:
    (old, known, was), (new, fresh, now) = before, after

    def change(question: str, before: float | None, after: float | None, of: float, why: str) -> Change:
        return Change(assignment, new.student, question, before, after, of, old.score, new.score, why)

    first, second = _verdicts(was), _verdicts(now)
    if old.state != new.state and {old.state, new.state} & {"fault", "blocked"}:
        yield change("", old.score, new.score, new.of, f"{new.state}: {now.words if now is not None else ''}")
        return
    for question in asked:
        key = question.notebook, question.cell
        mine, other = old.questions[question.name], new.questions[question.name]
        row, again = known.get(key), fresh.get(key)
        if row is None or again is None:
            continue
        if mine == other and again.waiting and not row.waiting:
            why = f"the mark by hand stays, and waits for a second look: the question is worth {plain(question.of)} now"
        elif mine == other and row.auto == again.auto:
            continue
        else:
            why = reasons(first.get(key[1]), second.get(key[1]))
            if mine == other:
                would, did = ("none" if mark is None else plain(mark) for mark in (again.auto, row.auto))
                why = f"the mark by hand stays; the automatic one would be {would} instead of {did}: {why}"
        yield change(question.name, mine, other, question.of, why)
    if old.penalty != new.penalty:
        why = f"{plain(new.penalty)} taken off for being late, and not {plain(old.penalty)}"
        yield change("late penalty", -old.penalty, -new.penalty, 0.0, why)


def _verdicts(record: Record | None) -> dict[str, Mapping[str, Any]]:
    return {} if record is None else {str(mark["cell"]): mark for mark in record.marks}


def reasons(old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> str:
    """Which properties and misconceptions make the difference between two judgements of one question."""
    if old is None or new is None:
        return "its test cell gives another result"
    before, after = old["verdict"], new["verdict"]
    was, now = ({p["name"]: p for p in verdict["properties"]} for verdict in (before, after))
    both = [(name, was[name], now[name]) for name in now if name in was]
    said = [f"now holds: {name}" for name, old_, new_ in both if new_["holds"] and not old_["holds"]]
    said += [f"now fails: {name}" for name, old_, new_ in both if old_["holds"] and not new_["holds"]]
    said += [f"new: {name}, which {'holds' if now[name]['holds'] else 'fails'}" for name in now if name not in was]
    said += [f"no longer asked: {name}" for name in was if name not in now]
    worth = [(name, old_["points"], new_["points"]) for name, old_, new_ in both]
    said += [f"{name} is worth {now_:g}, and was worth {then:g}" for name, then, now_ in worth if now_ != then]
    for verb, here, there in (("no longer", before, after), ("now", after, before)):
        exercise = exercises_of(str(here["exercise"]).partition(".")[0]).get(str(here["exercise"]))
        sentences = {m.id: m.sentence for m in exercise.misconceptions} if exercise else {}
        for name in here["misconceptions"]:
            if name not in there["misconceptions"]:
                words = f" ({sentences[name]})" if verb == "now" and name in sentences else ""
                said.append(f"{verb} recognised: {name}{words}")
        said += [f"{verb} counted as closed: {name}" for name in here["closed"] if name not in there["closed"]]
    if before["unwritten"] != after["unwritten"]:
        said.append("now counts as not written" if after["unwritten"] else "no longer counts as not written")
    if old.get("stopped") != new.get("stopped"):
        said.append(f"now stopped: {new['stopped']}" if new.get("stopped") else f"not stopped: {old['stopped']}")
    return "; ".join(said) or "judged otherwise"
