"""nbgrader's settings for this course; `nbgrader_config.py` at the top of the checkout calls `configure`."""

import os
import re
import shutil
import sysconfig
from pathlib import Path
from typing import Any

SOURCE, RELEASE = "solutions", "exercises"
EXCHANGE = Path("grading") / ".exchange"  # one line: where `python3 -m autograder exchange` has made it


def configure(c: Any, root: Path) -> None:
    """Fill nbgrader's configuration object `c` for the course at `root`."""
    # Imported here: these load nbgrader, which only its own commands need.
    from nbgrader.converters import Autograde, GenerateAssignment
    from nbgrader.preprocessors import ClearSolutions, Execute, GetGrades, SaveAutoGrades

    from autograder.engine.execute import CourseExecute, CourseMarks, OpenQuestions
    from autograder.engine.stubs import CourseStubs, Sealed
    from autograder.feedback import formgrader
    from autograder.feedback.deliver import FeedbackExporter
    from autograder.feedback.hide import HideFromStudents
    from autograder.preflight.links import CollectPlainFiles
    from autograder.preflight.sanitise import repair_first

    _scripts_on_path()
    c.CourseDirectory.course_id = "neural-language-models"
    c.CourseDirectory.source_directory = SOURCE
    c.CourseDirectory.release_directory = RELEASE
    # nbgrader copies every file of an assignment's folder to the students except these names.
    c.CourseDirectory.ignore = [".ipynb_checkpoints", "*.pyc", "__pycache__", ".*", *text_masters(root)]

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


def text_masters(root: Path) -> list[str]:
    """The names of the solutions' text sources, which students must not get: files of `solutions/*/` with cells."""
    texts = (root / SOURCE).glob("*/*.py")
    return sorted({path.name for path in texts if re.search(r"^# %%", path.read_text(encoding="utf-8"), re.M)})
