"""The questions marked by hand, and the class's answers to each.

An answer is read from the graded notebook, as `grade` left it, without the student's name. A submission that was not
graded has no answer here: a mark for it would pass for a mark of what the student wrote. Identical answers are one
unit, marked together, as long as they have the same mark. Units are in the order of their digests, which is the same
every time and reveals nothing about the students' names.
"""

import functools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import nbformat
from nbgrader import utils

from autograder.feedback.one_question import questions_of
from autograder.grading import groups, records
from autograder.grading.answers import Read, digest
from autograder.grading.byhand import Answer, answers_to
from autograder.grading.course import Course
from autograder.guard import Guard, NotRead
from autograder.instructor.rows import questions_asked
from autograder.preflight.order import MISSING
from autograder.question.questions import read_master

REGION = re.compile(r"^ *#* *(BEGIN|END) (MARK SCHEME|SOLUTION)\b")


class Question(NamedTuple):
    """One question that is marked by hand."""

    notebook: str
    cell: str
    of: float
    name: str
    title: str
    asked: str  # Markdown
    scheme: str  # Markdown; "" if the master has none
    model: str  # the master's own answer, where this machine has the source

    @property
    def place(self) -> tuple[str, str]:
        return self.notebook, self.cell


@dataclass(frozen=True)
class Given:
    """One student's answer, and its mark."""

    answer: Answer
    cells: tuple[Any, ...]  # as they stand in the graded notebook; none if there is nothing to read
    key: str  # the same for answers that are the same to the letter
    whose: str  # what its group, or the student alone, is called
    why: str = ""  # why there is nothing to read

    @property
    def text(self) -> str:
        return "\n\n".join(cell.source for cell in self.cells)


@dataclass(frozen=True)
class Unit:
    """Identical answers that have the same mark and comment."""

    given: tuple[Given, ...]
    twins: tuple[Given, ...] = field(repr=False)  # the same answer with any mark, these among them

    @property
    def key(self) -> str:
        return self.given[0].answer.grade

    @property
    def text(self) -> str:
        return self.given[0].text

    @property
    def apart(self) -> int:
        """Students, or groups, who gave this answer: those who did not hand it in together."""
        return len({one.whose for one in self.twins})

    @property
    def first(self) -> Answer:
        return self.given[0].answer

    @property
    def points(self) -> float | None:
        return self.first.auto if self.first.manual is None else self.first.manual

    @property
    def waiting(self) -> bool:
        return self.first.waiting or self.points is None

    @functools.cached_property
    def state(self) -> str:
        """Changes as soon as a mark, a comment, the answer or its students change."""
        return digest_of([[*one.answer[:2], *one.answer[4:], one.key] for one in self.twins])


def digest_of(value: Any) -> str:
    return digest([nbformat.from_dict({"cell_type": "", "source": json.dumps(value)})])


def questions(course: Course, assignment: str) -> list[Question]:
    """In the order of the notebooks. Raises NotACourse for an assignment that the gradebook does not know."""
    names = {(asked.notebook, asked.cell): asked.name for asked in questions_asked(course, assignment)}
    found = []
    for master in course.masters(assignment):
        own = {cell.id: cell for cell in master.cells}
        cells, is_source = _source(course, assignment, master.name)
        cells = cells or [
            nbformat.from_dict({"cell_type": c.type, "source": c.source, "metadata": {"nbgrader": c.metadata()}})
            for c in master.cells
        ]
        schemes = {}
        for number, cell in enumerate(cells):  # the text of locked cells is the gradebook's, with the mark scheme
            known = own.get(cell.metadata.get("nbgrader", {}).get("grade_id"))
            source = known.source if known is not None and known.fixed else cell.source
            cell.source, schemes[number] = split(source)
            cell.metadata["number"] = number
        for question in questions_of(cells):
            known = own.get(question.name)
            if known is None or not (known.task or (known.grade and known.solution)):
                continue
            parts = [*question.asked, question.cell]
            asked = "\n\n".join(one.source for one in (parts if known.task else question.asked))
            scheme = "\n\n".join(filter(None, (schemes[one.metadata["number"]] for one in parts)))
            model = question.cell.source if is_source and not known.task else ""
            of, name = float(known.points or 0.0), names[master.name, known.id]
            found.append(Question(master.name, known.id, of, name, question.title, asked, scheme, model))
    return found


def titles(course: Course, assignment: str) -> dict[str, str]:
    """What the questions are called in the notebook, as on the feedback pages, by `Asked.name`."""
    called: dict[tuple[str, str], str] = {}
    for master in course.masters(assignment):
        cells = _source(course, assignment, master.name)[0]
        for cell in cells:
            cell.source = split(cell.source)[0]  # what is around a mark scheme looks like a heading
        called |= {(master.name, question.name): question.title for question in questions_of(cells)}
    asked = questions_asked(course, assignment)
    return {one.name: called.get((one.notebook, one.cell), one.name) for one in asked}


def split(source: str) -> tuple[str, str]:
    """(what students see, the mark scheme)."""
    parts: tuple[list[str], list[str]] = ([], [])
    scheme = False
    for line in source.split("\n"):
        if (edge := REGION.match(line)) is None:
            parts[scheme].append(line)
        elif edge[2] == "MARK SCHEME":
            scheme = edge[1] == "BEGIN"
    return "\n".join(parts[False]).strip(), "\n".join(parts[True]).strip()


