"""A real course, built once: its gradebook, its master, and a submission in which everything is answered."""

import copy
import warnings

import nbformat
import pytest

from autograder.grading.course import Course
from autograder.preflight.master import Master
from autograder.preflight.names import grade_id
from autograder.preflight.read import notebook_of


@pytest.fixture(scope="session")
def master(own_template) -> Master:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (made,) = Course.load(own_template).masters("attention")
        return made


@pytest.fixture(scope="session")
def _released(own_template):
    return nbformat.read(own_template / "exercises/attention/attention.ipynb", as_version=4)


@pytest.fixture
def released(_released):
    """The notebook as students get it."""
    return copy.deepcopy(_released)


@pytest.fixture
def solved(released):
    """The notebook with an answer in every answer cell."""
    return answered(released)


def answered(notebook):
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("solution"):
            code = cell.source.replace("raise NotImplementedError()", f"return {cell.id!r}")
            cell.source = code if cell.cell_type == "code" else "Because."
    return notebook


def sanitised(notebook, root):
    """The notebook after nbgrader's own sanitising, with the course's gradebook."""
    from nbgrader import preprocessors as nb
    from traitlets.config import Config

    config = Config()
    config.OverwriteCells.add_missing_cells = True
    about = {"student": "ada", "assignment": "attention", "notebook": "attention"}
    resources = {"nbgrader": {**about, "db_url": f"sqlite:///{root / 'gradebook.db'}"}}
    made = copy.deepcopy(notebook)
    for part in (nb.ClearOutput, nb.DeduplicateIds, nb.OverwriteKernelspec, nb.OverwriteCells, nb.CheckCellMetadata):
        made, resources = part(config=config).preprocess(made, resources)
    return made


def whole(notebook):
    """As `read_notebook` would give it."""
    return notebook_of(notebook, "attention.ipynb")[0]


def place(notebook, name) -> int:
    return next(number for number, cell in enumerate(notebook.cells) if grade_id(cell) == name)


def kinds(findings) -> list[str]:
    return sorted(finding.what for finding in findings)
