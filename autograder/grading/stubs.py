"""What students get instead of a solution: an empty function, or the code with the bug that they are to find; and what
tells whether they have worked in their notebook."""

from typing import Any

from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor
from nbgrader.utils import is_solution

from autograder.seal import seal


class CourseStubs(ClearSolutions):  # type: ignore[misc]
    """nbgrader's, except that a cell whose metadata say what is `given` gets that."""

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        given = cell.metadata.pop("given", None)
        if given is not None and is_solution(cell):
            before, _, rest = cell.source.partition("### BEGIN SOLUTION\n")
            cell.source = before.rstrip(" ") + given + rest.partition("### END SOLUTION")[2]
            return cell, resources
        return super().preprocess_cell(cell, resources, cell_index)  # type: ignore[no-any-return]


class Sealed(NbGraderPreprocessor):  # type: ignore[misc]
    """The last step, whoever releases: `build`, Formgrader or nbgrader itself."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        seal(nb)
        return nb, resources
