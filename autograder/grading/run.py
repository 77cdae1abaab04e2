"""Grade an assignment for a class: check, run, judge, write. It can be stopped at any moment and resumed.

    for line in grade(course, "attention", jobs=8): print(line.words)

One process, this one, checks the submissions first and writes the results: the graded notebook, then the gradebook,
then the record. The record comes last, so submissions with a record are done, and those without one are graded again.
"""

import hashlib
import json
import math
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from filelock import FileLock, Timeout

from autograder import assignments
from autograder.files import sweep
from autograder.grading import groups, records
from autograder.grading.course import Course, NotACourse
from autograder.grading.execute import Done, Task, work
from autograder.grading.pool import pool
from autograder.grading.records import Record
from autograder.grading.seeds import course_secret
from autograder.grading.write import Writer
from autograder.guard import Guard
from autograder.preflight import Master, Prepared, prepare_guarded
from autograder.preflight.finding import shown
from autograder.question.find import exercises_of
from autograder.sandbox.tiers import Isolation, choose

SAME_FAULT = 5  # submissions in a row with the same fault of the grader: it is broken, and the run stops


class AlreadyRunning(Exception):  # noqa: N818 - said to the instructor
    """Another process is grading this assignment."""


class Broken(Exception):  # noqa: N818 - said to the instructor
    """The grader fails at every submission in the same way."""


@dataclass(frozen=True)
class Line:
    record: Record
    number: int
    of: int
    new: bool  # whether it was graded in this run

    @property
    def words(self) -> str:
        return f"{shown(self.record.student)}: {self.record.words}"


class Keeps(Protocol):
    """Where the results go, and which of them exist already: `Writer`, or drafts for review."""

    def __init__(self, course: Course, assignment: str, gradebook: Any, files: dict[str, bytes]) -> None: ...
    def done(self, student: str, fingerprint: str) -> Record | None: ...
    def write(self, done: Done, prepared: Prepared, fingerprint: str) -> Record: ...


@dataclass(frozen=True)
class _Waiting:
    student: str
    fingerprint: str
    prepared: Prepared


def grade(
    course: Course,
    assignment: str,
    students: Sequence[str] | None = None,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    isolation: Isolation = "auto",
    again: bool = False,
    pictures: bool = False,
    keeps: type[Keeps] = Writer,
) -> Generator[Line, None, None]:
    """Grade all submissions that are not graded yet (`again`: all), and yield a line for every submission. `pictures`:
    draw the course's own pictures into the graded notebooks, instead of their alternative text. `keeps`: where the
    results go.

    Raises NotACourse for an assignment that the gradebook does not know as it is now, ValueError for a student who has
    not handed in anything; IsolationMissing if students' code could not be contained and nobody allowed that;
    AlreadyRunning, GradebookBusy, Broken, and OSError for a full disk. Finished submissions stay done.
    """
    if scheduler is None:
        choose(isolation)
    masters = course.masters(assignment)
    require_built(assignment, masters)
    chosen = course.chosen(assignment, students)
    with Guard() as guard, only_one(course.root / "grading" / assignment), course.gradebook() as gradebook:
        sweep(course.root / "grading" / assignment, deep=True)
        files = course.files(assignment)
        basis = basis_of(assignment, masters, files)
        if again:
            for student in chosen:
                records.outdate(course.root, assignment, student)
        keeper = keeps(course, assignment, gradebook, files)
        todo, finished = [], 0
        for student in chosen:
            mark = records.fingerprint(
                course.submission(student, assignment), basis, groups.group(course.root, assignment, student)
            )
            record = keeper.done(student, mark)
            if record is None:
                todo.append((student, mark))
                continue
            finished += 1
            yield Line(record, finished, len(chosen), new=False)
        secret = course_secret(course.root)
        same, last = 0, ""

        def tasks() -> Iterator[tuple[_Waiting, Task]]:
            """The tasks, each made when its submission's turn comes."""
            for student, mark in todo:
                prepared = prepare_guarded(guard, course.submission(student, assignment), masters)
                task = task_of(student, assignment, prepared, files, secret, isolation, pictures)
                task = replace(task, inputs_of=groups.inputs_of(course.root, assignment, student))
                yield _Waiting(student, mark, prepared), task

        with pool(jobs, scheduler) as run:
            for waiting, done in run(work, tasks(), _lost):
                record = keeper.write(done, waiting.prepared, waiting.fingerprint)
                finished += 1
                yield Line(record, finished, len(chosen), new=True)
                same = same + 1 if done.fault and done.fault == last else 1
                last = done.fault
                if last and same == SAME_FAULT:
                    raise Broken(f"the grader failed {SAME_FAULT} times in a row, with the same words: {last}")


