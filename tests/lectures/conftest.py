"""A lecture is run once; what it shows and the names it leaves feed all its tests.

A test that takes `lecture`, or anything made from it, is about the lecture that its file is named after
(`test_gates.py`), or about every lecture in turn.
"""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jupytext
import nbformat
import pytest

from autograder.texts import notebooks, text
from tests import notebook_runner
from tests.lab import Desk, running_desk
from tests.notebook_runner import Ran

ROOT = Path(__file__).resolve().parents[2]
NEXT = pytest.StashKey[pytest.Item | None]()
"""The test that runs after this one."""
SHORTEST = "backpropagation"
"""The lecture that a browser opens in every run: it has seven widgets and computes for two seconds."""
LECTURES = [pair.text for pair in notebooks.pairs(ROOT) if pair.text.parent.name == "lectures"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "lecture" in metafunc.fixturenames:
        own = [path for path in LECTURES if metafunc.module.__name__.endswith(f"lectures.test_{topic(path)}")]
        browser = any(mark.name == "browser" for mark in metafunc.definition.iter_markers())
        browser |= "published" in metafunc.fixturenames
        values = [
            pytest.param(
                path, id=path.stem, marks=pytest.mark.everything if browser and topic(path) != SHORTEST else ()
            )
            for path in own or LECTURES
        ]
        metafunc.parametrize("lecture", values, indirect=True, scope="session")


def topic(lecture: Path) -> str:
    """`lectures/07_gates.py` -> `gates`."""
    return lecture.stem.partition("_")[2]


def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    item.stash[NEXT] = nextitem


@pytest.fixture(scope="session")
def lecture(request: pytest.FixtureRequest) -> Path:
    return request.param


@pytest.fixture
def next_lecture(request: pytest.FixtureRequest) -> str:
    """The stem of the lecture that this worker looks at next in a browser; empty where it goes on to something else."""
    following = request.node.stash[NEXT]
    alike = getattr(following, "originalname", "") == request.node.originalname
    return following.callspec.params["lecture"].stem if alike else ""


@pytest.fixture(scope="package")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A JupyterLab that shows a copy of the lectures' folder without its notebooks, and a browser."""
    work, private = tmp_path_factory.mktemp("course") / "lectures", tmp_path_factory.mktemp("private")
    shutil.copytree(ROOT / "lectures", work, ignore=shutil.ignore_patterns("*.ipynb", ".ipynb_checkpoints"))
    with running_desk(work, private) as desk:
        yield desk


@pytest.fixture(scope="session")
def run(lecture: Path, artefacts: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ran]:
    """The lecture, run from top to bottom; the executed notebook and the seconds per cell stay under artefacts/."""
    # A copy of its folder: it may read what lies beside it, and what it writes is not left in the tree.
    folder = tmp_path_factory.mktemp("course") / "lectures"
    shutil.copytree(lecture.parent, folder, ignore=shutil.ignore_patterns("*.ipynb", "__pycache__"))
    notebook = text.from_text(lecture.read_text(encoding="utf-8"), ROOT)
    ran = notebook_runner.run(notebook, folder)
    kept = artefacts / "lectures"
    kept.mkdir(exist_ok=True)
    nbformat.write(notebook, kept / f"{lecture.stem}.ipynb")
    (kept / f"{lecture.stem}.json").write_text(json.dumps({"seconds": ran.seconds}, indent=1), encoding="utf-8")
    yield ran
    ran.forget()
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def ran(run: Ran) -> dict[str, Any]:
    """The names that the lecture has defined after its last cell."""
    assert not run.errors(), run.errors()[0]
    return run.names


@pytest.fixture(scope="session")
def cells(lecture: Path) -> list[Any]:
    return jupytext.read(lecture).cells


@pytest.fixture(scope="session")
def printed(run: Ran) -> dict[str, str]:
    """The first line of each code cell, and what the cell has printed."""
    return {cell.source.split("\n")[0]: words for cell, words in zip(run.code, run.printed(), strict=True)}


@pytest.fixture(scope="session")
def said(run: Ran) -> str:
    """All that the lecture has printed."""
    return "\n".join(run.printed())
