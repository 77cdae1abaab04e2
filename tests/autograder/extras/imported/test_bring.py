"""Assignments from elsewhere: taken in with the same meaning, what is missing is said, the original is only read."""

import hashlib
import shutil
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from autograder.commands import move_in
from autograder.extras.imported.bring import bring
from autograder.extras.imported.cases import cells as in_cells
from autograder.extras.imported.cases import from_spec, from_text, resolved
from autograder.extras.imported.otter import stripped
from autograder.question.questions import opened
from autograder.texts.text import from_text as notebook_of
from tests.autograder.courses import FIRST, ROOT, SECOND, about, env
from tests.autograder.extras.imported import otters

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "here").mkdir()
    for name in ("pyproject.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, tmp_path / "here")
    return tmp_path / "here"


def digest(folder: Path) -> dict[str, str]:
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def source(folder: Path) -> Path:
    (folder / "source" / "PS 1" / "data").mkdir(parents=True)
    nbformat.write(FIRST, folder / "source" / "PS 1" / "one.ipynb")
    nbformat.write(SECOND, folder / "source" / "PS 1" / "two.ipynb")
    (folder / "source" / "PS 1" / "data" / "words.txt").write_text("one two three")
    (folder / "source" / "PS 1" / "helper.py").write_text("# %% a cell of an editor\nWORDS = 3\n")
    return folder / "source" / "PS 1"


def cells(root: Path, name: str, notebook: str) -> list[nbformat.NotebookNode]:
    return notebook_of((root / "solutions" / name / f"{notebook}.py").read_text(), root).cells


def test_nbgraders_cells_come_as_they_are_and_the_original_is_not_touched(root, tmp_path):
    folder = source(tmp_path)
    before = digest(tmp_path / "source")
    found = bring(root, folder)
    assert digest(tmp_path / "source") == before
    assert (found.name, found.kind, found.notebooks) == ("ps_1", "nbgrader", ["one", "two"])
    assert (found.points, found.by_hand) == (10, 6)
    for name, master in (("one", FIRST), ("two", SECOND)):
        made = cells(root, "ps_1", name)
        assert [cell.source for cell in made] == [cell.source for cell in master.cells]
        found_here, wanted = (
            [
                (c.metadata.nbgrader.grade_id, c.metadata.nbgrader.get("points"))
                for c in all_
                if "nbgrader" in c.metadata
            ]
            for all_ in (made, master.cells)
        )
        assert found_here == wanted
    assert (root / "solutions/ps_1/data/words.txt").read_text() == "one two three"
    assert not (root / "solutions/ps_1/helper.py").read_text().startswith("# %%")  # it would pass for a master
    assert found.notes.rows == []


def test_a_courses_own_marks_become_the_usual_ones_and_its_settings_are_named(root, tmp_path):
    folder = source(tmp_path)
    (tmp_path / "nbgrader_config.py").write_text(
        "c = get_config()\nc.ClearHiddenTests.begin_test_delimeter = 'VERBERGE'\n"
        "c.ClearHiddenTests.end_test_delimeter = 'ZEIGE'\nc.LateSubmissionPlugin.penalty = 3\nraise SystemExit\n"
    )
    cell = new_code_cell(
        "assert 1\n### VERBERGE\nassert 2\n### ZEIGE", metadata=about("t", grade=True, locked=True, points=1)
    )
    nbformat.write(new_notebook(cells=[cell]), folder / "one.ipynb")
    found = bring(root, folder, "own_marks")
    assert "### BEGIN HIDDEN TESTS\nassert 2\n### END HIDDEN TESTS" in cells(root, "own_marks", "one")[0].source
    assert any("LateSubmissionPlugin.penalty" in what for what, _ in found.notes.rows)


def test_pictures_in_cells_become_files_and_headings_no_questions_of_ours(root, tmp_path):
    folder = source(tmp_path)
    cell = new_markdown_cell("## 1. A matrix [[1, 2], [3, 4]]\n![it](attachment:a b.png)")
    cell["attachments"] = {"a b.png": {"image/png": "iVBORw0K"}}
    nbformat.write(new_notebook(cells=[cell, *FIRST.cells]), folder / "one.ipynb")
    bring(root, folder, "pictures")
    (picture,) = (root / "solutions" / "pictures").glob("*.png")
    assert picture.name in cells(root, "pictures", "one")[0].source
    opened(new_notebook(cells=cells(root, "pictures", "one")))


def test_an_otter_master_keeps_its_points_its_hidden_tests_and_its_prompts(root, tmp_path):
    found = bring(root, otters.write(tmp_path / "hw"))
    assert (found.kind, found.points, found.by_hand) == ("otter", 5, 2)
    made = cells(root, "hw01", "hw01")
    graded = {c.metadata.nbgrader.grade_id: c for c in made if "nbgrader" in c.metadata}
    assert {n: c.metadata.nbgrader.get("points") for n, c in graded.items()} == {
        "q1": None, "q1_test": 1, "q1_test_2": 2, "q1_test_3": 2, "q_2": 2,
    }  # fmt: skip
    assert "HIDDEN" not in graded["q1_test"].source
    assert graded["q1_test_2"].source.split("\n")[1] == "### BEGIN HIDDEN TESTS"
    assert "# nine = ...\n### BEGIN SOLUTION\nnine = square(3)\n### END SOLUTION\nprint(nine)" in graded["q1"].source
    said = "\n".join(f"{what} {do}" for what, do in found.notes.rows)
    for words in ("gone.csv", "nosuchpackage_at_all", "plugins"):
        assert words in said
    assert "data.csv" not in said


@pytest.mark.parametrize(
    ("answer", "passed"),
    [
        ("def square(x):\n    return x * x\nnine = 9", (True, True, True)),
        ("def square(x):\n    return 256\nnine = 9", (True, True, False)),
        ("def square(x):\n    return x * 1.0 * x\nnine = 10", (False, False, False)),  # 256.0 is not 256: a text
        ("", (False, False, False)),
    ],
)
def test_otters_cases_mean_the_same_in_cells(root, tmp_path, answer, passed):
    bring(root, otters.write(tmp_path / "hw"))
    made = {c.metadata.nbgrader.grade_id: c.source for c in cells(root, "hw01", "hw01") if "nbgrader" in c.metadata}
    results = []
    for name in ("q1_test", "q1_test_2", "q1_test_3"):
        space: dict[str, object] = {"x": 1}
        exec(answer, space)
        try:
            exec(made[name], space)
            results.append(True)
        except AssertionError:
            results.append(False)
        assert space["x"] == 1  # a case's own names stay in it, as in otter
    assert tuple(results) == passed


def test_ipython_takes_no_prompt_out_of_a_test_cell(root, tmp_path):
    """It strips `>>>` from lines, also within a text: every case would then be empty, and pass."""
    bring(root, otters.write(tmp_path / "hw"))
    for cell in cells(root, "hw01", "hw01"):
        if cell.cell_type == "code":
            assert TransformerManager().transform_cell(cell.source).rstrip() == cell.source.rstrip()


def test_what_otter_assign_made_is_read_too(root, tmp_path):
    folder = tmp_path / "dist" / "autograder"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "q1.py").write_text(
        "OK_FORMAT = True\n\ntest = {'name': 'q1', 'points': [1, 2], 'suites': [{'cases': ["
        "{'code': '>>> f(1)\\n2\\n', 'hidden': False, 'locked': False},"
        " {'code': '>>> f(2)\\n3\\n', 'hidden': True, 'locked': False}],"
        " 'scored': True, 'setup': '', 'teardown': '', 'type': 'doctest'}]}\n"
    )
    notebook = new_notebook(
        cells=[
            new_code_cell("# Initialize Otter\nimport otter\ngrader = otter.Notebook('hw.ipynb')"),
            new_code_cell("def f(x):\n    return x + 1 # SOLUTION", metadata={"tags": ["otter_assign_solution_cell"]}),
            new_code_cell('grader.check("q1")'),
            new_markdown_cell("## Submission\n\nMake sure …"),
            new_code_cell("# Save your notebook first\ngrader.export()"),
        ]
    )
    nbformat.write(notebook, folder / "hw.ipynb")
    found = bring(root, folder)
    assert (found.name, found.points) == ("hw", 3)
    text = next((root / "solutions" / found.name).glob("*.py")).read_text()
    assert "otter" not in text
    assert "grader" not in text.replace("nbgrader", "")
    assert "### BEGIN SOLUTION\n    return x + 1" in text


