"""Where students' code is run during grading: nbgrader's own Execute, with two of its habits put right.

Wired by `Autograde.autograde_preprocessors` (see `autograder.nbgrader_config`), so that `nbgrader autograde`
and formgrader's button both come through here. This is also where a sandbox goes in.

- Stock nbgrader gives 0 points to a test cell that wrote a warning to stderr. Here what a *test cell* writes
  to stderr is kept as ordinary output.
- A fault of the grader itself must not become a mark: that submission is reported and stays ungraded.
"""

from typing import Any

from nbgrader import utils
from nbgrader.preprocessors import Execute


class CourseExecute(Execute):  # type: ignore[misc]
    """Runs a submitted notebook."""

    def preprocess(self, nb: Any, resources: Any = None, km: Any = None) -> tuple[Any, Any]:
        nb, resources = super().preprocess(nb, resources, km)
        for cell in nb.cells:
            if cell.cell_type == "code" and utils.is_grade(cell):
                _mend(cell)
        return nb, resources


def _mend(cell: Any) -> None:
    for output in cell.outputs:
        if output.output_type == "error" and output.ename == "GraderFault":
            raise RuntimeError(f"the check in cell {cell.metadata.nbgrader['grade_id']!r} is broken: {output.evalue}")
        if output.output_type == "stream" and output.name == "stderr":
            output.name = "stdout"
