"""Grade an assignment for a class: look, run, judge, write. Stopped at any moment, it is gone on with.

    for line in grade(course, "attention", jobs=8): print(line.words)

One process, this one, looks at the submissions before and writes what comes back: the graded notebook, then the
gradebook, then the record. The record comes last, so what has one is done, and what has none is done again.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from autograder.engine import record as records
from autograder.engine.course import Course
from autograder.engine.execute import result_file, show
from autograder.engine.gradebook import save_marks, timestamp_of
from autograder.engine.pool import pool
from autograder.engine.record import Record
from autograder.engine.results import NotebookResult, from_json, write_whole
from autograder.engine.seeds import course_secret
from autograder.engine.task import Done, Task, work
from autograder.preflight import Master, Prepared, prepare
from autograder.release import exercises_of


@dataclass(frozen=True)
class Line:
    """One submission, done or left alone."""

    record: Record
    number: int
    of: int
    new: bool
    """Whether it was graded in this run."""

    @property
    def words(self) -> str:
        return f"{self.record.student}: {self.record.words}"


def grade(
    course: Course,
    assignment: str,
    students: Sequence[str] | None = None,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    isolation: str = "auto",
    again: bool = False,
) -> Iterator[Line]:
    """Grade what is not graded yet (`again`: everything), and yield a line for every submission.

    Raises NotACourse for an assignment that the gradebook does not know, ValueError for a student who has not handed
    in anything; IsolationMissing where students' code could not be contained and nobody said that it need not be.
    """
    masters = course.masters(assignment)
    there = course.students(assignment)
    unknown = sorted(set(students or ()) - set(there))
    if unknown:
        raise ValueError(f"nothing was handed in for {assignment} by {', '.join(unknown)}")
    chosen = [student for student in there if students is None or student in students]
    basis = _basis(assignment, masters)
    secret, kernels = course_secret(course.root), course.kernelspecs(assignment)
    waiting: dict[str, tuple[Prepared, str]] = {}
    ready: list[Record] = []
    todo = []
    for student in chosen:
        mark = records.fingerprint(course.submission(student, assignment), basis)
        known = None if again else records.load(course.root, assignment, student)
        if known is not None and known.fingerprint == mark and _is_done(course, known):
            ready.append(known)
        else:
            todo.append((student, mark))
    for number, done in enumerate(ready, 1):
        yield Line(done, number, len(chosen), new=False)
    finished = len(ready)

    def tasks() -> Iterator[Task]:
        for student, mark in todo:
            prepared = prepare(course.submission(student, assignment), masters)
            waiting[student] = (prepared, mark)
            yield Task(
                student=student,
                assignment=assignment,
                notebooks={name: [dict(cell) for cell in nb.cells] for name, nb in prepared.notebooks.items()},
                files={name: path.read_bytes() for name, path in prepared.files.items()},
                secret=secret,
                isolation=isolation,
            )

    with pool(jobs, scheduler) as run, course.gradebook() as gradebook:
        for done in run(work, tasks()):
            prepared, mark = waiting.pop(done.student)
            record = _write(course, gradebook, assignment, done, prepared, mark, kernels)
            finished += 1
            yield Line(record, finished, len(chosen), new=True)


def _basis(assignment: str, masters: Sequence[Master]) -> str:
    """What a mark depends on besides the submission: the masters' cells and the exercises' points."""
    facts = [[m.name, [[c.id, c.checksum, c.points] for c in m.cells]] for m in masters]
    exercises = [[name, e.points, len(e.properties)] for name, e in exercises_of(assignment).items()]
    return hashlib.sha256(json.dumps([facts, exercises]).encode()).hexdigest()


def _is_done(course: Course, record: Record) -> bool:
    there = course.autograded(record.student, record.assignment).is_dir()
    return record.state == "blocked" or (record.state == "graded" and there)


def _write(
    course: Course, gradebook: Any, assignment: str, done: Done, prepared: Prepared, mark: str, kernels: dict[str, Any]
) -> Record:
    results = {name: from_json(text) for name, text in done.results.items()}
    for name, result in results.items():
        notebook = prepared.notebooks[name]
        show(notebook, result)
        if kernels.get(name):
            notebook.metadata["kernelspec"] = kernels[name]
        write_whole(result_file(course.root, assignment, name, done.student), done.results[name])
    graded = {name: prepared.notebooks[name] for name in results}
    source = course.submission(done.student, assignment)
    if graded:
        _write_folder(course.autograded(done.student, assignment), graded, prepared, source)
    if not done.fault:
        save_marks(gradebook, done.student, assignment, graded, timestamp_of(source), course.config)
    record = _record(assignment, done, prepared, mark, results)
    records.save(course.root, record)
    return record


def _write_folder(target: Path, notebooks: dict[str, Any], prepared: Prepared, source: Path) -> None:
    """The whole folder, or the one that was there."""
    beside = target.with_name(f".{target.name}.{os.getpid()}.writing")
    shutil.rmtree(beside, ignore_errors=True)
    beside.mkdir(parents=True)
    for name, notebook in notebooks.items():
        nbformat.write(notebook, beside / f"{name}.ipynb")
    files = dict(prepared.files)
    stamp = source / "timestamp.txt"
    if stamp.is_file() and not stamp.is_symlink():
        files["timestamp.txt"] = stamp
    for inside, path in files.items():
        (beside / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, beside / inside)
    if target.exists():
        shutil.rmtree(target)
    os.replace(beside, target)


def _record(assignment: str, done: Done, prepared: Prepared, mark: str, results: dict[str, NotebookResult]) -> Record:
    marks = [vars(m) for result in results.values() for m in result.marks]
    incidents = [words for result in results.values() for words in result.incidents]
    blocked = [f.words for f in prepared.findings if f.kind == "blocked"]
    if done.fault:
        state, words = "fault", f"not graded, and it is the grader's fault: {done.fault}"
    elif blocked:
        state, words = "blocked", " ".join(blocked)
    else:
        earned, possible = sum(m["points"] for m in marks), sum(m["of"] for m in marks)
        state, words = "graded", f"{earned:g} of {possible:g}"
        repaired = sum(f.kind == "repaired" for f in prepared.findings)
        extras = [f"{repaired} repaired"] if repaired else []
        extras += ["look at it: " + incidents[0]] if incidents else []
        words = "; ".join([words, *extras])
    return Record(
        student=done.student,
        assignment=assignment,
        fingerprint=mark,
        state=state,  # type: ignore[arg-type]
        words=words,
        findings=[vars(f) for f in prepared.findings],
        incidents=incidents,
        marks=marks,
        isolation=next((r.isolation for r in results.values()), ""),
        seconds=round(sum(r.seconds for r in results.values()), 3),
    )
