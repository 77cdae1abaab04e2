"""What the students wrote, and answers that are nearly the same: a hint to a person, never a mark.

Winnowing (Schleimer, Wilkerson and Aiken 2003, "Winnowing: local algorithms for document fingerprinting"), as
copydetect does it: names are made equal, every run of 25 characters is hashed, and of every window of 6 hashes the
smallest is kept. Here the fingerprints go into an index, so that only students who share some are ever compared.

A short exercise has few ways to be solved. So what was given to everybody does not count, and neither does a
fingerprint that much of the class has; two students are reported when most of what is left of one is in the other too.

Answers are read as plain JSON, not as notebooks: a class of 5,000 is read in seconds.
"""

import ast
import contextlib
import functools
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from autograder.engine.course import Course
from autograder.exercise.questions import read_master
from autograder.guard import Guard, NotRead

Answers = dict[str, str]  # by "notebook/cell": the code of an answer

LENGTH, WINDOW = 25, 6
FEW = 30  # a fingerprint that more students have is common, in a class of any size
SHARE = 0.02  # in a large class; in a small one, what more than four have
LEAST, ALIKE = 5, 0.5  # how many rare fingerprints two must share, and what part of the smaller one's
LONGEST = 50_000  # characters of an answer that are compared
LONG = 200  # characters from which on it is remarkable that two texts are the same to the letter
REFERENCE = "(the reference solution)"


@dataclass(frozen=True)
class Pair:
    """Two students, or one and the reference."""

    one: str
    other: str
    shared: int
    part: float  # of the rare fingerprints of whichever has fewer
    where: tuple[str, ...]  # questions in which they share them, the most first


@dataclass(frozen=True)
class Same:
    """Students whose answer to one question is the same to the letter, comments and all."""

    where: str
    students: tuple[str, ...]


def fingerprints(source: str) -> frozenset[int]:
    """Raises ImportError where copydetect is not installed."""
    from copydetect.utils import filter_code, get_document_fingerprints

    filtered, _ = filter_code(source[:LONGEST], "answer.py", language="python")
    if len(filtered) < LENGTH + WINDOW:
        return frozenset()
    hashes, _ = get_document_fingerprints(filtered, LENGTH, WINDOW)
    return frozenset(int(value) for value in hashes)


def alike(
    students: Mapping[str, Answers],
    given: Answers,
    reference: Answers,
    read: Callable[[str], frozenset[int]] = fingerprints,
) -> list[Pair]:
    """The pairs that stand out, the most alike first."""
    prints = functools.cache(read)
    free = frozenset().union(*(prints(source) for source in given.values()))
    everybody = {**students, **({REFERENCE: reference} if reference else {})}
    held: dict[str, dict[int, str]] = {}
    count: Counter[int] = Counter()
    for student, answers in everybody.items():
        held[student] = {value: where for where, source in answers.items() for value in prints(source) - free}
        count.update(held[student].keys())
    few = min(max(4, math.ceil(SHARE * len(students))), FEW)
    index: dict[int, list[str]] = {}
    rare: Counter[str] = Counter()
    for student, mine in held.items():
        for value in mine:
            if count[value] <= few:
                index.setdefault(value, []).append(student)
                rare[student] += 1
    together: Counter[tuple[str, str]] = Counter()
    for holders in index.values():
        if len(holders) > 1:
            together.update(combinations(holders, 2))
    pairs = []
    for (one, other), shared in together.items():
        part = shared / min(rare[one], rare[other])
        if shared >= LEAST and part >= ALIKE:
            both = held[one].keys() & held[other].keys()
            where = Counter(held[one][value] for value in both if count[value] <= few)
            pairs.append(Pair(one, other, shared, part, tuple(name for name, _ in where.most_common(3))))
    return sorted(pairs, key=lambda pair: (-pair.part, -pair.shared, pair.one, pair.other))


def same_to_the_letter(students: Mapping[str, Answers], given: Answers, reference: Answers) -> list[Same]:
    """Groups of two and more, the smallest first: what half of a class has was shown to it."""
    groups: dict[tuple[str, str], list[str]] = {}
    for student, answers in {**students, **({REFERENCE: reference} if reference else {})}.items():
        for where, source in answers.items():
            own = own_text(source, given.get(where, ""))
            if len(own) >= LONG:
                groups.setdefault((where, own), []).append(student)
    found = [Same(where, tuple(members)) for (where, _), members in groups.items() if len(members) > 1]
    return sorted(found, key=lambda same: (len(same.students), same.where, same.students))


def own_text(source: str, given: str) -> str:
    """What the student added, without blanks at the ends of lines and empty lines."""
    free = {line.strip() for line in given.split("\n")}
    lines: Sequence[str] = [line.rstrip() for line in source.split("\n")]
    return "\n".join(line for line in lines if line and line.strip() not in free)


# --- what the students wrote ------------------------------------------------------------------------------


def answers_of_class(course: Course, assignment: str, guard: Guard) -> Iterator[tuple[str, Answers]]:
    """(student, answers) for everybody whose submission can be read, as it was graded."""
    names = [master.name for master in course.masters(assignment)]
    for student in course.students(assignment):
        folder = course.autograded(student, assignment)
        found: Answers = {}
        for name in names:
            with contextlib.suppress(NotRead):
                found |= guard.ask(answers_in, folder / f"{name}.ipynb", name)
        if found:
            yield student, found


def answers_in(path: Path, notebook: str) -> Answers:
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return _answers(cells, notebook)


def _answers(cells: Iterable[Mapping[str, Any]], notebook: str) -> Answers:
    found = {}
    for cell in cells:
        about = cell.get("metadata", {}).get("nbgrader", {})
        if about.get("solution") and cell.get("cell_type") == "code":
            source = cell.get("source", "")
            found[f"{notebook}/{about.get('grade_id')}"] = "".join(source) if isinstance(source, list) else str(source)
    return found


def given(course: Course, assignment: str) -> Answers:
    masters = course.masters(assignment)
    return {f"{m.name}/{c.id}": c.source for m in masters for c in m.cells if c.solution and c.type == "code"}


def reference(course: Course, assignment: str) -> Answers:
    """The masters' own answers, where this machine has them."""
    folder = Path(course.directory.format_path(course.directory.source_directory, ".", assignment))
    found: Answers = {}
    for master in course.masters(assignment):
        path = folder / f"{master.name}.ipynb"
        for key, source in _answers(read_master(path).cells if path.is_file() else [], master.name).items():
            found[key] = "\n".join(line for line in source.split("\n") if "### " not in line)
    return found


def anonymous(source: str, most: int = 40) -> str:
    """The code without comments and docstrings, in which people write their names; "" if it does not parse."""
    try:
        tree = ast.parse(source)
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node) is not None:
                node.body = node.body[1:] or [ast.Pass()]
        lines = ast.unparse(tree).split("\n")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    return "\n".join(lines[:most] + (["…"] if len(lines) > most else []))
