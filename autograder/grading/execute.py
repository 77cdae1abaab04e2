"""Runs students' code during grading: replaces nbgrader's Execute by the sandbox.

`CourseExecute` is wired by `Autograde.autograde_preprocessors` (see `autograder.nbgrader_config`), so that `nbgrader
autograde` and formgrader's button use this code. `work` does the same for our own command, as a task for any worker: it
needs neither the gradebook nor the course's folders. No kernel is started.

`CourseMarks` replaces nbgrader's SaveAutoGrades there.

- Student code runs in the sandbox; marks are computed here, outside, and put into the outputs that nbgrader reads.
- A fault of the grader itself never becomes a mark: it raises, nbgrader says so and leaves that submission ungraded.
"""

import atexit
import gc
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import is_grade, is_task
from traitlets import Bool, Unicode

from autograder.files import write_whole
from autograder.grading.answers import Known, digests, grade_id
from autograder.grading.attempt import Runs, attempt
from autograder.grading.course import master_files
from autograder.grading.gradebook import UNMARKED, stays_confirmed
from autograder.grading.groups import inputs_of
from autograder.grading.marking import Early, better, counted_together, mark_notebook, what_failed
from autograder.grading.plan import Plan, plan_notebook
from autograder.grading.records import NotebookResult, result_file, to_json
from autograder.grading.seeds import course_secret
from autograder.preflight.finding import scan
from autograder.preflight.folder import DATA, MOST_BYTES, MOST_OF_ALL
from autograder.question.find import exercises_of
from autograder.question.questions import opened
from autograder.question.verdict import GraderFault
from autograder.sandbox import Box, BoxFault, IsolationMissing
from autograder.sandbox.tiers import Isolation

_boxes: dict[str, Box] = {}


def shared_box(isolation: Isolation) -> Box:
    """The sandbox of this process: started when it is first needed, ended with the process.

    What is loaded by then stays, so the garbage collector need not look at it after every submission."""
    if isolation not in _boxes:
        _boxes[isolation] = Box(isolation=isolation)
        atexit.register(_boxes[isolation].close)
        gc.collect()
        gc.freeze()
    return _boxes[isolation]


def abandon_boxes() -> None:
    """End the sandboxes of this process, in the middle of a notebook if necessary."""
    for box in _boxes.values():
        box.abandon()


class OpenQuestions(NbGraderPreprocessor):  # type: ignore[misc]
    """nbgrader's first step in making a release: a question's one line becomes its figures, its cells' metadata and its
    test cell."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        return opened(nb), resources


class CourseExecute(NbGraderPreprocessor):  # type: ignore[misc]
    """Runs a submitted notebook in the sandbox and writes its outputs and marks."""

    isolation = Unicode("auto", help="auto, bubblewrap, landlock, or none: student code is then not contained.").tag(
        config=True
    )

    pictures = Bool(False, help="Draw the course's own pictures, where otherwise their alternative text stands.").tag(
        config=True
    )

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        about = resources["nbgrader"]
        place = (about["assignment"], about["notebook"], about["student"])
        root = Path(CourseDirectory(config=self.config).root)
        files = data_files(Path(resources.get("metadata", {}).get("path", "."))) | master_files(self.config, place[0])
        exercises, secret = exercises_of(place[0]), course_secret(root)
        whose = (*place[:2], inputs_of(root, place[0], place[2]))
        plan = plan_notebook("/".join(place), nb.cells, exercises, secret, whose, files, self.pictures)
        result = run_plan(shared_box(self.isolation), plan, nb.cells)  # type: ignore[arg-type]
        for words in result.incidents:
            self.log.warning("%s/%s: %s", about["student"], about["notebook"], words)
        write_whole(result_file(root, *place), to_json(result))
        show(nb, result)
        return nb, resources


class CourseMarks(SaveAutoGrades):  # type: ignore[misc]
    """Writes the marks as nbgrader does, but a mark by hand stays confirmed while the answer is the same, and a
    question that failed through our own fault has none."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        about, directory = resources["nbgrader"], CourseDirectory(config=self.config)
        known = Known(Path(directory.root), about["assignment"], about["student"], about["db_url"])
        folder = directory.format_path(directory.autograded_directory, about["student"], about["assignment"])
        answers = {about["notebook"]: digests(nb.cells, Path(folder))}
        self._same = known.same(answers)[about["notebook"]]
        made: tuple[Any, Any] = super().preprocess(nb, resources)
        known.keep(answers)
        return made

    def preprocess_cell(self, cell: Any, resources: Any, cell_index: int) -> tuple[Any, Any]:
        if not (is_grade(cell) or is_task(cell)):
            return super().preprocess_cell(cell, resources, cell_index)  # type: ignore[no-any-return]
        name = grade_id(cell)
        grade = self.gradebook.find_grade(name, self.notebook_id, self.assignment_id, self.student_id)
        confirmed = stays_confirmed(grade, name in self._same)
        made: tuple[Any, Any] = super().preprocess_cell(cell, resources, cell_index)
        if cell.metadata.get(UNMARKED):
            grade.auto_score, grade.needs_manual_grade = None, True
        if grade.manual_score is not None:
            grade.needs_manual_grade = not confirmed
        self.gradebook.db.commit()
        return made