def task_of(
    student: str,
    assignment: str,
    prepared: Prepared,
    files: dict[str, bytes],
    secret: bytes,
    isolation: Isolation,
    pictures: bool = False,
) -> Task:
    return Task(
        student=student,
        assignment=assignment,
        notebooks={name: [dict(cell) for cell in nb.cells] for name, nb in prepared.notebooks.items()},
        files={name: path.read_bytes() for name, path in prepared.files.items()} | files,
        secret=secret,
        isolation=isolation,
        pictures=pictures,
    )


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold an assignment's lock, because two runs would write the same folders. The lock ends with the process, however
    that ends. Raises AlreadyRunning, which names the process that has it."""
    folder.mkdir(parents=True, exist_ok=True)
    lock, holder = FileLock(folder / ".lock"), folder / ".graded-by"
    try:
        lock.acquire(blocking=False)
    except Timeout:
        who = holder.read_text(encoding="ascii") if holder.is_file() else ""
        raise AlreadyRunning(
            f"{folder.name} is being graded by another process{f' ({who})' if who else ''}: wait for it, or stop it"
        ) from None
    try:
        holder.write_text(f"{os.getpid()}", encoding="ascii")
        yield
    finally:
        lock.release()


def require_built(assignment: str, masters: Sequence[Master]) -> None:
    """Raises NotACourse if a check gives other points than the gradebook has for it, as after a `git pull`: the marks
    would be out of other points."""
    worth = {cell.id: cell.points for master in masters for cell in master.cells}
    for exercise in exercises_of(assignment).values():
        there = worth.get(f"check_{exercise.function}")
        if there is not None and not math.isclose(there, exercise.points):
            raise NotACourse(
                f"{exercise.function} is worth {exercise.points:g} points, and {there:g} in the gradebook:"
                f" {assignment} has changed since it was built. First: python3 -m autograder build"
            )


def _lost(waiting: _Waiting, error: Exception) -> Done:
    return Done(student=waiting.student, results={}, fault="every worker that had this submission was lost with it")


def basis_of(assignment: str, masters: Sequence[Master], files: dict[str, bytes]) -> str:
    """What a mark depends on besides the submission: the source notebooks' cells, their files, the exercises' own
    code."""
    cells = [[master.name, *map(asdict, master.cells)] for master in masters]
    made = hashlib.sha256(json.dumps(cells, sort_keys=True).encode())
    for name, content in sorted(files.items()):
        made.update(f"\0{name}\0".encode() + hashlib.sha256(content).digest())
    for path in _code(assignment):
        made.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return made.hexdigest()


def _code(assignment: str) -> list[Path]:
    """The files in which the exercises of an assignment are declared: the solutions are the references."""
    asked = exercises_of(assignment)
    sources = dict.fromkeys([assignment, *(name.partition(".")[0] for name in asked)] if asked else [])
    code = (path for each in sources for path in assignments.code(each))
    return [
        *code,
        *(path for each in sources for path in assignments.texts(assignments.CHECKOUT / assignments.SOURCE / each)),
    ]
