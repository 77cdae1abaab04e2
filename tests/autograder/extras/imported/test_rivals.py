"""Known attacks on asserts: what they earn in stock nbgrader and in otter, and what is left of that here."""

from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_notebook

from autograder.commands.move_in import lines
from autograder.extras.imported.bring import bring
from autograder.extras.imported.rivals import compare
from tests.autograder.courses import FIRST
from tests.autograder.extras.imported import otters
from tests.autograder.extras.imported.test_bring import root  # noqa: F401

pytestmark = [pytest.mark.slow, pytest.mark.everything, pytest.mark.filterwarnings("ignore")]
LEFT = {"always equal", "expected values read from the caller", "a function of the same name from a library"}
"""What asserts in the student's process cannot keep out."""


def test_of_what_stock_nbgrader_gives_away_only_what_asserts_cannot_see_is_left(root: Path, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "ps1").mkdir()
    nbformat.write(new_notebook(cells=FIRST.cells[:4]), tmp_path / "ps1" / "one.ipynb")
    bring(root, tmp_path / "ps1")
    table = compare(root, "ps1", "nbgrader")
    rows = {row.name: row for row in table.rows}
    assert table.nothing == (0, 0)
    assert table.solved == (5, 5)
    assert not table.failing
    for name in ("asserts deleted", "test cells emptied", "errors not shown", "a number as the last expression"):
        assert rows[name].there > 0, name
    assert rows["test cells twice"].there is None
    assert {name for name, row in rows.items() if row.here != 0} <= LEFT
    said = "\n".join(lines("ps1", table))
    assert "Still to be had by a cheat here: one/test_double" in said


def test_of_what_otter_gives_away_too(root: Path, tmp_path: Path) -> None:  # noqa: F811
    otters.write(tmp_path / "hw")
    notebook = nbformat.read(tmp_path / "hw" / "hw01.ipynb", as_version=4)
    notebook.cells[1].source = "rows = open('data.csv').read().split()"
    nbformat.write(notebook, tmp_path / "hw" / "hw01.ipynb")
    bring(root, tmp_path / "hw" / "hw01.ipynb")
    table = compare(root, "hw01", "otter")
    rows = {row.name: row for row in table.rows}
    assert (table.nothing, table.solved) == ((0, 0), (5, 5))
    assert rows["doctest replaced"].there == 5
    assert rows["the solution read from the disk"].there == 0  # what otter gives its grader holds no solutions
    assert {name for name, row in rows.items() if row.here != 0} <= LEFT
