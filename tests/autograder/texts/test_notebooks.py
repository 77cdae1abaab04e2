"""Text and notebook: exact round trips, the same bytes every time, and nobody's work lost, whatever was changed."""

import json
import shutil
from pathlib import Path

import nbformat
import pytest

from autograder.texts import notebooks, text
from autograder.texts.notebooks import Pair, Relation, build, relation, sync

SOURCE = """\
# %% [markdown]
# # A lecture
#
# Text with an equation $a_{ij}$ and a list:
#
# - one
# - two

# %%
import math


def area(radius):
    return math.pi * radius**2


# %% tags=["hide-input"]
area(2)

# %% nbgrader={"grade": false, "grade_id": "area", "locked": false, "schema_version": 3, "solution": true}
# YOUR CODE HERE
"""


@pytest.fixture
def course(tmp_path: Path, root: Path) -> Path:
    """A checkout with one lecture."""
    shutil.copy(root / "pyproject.toml", tmp_path)
    (tmp_path / "lectures").mkdir()
    (tmp_path / "solutions" / "circles").mkdir(parents=True)
    (tmp_path / "lectures" / "01_circles.py").write_text(SOURCE)
    return tmp_path


@pytest.fixture
def pair(course: Path) -> Pair:
    build(course)
    return Pair(course / "lectures" / "01_circles.py")


def edit(pair: Pair, old: str = "area(2)", new: str = "area(3)") -> None:
    """Somebody changes a cell and runs it: outputs, a kernel's name, widget states, what editors leave behind."""
    notebook = nbformat.read(pair.notebook, as_version=4)
    for cell in notebook.cells:
        cell.source = cell.source.replace(old, new)
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("stream", text="28.27")]
            cell.execution_count = 7
            cell.metadata["execution"] = {"iopub.status.busy": "2025"}
            cell.metadata["vscode"] = {"languageId": "python"}
            cell.metadata["collapsed"] = True
    notebook.metadata["kernelspec"] = {"name": "mine", "display_name": "Mine", "language": "python"}
    notebook.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"state": {}}}
    nbformat.write(notebook, pair.notebook)


def rewrite(pair: Pair, old: str = "# # A lecture", new: str = "# # A better lecture") -> None:
    pair.text.write_text(pair.text.read_text().replace(old, new))


def test_a_notebook_is_built_and_valid(pair: Pair, course: Path) -> None:
    notebook = nbformat.read(pair.notebook, as_version=4)
    nbformat.validate(notebook)
    assert [cell.cell_type for cell in notebook.cells] == ["markdown", "code", "code", "code"]
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.cells[2].metadata.tags == ["hide-input"]
    assert notebook.cells[3].id == "area"  # nbgrader's name for the cell
    assert notebook.cells[3].metadata.nbgrader["solution"] is True
    assert relation(pair, course) is Relation.SAME


def test_building_again_writes_the_same_bytes_and_then_nothing(pair: Pair, course: Path) -> None:
    first = pair.notebook.read_bytes()
    assert build(course) == (0, [])
    pair.notebook.unlink()
    assert build(course) == (1, [])
    assert pair.notebook.read_bytes() == first
    assert notebooks.untouched(pair)


def test_cell_ids_stay_when_other_cells_come_and_go(course: Path) -> None:
    before = text.from_text(SOURCE, course).cells
    after = text.from_text(SOURCE.replace("# %%\nimport", "# %%\n1 + 1\n\n# %%\nimport"), course).cells
    assert [cell.id for cell in before] == [cell.id for cell in after if cell.source != "1 + 1"]


def test_equal_cells_get_different_ids(course: Path) -> None:
    cells = text.from_text("# %%\nx\n\n# %%\nx\n\n# %%\nx\n", course).cells
    assert len({cell.id for cell in cells}) == 3


def test_a_changed_text_is_built_anew(pair: Pair, course: Path) -> None:
    rewrite(pair)
    assert relation(pair, course) is Relation.TEXT_CHANGED
    assert build(course) == (1, [])
    assert "A better lecture" in pair.notebook.read_text()


def test_a_text_that_only_looks_newer_leaves_the_notebook_alone(pair: Pair, course: Path) -> None:
    edit(pair, new="area(2)")  # run, not changed
    ran = pair.notebook.read_bytes()
    pair.text.touch()
    assert build(course) == (0, [])
    assert pair.notebook.read_bytes() == ran


def test_build_leaves_a_changed_notebook_alone_and_says_so(pair: Pair, course: Path) -> None:
    edit(pair)
    changed = pair.notebook.read_bytes()
    written, notes = build(course)
    assert written == 0
    assert "make sync" in notes[0]
    assert pair.notebook.read_bytes() == changed
    assert pair.text.read_text() == SOURCE