EXCEPTIONS = """
from otter.test_files import test_case
OK_FORMAT = False
name = "q1"
points = None
import math

@test_case(points=2, hidden=False)
def test_public(nine, env):
    assert nine == 9 and env["nine"] == math.isqrt(81)

@test_case(points=None, hidden=True)
def test_hidden(missing):
    assert missing is None
"""


def test_tests_that_raise_get_what_the_notebook_has():
    test = from_text(EXCEPTIONS)
    assert [(case.points, case.hidden) for case in resolved(test)] == [(2, False), (0, True)]
    for source, _ in in_cells(test):
        exec(source, {"nine": 9})
    with pytest.raises(AssertionError):
        exec(in_cells(test)[0][0], {"nine": 8})


@pytest.mark.parametrize(
    ("points", "given", "expected"),
    [
        (None, [None, None], [0.5, 0.5]),
        (None, [2, None], [2, 0]),
        (5, [1, None, None], [1, 2, 2]),
        ([1, 0], [None] * 2, [1, 0]),
        ({"each": 2}, [None, None], [2, 2]),
        (None, [0, 0], [0, 0]),
    ],
)
def test_points_are_shared_as_otter_shares_them(points, given, expected):
    cases = [{"code": ">>> 1\n1\n", "points": each} for each in given]
    test = from_spec({"name": "q", "points": points, "suites": [{"cases": cases}]})
    assert [case.points for case in resolved(test)] == expected


def test_a_prompt_of_otters_stands_as_a_comment():
    text = "a = 1\n# BEGIN SOLUTION NO PROMPT\nb = 2\n# END SOLUTION\n"
    text += '""" # BEGIN PROMPT\nb = ...\n"""; # END PROMPT\nc = 3'
    assert stripped(text) == "a = 1\n# b = ...\n### BEGIN SOLUTION\nb = 2\n### END SOLUTION\nc = 3"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda f: f / "nowhere", "there is no"),
        (lambda f: f, "has no notebooks"),
        (lambda f: _file(f / "a.Rmd", "x"), "R Markdown"),
        (lambda f: _file(f / "a.ipynb", "{"), "no notebook that can be read"),
        (lambda f: _notebook(f / "a.ipynb", "x = 1", "python"), "no questions"),
        (lambda f: _notebook(f / "a.ipynb", 'grader.check("q1")', "R"), "written in r"),
    ],
)
def test_what_is_no_assignment_is_said_and_nothing_is_written(root, tmp_path, call, make, said):
    (tmp_path / "elsewhere").mkdir()
    told = call(move_in.bring, env(root), make(tmp_path / "elsewhere"), "--no-attacks", code=2)
    assert said in told.replace("There", "there")
    assert not list(root.glob("solutions/*"))


def _file(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def _notebook(path: Path, code: str, language: str) -> Path:
    about = {"kernelspec": {"language": language, "name": "k", "display_name": "k"}}
    nbformat.write(new_notebook(cells=[new_code_cell(code)], metadata=about), path)
    return path
