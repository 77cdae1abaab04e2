"""An assignment is one folder, and of it students get the notebook and what `files.txt` names: nothing else, ever."""

import re

import nbformat
import pytest
from nbgrader.apps import NbGraderAPI

from autograder import assignments
from autograder.files import plain_files
from autograder.grading.course import Course
from autograder.release.build import build_exercises
from autograder.release.contents import _exercises
from autograder.texts.exercises import HANDED_OUT
from tests.autograder.courses import CONFIG, FIRST, ROOT, hand_in

pytestmark = pytest.mark.filterwarnings("ignore")  # nbgrader and what it stands on warn about themselves


PARTS = {
    "checks/__init__.py": "EXERCISES = {}\n",
    "checks/table.csv": "1\n",
    "laws.py": "x = 1\n",
    "answers.txt": "=== f: right\n",
    "notes.md": "Ask this.\n",
    "data/words.txt": "one\n",
}
"""Files of an assignment beside its notebook: all that no student gets as it is, and data."""


@pytest.fixture(scope="module")
def with_all_parts(tmp_path_factory):
    """An assignment with every part, and a `files.txt` that names them all; released."""
    root = tmp_path_factory.mktemp("parts")
    folder = root / "solutions/one"
    for name, text in PARTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "files.txt").write_text("**/*\n")
    (folder / "one.py").write_text("# %%\nx = 1\n")
    nbformat.write(FIRST, folder / "one.ipynb")
    (root / "nbgrader_config.py").write_text(CONFIG)
    build_exercises(root)
    return root


def test_students_get_the_notebook_and_the_data_that_are_named_and_no_other_part(with_all_parts):
    there = plain_files(with_all_parts / "exercises/one", "**/*")
    assert sorted(path.name for path in there) == ["one.ipynb", "words.txt"]


def test_no_other_part_comes_to_where_a_submission_runs(with_all_parts):
    course = Course.load(with_all_parts)
    assert sorted(course.files("one")) == ["data/words.txt"]
    hand_in(with_all_parts, "one", "ada", lambda *_: None)
    assert NbGraderAPI(config=course.config).autograde("one", "ada")["success"]
    there = (with_all_parts / "autograded/ada/one").rglob("*.*")
    assert sorted(path.name for path in there if path.name != "timestamp.txt") == ["one.ipynb", "words.txt"]


def test_no_other_part_is_in_the_archive(with_all_parts):
    by_hand = with_all_parts / "exercises/one/notes.md"
    by_hand.write_text("It got here by hand.\n")
    found = sorted(_exercises(with_all_parts, ["one"]))
    by_hand.unlink()  # the tests of this folder run in any order
    assert found == [f"{HANDED_OUT}/one/{name}" for name in ("data/words.txt", "one.ipynb")]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ("", "data/words.txt: name it in files.txt"),
        ("words.txt", "names 'words.txt'"),
        ("notes.md", "names 'notes.md'"),
        ("../two/*", "names '../two/*'"),
        ("/etc/*", "names '/etc/*'"),
    ],
)
def test_a_file_that_is_neither_a_part_nor_named_stops_the_build(tmp_path, files, words):
    folder = tmp_path / "solutions/one"
    (folder / "data").mkdir(parents=True)
    (folder / "data/words.txt").write_text("one\n")
    (folder / "notes.md").write_text("Ask this.\n")
    (folder / "files.txt").write_text(files)
    assert any(words in fault for fault in assignments.faults(folder))


@pytest.mark.parametrize("name", assignments.names())
def test_what_is_written_as_latex_is_in_a_formula(name):
    page = (ROOT / "solutions" / name / f"{name}.py").read_text(encoding="utf-8")
    prose = "\n".join(re.findall(r"^# (.*)", page, re.M))
    for aside in (r"(?s)```.*?```", r"`[^`]*`", r"(?s)\$\$.*?\$\$", r"(?s)\$[^$]*\$"):
        prose = re.sub(aside, "", prose)
    assert re.findall(r".*\\[a-z]{2,}.*", prose) == []
