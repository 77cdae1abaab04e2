"""Marks that can be reviewed before they count: a class is graded again, but nothing is written into the gradebook.

A draft is the sandbox's full result for one submission, kept under `grading/<assignment>/.regrade/`. Applying it means
passing it to the writer, as if a worker had just returned it; nothing is run a second time. A draft records what it
changes before it is applied, so this is known even if the run is stopped.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import autograder
import nlmcore
from autograder import assignments
from autograder.files import write_whole
from autograder.grading import groups, records
from autograder.grading.beside import timestamp_of
from autograder.grading.course import Course
from autograder.grading.execute import Done
from autograder.grading.gradebook import automatic_marks, scores_of
from autograder.grading.records import Record
from autograder.grading.run import basis_of, only_one
from autograder.grading.write import Writer, record_of, shown_results
from autograder.guard import Guard
from autograder.preflight import Prepared, prepare_guarded

FOLDER = ".regrade"


@dataclass
class Draft:
    record: Record
    results: dict[str, str] = field(default_factory=dict)  # by notebook: `records.to_json`
    changes: list[dict[str, Any]] | None = None  # noted once it is being applied
    code: str = ""  # of the grader that made it

    @property
    def fault(self) -> bool:
        return self.record.state == "fault"


class Drafts:
    """The drafts of an assignment; in the writer's place during a run."""

    def __init__(self, course: Course, assignment: str, gradebook: Any = None, files: Any = None) -> None:
        self.course, self.assignment = course, assignment
        self.folder = course.root / "grading" / assignment / FOLDER
        self.code = graders_code()

    def done(self, student: str, fingerprint: str) -> Record | None:
        draft = self.load(student)
        if draft is None or draft.fault or (draft.record.fingerprint, draft.code) != (fingerprint, self.code):
            return None
        return draft.record

    def write(self, done: Done, prepared: Prepared, fingerprint: str) -> Record:
        results = shown_results(done, prepared)
        scores = {name: automatic_marks(prepared.notebooks[name]) for name in results}
        _, late = timestamp_of(self.course.submission(done.student, self.assignment))
        record = record_of(self.assignment, done, prepared, fingerprint, results, scores, late)
        self.save(Draft(record, dict(done.results), code=self.code))
        return record

    def load(self, student: str) -> Draft | None:
        try:
            facts = json.loads(self._file(student).read_text(encoding="utf-8"))
            return Draft(Record(**facts["record"]), dict(facts["results"]), facts["changes"], facts["code"])
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def save(self, draft: Draft) -> None:
        facts = {"record": vars(draft.record), "results": draft.results, "changes": draft.changes, "code": draft.code}
        write_whole(self._file(draft.record.student), json.dumps(facts, ensure_ascii=False))

    def forget(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _file(self, student: str) -> Path:
        return self.folder / f"{student}.json"


def graders_code() -> str:
    """A digest of all code that a mark can depend on, since the fix may be in a law, or in the package that a reference
    uses."""
    ours, package = (Path(str(module.__file__)).parent for module in (autograder, nlmcore))
    made = hashlib.sha256()
    folders = (*(ours / name for name in ("grading", "question", "sandbox")), package)
    for path in (*assignments.code(), *(path for folder in folders for path in sorted(folder.rglob("*.py")))):
        made.update(f"\0{path.name}\0".encode() + path.read_bytes())
    return made.hexdigest()


def graded_before(course: Course, assignment: str) -> tuple[list[str], list[str]]:
    """(students who have handed in and were graded, students who have handed in but were not)."""
    there = course.students(assignment)
    with course.gradebook() as gradebook:
        scores = scores_of(gradebook, assignment)  # by nbgrader's own command or button there is no record
    marked = {s for s in there if any(m is not None for cells in scores.get(s, {}).values() for m in cells.values())}
    known = [s for s in there if s in marked or records.load(course.root, assignment, s) is not None]
    return known, [student for student in there if student not in set(known)]


def apply(course: Course, assignment: str, drafts: list[Draft]) -> Iterator[Draft]:
    """Write drafts into the gradebook in order, reading each only when its turn comes. A draft whose submission or
    source notebook has changed since is left alone and not yielded. Raises as `grade` does."""
    masters = course.masters(assignment)
    kept = Drafts(course, assignment)
    with Guard() as guard, only_one(course.root / "grading" / assignment), course.gradebook() as gradebook:
        files = course.files(assignment)
        basis = basis_of(assignment, masters, files)
        writer = Writer(course, assignment, gradebook, files)
        for draft in drafts:
            student = draft.record.student
            folder = course.submission(student, assignment)
            whole = kept.load(student)
            fingerprint = records.fingerprint(folder, basis, groups.group(course.root, assignment, student))
            if whole is None or whole.fault or fingerprint != whole.record.fingerprint:
                continue
            whole.changes = draft.changes
            kept.save(whole)
            done = Done(student=student, results=whole.results)
            writer.write(done, prepare_guarded(guard, folder, masters), whole.record.fingerprint)
            yield draft
