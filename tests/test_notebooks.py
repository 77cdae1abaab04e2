"""Every text source of the course round-trips exactly, and so does whatever nbgrader writes into a cell."""

import json
from pathlib import Path

import jupytext
import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jupytext.config import load_jupytext_configuration_file

from autograder.texts import notebooks, text

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [pair.text for pair in notebooks.pairs(ROOT)]
MARKDOWN = (
    "The *quick* fox.\n\n$$a = \\sum_i b_i$$\n\n| x | y |\n|---|---|\n| 1 | +++ |\n\n```python\n# %% no cell\n```"
)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_a_source_comes_back_byte_for_byte(source: Path) -> None:
    written = source.read_text(encoding="utf-8")
    assert text.canonical(written, ROOT) == written, f"run `make sync`: it puts {name(source)} in order"
    assert "\n# # %%" not in written, "the beginning of a cell has become a text"


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_jupyterlab_saves_the_same_text(source: Path) -> None:
    """jupytext in JupyterLab reads the configuration itself; it must come to the same text as `make sync`."""
    config = load_jupytext_configuration_file(str(ROOT / "pyproject.toml"))
    written = source.read_text(encoding="utf-8")
    notebook = text.from_text(written, ROOT)
    opened = jupytext.reads(written, fmt=text.TEXT, config=config)
    opened.metadata.update(notebook.metadata)
    opened.metadata["widgets"] = {"state": {}}
    assert jupytext.writes(opened, fmt=text.TEXT, config=config).rstrip("\n") == written.rstrip("\n")
    paired = config.default_formats(str(source.with_suffix(".ipynb")))
    assert paired
    assert "ipynb" in paired
    assert "py:percent" in paired


@pytest.mark.parametrize("folder", ["nlmcore", "autograder", "tests", "exercises", "exercises/attention", "."])
def test_no_other_file_is_paired(folder: str) -> None:
    config = load_jupytext_configuration_file(str(ROOT / "pyproject.toml"))
    for suffix in (".py", ".ipynb"):
        assert config.default_formats(str(ROOT / folder / f"some{suffix}")) is None


@pytest.mark.parametrize("source", SOURCES, ids=name)
def test_ids_of_graded_cells_are_unique(source: Path) -> None:
    cells = text.from_text(source.read_text(encoding="utf-8"), ROOT).cells
    graded = [cell.metadata.nbgrader["grade_id"] for cell in cells if "nbgrader" in cell.metadata]
    assert len(graded) == len(set(graded))
    assert all(cell.id == cell.metadata.nbgrader["grade_id"] for cell in cells if "nbgrader" in cell.metadata)


# nbgrader's schema 3, with every value that its own tools can write, and some that only people can.
ids = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20)
simple_ids = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,20}\Z")
points = st.integers(0, 100) | st.floats(0, 100).map(lambda value: round(value, 3))
metadata = st.fixed_dictionaries(
    {
        "grade": st.booleans(),
        "grade_id": ids | simple_ids | st.integers(0, 99).map(str),
        "locked": st.booleans(),
        "schema_version": st.just(3),
        "solution": st.booleans(),
        "task": st.booleans(),
    },
    optional={"points": points, "cell_type": st.sampled_from(["code", "markdown"]), "checksum": simple_ids},
)


@settings(max_examples=150, deadline=None)
@given(metadata, st.sampled_from(["code", "markdown"]), st.sampled_from(["", "x = 1", MARKDOWN]), st.booleans())
def test_metadata_of_nbgrader_comes_through_text(values: dict, kind: str, source: str, tagged: bool) -> None:
    source = "def f(x):\n    ### BEGIN SOLUTION\n    return x\n    ### END SOLUTION" if kind == "code" else source
    make = nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell
    extra = {"tags": ["a", "b c"]} if tagged else {}
    cells = [make(source, metadata={"nbgrader": values, **extra}), nbformat.v4.new_code_cell("y = 2")]
    written = text.to_text(nbformat.v4.new_notebook(cells=cells), ROOT)
    back = text.from_text(written, ROOT).cells
    assert json.loads(json.dumps(back[0].metadata["nbgrader"])) == values
    assert back[0].source == source
    assert back[0].cell_type == kind
    assert back[0].metadata.get("tags") == extra.get("tags")
    assert text.canonical(written, ROOT) == written
