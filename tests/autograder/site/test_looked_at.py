"""Lectures to look at: each output is seen where nothing runs; a branch of them leaves the working tree as it is."""

import base64
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from packaging.requirements import Requirement

from autograder.launcher import requirements, say
from autograder.site import looked_at
from autograder.site.sheet import LIVE

ROOT = Path(__file__).resolve().parents[3]
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" aria-label="a &amp; b"><g/></svg>'
FILE = f'<img alt="c" src="data:image/svg+xml;base64,{base64.b64encode(DRAWING.encode()).decode()}">'


def kinds(made: list[Any]) -> list[str]:
    return [next(iter(output["data"])) for output in made]


def test_pictures_in_html_become_pictures_in_their_order() -> None:
    made = looked_at.pieces(f"<div><b>one</b>{DRAWING}<style>b{{}}</style><div>two{FILE}</div></div>")
    assert kinds(made) == ["text/html", "image/svg+xml", "text/html", "image/svg+xml"]
    assert made[0]["data"]["text/html"] == "<b>one</b>"
    assert made[1]["data"] == {"image/svg+xml": DRAWING, "text/plain": "a & b"}
    assert made[3]["data"]["image/svg+xml"] == DRAWING


def test_an_answer_stays_folded_and_says_its_picture() -> None:
    (made,) = looked_at.pieces(f"<p>How many?</p><details>2{DRAWING}</details>")
    assert made["data"]["text/html"] == "<p>How many?</p><details>2<p><em>a &amp; b</em></p></details>"


def test_a_widget_is_shown_as_it_stands_at_its_start_and_what_was_printed_stays() -> None:
    printed = {"output_type": "stream", "name": "stdout", "text": "1\n"}
    live = {"output_type": "execute_result", "data": {LIVE: {"model_id": "w"}, "text/html": "x", "text/plain": "y"}}
    cells = [{"cell_type": "code", "outputs": [live, printed]}, {"cell_type": "markdown"}]
    looked_at.still(cells, {"w": f'<div data-told="{{}}">{DRAWING}</div>'})
    assert cells[0]["outputs"][0]["data"]["image/svg+xml"] == DRAWING
    assert cells[0]["outputs"][1:] == [printed]


def test_the_cell_for_colab_installs_what_the_course_asks_for_there_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    source = looked_at.first_cell(ROOT, "https://host/course.git")["source"]
    wanted = requirements.read(ROOT)
    for each in (*wanted.base, *wanted.no_deps):
        assert (f'"{each}"' in source) == (Requirement(str(each)).name not in looked_at.NO_COLAB)
    assert {Requirement(str(each)).name for each in wanted.base} >= looked_at.NO_COLAB
    assert '"git+https://host/course.git"' in source
    from IPython.core.inputtransformer2 import TransformerManager

    code = compile(TransformerManager().transform_cell(source), "cell", "exec")
    ran: list[tuple[str, ...]] = []
    shell = type("Shell", (), {"run_line_magic": lambda self, *line: ran.append(line)})()
    exec(code, {"get_ipython": lambda: shell})
    assert ran == []
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    exec(code, {"get_ipython": lambda: shell})
    assert [name for name, _ in ran] == ["pip", "pip"]


def git(folder: Path, *line: str) -> str:
    return subprocess.run(["git", *line], cwd=folder, capture_output=True, text=True, check=True).stdout.strip()


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of one lecture that has been executed."""
    for name, value in {"NAME": "A", "EMAIL": "a@b"}.items():
        monkeypatch.setenv(f"GIT_AUTHOR_{name}", value)
        monkeypatch.setenv(f"GIT_COMMITTER_{name}", value)
    for name, content in {
        "lectures/01_first.py": "# %% [markdown]\n# # First\n",
        "lectures/README.md": "| 1 | [First](01_first.py): words |\n",
        "lectures/figures/a.svg": DRAWING,
        "pyproject.toml": (ROOT / "pyproject.toml").read_text(encoding="utf-8"),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content, encoding="utf-8")
    output = nbformat.v4.new_output("display_data", data={"text/html": FILE})
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1", outputs=[output])])
    monkeypatch.setattr(looked_at, "executed", lambda *_: ({"notebook": notebook, "html": {}}, 0.0))
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "all")
    return tmp_path


def test_an_archive_holds_valid_notebooks_and_what_they_link(course: Path) -> None:
    files = looked_at.to_look_at(course, [course / "lectures/01_first.py"], "https://host/course.git")
    assert set(files) == {"lectures/01_first.ipynb", "lectures/README.md", "lectures/figures/a.svg"}
    assert b"(01_first.ipynb)" in files["lectures/README.md"]
    notebook = nbformat.reads(files["lectures/01_first.ipynb"].decode(), as_version=4)
    nbformat.validate(notebook)
    assert [cell.id == "on-colab" for cell in notebook.cells] == [True, False]
    assert notebook.cells[1].outputs[0].data["image/svg+xml"] == DRAWING


def test_a_branch_gets_these_files_alone_and_the_working_tree_stays(course: Path) -> None:
    before = git(course, "rev-parse", "HEAD")
    looked_at.commit(course, "seen", {"a/b.txt": b"1", "c.txt": b"2"})
    looked_at.commit(course, "seen", {"c.txt": b"3"})
    assert git(course, "ls-tree", "-r", "--name-only", "seen") == "c.txt"
    assert git(course, "show", "seen~1:a/b.txt") == "1"
    assert git(course, "rev-list", "--count", "seen") == "2"
    assert (git(course, "rev-parse", "HEAD"), git(course, "status", "--porcelain")) == (before, "")
    with pytest.raises(say.SetupError, match="name another"):
        looked_at.commit(course, "main", {})
