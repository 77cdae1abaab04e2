"""What a class has understood and what it has not, by question, property, misconception; and submissions that need
attention.

Nothing here changes a mark.
"""

import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from autograder.grading.beside import MARKED_LATE, NO_TIME
from autograder.grading.marking import LATE
from autograder.grading.records import Record
from autograder.instructor.rows import Asked, Row
from autograder.question.specification import Exercise


class Difficulty(NamedTuple):
    name: str
    of: float
    marked: int
    mean: float  # part of the points, over those who have a mark
    full: int
    nothing: int
    discrimination: float | None  # correlation with the points of all other questions; None: too few, or all the same


class Failed(NamedTuple):
    exercise: str
    name: str
    failed: int
    written: int  # how many wrote the function


class Mistaken(NamedTuple):
    exercise: str
    id: str
    sentence: str
    students: tuple[str, ...]
    written: int


def difficulties(asked: Sequence[Asked], rows: Iterable[Row]) -> list[Difficulty]:
    rows, found = list(rows), []
    for question in asked:
        name, of = question.name, question.of
        marks = [mark for row in rows if (mark := row.questions.get(name)) is not None]
        unread = question.by_hand and any(name in row.waiting for row in rows)  # untouched answers have their zero
        if of and marks and not unread:
            full, nothing = sum(mark >= of for mark in marks), sum(mark <= 0 for mark in marks)
            mean = statistics.fmean(marks) / of
            found.append(Difficulty(name, of, len(marks), mean, full, nothing, discrimination(name, rows)))
    return sorted(found, key=lambda difficulty: difficulty.mean)


FEWEST = 10  # students without whom a correlation says nothing


def discrimination(name: str, rows: Iterable[Row]) -> float | None:
    """Whether those who do well elsewhere do well in this question: the correlation of its points with the sum of all
    others, over those who have a mark in each."""
    whole = [row.questions for row in rows if row.questions and None not in row.questions.values()]
    own = [marks[name] or 0.0 for marks in whole]
    rest = [sum(mark or 0.0 for mark in marks.values()) - one for marks, one in zip(whole, own, strict=True)]
    if len(whole) < FEWEST or len(set(own)) < 2 or len(set(rest)) < 2:
        return None
    return statistics.correlation(own, rest)


def failures(marks: Iterable[Mapping[str, Any]]) -> list[Failed]:
    given = [mark for mark in marks if not mark["verdict"].get("unwritten")]
    written = Counter(mark["exercise"] for mark in given)
    checked = [(mark["exercise"], found) for mark in given for found in mark["verdict"]["properties"]]
    failed = Counter((exercise, str(found["name"])) for exercise, found in checked if not found["holds"])
    made = [Failed(exercise, name, count, written[exercise]) for (exercise, name), count in failed.items()]
    return sorted(made, key=lambda one: (-one.failed / one.written, one.exercise, one.name))


def mistakes(marks: Iterable[tuple[str, Mapping[str, Any]]], exercises: Mapping[str, Exercise]) -> list[Mistaken]:
    """The misconceptions in (student, mark) pairs, most frequent first."""
    given = [(student, mark) for student, mark in marks if not mark["verdict"].get("unwritten")]
    written = Counter(mark["exercise"] for _, mark in given)
    who: dict[tuple[str, str], list[str]] = {}
    for student, mark in given:
        for misconception in dict.fromkeys(mark["verdict"].get("misconceptions", [])):
            who.setdefault((mark["exercise"], misconception), []).append(student)
    sentences = {(name, m.id): m.sentence for name, e in exercises.items() for m in e.misconceptions}
    made = [Mistaken(*key, sentences.get(key, ""), tuple(names), written[key[0]]) for key, names in who.items()]
    return sorted(made, key=lambda one: (-len(one.students), one.exercise, one.id))


# --- submissions that a person should look at -------------------------------------------------------------

CHANGED = ("cell", "test", "kind", "type", "order")
"""Findings with these words are about the notebook's own cells: deleted, edited, retyped, moved, given twice."""


class Look(NamedTuple):
    """One reason to look at one submission."""

    student: str
    kind: str
    words: str


KINDS = {
    "fault": "The grader failed: no mark, and not the student's fault",
    "blocked": "Could not be graded as handed in: no mark",
    "unsure": "Not marked: what failed may be the grader, not the student. Mark these by hand",
    "late": "Late, or nobody knows",
    "stopped": "Had to be stopped",
    "refused": "Tried something that the box refuses",
    "closed": "Used a name that is closed in the question",
    "changed": "Cells of the notebook were changed, and put back",
}
"""In the order in which they are listed."""


def to_look_at(found: Iterable[Record]) -> list[Look]:
    """Every reason once, by kind and student."""
    made = dict.fromkeys(Look(record.student, *reason) for record in found for reason in _reasons(record))
    return sorted(made, key=lambda look: (list(KINDS).index(look.kind), look.student))


def _reasons(record: Record) -> Iterable[tuple[str, str]]:
    if record.state in ("fault", "blocked"):
        yield record.state, record.words
    said = ["which is closed"]
    for mark in record.marks:
        kind = "unsure" if mark.get("unsure") else "stopped"
        if words := mark.get(kind):
            yield kind, f"{mark['cell']}: {words}"
            said.append(words)
        if names := mark["verdict"].get("closed"):
            yield "closed", f"{mark['cell']}: {', '.join(names)}"
    for words in record.incidents:
        if any(text in words for text in said):
            continue
        late = words in (MARKED_LATE, NO_TIME)
        stopped_cell = words.startswith(("Cell ", "All cells ")) or words.endswith(LATE)
        yield "late" if late else "stopped" if stopped_cell else "refused", words
    for finding in record.findings:
        parts = str(finding.get("what", "")).split("-")
        if finding.get("kind") == "repaired" and any(word in parts or f"{word}s" in parts for word in CHANGED):
            yield "changed", str(finding.get("words", ""))


def uncontained(found: Iterable[Record]) -> list[str]:
    """Students whose code ran without isolation."""
    return [record.student for record in found if record.isolation == "none"]
