"""Feedback for a class: `feedback/<student>/<assignment>/<notebook>.html`, where nbgrader too puts and looks for it.

A submission that could not be graded gets a page as well: it says why, and that this is no zero. nbgrader's own command
and formgrader's button give the same pages, through `FeedbackExporter`.
"""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import Exporter
from nbgrader.api import Gradebook
from traitlets import default

from autograder.engine.course import Course
from autograder.engine.gradebook import SECRET_FILE, secret_of, timestamp_of
from autograder.engine.records import sweep, write_whole
from autograder.feedback.facts import Facts, facts
from autograder.feedback.hide import HideFromStudents
from autograder.feedback.page import feedback_page
from autograder.guard import Guard, NotRead


def write_feedback(course: Course, assignment: str, students: Sequence[str] | None = None) -> list[Path]:
    """A page for every notebook of everybody who handed something in, or of these students. Returns the files. Raises
    NotACourse for an assignment that the gradebook does not know."""
    names = [master.name for master in course.masters(assignment)]
    chosen = course.students(assignment) if students is None else students
    directory = course.directory
    written = []
    with Guard() as guard, course.gradebook() as gradebook:
        notebooks = gradebook.find_assignment(assignment).notebooks
        kept = [(nb.grade_cells, nb.solution_cells, nb.task_cells) for nb in notebooks]  # held: read once for a class
        for student in chosen:
            folder = Path(directory.format_path(directory.feedback_directory, student, assignment))
            sweep(folder)
            for name in names:
                known = facts(gradebook, course.root, assignment, name, student)
                graded = course.autograded(student, assignment) / f"{name}.ipynb"
                write_whole(folder / f"{name}.html", _guarded(guard, known, _page, graded))
                written.append(folder / f"{name}.html")
            _for_exchange(course.submission(student, assignment), folder)
        del kept
    return written


def _for_exchange(submission: Path, folder: Path) -> None:
    """What `nbgrader release_feedback` reads beside the pages. Whoever handed in otherwise gets a secret that nobody
    knows: without one it would stop, and nobody after that student would get a page."""
    write_whole(folder / "timestamp.txt", timestamp_of(submission)[0] or "")
    secret = secret_of(submission) or secret_of(folder) or secrets.token_hex(64)
    write_whole(folder / SECRET_FILE, secret)


def _guarded(guard: Guard, known: Facts, page: Callable[[Facts, Any], str], shown: Any) -> str:
    """A page; where the notebook cannot be read, without it and with a sentence."""
    try:
        return guard.ask(page, known, shown)
    except NotRead as why:
        words = (
            f"Your notebook is left out of this page, as it could not be read: {why}. Your mark is not touched by it."
        )
        return feedback_page([], replace(known, findings=(*known.findings, {"kind": "note", "words": words})))


def _page(known: Facts, graded: Path) -> str:
    return feedback_page(_cells(graded, known.state), known)


def _page_of(known: Facts, cells: list[Any]) -> str:
    return feedback_page(cells, known)


def _cells(graded: Path, state: str) -> list[Any]:
    """The cells that a student may see; none of an older grading where the newest submission has not been graded."""
    if state != "graded" or not graded.is_file():
        return []
    notebook, _ = HideFromStudents().preprocess(nbformat.read(graded, as_version=4), {})
    cells: list[Any] = notebook.cells
    return cells


class FeedbackExporter(Exporter):  # type: ignore[misc]
    """`GenerateFeedback.exporter_class`. The preprocessors run before, `HideFromStudents` among them."""

    output_mimetype = "text/html"

    @default("file_extension")
    def _html(self) -> str:
        return ".html"

    def from_notebook_node(self, nb: Any, resources: Any = None, **kw: Any) -> tuple[Any, Any]:
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        about = resources["nbgrader"]
        converter: Any = self.parent
        course = converter.coursedir
        with Gradebook(about["db_url"], course.course_id) as gradebook:
            known = facts(gradebook, Path(course.root), about["assignment"], about["notebook"], about["student"])
        with Guard() as guard:
            return _guarded(guard, known, _page_of, nb.cells), resources
