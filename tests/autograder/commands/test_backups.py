"""`backup` and `restore`: marks come back as they were, and nothing that is there is overwritten."""

import os
import sys
import zipfile
from pathlib import Path

import pytest

import autograder.grading.run as run_module
from autograder.commands.backups import backup, restore
from autograder.commands.grade import grade
from autograder.grading.course import Course
from autograder.grading.run import only_one
from autograder.launcher.environment import Environment
from tests.autograder.courses import ANSWERS, copy, hand_in, snapshot, writes
from tests.autograder.grading import fake

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def places(plain, plain_template, tmp_path, monkeypatch):
    """A course with two students, one of them marked by hand; and a new one."""
    monkeypatch.setattr(run_module, "work", fake.work)
    monkeypatch.chdir(tmp_path)
    prefix = Path(sys.prefix)
    old, new = (
        Environment(r, prefix, Path(sys.executable), prefix / "lib")
        for r in (plain, copy(plain_template, tmp_path / "new"))
    )
    for student in ("ada", "bob"):
        hand_in(plain, "plain", student, writes(ANSWERS))
    earlier = plain / "submitted" / "ada" / ".earlier" / "plain" / "first"
    earlier.mkdir(parents=True)
    (earlier / "one.ipynb").write_text("{}")
    (plain / "submitted" / "ada" / "plain" / "away").symlink_to("/etc/passwd")
    (plain / "course_config.py").write_text("c = get_config()\n")
    assert grade(old, ["plain"]) == 0
    with Course.load(plain).gradebook() as book:
        book.find_grade("why", "one", "plain", "ada").manual_score = 1.5
        book.db.commit()
    return old, new


def files(root):
    skipped = ("gradebook.db", ".lock", ".graded-by", "away")
    kept = [path for top in ("submitted", "autograded", "grading") for path in (root / top).rglob("*")]
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in kept if p.is_file() and p.name not in skipped}


def test_what_is_restored_is_what_was_kept_and_needs_no_grading(places, tmp_path, capsys):
    old, new = places
    assert backup(old, ["week 5.zip"]) == 0
    assert (tmp_path / "week 5.zip").stat().st_mode & 0o077 == 0
    assert restore(new, ["week 5.zip"]) == 0
    assert snapshot(new.root, "plain") == snapshot(old.root, "plain")
    assert files(new.root) == files(old.root)
    assert (new.root / "course_config.py").is_file()
    assert not (new.root / "submitted" / "ada" / "plain" / "away").exists()
    for name in ("gradebook.db", "submitted", "grading"):
        assert (new.root / name).stat().st_mode & 0o077 == 0
    capsys.readouterr()
    assert grade(new, ["plain"]) == 0
    assert "0 of them in this run" in capsys.readouterr().out


def test_nothing_is_overwritten(places, capsys):
    old, new = places
    assert backup(old, ["one.zip"]) == 0
    before = Path("one.zip").read_bytes()
    assert backup(old, ["one.zip"]) == 1
    assert Path("one.zip").read_bytes() == before
    assert "give another name" in capsys.readouterr().err
    assert restore(old, ["one.zip"]) == 2
    assert "is there already, as" in capsys.readouterr().err
    with Course.load(new.root).gradebook() as book:
        book.add_student("eve")
    assert restore(new, ["one.zip"]) == 2
    assert "has students already" in capsys.readouterr().err
    assert not (new.root / "submitted").exists()
    assert [path.name for path in new.root.iterdir() if path.name.endswith(".writing")] == []


@pytest.mark.parametrize("name", ["../out.txt", "solutions/plain/one.ipynb", "grading/../../x", "/etc/x", "a\\b"])
def test_a_zip_that_is_no_backup_is_refused(places, name, capsys):
    with zipfile.ZipFile("bad.zip", "w") as made:
        made.writestr("gradebook.db", "")
        made.writestr(name, "x")
    assert restore(places[1], ["bad.zip"]) == 2
    assert "is no backup of this course" in capsys.readouterr().err


def test_a_damaged_backup_is_refused_as_a_whole(places, capsys):
    old, new = places
    assert backup(old, ["one.zip"]) == 0
    content = Path("one.zip").read_bytes()
    Path("half.zip").write_bytes(content[: len(content) // 2])
    with zipfile.ZipFile("one.zip") as kept:
        place = kept.getinfo("grading/secret").header_offset + 60
    Path("bent.zip").write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
    for name in ("half.zip", "bent.zip"):
        assert restore(new, [name]) == 2
        assert "is damaged" in capsys.readouterr().err
    assert not (new.root / "submitted").exists()


def test_while_an_assignment_is_graded_there_is_no_backup(places, capsys):
    with only_one(places[0].root / "grading" / "plain"):
        assert backup(places[0], ["one.zip"]) == 1
    assert "is being graded by another process" in capsys.readouterr().err
    assert [name for name in os.listdir() if "one.zip" in name] == []
