"""Two runs are compared by what they show, and only if they ran the same sources."""

import json
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from tests.lectures.outputs import RUNS, differences, digest_of_sources, keep


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    for folder in ("nlmcore", "lectures"):
        (tmp_path / folder).mkdir()
    (tmp_path / "lectures" / "01_first.py").write_text("# %%\n1")
    digest_of_sources.cache_clear()
    yield tmp_path
    digest_of_sources.cache_clear()


def run(root: Path, number: int, *outputs: nbformat.NotebookNode) -> None:
    cell = nbformat.v4.new_code_cell("draw()", outputs=list(outputs))
    keep(root / "kept", "01_first", RUNS[number], nbformat.v4.new_notebook(cells=[cell]), root)


def said(text: str) -> nbformat.NotebookNode:
    return nbformat.v4.new_output("stream", text=text)


def picture(html: str, view: str = "1") -> nbformat.NotebookNode:
    data = {"text/html": html, "application/vnd.jupyter.widget-view+json": {"model_id": view * 32}}
    return nbformat.v4.new_output("display_data", data=data)


def test_what_must_differ_does_not_count(root: Path) -> None:
    run(root, 0, said("0.5\n0.6\n"), picture(f"<p id='{'a' * 32}'>at 0x7f00aa00 0.69</p>", "1"))
    assert differences(root / "kept", "01_first", root) is None, "only one run"
    run(root, 1, said("0.5\n"), said("0.6\n"), picture(f"<p id='{'b' * 32}'>at 0x7fffee00 0.69</p>", "2"))
    assert differences(root / "kept", "01_first", root) == []


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (said("loss 0.51"), said("loss 0.52"), "'loss 0.51' and then"),
        (picture("<p>0.69</p>"), picture("<p>0.70</p>"), "text/html"),
        (said("0.5"), picture("<p>0.5</p>"), "['stdout'] and then ['text/html']"),
    ],
)
def test_another_number_is_found(root: Path, one, other, told: str) -> None:
    run(root, 0, one)
    run(root, 1, other)
    (found,) = differences(root / "kept", "01_first", root) or []
    assert found.startswith("draw()")
    assert told in found


def test_runs_of_other_sources_are_not_compared(root: Path) -> None:
    run(root, 0, said("1"))
    (root / "nlmcore" / "model.py").write_text("changed = True")
    digest_of_sources.cache_clear()
    run(root, 1, said("2"))
    assert differences(root / "kept", "01_first", root) is None
    assert len({json.loads(path.read_text())["sources"] for path in (root / "kept").iterdir()}) == 2
