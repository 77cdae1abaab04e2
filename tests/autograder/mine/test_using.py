import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch
from nbclient import NotebookClient

from autograder.check import CheckFailed, check, passes
from autograder.mine import bring, keep, mine
from autograder.question.find import find
from autograder.question.questions import read_master
from tests.test_imports import ROOT

ROTATE = "transformer.rotate"
GIVEN = f"""
from autograder.mine import own
@own("{ROTATE}")
def rotate(x, first, base):
    return x
"""


def cells_of(assignment: str) -> list[str]:
    master = read_master(ROOT / f"solutions/{assignment}/{assignment}.ipynb")
    return [cell.source for cell in master.cells if cell.cell_type == "code"]


def defining(assignment: str, *functions: str) -> list[str]:
    starts = tuple(f"def {name}(" for name in functions)
    return ["import math\nimport torch", *(c for c in cells_of(assignment) if c.startswith(starts))]


def written(open_notebook: Any, assignment: str, *functions: str) -> None:
    """A student has written these in a notebook of an assignment, and they have passed."""
    notebook = open_notebook.of(assignment).run(*defining(assignment, *functions))
    for name in functions:
        said = keep(find(f"{assignment}.{name}"), notebook.user_ns[name], lambda kept: True)
        assert f"mine/{assignment}/{name}.py" in said


