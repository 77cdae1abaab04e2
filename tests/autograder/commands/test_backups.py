"""`backup` and `restore`: marks come back as they were, and nothing that is there is overwritten."""

import errno
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
    for place in (old, new):
        with (place.root / "nbgrader_config.py").open("a") as file:
            file.write("load_subconfig('course_config.py', path=str(Path(__file__).resolve().parent))\n")
    for student in ("ada", "bob"):
        hand_in(plain, "plain", student, writes(ANSWERS))
    earlier = plain / "submitted" / "ada" / ".earlier" / "plain" / "first"
    earlier.mkdir(parents=True)
    (earlier / "one.ipynb").write_text("{}")
    (plain / "submitted" / "ada" / "plain" / "away").symlink_to("/etc/passwd")
    for name in ("essay.writing.md", ".lock"):
        (plain / "submitted" / "bob" / "plain" / name).write_text("a student's")
    for half in (".whole.1.writing", ".one.1.writing/a.txt"):
        (plain / "submitted" / half).parent.mkdir(exist_ok=True)
        (plain / "submitted" / half).write_text("half")
    (plain / "course_config.py").write_text("c = get_config()\n")
    assert grade(old, ["plain"]) == 0
    with Course.load(plain).gradebook() as book:
        book.find_grade("why", "one", "plain", "ada").manual_score = 1.5
        book.db.commit()
    return old, new


def files(root):
    skipped = ("away", ".whole.1.writing", ".one.1.writing")
    kept = [path for top in ("submitted", "autograded", "grading") for path in (root / top).rglob("*")]
    names = {path.relative_to(root): path for path in kept if path.is_file()}
    of_a_run = {Path("grading/plain") / name for name in (".lock", ".graded-by")}
    return {n: p.read_bytes() for n, p in names.items() if n not in of_a_run and not {*n.parts} & {*skipped}}


def everything(root):
    return {path.relative_to(root): path.is_file() and path.read_bytes() for path in root.rglob("*")}


def test_what_is_restored_is_what_was_kept_and_needs_no_grading(places, tmp_path, capsys):
    old, new = places
    assert backup(old, ["week 5.zip"]) == 0
    assert (tmp_path / "week 5.zip").stat().st_mode & 0o077 == 0
    assert restore(new, ["week 5.zip"]) == 0
    assert snapshot(new.root, "plain") == snapshot(old.root, "plain")
    assert files(new.root) == files(old.root)
    assert not any(name.endswith(".writing") for _, folders, found in os.walk(new.root) for name in folders + found)
    assert (new.root / "submitted/bob/plain/.lock").is_file()
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


def settings(place, *lines):
    (place.root / "course_config.py").write_text("\n".join(["c = get_config()", *lines, ""]))


def test_a_gradebook_of_its_own_name_comes_back_under_it(places):
    old, new = places
    os.rename(old.root / "gradebook.db", old.root / "marks.db")
    settings(
        old, "from pathlib import Path", "c.CourseDirectory.db_url = f'sqlite:///{Path(__file__).parent}/marks.db'"
    )
    assert backup(old, ["one.zip"]) == 0
    assert restore(new, ["one.zip"]) == 0
    assert snapshot(new.root, "plain") == snapshot(old.root, "plain")
    assert (new.root / "marks.db").stat().st_mode & 0o077 == 0


def test_folders_of_their_own_names_come_back_under_them(places):
    old, new = places
    (old.root / "data").mkdir()
    for name in ("submitted", "autograded"):
        os.rename(old.root / name, old.root / "data" / name)
    settings(old, *(f"c.CourseDirectory.{n}_directory = 'data/{n}'" for n in ("submitted", "autograded")))
    assert backup(old, ["one.zip"]) == 0
    assert restore(new, ["one.zip"]) == 0
    assert files(new.root) == files(old.root)
    assert (new.root / "data/submitted/ada/plain/one.ipynb").is_file()


@pytest.mark.parametrize("written", [False, True])
def test_a_course_with_its_gradebook_on_a_server_comes_back(places, written):
    old, new = places
    settings(old, "c.CourseDirectory.db_url = 'postgresql://grader@localhost/gradebook'")
    assert backup(old, ["one.zip"]) == 0
    if written:
        (new.root / "course_config.py").write_bytes((old.root / "course_config.py").read_bytes())
    assert restore(new, ["one.zip"]) == 0
    assert files(new.root) == files(old.root)


def test_a_gradebook_on_a_server_that_only_an_option_names_is_named_so_again(places, capsys):
    old, new = places
    server = ["--db", "postgresql://grader@localhost/gradebook"]
    assert backup(old, ["one.zip", *server]) == 0
    assert restore(new, ["one.zip"]) == 2
    assert "--db URL" in capsys.readouterr().err
    assert restore(new, ["one.zip", *server]) == 0
    assert files(new.root) == files(old.root)


def test_settings_that_differ_are_kept_and_those_of_a_refused_backup_do_not_stay(places, capsys):
    old, new = places
    assert backup(old, ["one.zip"]) == 0
    (new.root / "course_config.py").write_text("c = 1\n")
    before = everything(new.root)
    assert restore(new, ["one.zip"]) == 2
    assert "is there already and differs" in capsys.readouterr().err
    assert everything(new.root) == before
    (new.root / "course_config.py").unlink()
    (new.root / "submitted/ada/plain").mkdir(parents=True)
    (new.root / "submitted/ada/plain/one.ipynb").write_text("{}")
    before = everything(new.root)
    assert restore(new, ["one.zip"]) == 2
    assert everything(new.root) == before


def test_a_restore_that_fails_on_the_way_leaves_nothing(places, monkeypatch):
    old, new = places
    assert backup(old, ["one.zip"]) == 0
    before, replace = everything(new.root), os.replace

    def full(source, target):
        if Path(target).name == "gradebook.db":
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    assert restore(new, ["one.zip"]) == 1
    assert everything(new.root) == before


def test_a_gradebook_may_be_on_another_disk(places, monkeypatch):
    old, new = places
    assert backup(old, ["one.zip"]) == 0

    def another(function):
        def called(source, target, *rest):
            if Path(source).parent != Path(target).parent:
                raise OSError(errno.EXDEV, "Invalid cross-device link")
            return function(source, target, *rest)

        return called

    monkeypatch.setattr(os, "rename", another(os.rename))
    monkeypatch.setattr(os, "replace", another(os.replace))
    assert restore(new, ["one.zip"]) == 0
    assert snapshot(new.root, "plain") == snapshot(old.root, "plain")


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
