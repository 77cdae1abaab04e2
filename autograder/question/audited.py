"""Which exercises have passed their audit in exactly this state, and are not audited again.

An audit puts all questions to every reference and every misconception, which takes seconds for each exercise. It
depends only on files: the declarations of the assignment, its source notebook, and whatever these import of the
autograder and of `nlmcore`, directly or not. For each exercise that passed, a digest of them all is kept; if any of
them changes, the exercise is audited again. Faults are never remembered.
"""

import contextlib
import functools
import hashlib
import json
import multiprocessing
import os
import sys
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import version
from pathlib import Path

import torch
from filelock import FileLock
from tqdm import tqdm

from autograder import assignments
from autograder.assignments import CHECKOUT, SOURCE
from autograder.files import write_whole
from autograder.question.audit import exercise_faults, travel_faults
from autograder.question.find import exercises_of, find
from autograder.question.specification import Exercise
from autograder.reach import reached

KEPT = "exercises/.audited.json"
"""Exercise -> the digest with which it passed. Delete the file, and all are audited."""
FEW = 12
"""So many exercises are audited in less time than other processes need to start."""
ROOMS = ("autograder", "nlmcore", "solutions")
"""Packages whose imports are followed. What `lectures` draws earns no points."""
ALWAYS = ("autograder/__init__.py", "autograder/question/audit*.py")


def faults(exercise: Exercise, checkout: Path = CHECKOUT) -> list[str]:
    """What `autograder.question.audit` finds in a declared exercise; nothing is run if it has passed in its present
    state."""
    assignment = exercise.name.partition(".")[0]
    if not _is_declared(exercise, assignment):
        return _audit(exercise)
    now = digest(assignment, checkout)
    if _kept(checkout).get(exercise.name) == now:
        return []
    found = _audit(exercise)
    if not found and digest(assignment, checkout) == now:  # nobody has written in the meantime
        _keep(checkout, exercise.name, now)
    return found


def audit_ahead(assignments: Iterable[str]) -> None:
    """Audit all exercises that are due, on all processors; `faults` then finds those that passed. For a fresh checkout
    this is a minute or two of work."""
    due = [
        exercise.name
        for name in assignments
        for exercise in exercises_of(name).values()
        if _is_declared(exercise, name) and _kept(CHECKOUT).get(exercise.name) != digest(name)
    ]
    if len(due) < FEW:
        return
    processes = min(8, os.cpu_count() or 1)
    start = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(processes, start, torch.set_num_threads, (1,)) as pool:
        audits = pool.map(_faults_of, due)
        for _ in tqdm(audits, "  checking that each question is fair", len(due), leave=False, unit="question"):
            pass


def _faults_of(name: str) -> None:
    faults(find(name))


def digest(assignment: str, checkout: Path = CHECKOUT) -> str:
    """Changes when anything changes that the audit of an assignment's exercises can depend on."""
    versions = [sys.version, *(version(name) for name in ("torch", "numpy"))]
    whole = hashlib.sha256(repr(versions).encode())
    for path in _files(assignment, checkout):
        stat = path.stat()
        whole.update(
            f"{path.relative_to(checkout).as_posix()} {_content(path, stat.st_mtime_ns, stat.st_size)}".encode()
        )
    return whole.hexdigest()[:24]


def _audit(exercise: Exercise) -> list[str]:
    return [*exercise_faults(exercise), *travel_faults(exercise)]


def _is_declared(exercise: Exercise, assignment: str) -> bool:
    """Whether it is exactly the exercise that the files declare, not a changed copy."""
    declared = assignments.module(assignment)
    return declared is not None and declared.EXERCISES.get(exercise.name) is exercise


def _files(assignment: str, checkout: Path) -> list[Path]:
    """The assignment's own files, and those of the modules that they import, directly or not."""
    own = (*ALWAYS, f"{SOURCE}/{assignment}/*.py", f"{SOURCE}/{assignment}/checks/**/*")
    return sorted(reached((path for pattern in own for path in checkout.glob(pattern)), ROOMS, checkout))


@functools.cache
def _content(path: Path, changed: int, size: int) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _kept(checkout: Path) -> dict[str, str]:
    try:
        return {str(name): str(value) for name, value in json.loads((checkout / KEPT).read_text("utf-8")).items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _keep(checkout: Path, name: str, value: str) -> None:
    with contextlib.suppress(OSError):  # where nothing can be written, everything is audited
        (checkout / KEPT).parent.mkdir(parents=True, exist_ok=True)
        with FileLock(checkout / f"{KEPT}.lock"):
            text = json.dumps(_kept(checkout) | {name: value}, indent=1, sort_keys=True)
            write_whole(checkout / KEPT, text + "\n")
