"""`new-semester`: nothing of the old class is lost or stays, whatever interrupts it, and the course goes on."""

import os
import shutil
from datetime import date, datetime, timedelta
from pathlib import Path

import pytest

import autograder.grading.run as run_module
from autograder.commands.around import feedback
from autograder.commands.backups import new_semester, restore
from autograder.commands.dates import due
from autograder.commands.grade import grade
from autograder.commands.together import markers
from autograder.grading import rubric
from autograder.grading.byhand import answers_to, mark_by_hand
from autograder.grading.course import Course
from autograder.instructor.new_semester import begin, go_on
from tests.autograder.courses import ANSWERS, copy, env, everything, hand_in, of_the_class, snapshot, writes
from tests.autograder.grading import fake

pytestmark = pytest.mark.filterwarnings("ignore")
STUDENTS = ["ada", "bob", "cat", "dan", "eve"]
ITEMS = [rubric.Item("1", "Reason", 2.0), rubric.Item("2", "Example", 1.0)]


@pytest.fixture(scope="module")
def template(plain_template, tmp_path_factory):
    """A semester that is over, except that nobody has got feedback."""
    root = copy(plain_template, tmp_path_factory.mktemp("semester") / "course")
    with (root / "nbgrader_config.py").open("a") as file:
        file.write("load_subconfig('course_config.py', path=str(Path(__file__).resolve().parent))\n")
    (root / "course_config.py").write_text("c = get_config()\nc.CourseDirectory.course_id = 'mine'\n")
    for student in STUDENTS:
        hand_in(root, "plain", student, writes(ANSWERS | {"why": f"Reason of {student}."}))
    assert due(env(root), ["plain", "2026-11-13T23:59"]) == 0
    assert markers(env(root), ["--share", "ann"]) == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_module, "work", fake.work)
        assert grade(env(root), ["plain"]) == 0
    rubric.keep(root, "plain", "one", "why", ITEMS)
    words = ["Say why.", "Say why.", "Say why.", "Only once.", "Well done, Eve."]
    with Course.load(root).gradebook() as book:
        for cell, said in (("why", words), ("drawing", ["Dan, say more."] * 5)):
            for one in answers_to(book, "plain", "one", cell):
                mark_by_hand(book, [one], 1.0, said[STUDENTS.index(one.student)])
    return root


@pytest.fixture
def course(template, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return copy(template, tmp_path / "course")


def begun(root):
    made = Course.load(root)
    begin(made, root.parent / "autumn.zip")
    return made


def begins_anew(root):
    """That there is nobody, and everything else."""
    kept = {Path("grading") / name for name in ("markers.json", "plain/rubric.json", "plain/comments.json")}
    assert of_the_class(root).keys() == kept
    assert rubric.items(root, "plain", "one", "why", "") == ITEMS
    assert rubric.comments(root, "plain") == {"one/why": ["Say why."]}
    made = Course.load(root)
    assert made.directory.course_id == "mine"
    with made.gradebook() as book:
        assert not book.students
        (about,) = book.assignments
        assert about.duedate is None
    content = (root / "gradebook.db").read_bytes()
    assert not any(name.encode() in content for name in ("bob", "Only once", "Well done"))
    assert not [path for path in everything(root) if ".old" in path.name or ".new" in path.name]


def test_a_semester_that_is_not_over_is_not_touched(course, call):
    before = everything(course)
    assert "plain: 5 without a feedback page of these marks" in call(new_semester, env(course), "autumn.zip", code=1)
    with Course.load(course).gradebook() as book:
        (ada,) = (one for one in answers_to(book, "plain", "one", "why") if one.student == "ada")
        mark_by_hand(book, [ada], None, "")
    assert "plain: 1 to be marked, 4 without" in call(new_semester, env(course), "autumn.zip", code=1)
    changed = {path for path, text in everything(course).items() if before.get(path) != text}
    assert changed == {Path("gradebook.db")}
    assert before.keys() == everything(course).keys()
    assert not Path("autumn.zip").exists()


def test_a_semester_that_has_not_begun_is_not_over(course, call):
    for path in ("submitted", "autograded", "grading/plain"):
        shutil.rmtree(course / path)
    tomorrow = datetime.now() + timedelta(days=1)
    assert due(env(course), ["plain", tomorrow.isoformat(timespec="minutes")]) == 0
    before = everything(course)
    said = call(new_semester, env(course), "autumn.zip", code=1)
    assert "nothing was handed in" in said
    assert f"plain: due on {tomorrow:%A}" in said
    assert everything(course).keys() - before.keys() <= {Path("submitted"), Path("autograded")}


def test_the_old_semester_is_in_the_backup_and_the_new_one_is_graded_like_it(course, plain_template, tmp_path, call):
    assert feedback(env(course), ["plain"]) == 0
    before, marks, basis = of_the_class(course), snapshot(course, "plain"), Course.load(course).masters("plain")
    said = call(new_semester, env(course), "autumn.zip")
    assert "5 students and 5 submissions" in said
    assert "1 comment without names, the marker ann" in said
    begins_anew(course)
    assert Course.load(course).masters("plain") == basis
    new = copy(plain_template, tmp_path / "elsewhere")
    (new / "nbgrader_config.py").write_bytes((course / "nbgrader_config.py").read_bytes())
    assert restore(env(new), ["autumn.zip"]) == 0
    assert of_the_class(new) == before
    assert snapshot(new, "plain") == marks

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_module, "work", fake.work)
        hand_in(course, "plain", "zoe", writes(ANSWERS))
        assert grade(env(course), ["plain"]) == 0
    again = snapshot(course, "plain")
    assert [*again] == ["zoe"]
    zoe, ada = ([grade[1] for grade in found["one"]["grades"]] for found in (again["zoe"], marks["ada"]))
    assert zoe == ada
    assert new_semester(env(course), ["spring.zip", "--unfinished"]) == 0
    assert rubric.comments(course, "plain") == {"one/why": ["Say why."]}


