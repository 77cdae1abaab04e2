"""Grades one submission as `grade` does, in the same sandbox and with the same marks; nothing is written."""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from autograder.grading import groups
from autograder.grading.course import Course
from autograder.grading.execute import work
from autograder.grading.gradebook import automatic_marks
from autograder.grading.records import Record
from autograder.grading.run import task_of
from autograder.grading.seeds import course_secret
from autograder.grading.write import record_of, shown_results
from autograder.guard import Guard
from autograder.preflight import Master, prepare_guarded
from autograder.sandbox.tiers import Isolation, choose


@dataclass(frozen=True)
class Single:
    record: Record
    notebooks: dict[str, Any]  # graded, with their outputs, in the order of their names
    masters: list[Master]


def grade_one(
    course: Course, assignment: str, submission: Path, student: str, isolation: Isolation, guard: Guard
) -> Single:
    """Grade a folder, a notebook or an archive. student: whose hidden inputs, or whose group's, are used. Raises
    ValueError if there is no submission, and NotACourse, IsolationMissing."""
    choose(isolation)
    masters, files = course.masters(assignment), course.files(assignment)
    with _folder(submission) as folder:
        prepared = prepare_guarded(guard, folder, masters)
        task = task_of(student, assignment, prepared, files, course_secret(course.root), isolation)
        done = work(replace(task, inputs_of=groups.inputs_of(course.root, assignment, student)))
    results = shown_results(done, prepared)
    notebooks = {name: prepared.notebooks[name] for name in results}
    scores = {name: automatic_marks(notebook) for name, notebook in notebooks.items()}
    record = record_of(assignment, done, prepared, "", results, scores, "")
    return Single(record, notebooks, masters)


@contextmanager
def _folder(submission: Path) -> Iterator[Path]:
    """The submission as a folder."""
    submission = submission.resolve()
    if submission.is_dir():
        yield submission
        return
    if not submission.is_file():
        raise ValueError(f"there is no submission {submission}: name a folder, a notebook or an archive")
    with tempfile.TemporaryDirectory(prefix="one-") as made:
        shutil.copyfile(submission, Path(made) / submission.name)
        yield Path(made)


def student_of(course: Course, assignment: str, submission: Path, metadata: Path | None) -> str:
    """Whose submission it is: the student named by Gradescope's metadata, otherwise by its folder, otherwise by its own
    name. For a group the first address, so that any member's upload gets the same inputs."""
    if metadata is not None:
        try:
            users = json.loads(metadata.read_text(encoding="utf-8"))["users"]
            return min(str(user.get("email") or user.get("id") or "") for user in users) or "somebody"
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return "somebody"  # the tests' inputs are then the same for all of them
    path = submission.resolve()
    owners = (s for s in course.students(assignment) if path.is_relative_to(course.submission(s, assignment)))
    return next(owners, path.name.partition(".")[0])
