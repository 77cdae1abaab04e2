"""nbgrader's own way (`nbgrader autograde`, formgrader's button): the same repairs, and nobody stops the others."""

import copy
import os
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import CheckCellMetadata
from nbgrader.utils import capture_log
from traitlets.config import Config

from autograder.nbgrader_config import configure
from autograder.preflight.names import grade_id
from tests.autograder import courses
from tests.autograder.preflight.conftest import place

pytestmark = pytest.mark.filterwarnings("ignore")  # nbgrader's and sqlalchemy's own


@pytest.fixture(scope="module")
def root(own_template, tmp_path_factory):
    return courses.copy(own_template, tmp_path_factory.mktemp("class") / "course")


def autograde(root, stock=False):
    """What the command and the button do, but for running the cells."""
    config = Config()
    configure(config, root)
    if stock:
        del config.Autograde["sanitize_preprocessors"], config.Autograde["exporter_class"]
    config.Autograde.autograde_preprocessors = [CheckCellMetadata]
    config.CourseDirectory.root = str(root)
    config.CourseDirectory.assignment_id = "attention"
    return capture_log(Autograde(coursedir=CourseDirectory(config=config), config=config, force=True))


def submit(root, student, notebook):
    folder = root / "submitted" / student / "attention"
    folder.mkdir(parents=True)
    text = notebook if isinstance(notebook, str) else nbformat.writes(notebook)
    (folder / "attention.ipynb").write_text(text, encoding="utf-8")
    return folder


def change(notebook, **about):
    made = copy.deepcopy(notebook)
    made.cells[place(made, "check_attend")].metadata.nbgrader.update(about)
    return made


def doubled(notebook):
    made = copy.deepcopy(notebook)
    made.cells.append(copy.deepcopy(made.cells[place(made, "check_attend")]))
    return made


@pytest.fixture(scope="module")
def graded(root, _released):
    """A class in which everybody but two did something that nbgrader cannot bear."""
    good = copy.deepcopy(_released)
    submit(root, "ada", good)
    submit(root, "bob", doubled(good))
    submit(root, "cat", "\ufeff" + nbformat.writes(good))
    submit(root, "dan", "{")
    submit(root, "eve", change(good, schema_version=99))
    submit(root, "fay", change(good, schema_version=1, points="many"))
    folder = submit(root, "gus", good)
    (folder / "leak.json").symlink_to(root / "gradebook.db")
    os.link(root / "pyproject.toml", folder / "hard.txt")
    (folder / "own.csv").write_text("1")
    submit(root, "hal", new_notebook(cells=[new_code_cell("1")]))
    pipe = submit(root, "ian", good) / "attention.ipynb"
    pipe.unlink()
    os.mkfifo(pipe)  # to read it would wait for ever
    link = submit(root, "jim", good) / "attention.ipynb"
    link.unlink()
    link.symlink_to(root / "submitted/ada/attention/attention.ipynb")
    submit(root, "zoe", good)
    return autograde(root)


BLOCKED = {
    "dan": "JSON ends early or is broken",
    "hal": "none of the assignment",
    "ian": "not a plain file",
    "jim": "cannot be opened",
}


def test_one_submission_stops_no_other(root, graded):
    there = {path.parents[1].name for path in (root / "autograded").glob("*/attention/attention.ipynb")}
    assert there == {"ada", "bob", "cat", "eve", "fay", "gus", "zoe"}


def test_each_that_could_not_be_read_is_named_with_its_reason(graded):
    assert not graded["success"]
    for student, reason in BLOCKED.items():
        assert f"for student '{student}'" in graded["log"]
        assert reason in graded["log"]
    assert graded["log"].count("for student '") == len(BLOCKED)


def test_the_repaired_notebooks_are_like_the_first(root, graded):
    texts = {}
    for path in (root / "autograded").glob("*/attention/attention.ipynb"):
        cells = nbformat.read(path, as_version=4).cells
        texts[path.parents[1].name] = [(grade_id(cell), cell.source) for cell in cells if grade_id(cell)]
    assert all(text == texts["ada"] for text in texts.values())
    assert any("hidden=True" in source for _, source in texts["ada"])


def test_what_lay_behind_a_link_is_not_beside_the_notebook(root, graded):
    assert sorted(os.listdir(root / "autograded/gus/attention")) == ["attention.ipynb", "own.csv"]
    assert "leak.json was left behind" in graded["log"]


def test_without_the_repair_one_stops_the_others(root, graded, tmp_path):
    other = tmp_path / "course"
    shutil.copytree(root, other, ignore=shutil.ignore_patterns("submitted", "autograded"))
    for student in ("bob", "eve", "zoe"):
        shutil.copytree(root / "submitted" / student, other / "submitted" / student)
    assert not autograde(other, stock=True)["success"]
    assert [path.name for path in (other / "autograded").glob("*/attention/*.ipynb")] == []