def test_wherever_it_is_interrupted_it_goes_on(course, monkeypatch):
    """Each step that changes the disk fails the first time, as if the machine had stopped before it."""
    made = begun(course)
    steps = [(Path, name) for name in ("rename", "unlink", "rmdir", "mkdir")] + [(os, "replace")]
    seen = set()
    for where, name in steps:
        real = getattr(where, name)

        def step(*given, real=real, **more):
            this = real, *map(str, given)
            if str(course) in this[-1] and this not in seen:
                seen.add(this)
                raise KeyboardInterrupt
            return real(*given, **more)

        monkeypatch.setattr(where, name, step)
    for _ in range(500):
        try:
            assert go_on(made).left == []
            break
        except KeyboardInterrupt:
            pass
    assert len(seen) > 40
    begins_anew(course)


def test_a_mark_that_is_given_after_the_backup_stops_it(course):
    before = of_the_class(course)
    made = begun(course)
    with made.gradebook() as book:
        mark_by_hand(book, answers_to(book, "plain", "one", "why")[:1], 2.0, "")
    marks = snapshot(course, "plain")
    with pytest.raises(ValueError, match="marks have changed"):
        go_on(made)
    assert snapshot(course, "plain") == marks
    assert of_the_class(course) == before
    with pytest.raises(ValueError, match="is not what the course has now"):
        begin(made, course.parent / "autumn.zip")


def test_what_the_backup_has_not_is_not_deleted(course):
    made = begun(course)
    (course / "submitted/ada/plain/late.txt").write_text("late")
    (course / "submitted/bob/plain/helper.py").write_text("changed")
    (course / "submitted/bob/plain/away").symlink_to("/etc/passwd")
    left = go_on(made).left
    assert sorted(Path(path).name for path in left) == ["away", "helper.py", "late.txt"]
    assert {(course / path).is_symlink() or (course / path).read_text() for path in left} == {"late", "changed", True}
    begins_anew(course)


def test_a_gradebook_that_no_backup_has_is_named_and_stands_in_the_way_of_the_next_semester(course):
    made, left = begun(course), course / ".gradebook.db.old"
    left.write_bytes(b"of another time")
    with pytest.raises(ValueError, match="no backup has"):
        begin(made, course.parent / "spring.zip")
    assert left.read_bytes() == b"of another time"


def test_leftovers_of_one_day_have_a_folder_each(course):
    (course / f"left-over-{date.today().isoformat()}").mkdir()
    made = begun(course)
    (course / "submitted/ada/plain/late.txt").write_text("late")
    (left,) = go_on(made).left
    assert (course / left).read_text() == "late"


def test_a_backup_that_is_gone_or_damaged_deletes_nothing(course):
    made, backup = begun(course), course.parent / "autumn.zip"
    before = everything(course)
    content = backup.read_bytes()
    backup.unlink()
    with pytest.raises(ValueError, match="put it back"):
        go_on(made)
    assert everything(course) == before
    backup.write_bytes(content)
    go_on(made)
    begins_anew(course)