def run_plan(box: Runs, plan: Plan, cells: Any) -> NotebookResult:
    """Run and judge. Functions that failed, rather than just giving wrong answers, are called again in a run of only
    those parts of the notebook that they need; the better mark counts."""
    early = Early(plan, cells)
    first = attempt(box, replace(plan.job, meanwhile=early))
    result = mark_notebook(plan, first, cells, early)
    again = what_failed(plan, result, first)
    if again is not None:
        result = better(result, again, mark_notebook(again, attempt(box, again.job), cells))
    result = counted_together(plan, result)
    unsure = [f"{mark.cell}: {mark.unsure}" for mark in result.marks if mark.unsure]
    return replace(result, incidents=[*result.incidents, *unsure])


def show(nb: Any, result: NotebookResult) -> None:
    """Write the outputs into the notebook, and note in the cells' metadata where there must be no mark."""
    unsure = {mark.cell for mark in result.marks if mark.unsure}
    for cell in nb.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") in unsure:
            cell.metadata[UNMARKED] = True
    for number, cell in enumerate(nb.cells):
        if cell.cell_type == "code":
            cell.outputs = [nbformat.from_dict(output) for output in result.outputs.get(str(number), [])]
            cell.execution_count = None


def data_files(folder: Path) -> dict[str, bytes]:
    """The data files below a folder that a notebook's cells may read: plain ones, and never code."""
    found: dict[str, bytes] = {}
    room = MOST_OF_ALL
    for inside, path in sorted(scan(folder, [])) if folder.is_dir() else []:
        size = path.stat().st_size
        hidden = path.name.startswith(".") or path.name == "timestamp.txt"
        if path.suffix.lower() in DATA and not hidden and size <= min(MOST_BYTES, room):
            room -= size
            found[inside] = path.read_bytes()
    return found


@dataclass(frozen=True, kw_only=True)
class Task:
    student: str
    assignment: str
    notebooks: Mapping[str, list[dict[str, Any]]]  # by name: the repaired cells, as plain dictionaries
    files: Mapping[str, bytes]
    secret: bytes
    isolation: Isolation
    pictures: bool = False  # whether the course's own pictures are drawn into the graded notebook
    inputs_of: str = ""  # whose hidden inputs, if not the student's own


@dataclass(frozen=True, kw_only=True)
class Done:
    student: str
    results: Mapping[str, str]  # by notebook: `records.to_json`
    fault: str = ""  # what is wrong with the grader, if something is. Then there are no marks.


def work(task: Task) -> Done:
    """Run and judge. A student's failure is a result; an exception here is a fault of the grader, and is reported."""
    results = {}
    try:
        box = shared_box(task.isolation)
        exercises = exercises_of(task.assignment)
        for name, cells in task.notebooks.items():
            place = (task.assignment, name, task.inputs_of or task.student)
            called = f"{task.assignment}/{name}/{task.student}"
            plan = plan_notebook(called, cells, exercises, task.secret, place, task.files, task.pictures)
            results[name] = to_json(run_plan(box, plan, cells))
    except (GraderFault, BoxFault, IsolationMissing) as fault:
        return Done(student=task.student, results={}, fault=str(fault))
    except Exception as fault:
        return Done(student=task.student, results={}, fault=f"{type(fault).__name__}: {fault}")
    return Done(student=task.student, results=results)
