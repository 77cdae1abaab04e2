"""Removes a student from everything that the course keeps, and says where traces remain that it cannot judge."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from autograder.files import plain_files, write_whole
from autograder.grading import deadlines, groups, log, vectors
from autograder.grading.course import Course
from autograder.grading.database import patiently
from autograder.grading.run import only_one
from autograder.intake.collect import NUMBERS

BACK = (
    r"(?:_\d+_assignsubmission|-feedback_\d+_)"  # what follows the id in names of `feedback-for-moodle.zip`, `-canvas`
)
LOG = "removed.log"  # in grading/: when somebody was removed, and from where; not who


@dataclass
class Removed:
    gone: list[str] = field(default_factory=list)  # what was removed, or would be
    left: list[str] = field(default_factory=list)  # files that still name the student


def remove(course: Course, student: str, write: bool = True) -> Removed:
    """Remove a student. Raises ValueError if the course has nothing of that id, AlreadyRunning while something is being
    graded, GradebookBusy."""
    made, grading = Removed(), course.root / "grading"
    with course.gradebook() as gradebook, ExitStack() as locks:
        person = next((each for each in gradebook.students if each.id == student), None)
        places = list(_places(course, student))
        if person is None and not places:
            raise ValueError(f"neither the gradebook nor a folder of the course knows {student!r}")
        said = [student, *filter(None, [person.email] if person else [])]
        if write:
            for folder in (path for path in sorted(grading.glob("*")) if (path / ".lock").exists()):
                locks.enter_context(only_one(folder))
        if person is not None:
            made.gone.append("the gradebook, with all marks")
            if write:
                patiently(gradebook, lambda: gradebook.remove_student(student))
        for path in places:
            made.gone.append(f"{path.relative_to(course.root).as_posix()}{'/' if path.is_dir() else ''}")
            if write and path.is_dir():
                shutil.rmtree(path)
            elif write:
                path.unlink()
        shared = dict(_shared(grading, student))
        for path, kept in shared.items():
            made.gone.append(f"a line of {path.relative_to(course.root).as_posix()}")
            if write:
                mode = path.stat().st_mode
                write_whole(path, kept)
                path.chmod(mode)
        for path in grading.glob(f"*/{vectors.FILE}") if write else ():  # without names; `mark` computes it again
            path.unlink()
        inbound = _exchanged(course, student)
        made.gone += [str(path) for path in inbound]
        for path in inbound if write else ():
            shutil.rmtree(path)
        if write:
            with open(grading / LOG, "a", encoding="utf-8") as log:
                log.write(f"{datetime.now():%Y-%m-%d %H:%M} a student was removed from {len(made.gone)} places\n")
        left = _naming(grading, said, shared)
        made.left = [path.relative_to(course.root).as_posix() for path in left if path not in places]
    return made


def _places(course: Course, student: str) -> Iterator[Path]:
    """The files and folders that are this student's alone."""
    grading, directory = course.root / "grading", course.directory
    steps = (directory.submitted_directory, directory.autograded_directory, directory.feedback_directory)
    for step in steps:
        yield from (path for path in [course.root / step / student] if path.is_dir())
    for folder in sorted(path for path in grading.glob("*") if path.is_dir()):
        theirs = (folder / student, folder / ".regrade" / f"{student}.json", folder / "race" / f"{student}.json")
        yield from (path for path in theirs if path.exists())
    yield from sorted((grading / "desk").glob(f"*/{quote(student, safe='@ ')}.jsonl"))


def _shared(grading: Path, student: str) -> Iterator[tuple[Path, str]]:
    """Files with a line for everybody, and what remains of them."""
    for path in sorted(grading.glob(f"*/{NUMBERS}")):
        numbers: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if numbers.pop(student, None) is not None:
            yield path, json.dumps(numbers, indent=1)
    extensions = deadlines.kept(grading.parent)
    if any([extended.pop(student, None) is not None for extended in extensions.values()]):
        yield grading.parent / deadlines.KEPT, json.dumps(extensions, indent=1) + "\n"
    together = groups.kept(grading.parent)
    theirs = [members for found in together.values() for members in found.values() if student in members]
    for members in theirs:
        members.remove(student)
    if theirs:
        yield grading.parent / groups.KEPT, json.dumps(together, indent=1, ensure_ascii=False) + "\n"
    for path in sorted(grading.glob(f"*/{log.FILE}")):
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if f'"student": {json.dumps(student)}' not in line]
        if kept != lines:
            yield path, "".join(kept)
    tokens = grading / "desk" / "tokens.csv"
    lines = tokens.read_text(encoding="utf-8").splitlines(keepends=True) if tokens.is_file() else []
    kept = [line for line in lines if line.rpartition(",")[0].strip('"') != student]
    if kept != lines:
        yield tokens, "".join(kept)


def _exchanged(course: Course, student: str) -> list[Path]:
    """What the student has submitted through nbgrader's exchange."""
    root = course.config.get("Exchange", {}).get("root", "")
    inbound = Path(str(root)) / course.directory.course_id / "inbound" if root else None
    there = inbound.iterdir() if inbound is not None and inbound.is_dir() else iter(())
    return sorted(path for path in there if path.name.startswith(f"{student}+"))


def _naming(grading: Path, said: list[str], shared: Mapping[Path, str]) -> Iterator[Path]:
    """The files of everybody in which the student is named: reports, lists of changes, archives of feedback. Of some it
    is known what remains of them."""
    names = "|".join(re.escape(one) for one in {*said, said[0].replace("_", "-")})
    named = re.compile(rf"(?<![\w.-])(?:{names})(?:(?![\w-])|{BACK})".encode())
    for path in plain_files(grading, "*", "*/*"):
        words = shared[path].encode() if path in shared else path.read_bytes()
        if path.name != "secret" and named.search(words):
            yield path
