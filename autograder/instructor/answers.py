"""What the students wrote: the code of their answer cells. And what was given to them, and the reference.

Read as plain JSON, not as notebooks: a class of 5,000 is read in seconds.
"""

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from autograder.engine.course import Course

Answers = dict[str, str]
"""By "notebook/cell": the code of an answer."""


def answers_of_class(course: Course, assignment: str) -> Iterator[tuple[str, Answers]]:
    """(student, answers) for everybody whose submission has been read, as it was graded."""
    names = [master.name for master in course.masters(assignment)]
    for student in course.students(assignment):
        folder = course.autograded(student, assignment)
        found: Answers = {}
        for name in names:
            found |= answers_in(folder / f"{name}.ipynb", name)
        if found:
            yield student, found


def answers_in(path: Path, notebook: str) -> Answers:
    """The code of the answer cells; nothing if there is no such notebook."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    found = {}
    for cell in cells:
        about = cell.get("metadata", {}).get("nbgrader", {})
        if about.get("solution") and cell.get("cell_type") == "code":
            source = cell.get("source", "")
            found[f"{notebook}/{about.get('grade_id')}"] = "".join(source) if isinstance(source, list) else str(source)
    return found


def given(course: Course, assignment: str) -> Answers:
    """The answer cells as they were handed out."""
    masters = course.masters(assignment)
    return {f"{m.name}/{c.id}": c.source for m in masters for c in m.cells if c.solution and c.type == "code"}


def reference(course: Course, assignment: str) -> Answers:
    """The masters' own answers, where this machine has them."""
    folder = Path(course.directory.format_path(course.directory.source_directory, ".", assignment))
    found: Answers = {}
    for master in course.masters(assignment):
        for key, source in answers_in(folder / f"{master.name}.ipynb", master.name).items():
            found[key] = "\n".join(line for line in source.split("\n") if "### " not in line)
    return found


def anonymous(source: str, most: int = 40) -> str:
    """The code without comments and docstrings, in which people write their names; "" if it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) and ast.get_docstring(node) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    lines = ast.unparse(tree).split("\n")
    return "\n".join(lines[:most] + (["…"] if len(lines) > most else []))
