"""What a student's feedback leaves out: hidden tests, the mark scheme, and notes for the instructor.

Stock nbgrader shows all three to every student. Only locked cells are touched: what a student wrote is theirs,
whatever it contains.
"""

from typing import Any

from nbgrader import utils
from nbgrader.preprocessors import ClearHiddenTests, ClearMarkScheme, NbGraderPreprocessor


class HideFromStudents(NbGraderPreprocessor):  # type: ignore[misc]
    """Runs in `GenerateFeedback.preprocessors`, after the marks are filled in."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        self._tests = ClearHiddenTests(parent=self)
        self._scheme = ClearMarkScheme(parent=self)
        return super().preprocess(nb, resources)

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        if not (utils.is_locked(cell) or utils.is_task(cell)):
            return cell, resources
        # The methods, not the preprocessors' own loops: those refuse regions in cells that are not for them.
        had_tests = self._tests._remove_hidden_test_region(cell)
        self._scheme._remove_mark_scheme_region(cell)
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if not _for_instructor(output)]
            for output in cell.outputs:
                if had_tests and output.output_type == "error":  # a traceback shows the lines around the failing one
                    words = output.traceback if output.ename == "CheckFailed" else [f"{output.ename}: {output.evalue}"]
                    output.traceback = words
        return cell, resources


def _for_instructor(output: Any) -> bool:
    about = output.get("metadata", {}).get("nlm-course", {})
    return bool(about.get("audience") == "instructor")
