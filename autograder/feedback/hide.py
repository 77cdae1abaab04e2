"""Removes from a student's feedback: hidden tests, the mark scheme, notes for the instructor, and hidden inputs.

Stock nbgrader shows the first three to every student. The last can hide in the output of a student's own code: a
function that was called with hidden inputs, or that inspected the test that called it, can keep what it saw and print
it in any later cell. So after the first hidden test, only those outputs of student code are kept that reveal nothing
new.

- Locked cells: hidden regions are removed. A student's own text stays, whatever it contains.
- Our test cells: the grader wrote their outputs, and all except the instructor's notes stay.
- A plain nbgrader test cell with a hidden region, and every student's cell after the first hidden test: an error is
  shown by its kind, with its message only if that occurs in the visible text of the cell.
"""

import ast
import builtins
import re
from typing import Any

from nbgrader import utils
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, NbGraderPreprocessor

from autograder.grading.plan import check_in
from autograder.question.find import exercises_of
from autograder.question.report import MACHINE

LONGEST = 20_000  # characters of a cell in which it is looked where its syntax is wrong
FAILED = "A hidden test of this question did not pass."


class HideFromStudents(NbGraderPreprocessor):  # type: ignore[misc]
    """Runs in `GenerateFeedback.preprocessors`, after the marks are filled in."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        self._tests = ClearHiddenTests(parent=self)
        self._scheme = ClearMarkScheme(parent=self)
        self._seen = False
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        if not (utils.is_locked(cell) or utils.is_task(cell)):
            if self._seen and cell.cell_type == "code":
                cell.outputs = _said_anew(cell.outputs, cell.source)
            return cell, resources
        ours = cell.cell_type == "code" and _is_ours(cell.source)
        # The methods, not the preprocessors' own loops: those refuse regions in cells that are not for them.
        had_tests = self._tests._remove_hidden_test_region(cell)
        self._scheme._remove_mark_scheme_region(cell)
        if cell.cell_type == "code":
            self._seen = self._seen or had_tests or ours
            if ours:
                cell.outputs = [output for output in cell.outputs if not _for_instructor(output)]
            elif self._seen:
                cell.outputs = _said_anew(cell.outputs, cell.source, FAILED if had_tests else "")
        return cell, resources


def _is_ours(source: str) -> bool:
    """Whether the engine asks questions here instead of running the cell."""
    found = check_in(source)
    return found is not None and found[0] in exercises_of(found[0].partition(".")[0])


def _for_instructor(output: Any) -> bool:
    about = output.get("metadata", {}).get("nlm-course", {})
    report = MACHINE in output.get("data", {}) or output.output_type in ("stream", "execute_result")
    return bool(about.get("audience") == "instructor") or not report


def _said_anew(outputs: Any, source: str, words: str = "") -> list[Any]:
    """The errors, in words that nobody but the grader and the visible text of the cell could have chosen."""
    kept = []
    for output in outputs:
        if output.output_type != "error":
            continue
        kind = output.ename if isinstance(getattr(builtins, output.ename, None), type) else "an exception"
        message = _repeatable(output.ename, str(output.evalue), source)
        line = f"{kind}: {message}" if message else kind
        output.ename, output.evalue = kind, message
        output.traceback = [line, words] if words else [line]
        kept.append(output)
    return kept


def _repeatable(kind: str, message: str, source: str) -> str:
    """The message, if it can be known from the cell's visible text; otherwise nothing."""
    if kind in ("SyntaxError", "IndentationError", "TabError"):
        try:
            ast.parse(source[:LONGEST])
        except SyntaxError as error:
            return f"{error.msg} (line {error.lineno})" if len(source) <= LONGEST else ""
        except (ValueError, RecursionError, MemoryError):  # a zero byte; too deep for the parser
            pass
        return ""
    name = re.fullmatch(r"name '(\w+)' is not defined.*", message)
    if kind == "NameError" and name is not None and re.search(rf"\b{name[1]}\b", source):
        return f"name {name[1]!r} is not defined"
    return message if len(message) > 3 and message in source else ""
