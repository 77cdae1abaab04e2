"""What known attacks earn in the original system, and here. Each is tried in the sandbox, in a throwaway course.

nbgrader   nbgrader's own `autograde` from start to end, with the sandbox instead of a kernel
otter      its checks: the tests of a question run in the notebook's process, and their results stay there
here       this course's own way, `grade`
"""

import json
import logging
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.apps.api import NbGraderAPI
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import Execute, NbGraderPreprocessor
from traitlets.config import Config

from autograder.extras.imported.attacked import NOTHING, SOLVED, automatic, hand_in, read, submissions
from autograder.extras.imported.origin import Kind
from autograder.extras.imported.tricks import TRICKS, Trick
from autograder.grading.course import Course, master_files
from autograder.grading.execute import shared_box
from autograder.grading.gradebook import Scores, scores_of
from autograder.grading.run import grade
from autograder.release.build import build_copy
from autograder.sandbox import Cell, Job

BESIDE = "import sys; sys.path.insert(0, '')"  # as where a kernel starts
Points = Mapping[str, float | None]  # by test cell; None: there is no mark


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one attack earns; `there` is None if the attack stopped the grader itself."""

    name: str
    how: str
    there: float | None
    here: float | None
    cells: tuple[str, ...]  # the test cells that it passes here
    words: str  # what happened there, or here


@dataclass(frozen=True, kw_only=True)
class Table:
    kind: Kind
    of: float
    rows: list[Row]
    nothing: tuple[float | None, float | None]  # what a notebook earns in which nothing is written: there, here
    solved: tuple[float | None, float | None]  # what the master's own solution earns
    failing: tuple[str, ...]  # test cells that the solution does not pass here


def compare(root: Path, assignment: str, kind: Kind) -> Table:
    """Try every attack on an assignment of the course at `root`, in copies; nothing of the course is written."""
    with tempfile.TemporaryDirectory(prefix="rivals-") as folder:
        base = Path(folder) / "course"
        build_copy(root, [assignment], base)
        masters = read(base / "solutions" / assignment)
        handed = dict(submissions(read(base / "exercises" / assignment), masters))
        for student, made in handed.items():
            hand_in(base / "submitted" / student / assignment, made)
        here = _here(base, assignment)
        there, stopped = (
            _otter(base, assignment, handed) if kind == "otter" else _stock(Path(folder) / "stock", base, assignment)
        )
    tests = {f"{stem}/{n}": p for stem, nb in masters.items() for n, p in automatic(nb)}
    nothing = (there.get(NOTHING, {}), here.get(NOTHING, {}))
    return Table(
        kind=kind,
        of=sum(tests.values()),
        rows=[_row(trick, there, here, nothing, stopped.get(trick.key, "")) for trick in TRICKS],
        nothing=(_sum(nothing[0]), _sum(nothing[1])),
        solved=(_sum(there.get(SOLVED)), _sum(here.get(SOLVED))),
        failing=tuple(cell for cell, points in tests.items() if (here[SOLVED].get(cell) or 0) < points),
    )


def _row(trick: Trick, there: Mapping[str, Points], here: Mapping[str, Points], nothing: Any, words: str) -> Row:
    passed = tuple(
        cell for cell, points in here.get(trick.key, {}).items() if (points or 0) > (nothing[1].get(cell) or 0)
    )
    gained = None if trick.key not in there else _gain(there[trick.key], nothing[0])
    gained_here = None if trick.key not in here else _gain(here[trick.key], nothing[1])
    return Row(name=trick.name, how=trick.how, there=gained, here=gained_here, cells=passed, words=words)


def _gain(points: Points, nothing: Points) -> float:
    return round(max(0.0, (_sum(points) or 0.0) - (_sum(nothing) or 0.0)), 6)


def _sum(points: Points | None) -> float | None:
    return None if points is None else round(sum(p or 0.0 for p in points.values()), 6)


# --- graders ----------------------------------------------------------------------------------------------


def _here(root: Path, assignment: str) -> dict[str, Points]:
    found = {}
    for line in grade(Course.load(root), assignment):
        if line.record.state == "fault":
            raise RuntimeError(line.record.words)
        found[line.record.student] = _by_cell(line.record.scores)
    return found


def _by_cell(scores: Scores) -> Points:
    return {f"{name}/{cell}": points for name, cells in scores.items() for cell, points in cells.items()}


class Kernel(NbGraderPreprocessor):  # type: ignore[misc]
    """Runs a notebook as a kernel would, but in the sandbox; like nbgrader's, it raises if the process has died."""

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        code = [cell for cell in nb.cells if cell.cell_type == "code"]
        jobs = (Cell(id="", source=BESIDE), *(Cell(id=f"{n}", source=cell.source) for n, cell in enumerate(code)))
        folder = Path(resources["metadata"]["path"])
        course = Path(CourseDirectory(config=self.config).root)
        files = {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
        for path in sorted((course / "source").rglob("*.ipynb")):
            files[path.relative_to(course).as_posix()] = path.read_bytes()
        result = shared_box("auto").run(Job(name="stock", cells=jobs, files=files))
        if result.ended != "finished":
            raise RuntimeError(f"the kernel died: {result.words}")
        shown = {cell.id: cell.outputs for cell in result.cells}
        for number, cell in enumerate(code):
            cell.outputs = [nbformat.from_dict(output) for output in shown.get(f"{number}", ())]
        return nb, resources


def _stock(root: Path, base: Path, assignment: str) -> tuple[dict[str, Points], dict[str, str]]:
    shutil.copytree(base / "solutions" / assignment, root / "source" / assignment)
    config = Config()
    config.CourseDirectory.root = str(root)
    config.Autograde.autograde_preprocessors = [
        Kernel if each is Execute else each for each in Autograde.autograde_preprocessors.default()
    ]
    config.ClearMarkScheme.enforce_metadata = False
    api = NbGraderAPI(config=config)
    _quietly(lambda: api.generate_assignment(assignment))
    found: dict[str, Points] = {}
    words: dict[str, str] = {}
    for folder in sorted((base / "submitted").iterdir()):
        student = folder.name
        shutil.copytree(folder, root / "submitted" / student)
        answer = _quietly(lambda name=student: api.autograde(assignment, name, force=True))
        with Gradebook(f"sqlite:///{root}/gradebook.db") as book:
            if answer["success"]:
                found[student] = _by_cell(scores_of(book, assignment).get(student, {}))
            else:
                words[student] = "nbgrader stopped with an error: no mark, and `nbgrader autograde` ends there"
    return found, words


def _quietly(work: Any) -> Any:
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        return work()
    except MissingEntry as error:
        return {"success": False, "error": str(error)}
    finally:
        logging.disable(level)


def _otter(root: Path, assignment: str, handed: dict[str, dict[str, Any]]) -> tuple[dict[str, Points], dict[str, str]]:
    """As otter does it: the tests that the notebook calls run where it calls them, the others at its end, all with the
    source notebook's text. There is no solution; a test is compiled outside IPython, and its result stays in the
    notebook's process."""
    masters = read(root / "solutions" / assignment)
    files = master_files(Course.load(root).config, assignment)
    found: dict[str, Points] = {}
    words: dict[str, str] = {}
    for student, made in handed.items():
        points: dict[str, float | None] = {}
        for stem, notebook in made.items():
            points |= _one_of_otter(masters[stem], notebook, stem, files, words, student)
        if student not in words:
            found[student] = points
    return found, words


def _one_of_otter(
    master: Any, notebook: Any, stem: str, files: dict[str, bytes], words: dict[str, str], student: str
) -> dict[str, float | None]:
    texts = {c.metadata.nbgrader.grade_id: c.source for c in master.cells if "nbgrader" in c.metadata}
    points = dict(automatic(master))
    cells = [Cell(id="begin", source=f"{BESIDE}\n_otter = {{}}")]
    left = dict(points)

    def test(name: str) -> Cell:
        body = f"try:\n    exec({texts[name]!r}, globals())\n    _otter[{name!r}] = True"
        return Cell(id=f"test {name} {len(cells)}", source=f"{body}\nexcept Exception:\n    _otter[{name!r}] = False")

    for number, cell in enumerate(notebook.cells):
        name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
        if name in points:
            cells.append(test(name))
            left.pop(name, None)
        elif cell.cell_type == "code":
            cells.append(Cell(id=f"{number}", source=cell.source))
    cells += [test(name) for name in left]
    cells.append(Cell(id="results", source="import json as _json\nprint('OTTER', _json.dumps(_otter))"))
    result = shared_box("auto").run(Job(name="otter", cells=tuple(cells), files=files))
    last = next((cell for cell in result.cells if cell.id == "results"), None)
    text = "".join(o.get("text", "") for o in last.outputs) if last is not None else ""
    if "OTTER " not in text:
        words[student] = "otter finds no results: no mark"
        return {}
    passed = json.loads(text.partition("OTTER ")[2])
    return {f"{stem}/{name}": points[name] if passed.get(name) else 0.0 for name in points}
