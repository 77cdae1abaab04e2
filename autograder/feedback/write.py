"""Feedback for a class: `feedback/<student>/<assignment>/<notebook>.html`, where nbgrader too puts and looks for it.

A submission that could not be graded gets a page as well: it says why, and that this is no zero.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import nbformat

from autograder.engine.course import Course
from autograder.engine.results import write_whole
from autograder.feedback.facts import facts
from autograder.feedback.hide import HideFromStudents
from autograder.feedback.page import feedback_page


def write_feedback(course: Course, assignment: str, students: Sequence[str] | None = None) -> list[Path]:
    """A page for every notebook of everybody who handed something in, or of these students. Returns the files.

    Raises NotACourse for an assignment that the gradebook does not know.
    """
    return list(feedback_files(course, assignment, students))


def feedback_files(course: Course, assignment: str, students: Sequence[str] | None = None) -> Iterator[Path]:
    """The same, one file after the other: for a bar of progress."""
    names = [master.name for master in course.masters(assignment)]
    chosen = course.students(assignment) if students is None else students
    directory = course.directory
    with course.gradebook() as gradebook:
        notebooks = gradebook.find_assignment(assignment).notebooks
        kept = [(nb.grade_cells, nb.solution_cells, nb.task_cells) for nb in notebooks]  # held: read once for a class
        for student in chosen:
            folder = Path(directory.format_path(directory.feedback_directory, student, assignment))
            for name in names:
                known = facts(gradebook, course.root, assignment, name, student)
                graded = course.autograded(student, assignment) / f"{name}.ipynb"
                written = folder / f"{name}.html"
                write_whole(written, feedback_page(_cells(graded, known.state), known))
                yield written
        del kept


def _cells(graded: Path, state: str) -> list[Any]:
    """The cells that a student may see; none of an older grading where the newest submission has not been graded."""
    if state != "graded" or not graded.is_file():
        return []
    notebook, _ = HideFromStudents().preprocess(nbformat.read(graded, as_version=4), {})
    cells: list[Any] = notebook.cells
    return cells
