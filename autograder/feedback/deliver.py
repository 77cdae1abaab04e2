"""Feedback for a class: `feedback/<student>/<assignment>/<notebook>.html`, where nbgrader, too, writes it and looks for
it.

A submission that could not be graded gets a page as well: it says why, and that this is not a zero. nbgrader's own
command and formgrader's button give the same pages, through `FeedbackExporter`.
"""

import io
import secrets
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
from nbconvert.exporters import Exporter
from nbgrader.api import Gradebook
from traitlets import default

from autograder.feedback.facts import Facts, facts
from autograder.feedback.hide import HideFromStudents
from autograder.feedback.page import feedback_page
from autograder.files import sweep, write_whole
from autograder.grading.beside import SECRET_FILE, secret_of, timestamp_of
from autograder.grading.course import Course
from autograder.grading.gradebook import late_arithmetic, renew_penalties
from autograder.grading.stale import stale
from autograder.guard import Guard, NotRead
from autograder.preflight.choose import renamed


def write_feedback(course: Course, assignment: str, students: Sequence[str] | None = None) -> list[Path]:
    """A page for every notebook of everybody who handed something in, or of these students. Returns the files. Raises
    NotACourse for an assignment that the gradebook does not know."""
    names = [master.name for master in course.masters(assignment)]
    chosen = course.students(assignment) if students is None else students
    directory = course.directory
    written = []
    with Guard() as guard, course.gradebook() as gradebook:
        renew_penalties(gradebook, assignment, course.config, chosen)
        old = stale(course, assignment, chosen)
        notebooks = gradebook.find_assignment(assignment).notebooks
        kept = [(nb.grade_cells, nb.solution_cells, nb.task_cells) for nb in notebooks]  # held: read once for a class
        for student in chosen:
            folder = Path(directory.format_path(directory.feedback_directory, student, assignment))
            submission = course.submission(student, assignment)
            sweep(folder)
            for name in names:
                known = facts(gradebook, course.root, assignment, name, student)
                known = replace(known, stale=student in old, arithmetic=late_arithmetic(course.config, known.late))
                graded = course.autograded(student, assignment) / f"{name}.ipynb"
                page = _guarded(guard, known, _page, graded)
                write_whole(folder / f"{name}.html", page)
                written.append(folder / f"{name}.html")
                for other in _handed_in_as(submission, known):
                    write_whole(folder / f"{other}.html", page)
            _for_exchange(submission, folder)
        del kept
    return written


BACK = {
    "Moodle": "View all submissions, Upload multiple feedback files in a zip",
    "Canvas": "the assignment's menu in the gradebook, Re-Upload Submissions",
}
"""System -> where its teachers upload a zip of feedback."""


def for_lms(course: Course, assignment: str, numbers: Mapping[str, str]) -> dict[str, Path]:
    """Write grading/ASSIGNMENT/feedback-for-moodle.zip, or -canvas, with the pages of all who have a number of that
    system. Returns what there is, by system.

    Files are called as in the system's download: NAME_NUMBER_assignsubmission_file_/…, of which Moodle reads the number
    (mod/assign/feedback/file/importziplib.php), or NAME_USER_FILE_…, of which Canvas reads the first two numbers
    between underscores (app/models/assignment.rb, infer_comment_context_from_filename)."""
    directory = course.directory
    pages: dict[str, list[tuple[str, Path]]] = {system: [] for system in BACK}
    for student, number in sorted(numbers.items()):
        folder = Path(directory.format_path(directory.feedback_directory, student, assignment))
        system, begins = _called(student.replace("_", "-"), number)
        there = (folder / f"{master.name}.html" for master in course.masters(assignment))
        pages[system] += [(f"{begins}{page.name}", page) for page in there if page.is_file()]
    made = {}
    for system, found in pages.items():
        if found:
            made[system] = course.root / "grading" / assignment / f"feedback-for-{system.lower()}.zip"
            write_whole(made[system], _zipped(found))
    return made


def _called(student: str, number: str) -> tuple[str, str]:
    """The system that gave such a number, and with what the name of a page for it begins."""
    if "_" in number:
        return "Canvas", f"{student}-feedback_{number}_"
    return "Moodle", f"{student}_{number}_assignsubmission_file_/"


def _zipped(pages: Sequence[tuple[str, Path]]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, page in pages:
            archive.write(page, name)
    return made.getvalue()


def _handed_in_as(submission: Path, known: Facts) -> list[str]:
    """Other file names under which the student's `nbgrader fetch_feedback` looks for the page of a notebook."""
    if not secret_of(submission):
        return []
    words = {finding.get("words") for finding in known.findings}
    files = [path for path in submission.glob("*.ipynb") if path.stem != known.notebook]
    return [path.stem for path in files if renamed(path.name, known.notebook).words in words]


def _for_exchange(submission: Path, folder: Path) -> None:
    """The files that `nbgrader release_feedback` reads next to the pages. Students who did not hand in through the
    exchange get a secret that nobody knows, because without one it would stop, and nobody after that student would get
    a page."""
    write_whole(folder / "timestamp.txt", timestamp_of(submission)[0] or "")
    secret = secret_of(submission) or secret_of(folder) or secrets.token_hex(64)
    write_whole(folder / SECRET_FILE, secret)


def _guarded(guard: Guard, known: Facts, page: Callable[[Facts, Any], str], shown: Any) -> str:
    """A page; if the notebook cannot be read, it says so instead of showing the notebook."""
    try:
        return guard.ask(page, known, shown)
    except NotRead as why:
        words = (
            f"Your notebook is left out of this page, as it could not be read: {why}. Your mark is not touched by it."
        )
        return feedback_page(replace(known, findings=(*known.findings, {"kind": "note", "words": words})), [])


def _page(known: Facts, graded: Path) -> str:
    """With the cells that a student may see; none of an older grading if the newest submission has not been graded."""
    if known.state != "graded" or not graded.is_file():
        return feedback_page(known, [])
    notebook, _ = HideFromStudents().preprocess(nbformat.read(graded, as_version=4), {})
    return feedback_page(known, notebook.cells)


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
            renew_penalties(gradebook, about["assignment"], converter.config, [about["student"]])
            known = facts(gradebook, Path(course.root), about["assignment"], about["notebook"], about["student"])
        whole = Course(Path(course.root), converter.config, course)
        old = bool(stale(whole, about["assignment"], [about["student"]]))
        known = replace(known, stale=old, arithmetic=late_arithmetic(whole.config, known.late))
        with Guard() as guard:
            return _guarded(guard, known, feedback_page, nb.cells), resources