def test_a_later_notebook_uses_it(open_notebook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    notebook = open_notebook.of("efficient_attention").run(GIVEN)
    assert "the course's own" in capsys.readouterr().out
    assert notebook.user_ns["rotate"](1, 0, 1) == 1
    written(open_notebook, "transformer", "rotate")
    notebook = open_notebook.of("efficient_attention").run(GIVEN)
    assert "yours" in capsys.readouterr().out
    assert passes(ROTATE, notebook.user_ns["rotate"])


def test_a_reference_is_not_made_of_a_students_functions(open_notebook: Any) -> None:
    written(open_notebook, "transformer", "rotate")
    open_notebook.of("efficient_attention")
    namespace: dict[str, Any] = {}
    exec(GIVEN, namespace)
    assert namespace["rotate"](1, 0, 1) == 1


def test_without_a_kernel_there_is_no_library(open_notebook: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where `check NOTEBOOK` runs it, like the grader."""
    written(open_notebook, "transformer", "rotate")
    assert callable(mine(ROTATE))
    monkeypatch.undo()
    assert mine(ROTATE) is None


def test_a_file_that_raises_is_not_used_and_its_name_hides_nothing(
    open_notebook: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    written(open_notebook, "transformer", "rotate")
    for name, text in {
        "transformer/rotate.py": "raise SystemExit(3)",
        "torch.py": "",
        "nlmcore/__init__.py": "",
    }.items():
        path = open_notebook.library / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    notebook = open_notebook.of("efficient_attention").run(GIVEN, "import nlmcore.positions, torch; torch.ones(1)")
    assert "SystemExit" in capsys.readouterr().out
    assert notebook.user_ns["rotate"](1, 0, 1) == 1


def test_what_is_brought_is_the_text_of_the_cell(open_notebook: Any, capsys: pytest.CaptureFixture[str]) -> None:
    written(open_notebook, "self_attention", "rotate")
    notebook = open_notebook.of("transformer")
    bring("positions.rotary")
    assert notebook.replaced == ""
    bring("positions.rotary", "self_attention.rotate")
    assert capsys.readouterr().out.count("no positions.rotary") == 2
    notebook.run(notebook.replaced)
    assert passes("self_attention.rotate", notebook.user_ns["rotate"])


def test_a_name_that_is_not_there_is_said_and_no_name_shows_what_is(
    open_notebook: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    written(open_notebook, "self_attention", "rotate")
    assert mine("self_attention.rotat") is None
    assert "no self_attention.rotat yet" in capsys.readouterr().out
    bring()
    assert "1 function" in capsys.readouterr().out


def test_the_check_says_that_the_grader_has_no_library(
    open_notebook: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """There `mine` gives None, and a right answer would earn nothing."""
    written(open_notebook, "self_attention", "rotate")
    notebook = open_notebook.of("self_attention").run(
        "from autograder.mine import mine, own",
        "f = mine('self_attention.rotate')",
        "def by_name(*given):\n    return f(*given)",
        "def inside(*given):\n    return mine('self_attention.rotate')(*given)",
        "taken = f",
        "@own('self_attention.rotate')\ndef decorated(x):\n    return x",
        "@own('self_attention.rotat')\ndef given(*x):\n    return taken_by_hand(*x)",
        *(cell.replace("def rotate(", "def taken_by_hand(") for cell in defining("self_attention", "rotate")),
    )
    monkeypatch.setattr(sys.modules["autograder.check"], "_shell", lambda: notebook)
    monkeypatch.setattr(sys.modules["autograder.check"], "_in_notebook", lambda: False)
    capsys.readouterr()
    with pytest.raises(CheckFailed, match="keeps a rotate that passed"):
        check("self_attention.rotate", lambda x: x)
    for name in ("by_name", "inside", "taken", "decorated", "given", "taken_by_hand"):
        check("self_attention.rotate", notebook.user_ns[name])
        said = capsys.readouterr().out
        assert "well done" in said
        assert ("the grader has none" in said) == (name not in ("given", "taken_by_hand"))


GIVEN_TO = [("efficient_attention", "rotate"), *(("scale_and_insight", f) for f in ("rms_norm", "rotate", "attend"))]


@pytest.mark.parametrize(("assignment", "function"), GIVEN_TO)
def test_the_function_that_a_notebook_gives_is_the_one_that_it_replaces(
    open_notebook: Any, assignment: str, function: str
) -> None:
    """On the inputs that the notebook has for it, whoever wrote it."""
    (cell,) = (cell for cell in cells_of(assignment) if f'@own("transformer.{function}")' in cell)
    imports = [c for c in cells_of(assignment) if c.startswith(("import", "from"))][:1]
    with torch.enable_grad():  # the notebook switches gradients off
        given = open_notebook.of(assignment).run(*imports, cell).user_ns
    theirs = open_notebook.of("transformer").run(*defining("transformer", function)).user_ns[function]
    torch.manual_seed(0)
    q, k, v, x = torch.randn(1, 6, 5, 8), torch.randn(1, 2, 5, 8), torch.randn(1, 2, 5, 8), torch.randn(1, 7, 8)
    arguments = {"attend": (q, k, v), "rotate": (q, 3, 100.0), "rms_norm": (x, torch.rand(8), 1e-5)}[function]
    one, two = (
        found if isinstance(found, tuple) else (found,) for found in (f(*arguments) for f in (given[function], theirs))
    )
    assert torch.allclose(one[0], two[0], atol=1e-5)


@pytest.mark.slow
def test_a_real_kernel_keeps_what_passes_and_gives_it_to_the_next_notebook(tmp_path: Path) -> None:
    def run(assignment: str, *sources: str) -> str:
        place = tmp_path / "work" / assignment
        place.mkdir(parents=True)
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])
        NotebookClient(notebook, timeout=240, resources={"metadata": {"path": str(place)}}).execute()
        return "".join(str(output.get("text", "")) for cell in notebook.cells for output in cell.get("outputs", []))

    right = defining("transformer", "rotate")
    wrong = "def rotate(x, first, base):\n    return x + 1"
    check = f'from autograder.check import check\ntry:\n    check("{ROTATE}", rotate)\nexcept AssertionError: pass'
    assert "Put into your library" in run("transformer", *right, check, wrong, check)
    assert "return x + 1" not in (tmp_path / "work/mine/transformer/rotate.py").read_text()
    said = run("efficient_attention", GIVEN, f'from autograder.check import passes\nprint(passes("{ROTATE}", rotate))')
    assert "yours" in said
    assert "True" in said
