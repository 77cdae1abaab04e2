"""Files with marks are ignored by git wherever they are written."""

import shutil
import subprocess

import pytest

from autograder.commands.private import keep, keep_course
from autograder.grading.course import Course

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")


def git(folder, *words) -> str:
    about = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    return subprocess.run(["git", *about, *words], cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def checkout(tmp_path):
    git(tmp_path, "init", "-q")
    (tmp_path / "sub").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "name", ["marks.csv", "sub/my marks [1].csv", "sub/#!*?.csv", "sub/ à\\ b.csv", "not yet/x.csv"]
)
def test_a_file_anywhere_in_a_checkout_is_ignored(checkout, name, capsys):
    keep(checkout / name)
    keep(checkout / name)
    (checkout / name).parent.mkdir(exist_ok=True)
    (checkout / name).write_text("ada,4")
    (checkout / "sub" / "other.csv").write_text("no marks")
    assert git(checkout, "status", "--porcelain", "-uall") == "?? sub/other.csv\n"
    assert (checkout / ".git" / "info" / "exclude").read_text().count(name[-5:]) == 1
    assert capsys.readouterr().err == ""


def test_in_a_worktree_too_and_nothing_outside_a_checkout(checkout, tmp_path_factory):
    git(checkout, "commit", "-q", "--allow-empty", "-m", "a")
    other = tmp_path_factory.mktemp("outside")
    git(checkout, "worktree", "add", "-q", str(other / "tree"))
    keep(other / "tree" / "marks.csv", other / "marks.csv")
    (other / "tree" / "marks.csv").write_text("ada,4")
    assert git(other / "tree", "status", "--porcelain") == ""


def test_what_git_has_already_or_is_asked_for_is_said(checkout, capsys):
    (checkout / "marks.csv").write_text("ada,4")
    git(checkout, "add", "marks.csv")
    (checkout / ".gitignore").write_text("!/wanted.csv\n")
    keep(checkout / "marks.csv", checkout / "wanted.csv", checkout / "fine.csv")
    said = capsys.readouterr().err
    assert "marks.csv, wanted.csv: git has them already, or a .gitignore asks for them" in said
    assert "fine.csv" not in said


def test_a_course_of_ones_own_keeps_its_marks_to_itself(checkout, capsys):
    (checkout / "nbgrader_config.py").write_text("")
    keep_course(Course.load(checkout))
    for name in ("grading/a/report.csv", "feedback/ada/x.html", "autograded/ada/x.ipynb"):
        (checkout / name).parent.mkdir(parents=True)
        (checkout / name).write_text("marks")
    for name in ("gradebook.db", "gradebook.db-journal", "gradebook.db-wal"):
        (checkout / name).write_text("marks")
    assert git(checkout, "status", "--porcelain", "-uall") == "?? nbgrader_config.py\n"
    assert capsys.readouterr().err == ""
