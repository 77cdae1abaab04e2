"""A source notebook of nbgrader: unchanged, except for the current form of metadata and the usual region markers."""

import ast
import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.nbgraderformat import MetadataValidator, ValidationError

from autograder.extras.imported.origin import Notes

USUAL = {
    ("ClearSolutions", "begin_solution_delimeter"): "BEGIN SOLUTION",
    ("ClearSolutions", "end_solution_delimeter"): "END SOLUTION",
    ("ClearHiddenTests", "begin_test_delimeter"): "BEGIN HIDDEN TESTS",
    ("ClearHiddenTests", "end_test_delimeter"): "END HIDDEN TESTS",
    ("ClearMarkScheme", "begin_mark_scheme_delimeter"): "BEGIN MARK SCHEME",
    ("ClearMarkScheme", "end_mark_scheme_delimeter"): "END MARK SCHEME",
}
PLACES = {"CourseDirectory", "NbGrader", "Exchange", "ExecutePreprocessor", "Application"}


def taken(notebook: Any, name: str, marks: dict[str, str], notes: Notes) -> list[Any]:
    """The cells of a source notebook. Raises ValueError for anything that nbgrader would not accept either."""
    notebook = copy.deepcopy(notebook)
    try:
        notebook = MetadataValidator().upgrade_notebook_metadata(notebook)
    except (ValidationError, KeyError) as error:
        raise ValueError(f"{name}: its nbgrader metadata cannot be read: {error}") from None
    seen: set[str] = set()
    for cell in notebook.cells:
        for own, usual in marks.items():
            cell.source = cell.source.replace(own, usual)
        about = cell.metadata.get("nbgrader")
        if not about:
            continue
        about.pop("checksum", None)  # of an earlier release
        about.setdefault("task", False)  # from before there were tasks
        if about.get("grade_id") in seen:
            raise ValueError(f"{name}: two cells are called {about['grade_id']!r}; nbgrader wants a name once")
        seen.add(about.get("grade_id"))
        if "AUTOTEST" in cell.source:
            notes.add(
                f"{name}, cell {about['grade_id']}: tests that nbgrader writes itself (AUTOTEST)",
                "`build` runs the solution in a kernel to write them: look at the tests in exercises/ after it",
            )
    return list(notebook.cells)


def settings(folder: Path, notes: Notes) -> dict[str, str]:
    """The course's own region markers, each with the usual one; its other settings are noted. The file
    `nbgrader_config.py` is read but not run."""
    found = next((p for up in (folder, *folder.parents[:3]) if (p := up / "nbgrader_config.py").is_file()), None)
    if found is None:
        return {}
    marks, others = {}, []
    for part, option, value in _set(found):
        usual = USUAL.get((part, option))
        if usual and isinstance(value, str):
            marks[value] = usual
        elif part not in PLACES:
            others.append(f"{part}.{option}")
    if others:
        notes.add(
            f"settings of {found}: {', '.join(sorted(set(others))[:8])}",
            "write into this course's course_config.py what still applies (late penalties, headers)",
        )
    return {own: usual for own, usual in marks.items() if own != usual}


def _set(path: Path) -> Iterator[tuple[str, str, Any]]:
    """c.Part.option = value, for literal values."""
    try:
        body = ast.parse(path.read_text(encoding="utf-8")).body
    except (SyntaxError, OSError, UnicodeDecodeError):
        return
    for node in body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
            parts = ast.unparse(node.targets[0]).split(".")
            if len(parts) == 3:
                try:
                    value = ast.literal_eval(node.value)
                except ValueError:
                    value = None
                yield parts[1], parts[2], value
