"""`backup` and `restore`: marks come back as they were, and nothing that is there is overwritten."""

import errno
import os
import zipfile
from pathlib import Path

import pytest

from autograder.commands.backups import backup, restore
from autograder.commands.grade import grade
from autograder.grading.course import Course
from autograder.grading.run import only_one
from tests.autograder.courses import (
    ANSWERS,
    copy,
    env,
    everything,
    hand_in,
    marked,
    of_the_class,
    snapshot,
    writes,
    zipped,
)

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def places(place, plain_template, tmp_path, monkeypatch):
    """A course with two students, one of them marked by hand; and a new one."""
    monkeypatch.chdir(tmp_path)
    plain, old, new = place.root, place, env(copy(plain_template, tmp_path / "new"))
    for root in (plain, new.root):
        with (root / "nbgrader_config.py").open("a") as file:
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
    marked(Course.load(plain), "ada", "why", 1.5)
    return old, new


def backed_up(places, *settings):
    """Both, after a backup; with these settings of the old one."""
    if settings:
        (places[0].root / "course_config.py").write_text("\n".join(["c = get_config()", *settings, ""]))
    assert backup(places[0], ["one.zip"]) == 0
    return places


def files(root):
    return of_the_class(root, "away", ".whole.1.writing", ".one.1.writing")


def test_what_is_restored_is_what_was_kept_and_needs_no_grading(places, tmp_path, call):
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
    assert "0 of them in this run" in call(grade, new, "plain")


def test_nothing_is_overwritten(places, call):
    old, new = backed_up(places)
    before = Path("one.zip").read_bytes()
    assert "give another name" in call(backup, old, "one.zip", code=1)
    assert Path("one.zip").read_bytes() == before
    assert "is there already, as" in call(restore, old, "one.zip", code=2)
    with Course.load(new.root).gradebook() as book:
        book.add_student("eve")
    assert "has students already" in call(restore, new, "one.zip", code=2)
    assert not (new.root / "submitted").exists()
    assert [path.name for path in new.root.iterdir() if path.name.endswith(".writing")] == []


def test_a_gradebook_of_its_own_name_comes_back_under_it(places):
    os.rename(places[0].root / "gradebook.db", places[0].root / "marks.db")
    url = "f'sqlite:///{Path(__file__).parent}/marks.db'"
    old, new = backed_up(places, "from pathlib import Path", f"c.CourseDirectory.db_url = {url}")
    assert restore(new, ["one.zip"]) == 0
    assert snapshot(new.root, "plain") == snapshot(old.root, "plain")
    assert (new.root / "marks.db").stat().st_mode & 0o077 == 0


def test_folders_of_their_own_names_come_back_under_them(places):
    (places[0].root / "data").mkdir()
    moved = ("submitted", "autograded")
    for name in moved:
        os.rename(places[0].root / name, places[0].root / "data" / name)
    old, new = backed_up(places, *(f"c.CourseDirectory.{name}_directory = 'data/{name}'" for name in moved))
    assert restore(new, ["one.zip"]) == 0
    assert files(new.root) == files(old.root)
    assert (new.root / "data/submitted/ada/plain/one.ipynb").is_file()


@pytest.mark.parametrize("written", [False, True])
def test_a_course_with_its_gradebook_on_a_server_comes_back(places, written):
    old, new = backed_up(places, "c.CourseDirectory.db_url = 'postgresql://grader@localhost/gradebook'")
    if written:
        (new.root / "course_config.py").write_bytes((old.root / "course_config.py").read_bytes())
    assert restore(new, ["one.zip"]) == 0
    assert files(new.root) == files(old.root)


def test_a_gradebook_on_a_server_that_only_an_option_names_is_named_so_again(places, call):
    old, new = places
    server = ["--db", "postgresql://grader@localhost/gradebook"]
    assert backup(old, ["one.zip", *server]) == 0
    assert "--db URL" in call(restore, new, "one.zip", code=2)
    assert restore(new, ["one.zip", *server]) == 0
    assert files(new.root) == files(old.root)


def test_settings_that_differ_are_kept_and_those_of_a_refused_backup_do_not_stay(places, call):
    _, new = backed_up(places)
    (new.root / "course_config.py").write_text("c = 1\n")
    before = everything(new.root)
    assert "is there already and differs" in call(restore, new, "one.zip", code=2)
    assert everything(new.root) == before
    (new.root / "course_config.py").unlink()
    (new.root / "submitted/ada/plain").mkdir(parents=True)
    (new.root / "submitted/ada/plain/one.ipynb").write_text("{}")
    before = everything(new.root)
    assert restore(new, ["one.zip"]) == 2
    assert everything(new.root) == before


def test_a_restore_that_fails_on_the_way_leaves_nothing(places, monkeypatch):
    _, new = backed_up(places)
    before, replace = everything(new.root), os.replace

    def full(source, target):
        if Path(target).name == "gradebook.db":
            raise OSError(errno.ENOSPC, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    assert restore(new, ["one.zip"]) == 1
    assert everything(new.root) == before


def test_a_gradebook_may_be_on_another_disk(places, monkeypatch):
    old, new = backed_up(places)

    def move(source, target, real=os.replace):
        if Path(source).parent != Path(target).parent:
            raise OSError(errno.EXDEV, "Invalid cross-device link")
        real(source, target)

    for name in ("rename", "replace"):
        monkeypatch.setattr(os, name, move)
    assert restore(new, ["one.zip"]) == 0
    assert snapshot(new.root, "plain") == snapshot(old.root, "plain")


@pytest.mark.parametrize("name", ["../out.txt", "solutions/plain/one.ipynb", "grading/../../x", "/etc/x", "a\\b"])
def test_a_zip_that_is_no_backup_is_refused(places, name, call):
    zipped(Path("bad.zip"), {"gradebook.db": "", name: "x"})
    assert "is no backup of this course" in call(restore, places[1], "bad.zip", code=2)


def test_a_damaged_backup_is_refused_as_a_whole(places, call):
    _, new = backed_up(places)
    content = Path("one.zip").read_bytes()
    Path("half.zip").write_bytes(content[: len(content) // 2])
    with zipfile.ZipFile("one.zip") as kept:
        place = kept.getinfo("grading/secret").header_offset + 60
    Path("bent.zip").write_bytes(content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :])
    for name in ("half.zip", "bent.zip"):
        assert "is damaged" in call(restore, new, name, code=2)
    assert not (new.root / "submitted").exists()


def test_while_an_assignment_is_graded_there_is_no_backup(places, call):
    with only_one(places[0].root / "grading" / "plain"):
        assert "is being graded by another process" in call(backup, places[0], "one.zip", code=1)
    assert [name for name in os.listdir() if "one.zip" in name] == []
