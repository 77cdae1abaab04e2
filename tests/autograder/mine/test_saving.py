import re
from collections.abc import Callable
from typing import Any

import pytest

from autograder.check import examine
from autograder.mine.saving import VERSIONS, keep, source_of
from autograder.mine.shelf import load
from autograder.question.find import exercises_of, find
from autograder.question.questions import read_master
from tests.test_imports import ROOT, names

RIGHT = "def dot_score(query, keys):\n    return keys @ query"
HELPED = (
    "from torch import matmul\nTWO = 1\nTWO += 1\ndef twice(x):\n    return TWO * x",
    ("def dot_score(query, keys):\n    return twice(matmul(keys, query)) / TWO"),
)
EXERCISE = find("attention.dot_score")


def passes(function: Callable[..., Any]) -> bool:
    return examine(EXERCISE, function, None).passed


def kept(notebook: Any) -> str:
    return keep(EXERCISE, notebook.user_ns["dot_score"], passes)


def file_in(open_notebook: Any) -> str:
    return (open_notebook.library / "attention" / "dot_score.py").read_text()


def test_a_function_is_kept_with_what_it_needs_and_runs_by_itself(open_notebook: Any) -> None:
    notebook = open_notebook.of("attention").run("OTHER = 1\nprint", *HELPED)
    assert "mine/attention/dot_score.py" in kept(notebook)
    text = file_in(open_notebook)
    assert passes(load(text, "here", "attention.dot_score"))
    assert all(word in text for word in ("from torch import matmul", "TWO += 1", "def twice"))
    assert "OTHER" not in text
    assert kept(notebook) == ""  # nothing is new


def test_the_latest_definition_counts_and_the_earlier_one_is_in_the_history(open_notebook: Any) -> None:
    notebook = open_notebook.of("attention").run(RIGHT)
    kept(notebook)
    first = file_in(open_notebook)
    notebook.run(*HELPED, RIGHT.replace("keys @ query", "keys.matmul(query)"))
    kept(notebook)
    assert "matmul(query)" in file_in(open_notebook)
    assert "twice" not in file_in(open_notebook)
    assert [path.read_text() for path in (open_notebook.library / ".history").iterdir()] == [first]


def test_the_history_keeps_the_latest_few(open_notebook: Any) -> None:
    notebook = open_notebook.of("attention")
    for number in range(VERSIONS + 5):
        notebook.run(RIGHT.replace("keys @", f"keys.roll({number}, 0).roll(-{number}, 0) @"))
        said = kept(notebook)
    last = f".history/attention.dot_score.{VERSIONS + 4}.py"
    assert last in said
    assert len(list((open_notebook.library / ".history").iterdir())) == VERSIONS
    assert f"roll({VERSIONS + 3}" in (open_notebook.library / last).read_text()


def test_a_worse_one_does_not_take_its_place(open_notebook: Any) -> None:
    """Fewer cases passed, as by an older version of the question."""
    notebook = open_notebook.of("attention").run(RIGHT)
    kept(notebook)
    path = open_notebook.library / "attention" / "dot_score.py"
    path.write_text(re.sub(r"passed \d+ cases", "passed 999 cases", file_in(open_notebook)))
    before = file_in(open_notebook)
    notebook.run(RIGHT.replace("@ query", "@ (1 * query)"))
    assert "999" in kept(notebook)
    assert file_in(open_notebook) == before


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["exec('HIDDEN = 1')", RIGHT.replace("keys @", "HIDDEN * keys @")], "does not pass"),
        (["LEFT = [1] * 1000", "del LEFT[1:]", RIGHT.replace("keys @", "LEFT[-1] * keys @")], "Put into"),
        (["x = 1", "ONE = globals()['x']", RIGHT.replace("keys @", "ONE * keys @")], "KeyError"),
        (["import torch", f"@torch.no_grad()\n{RIGHT}"], "Put into"),
        (
            ["class Score:\n    def __call__(self, query, keys):\n        return keys @ query", "dot_score = Score()"],
            "Put into",
        ),
    ],
)
def test_only_what_passes_by_itself_is_kept(open_notebook: Any, cells: list[str], said: str) -> None:
    notebook = open_notebook.of("attention").run(*cells)
    assert passes(notebook.user_ns["dot_score"])
    assert said in kept(notebook)
    assert open_notebook.library.exists() == (said == "Put into")