def _source(course: Course, assignment: str, notebook: str) -> tuple[list[Any], bool]:
    """The cells of the source notebook, or otherwise of the released one; and whether they are the former."""
    directory = course.directory
    for folder in (directory.source_directory, directory.release_directory):
        path = Path(directory.format_path(folder, ".", assignment)) / f"{notebook}.ipynb"
        if path.is_file():  # what is released has no questions to be expanded
            return list(read_master(path).cells), folder == directory.source_directory
    return [], False


class Class:
    """The answers of a class, read again if a graded notebook has changed."""

    def __init__(self, course: Course, assignment: str, guard: Guard) -> None:
        self.course, self.assignment, self.guard = course, assignment, guard
        self.where = course.root, assignment  # of everything that is kept of it
        self.questions = questions(course, assignment)
        self._read: dict[Path, tuple[tuple[int, int], Any]] = {}

    def units(self, gradebook: Any, question: Question) -> list[Unit]:
        """All answers to a question, of the submissions that were graded."""
        answers = answers_to(gradebook, self.assignment, question.notebook, question.cell)
        graded = (answer for answer in answers if self.graded(answer.student, question.notebook))
        known = groups.names(*self.where)
        found = [self._given(question, answer, known.get(answer.student, answer.grade)) for answer in graded]
        made = []
        for _, same in groupby(sorted(found, key=lambda one: (one.key, one.answer)), key=lambda one: one.key):
            twins = tuple(same)
            marks: dict[Any, list[Given]] = defaultdict(list)
            for one in twins:
                marks[one.answer[4:]].append(one)
            made += [Unit(tuple(alike), twins) for alike in marks.values()]
        return made

    def read(self) -> Iterator[str]:
        """Read every graded notebook, which takes a while in a large class; yields the students."""
        for student in self.course.students(self.assignment):
            for notebook in {question.notebook for question in self.questions}:
                self._answers(student, notebook)
            yield student

    def read_of(self, given: Given) -> Read:
        """What was read of a student when marks were given by hand."""
        return Read(*self.where, given.answer.student)

    def graded(self, student: str, notebook: str) -> bool:
        """Whether there is a graded notebook of the newest submission."""
        return self._path(student, notebook).is_file() and self._state(student) != "fault"

    def not_graded(self) -> list[str]:
        """The students who have handed in something of which no notebook with such a question was graded."""
        notebooks = {question.notebook for question in self.questions}
        everybody = self.course.students(self.assignment)
        return [student for student in everybody if not any(self.graded(student, name) for name in notebooks)]

    def _state(self, student: str) -> str:
        def read() -> str:
            record = records.load(*self.where, student)
            return "" if record is None else record.state

        path = records.record_file(*self.where, student)
        return str(self._kept(path, read, ""))  # no record: graded by nbgrader's own command

    def _kept(self, path: Path, read: Callable[[], Any], otherwise: Any) -> Any:
        """What is read from a file, read again if the file has changed; `otherwise` if there is none."""
        try:
            about = path.stat()
        except OSError:
            return otherwise
        when = about.st_mtime_ns, about.st_size
        if path not in self._read or self._read[path][0] != when:
            self._read[path] = when, read()
        return self._read[path][1]

    def _path(self, student: str, notebook: str) -> Path:
        return self.course.autograded(student, self.assignment) / f"{notebook}.ipynb"

    def _given(self, question: Question, answer: Answer, whose: str) -> Given:
        """Code with equal text may have done something else, unless it was handed in together."""
        cells = self._answers(answer.student, question.notebook).get(question.cell)
        if cells is None:
            return Given(answer, (), digest_of(whose), whose, "The graded notebook cannot be read.")
        if not cells:
            return Given(answer, (), digest_of(whose), whose, "The student has added no cell to the notebook.")
        text = all(cell.cell_type != "code" and utils.is_solution(cell) for cell in cells)
        made = digest(cells)  # what code did, and what surrounds a task, may differ all the same
        return Given(answer, tuple(cells), made if text else digest_of([whose, made]), whose)

    @functools.cache  # noqa: B019 - one class per process
    def _given_to_all(self, notebook: str) -> set[str]:
        cells, _ = _source(self.course, self.assignment, notebook)
        return {cell.source.strip() for cell in cells if not cell.metadata.get("nbgrader")} | {""}

    def _answers(self, student: str, notebook: str) -> dict[str, list[Any]]:
        def read() -> dict[str, list[Any]]:
            wanted = {question.cell for question in self.questions if question.notebook == notebook}
            try:
                return self.guard.ask(_answered, path, wanted, self._given_to_all(notebook))
            except NotRead:
                return {}

        path = self._path(student, notebook)
        found: dict[str, list[Any]] = self._kept(path, read, {})
        return found


def _answered(path: Path, wanted: set[str], given: set[str]) -> dict[str, list[Any]]:
    """By graded cell: the cell itself; with it, if the student's was not found, or for a task alone, the student's own
    cells below it, or all of them if there are none below."""
    cells, found = nbformat.v4.reads(path.read_text(encoding="utf-8")).cells, {}
    own = [not cell.metadata.get("nbgrader") and cell.source.strip() not in given for cell in cells]
    named = [number for number, cell in enumerate(cells) if cell.metadata.get("nbgrader")]
    for number in named:
        name = cells[number].metadata["nbgrader"].get("grade_id")
        lost = MISSING in cells[number].source
        if name in wanted and (lost or utils.is_task(cells[number])):
            after = min((n for n in named if n > number), default=len(cells))
            below = [cells[n] for n in range(number + 1, after) if own[n]]
            theirs = below or [cell for cell, mine in zip(cells, own, strict=True) if mine]
            found[name] = [cells[number], *theirs] if lost else theirs
        elif name in wanted:
            found[name] = [cells[number]]
    return found
