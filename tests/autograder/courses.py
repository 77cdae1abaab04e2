"""Two small courses: one of plain nbgrader assignments, and the course's own; and what students hand in.

`conftest` makes each of them once and copies it.
"""

import csv
import re
import shutil
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.grading.course import Course
from autograder.launcher.environment import Environment
from autograder.question.outcome import Fault, Outcome, call
from autograder.release.build import build_exercises
from autograder.sandbox import BoxResult, Cell, CellResult, Job
from autograder.texts import notebooks

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENTS = sorted({path.parent.name for path in (ROOT / "solutions").glob("*/*.py")})
CONFIG = """
from pathlib import Path
from autograder.nbgrader_config import configure
configure(get_config(), Path(__file__).resolve().parent)
"""


def about(name: str, **facts: object) -> dict[str, object]:
    given = {"grade": False, "solution": False, "locked": False, "task": False, "schema_version": 3, "grade_id": name}
    return {"nbgrader": {**given, **facts}}


def test_cell(name: str, points: float, source: str) -> nbformat.NotebookNode:
    return new_code_cell(source, metadata=about(name, grade=True, locked=True, points=points))


def answer(name: str, source: str) -> nbformat.NotebookNode:
    return new_code_cell(source, metadata=about(name, solution=True))


FIRST = new_notebook(
    cells=[
        answer("double", "def double(x):\n    ### BEGIN SOLUTION\n    return 2 * x\n    ### END SOLUTION"),
        test_cell(
            "test_double",
            3,
            "assert double(2) == 4\n### BEGIN HIDDEN TESTS\nassert double(-7) == -14\n### END HIDDEN TESTS",
        ),
        answer("triple", "def triple(x):\n    ### BEGIN SOLUTION\n    return 3 * x\n    ### END SOLUTION"),
        test_cell(
            "test_triple",
            2,
            "### BEGIN HIDDEN TESTS\n2 if triple(2) == 6 else 0.5 if callable(triple) and triple(1) else 0\n"
            "### END HIDDEN TESTS",
        ),
        new_markdown_cell(
            "### BEGIN SOLUTION\nBecause.\n### END SOLUTION",
            metadata=about("why", grade=True, solution=True, points=4),
        ),
        new_markdown_cell("Draw it.", metadata=about("drawing", task=True, locked=True, points=2)),
    ]
)
SECOND = new_notebook(
    cells=[
        new_code_cell("import helper\nwords = open('data/words.txt').read().split()"),
        answer("count", "def count(words):\n    ### BEGIN SOLUTION\n    return len(words)\n    ### END SOLUTION"),
        test_cell("test_count", 5, "assert count(words) == helper.WORDS"),
    ]
)
ANSWERS = {
    "double": "def double(x):\n    return x + x",
    "triple": "def triple(x):\n    return x + x + x",
    "why": "Because addition is repeated.",
    "count": "def count(words):\n    return sum(1 for _ in words)",
}


def by_hand(assignment: str) -> float:
    """The points of an assignment's written questions."""
    text = (ROOT / "solutions" / assignment / f"{assignment}.py").read_text(encoding="utf-8")
    return sum(map(float, re.findall(r"\[\[written, \d+ minutes, ([\d.]+) points(?:, \w+)?\]\]", text)))


Change = Callable[[str, dict[str, nbformat.NotebookNode], nbformat.NotebookNode], None]
"""(notebook's name, its named cells, the notebook): what a student does with a released notebook."""


def plain_course(root: Path) -> Path:
    """Two plain notebooks and their files, released."""
    source = root / "solutions" / "plain"
    (source / "data").mkdir(parents=True)
    (root / "nbgrader_config.py").write_text(CONFIG)
    (source / "data" / "words.txt").write_text("one two three")
    (source / "helper.py").write_text("WORDS = 3\n")
    (source / "files.txt").write_text("data/*.txt\nhelper.py\n")
    nbformat.write(FIRST, source / "one.ipynb")
    nbformat.write(SECOND, source / "two.ipynb")
    build_exercises(root)
    return root