def test_nothing_is_kept_while_nbgrader_runs_a_notebook(open_notebook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    assert kept(open_notebook.of("attention").run(RIGHT)) == ""
    assert not open_notebook.library.exists()


def test_a_function_from_elsewhere_is_not_kept_again(open_notebook: Any) -> None:
    notebook = open_notebook.of("attention")
    notebook.user_ns["dot_score"] = load(RIGHT, "here", "attention.dot_score")
    assert kept(notebook) == ""


def test_only_what_a_value_needs_is_taken() -> None:
    cells = [
        "import math\nx = [1]\nx.append(2)\ny = 3",
        "x = [4]\nx.append(5)",
        "def f():\n    return x + f.__defaults__",
    ]
    assert source_of(cells, "f") == f"x = [4]\nx.append(5)\n\n\n{cells[2]}\n"
    assert source_of(["this is: no Python", *cells], "y") == "y = 3\n"
    assert source_of(cells, "z") == "\n"


@pytest.mark.parametrize("how", ["mine(NAME)(query, keys)", "f(query, keys)"])
def test_no_function_is_kept_that_needs_the_library(open_notebook: Any, how: str) -> None:
    """The file would load itself."""
    kept(open_notebook.of("attention").run(RIGHT))
    before = file_in(open_notebook)
    imports = 'from autograder.mine import mine\nNAME = "attention.dot_score"\nf = mine(NAME)'
    notebook = open_notebook.of("attention").run(imports, f"def dot_score(query, keys):\n    return {how}")
    assert passes(notebook.user_ns["dot_score"])
    assert "Not put into" in kept(notebook)
    assert file_in(open_notebook) == before


def test_what_a_function_needs_prints_nothing_again(open_notebook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    notebook = open_notebook.of("attention").run("ONE = print('training') or 1", RIGHT.replace("@", "* ONE @"))
    assert "Put into" in kept(notebook)
    assert capsys.readouterr().out.count("training") == 1


@pytest.mark.parametrize("damage", ["bytes", "folder"])
def test_a_damaged_library_stops_no_check(open_notebook: Any, damage: str) -> None:
    notebook = open_notebook.of("attention").run(RIGHT)
    path = open_notebook.library / "attention" / "dot_score.py"
    path.parent.mkdir(parents=True)
    if damage == "bytes":
        path.write_bytes(b"\xff\x00")
        assert "Put into" in kept(notebook)
    else:
        path.mkdir()
        assert "Not put into" in kept(notebook)


@pytest.mark.parametrize("cells", [512, ["get_ipython().run_cell_magic('time', '', 'def dot_score(query, keys): …')"]])
def test_a_function_whose_text_is_not_there_is_not_kept(open_notebook: Any, cells: object) -> None:
    notebook = open_notebook.of("attention").run(RIGHT)
    notebook.user_ns["In"] = cells
    assert "%%" in kept(notebook)


@pytest.mark.slow
@pytest.mark.parametrize("assignment", names())
def test_every_solution_passes_by_itself(assignment: str) -> None:
    """Of all questions, taken from the whole notebook."""
    master = read_master(ROOT / f"solutions/{assignment}/{assignment}.ipynb")
    cells = [cell.source for cell in master.cells if cell.cell_type == "code"]
    for name, exercise in exercises_of(assignment).items():
        if not exercise.chosen:
            text = source_of(cells, exercise.function)
            assert examine(exercise, load(text, name, name), None).passed, name
