"""nbgrader's settings for this course; `nbgrader_config.py` at the top of the checkout calls `configure`."""

import functools
import os
import shutil
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from autograder.assignments import SOURCE, handed_out, texts
from autograder.files import plain_files

RELEASE = "exercises"
EXCHANGE = Path("grading") / ".exchange"  # one line: where `python3 -m autograder exchange` has made it


def configure(c: Any, root: Path) -> None:
    """Fill nbgrader's configuration object `c` for the course at `root`."""
    # Imported here: these load nbgrader, which only its own commands need.
    from nbgrader.converters import Autograde, GenerateAssignment
    from nbgrader.preprocessors import ClearSolutions, Execute, GetGrades, SaveAutoGrades

    from autograder.feedback import formgrader
    from autograder.feedback.deliver import FeedbackExporter
    from autograder.feedback.hide import HideFromStudents
    from autograder.grading.execute import CourseExecute, CourseMarks, OpenQuestions
    from autograder.grading.stubs import CourseStubs, Sealed
    from autograder.preflight.links import CollectPlainFiles
    from autograder.preflight.sanitise import repair_first

    _scripts_on_path()
    c.CourseDirectory.course_id = "neural-language-models"
    c.CourseDirectory.source_directory = SOURCE
    c.CourseDirectory.release_directory = RELEASE
    c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", ".*"]
    # Apart from these, nbgrader copies every file beside a notebook, to students and into what they have handed in.
    c.GenerateAssignment.post_convert_hook = functools.partial(_only_what_students_get, root)
    c.Autograde.exclude_overwriting = {
        folder.name: sorted(_inside(folder, plain_files(folder, "**/*")) - _inside(folder, handed_out(folder)))
        for folder in (root / SOURCE).glob("*/")
    }

    own = [CourseStubs if each is ClearSolutions else each for each in GenerateAssignment.preprocessors.default()]
    c.GenerateAssignment.preprocessors = [OpenQuestions, *own, Sealed]
    c.ClearSolutions.text_stub = "YOUR ANSWER HERE (double-click to write)"
    # A mark scheme may stand in the locked cell that asks the question, next to the answer it is for.
    c.ClearMarkScheme.enforce_metadata = False
    c.OverwriteCells.add_missing_cells = True  # a deleted test cell is put back, not left without a mark

    repair_first(c)
    # nbgrader's own lists, with our parts in the places of Execute and SaveAutoGrades, and after GetGrades.
    ours = {Execute: CourseExecute, SaveAutoGrades: CourseMarks}
    own = Autograde.autograde_preprocessors.default()
    c.Autograde.autograde_preprocessors = [ours.get(each, each) for each in own]
    c.GenerateFeedback.preprocessors = [GetGrades, HideFromStudents]
    c.GenerateFeedback.exporter_class = FeedbackExporter
    formgrader.wire(c)
    server = formgrader.guard(c, root)
    if server is not None:
        from autograder.instructor.marking_page import in_jupyter

        in_jupyter.offer(server, root.resolve())

    if (root / EXCHANGE).is_file():
        c.Exchange.root = (root / EXCHANGE).read_text(encoding="utf-8").strip()
    c.ExchangeFactory.collect = CollectPlainFiles


def _scripts_on_path() -> None:
    """nbgrader runs `alembic` by its bare name: it must be found even if no environment is activated."""
    if shutil.which("alembic") is None:
        os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", "")])


def released(root: Path, assignment: str) -> set[Path]:
    """Where a release has the files of an assignment: its notebooks, and what its `files.txt` names; nothing else."""
    source, target = root / SOURCE / assignment, root / RELEASE / assignment
    notebooks = {path.with_suffix(".ipynb").name for path in (*source.glob("*.ipynb"), *texts(source))}
    return {target / name for name in notebooks | _inside(source, handed_out(source))}


def _only_what_students_get(root: Path, assignment: str, **_: Any) -> None:
    """nbgrader calls it when it has made a release."""
    for path in {*(root / RELEASE / assignment).rglob("*")} - released(root, assignment):
        if path.is_file():
            path.unlink()


def _inside(folder: Path, paths: Iterable[Path]) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in paths}