def test_build_before_the_lab_takes_the_changes_in(pair: Pair, course: Path) -> None:
    edit(pair)
    _, notes = build(course, take_in=True)
    assert "01_circles.py" in notes[0]
    assert pair.text.read_text() == SOURCE.replace("area(2)", "area(3)")
    assert "28.27" in pair.notebook.read_text()
    assert notebooks.untouched(pair)


def test_sync_brings_the_change_and_nothing_else_to_the_text(pair: Pair, course: Path) -> None:
    edit(pair)
    assert sync(course) == (["lectures/01_circles.py"], [])
    assert pair.text.read_text() == SOURCE.replace("area(2)", "area(3)")
    assert "28.27" in pair.notebook.read_text()  # the outputs stay where they are seen
    assert sync(course) == ([], [])
    assert build(course) == (0, [])


def test_where_both_have_changed_sync_writes_neither(pair: Pair, course: Path) -> None:
    edit(pair)
    rewrite(pair)
    before = pair.text.read_bytes(), pair.notebook.read_bytes()
    written, conflicts = sync(course)
    assert written == []
    assert "both changed" in conflicts[0]
    assert (pair.text.read_bytes(), pair.notebook.read_bytes()) == before


def test_where_both_have_changed_build_keeps_the_notebook_aside(pair: Pair, course: Path) -> None:
    edit(pair)
    rewrite(pair)
    mine = pair.notebook.read_bytes()
    written, notes = build(course)
    (kept,) = (course / "kept" / "lectures").glob("01_circles-*.ipynb")
    assert written == 1
    assert kept.read_bytes() == mine
    assert kept.relative_to(course).as_posix() in notes[0]
    assert "A better lecture" in pair.notebook.read_text()


def test_the_way_out_of_a_conflict_that_sync_names_works(pair: Pair, course: Path) -> None:
    edit(pair)
    rewrite(pair)
    pair.text.write_text(SOURCE)  # git checkout
    assert sync(course) == (["lectures/01_circles.py"], [])
    assert "area(3)" in pair.text.read_text()


@pytest.mark.parametrize("content", ["", "{", '{"cells": 3}', "not a notebook"])
def test_a_file_that_is_no_notebook_is_kept_aside(pair: Pair, course: Path, content: str) -> None:
    pair.notebook.write_text(content)
    written, _ = build(course)
    assert written == 1
    (kept,) = (course / "kept" / "lectures").glob("*.ipynb")
    assert kept.read_text() == content


def test_a_notebook_of_unknown_origin_is_kept_aside(pair: Pair, course: Path) -> None:
    notebook = json.loads(pair.notebook.read_text())
    notebook["metadata"].pop("nlmcourse")
    notebook["cells"][0]["source"] = "something else"
    pair.notebook.write_text(json.dumps(notebook))
    build(course)
    assert list((course / "kept" / "lectures").glob("*.ipynb"))


def test_two_files_put_aside_in_one_second_do_not_meet(pair: Pair, course: Path) -> None:
    assert notebooks.keep(pair.notebook, course) != notebooks.keep(pair.notebook, course)


def test_a_text_that_an_editor_left_untidy_is_put_in_order_by_sync(pair: Pair, course: Path) -> None:
    untidy = SOURCE.replace("\n\n# %% tags", "\n# %% tags").replace("area(2)\n", "%time area(2)\n")
    pair.text.write_text(untidy)
    written, conflicts = sync(course)
    assert written == ["lectures/01_circles.py"]
    assert not conflicts
    assert "# %time area(2)" in pair.text.read_text()
    assert sync(course) == ([], [])


def test_neither_the_order_of_metadata_nor_what_jupyterlab_notes_there_reaches_the_text(course: Path) -> None:
    notebook = text.from_text(SOURCE, course)
    graded = notebook.cells[3].metadata
    graded["nbgrader"] = dict(reversed(graded["nbgrader"].items()))
    notebook.cells[2].metadata = {"tags": ["hide-input"], "editable": True}
    notebook.metadata["jupytext"] = {
        "notebook_metadata_filter": "all",
        "cell_metadata_filter": "nbgrader,tags,editable",
    }
    written = text.to_text(notebook, course)
    assert written == SOURCE.replace("# %% tags", "# %% editable=true tags")


def test_only_files_with_cells_are_notebooks(course: Path) -> None:
    (course / "solutions" / "circles" / "helper.py").write_text("x = 1\n")
    (course / "solutions" / "circles" / "circles.py").write_text("# %%\nx = 1\n")
    assert [pair.text.name for pair in notebooks.pairs(course)] == ["01_circles.py", "circles.py"]
