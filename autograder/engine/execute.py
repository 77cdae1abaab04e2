"""Where students' code is run during grading: nbgrader's Execute, replaced by the box.

Wired by `Autograde.autograde_preprocessors` (see `autograder.nbgrader_config`), so that `nbgrader autograde`,
formgrader's button and our own command all come through here. No kernel is started.

- Student code runs in the box; marks are computed here, outside, and put into the outputs that nbgrader reads.
- A fault of the grader itself never becomes a mark: the submission is reported and stays ungraded.
- Where the box had to stop a notebook or refused something, the record of the submission says so.
"""

import atexit
from pathlib import Path
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Unicode

from autograder.box import Box
from autograder.engine.attempt import Runs, attempt
from autograder.engine.marking import mark_notebook
from autograder.engine.plan import Plan, plan_notebook
from autograder.engine.results import NotebookResult, from_json, to_json, write_whole
from autograder.engine.seeds import course_secret
from autograder.preflight.folder import DATA, MOST_BYTES, MOST_OF_ALL
from autograder.release import exercises_of

_boxes: dict[str, Box] = {}


def shared_box(isolation: str) -> Box:
    """The box of this process: started when it is first needed, gone when the process is."""
    if isolation not in _boxes:
        box = Box(isolation=isolation)
        box.__enter__()
        atexit.register(box.__exit__, None, None, None)
        _boxes[isolation] = box
    return _boxes[isolation]


class CourseExecute(NbGraderPreprocessor):  # type: ignore[misc]
    """Runs a submitted notebook in the box and writes its outputs and marks."""

    root = Unicode("", help="The course's folder.").tag(config=True)
    isolation = Unicode("auto", help="auto, bubblewrap, landlock, or none: student code is then not contained.").tag(
        config=True
    )
    reuse = Bool(False, help="Take a kept result of the same notebook, instead of running it again.").tag(config=True)

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        about = resources["nbgrader"]
        place = (about["assignment"], about["notebook"], about["student"])
        root = Path(self.root or ".")
        plan = plan_notebook(
            "/".join(place),
            nb.cells,
            exercises_of(about["assignment"]),
            course_secret(root),
            place,
            data_files(Path(resources.get("metadata", {}).get("path", "."))),
        )
        kept = result_file(root, *place)
        result = (kept_result(kept, plan) if self.reuse else None) or run_plan(
            shared_box(self.isolation), plan, nb.cells
        )
        write_whole(kept, to_json(result))
        show(nb, result)
        return nb, resources


def result_file(root: Path, assignment: str, notebook: str, student: str) -> Path:
    """Where the result of a notebook is kept."""
    return root / "grading" / assignment / student / f"{notebook}.result.json"


def kept_result(path: Path, plan: Plan) -> NotebookResult | None:
    """The kept result, if it is of this very notebook and nothing had to be stopped."""
    try:
        result = from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return result if result.digest == plan.digest else None


def run_plan(box: Runs, plan: Plan, cells: Any) -> NotebookResult:
    """Run and judge."""
    tier = getattr(box, "tier", "")
    return mark_notebook(plan, attempt(box, plan.job), cells, getattr(tier, "name", str(tier)))


def show(nb: Any, result: NotebookResult) -> None:
    """Write the outputs into the notebook."""
    import nbformat

    for number, cell in enumerate(nb.cells):
        if cell.cell_type == "code":
            cell.outputs = [nbformat.from_dict(output) for output in result.outputs.get(str(number), [])]
            cell.execution_count = None


def data_files(folder: Path) -> dict[str, bytes]:
    """The data files beside the notebook that its cells may read; plain files only, and never code."""
    found: dict[str, bytes] = {}
    room = MOST_OF_ALL
    for path in sorted(folder.rglob("*")) if folder.is_dir() else []:
        if path.suffix.lower() not in DATA or path.is_symlink() or not path.is_file():
            continue
        size = path.stat().st_size
        if size <= min(MOST_BYTES, room):
            room -= size
            found[path.relative_to(folder).as_posix()] = path.read_bytes()
    return found