def course(folder: Path, *assignments: str) -> Path:
    """A copy of the course's masters, of some or of all assignments, and settings; its notebooks built."""
    for name in assignments or ASSIGNMENTS:
        source, target = ROOT / "solutions" / name, folder / "solutions" / name
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.ipynb", ".*"))
    for name in ("pyproject.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, folder / name)
    notebooks.build(folder)
    return folder


def checkout(folder: Path, assignment: str) -> Path:
    """A copy of this whole checkout, for commands; with one assignment and one lecture, so that it is soon built."""
    own = shutil.ignore_patterns(".*", "*.ipynb")  # what is compiled goes along: not every copy compiles it anew
    for name in ("autograder", "lectures", "nlmcore", "solutions"):
        shutil.copytree(ROOT / name, folder / name, ignore=own)
    for path in ROOT.iterdir():
        if path.is_file() and not path.name.startswith(".") and path.suffix in {"", ".md", ".py", ".toml", ".yml"}:
            shutil.copy(path, folder)
    for other in (folder / "solutions").iterdir():
        if other.is_dir() and other.name != assignment:
            shutil.rmtree(other)
    for lecture in sorted((folder / "lectures").glob("[0-9]*_*.py"))[1:]:
        lecture.unlink()
    return folder


def copy(template: Path, to: Path) -> Path:
    shutil.copytree(template, to)
    return to


def env(root: Path) -> Environment:
    """A checkout, for commands."""
    return Environment(root, Path(sys.prefix), Path(sys.executable), Path(sys.prefix))


def zipped(path: Path, members: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def table(path: Path) -> list[dict[str, str]]:
    """A table of ours, row by row."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def marked(course: Course, student: str, cell: str, points: float, waits: bool = False, of: str = "plain") -> None:
    """A mark by hand, as another program writes it."""
    with course.gradebook() as book:
        mark = book.find_grade(cell, "one" if of == "plain" else of, of, student)
        mark.manual_score, mark.needs_manual_grade = points, waits
        book.db.commit()


def hand_in(root: Path, assignment: str, student: str, change: Change, when: str = "2025-11-21 12:00:00 UTC") -> Path:
    """What a student submits: the released notebooks, changed."""
    folder = root / "submitted" / student / assignment
    shutil.copytree(root / "exercises" / assignment, folder)
    for path in sorted(folder.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        cells = {c.metadata.nbgrader.grade_id: c for c in notebook.cells if "nbgrader" in c.metadata}
        change(path.stem, cells, notebook)
        nbformat.write(notebook, path)
    if when:
        (folder / "timestamp.txt").write_text(when)
    return folder


def writes(answers: dict[str, str]) -> Change:
    """A student who writes these answers, by grade_id."""

    def change(name: str, cells: dict[str, nbformat.NotebookNode], notebook: nbformat.NotebookNode) -> None:
        for key, source in answers.items():
            if key in cells:
                cells[key].source = source

    return change


def nothing(name: str, cells: dict[str, nbformat.NotebookNode], notebook: nbformat.NotebookNode) -> None:
    """A student who hands in what was released."""


def everything(root: Path) -> dict[Path, bytes | bool]:
    return {path.relative_to(root): path.is_file() and path.read_bytes() for path in root.rglob("*")}


def of_the_class(root: Path, *without: str) -> dict[Path, bytes | bool]:
    """The files of a class, but for what a run notes for itself, and what has one of these names on its way."""
    of_a_run = {Path("grading/plain") / name for name in (".lock", ".graded-by")}
    files = {path: content for path, content in everything(root).items() if content is not False}
    kept = {path for path in files if path.parts[0] in ("submitted", "autograded", "feedback", "grading")} - of_a_run
    return {path: files[path] for path in kept if not {*without} & {*path.parts}}


def snapshot(root: Path, assignment: str, db: str | None = None) -> dict[str, object]:
    """All that the gradebook says of an assignment: by student, notebook, cell.

    Sums to nine decimals: in which order SQL adds tenths up is its own business. Cells are as they stand.
    """
    found: dict[str, object] = {}
    with Course.load(root, db).gradebook() as book:
        for submission in book.assignment_submissions(assignment):
            found[submission.student.id] = {
                "when": submission.timestamp,
                "score": round(submission.score, 9),
                **{
                    notebook.name: {
                        "late": notebook.late_submission_penalty,
                        "score": round(notebook.score, 9),
                        "grades": sorted(
                            (g.name, g.auto_score, g.manual_score, g.needs_manual_grade) for g in notebook.grades
                        ),
                        "comments": sorted((c.name, c.auto_comment, c.manual_comment) for c in notebook.comments),
                    }
                    for notebook in submission.notebooks
                },
            }
    return found


class FakeBox:
    """Stands in the box's place where the walls are not what is looked at: runs cells with `exec`, or answers the
    interviews with functions of its own."""

    def __init__(self, functions: Callable[[str, str], Callable[..., object] | None] | None = None) -> None:
        self.functions = functions
        """(the job's name, the function's name) -> the function; None: it is not there."""

    def run(self, job: Job) -> BoxResult:
        space: dict[str, object] = {}
        cells = tuple(self._cell(job, cell, space) for cell in job.cells)
        return BoxResult(cells=cells, ended="finished", words="It ran to the end.", seconds=0.0, isolation="fake")

    def _cell(self, job: Job, cell: Cell, space: dict[str, object]) -> CellResult:
        if not cell.interviews:
            return CellResult(id=cell.id, outputs=() if self.functions else tuple(_execute(cell.source, space)))
        asked = cell.interviews[0]
        function = self.functions(job.name, asked.function) if self.functions else space.get(asked.function)
        if function is None:
            gone = Outcome(fault=Fault(kind="NameError", words=f"there is no {asked.function!r}"))
            return CellResult(id=cell.id, outcomes=((gone,) * len(asked.calls),))
        outcomes = tuple(
            call(function, arguments, asked.arguments, asked.returns, asked.numpy)  # type: ignore[arg-type]
            for arguments in asked.calls
        )
        return CellResult(id=cell.id, outcomes=(outcomes,))


def _execute(source: str, space: dict[str, object]) -> list[dict[str, object]]:
    import ast

    try:
        body = ast.parse(source)
        last = body.body.pop() if body.body and isinstance(body.body[-1], ast.Expr) else None
        exec(compile(body, "cell", "exec"), space)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), space) if isinstance(last, ast.Expr) else None
    except Exception as error:
        return [{"output_type": "error", "ename": type(error).__name__, "evalue": str(error), "traceback": []}]
    if value is None:
        return []
    data = {"text/plain": repr(value)}
    return [{"output_type": "execute_result", "execution_count": None, "data": data, "metadata": {}}]
