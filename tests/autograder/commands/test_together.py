"""`groups`: one submission counts for all members, with one mark, one lateness, and the extension of any of them."""

import json

import pytest

from autograder.commands.dates import due, extend
from autograder.commands.grade import grade
from autograder.commands.mark import mark
from autograder.commands.students import collect, roster
from autograder.commands.together import groups, markers
from autograder.grading import single
from autograder.grading.course import Course
from autograder.grading.groups import KEPT, inputs_of, members
from autograder.guard import Guard
from autograder.instructor.rows import report_rows
from autograder.instructor.written import Class
from tests.autograder.courses import ANSWERS, copy, hand_in, nothing, writes
from tests.autograder.grading import fake

pytestmark = pytest.mark.filterwarnings("ignore")
TEAMS = "Group;User name\nRed;ada\nRed;bob\n;cyd\nBlue;dan\nBlue;eve\n"
EARLY, LATER, LATE = "2025-11-19 10:00:00 UTC", "2025-11-19 12:00:00 UTC", "2025-11-21 11:00:00 UTC"


@pytest.fixture
def place(place, tmp_path):
    people = ("ada", "bob", "cyd", "dan", "eve")
    (tmp_path / "class.csv").write_text("id,email\n" + "".join(f"{one},{one}@x.y\n" for one in people))
    assert roster(place, [str(tmp_path / "class.csv")]) == 0
    (tmp_path / "teams.csv").write_text(TEAMS)
    assert groups(place, [str(tmp_path / "teams.csv")]) == 0
    return place


def rows(place):
    return {row.student: row for row in report_rows(Course.load(place.root), "plain")}


def test_the_newest_submission_of_a_group_counts_for_all(place, call):
    hand_in(place.root, "plain", "ada", nothing, EARLY)
    hand_in(place.root, "plain", "bob", writes(ANSWERS), LATER)
    hand_in(place.root, "plain", "cyd", nothing, EARLY)
    assert "Their group's submission counts for: ada." in call(grade, place, "plain")
    found = rows(place)
    assert found["ada"].questions == found["bob"].questions != found["cyd"].questions
    assert [found[student].state for student in ("dan", "eve")] == ["nothing handed in"] * 2
    assert len(list((place.root / "submitted" / "ada" / ".earlier" / "plain").iterdir())) == 1
    before = sorted((path, path.stat().st_mtime_ns) for path in (place.root / "submitted").rglob("*"))
    assert "counts for" not in call(grade, place, "plain")
    assert before == sorted((path, path.stat().st_mtime_ns) for path in (place.root / "submitted").rglob("*"))


def test_what_is_collected_counts_for_the_other_too_and_nobody_is_missing(place, tmp_path, call):
    copy(place.root / "exercises" / "plain", tmp_path / "download" / "dan" / "plain")
    said = call(collect, place, "plain", str(tmp_path / "download"))
    assert "counts for: eve." in said
    assert "Handed in nothing: ada, bob, cyd." in said
    assert (place.root / "submitted" / "eve" / "plain" / "one.ipynb").is_file()


def test_a_group_is_late_together_and_has_the_longest_extension(place):
    with (place.root / "nbgrader_config.py").open("a") as file:
        file.write("c = get_config()\nc.AssignLatePenalties.plugin_class = 'autograder.grading.late.LatePolicy'\n")
        file.write("c.LatePolicy.percent_a_day = 10\n")
    assert due(place, ["plain", "2025-11-20T11:00+00:00"]) == 0
    hand_in(place.root, "plain", "bob", writes(ANSWERS), LATE)  # 24 hours
    assert grade(place, ["plain"]) == 0
    assert (rows(place)["ada"].late, rows(place)["bob"].late) == (86400, 86400)
    assert rows(place)["ada"].penalty == rows(place)["bob"].penalty > 0
    assert extend(place, ["plain", "ada", "+1d"]) == 0
    assert (rows(place)["ada"].late, rows(place)["bob"].late) == (0, 0)
    assert extend(place, ["plain", "ada", "+0"]) == 0
    assert rows(place)["bob"].late == 86400


def test_the_same_files_handed_in_twice_have_the_first_time(place):
    hand_in(place.root, "plain", "ada", writes(ANSWERS), EARLY)
    hand_in(place.root, "plain", "bob", writes(ANSWERS), LATE)
    assert grade(place, ["plain"]) == 0
    for student in ("ada", "bob"):
        assert (place.root / "submitted" / student / "plain" / "timestamp.txt").read_text().strip() == EARLY


def test_without_times_nobody_guesses_which_is_the_newest(place, call):
    hand_in(place.root, "plain", "ada", writes(ANSWERS), "")
    hand_in(place.root, "plain", "bob", nothing, LATE)
    assert "NOT SHARED, as several submissions differ and not all have a time: Red." in call(grade, place, "plain")
    assert rows(place)["ada"].questions != rows(place)["bob"].questions


def test_hidden_inputs_are_the_groups_and_stay_when_one_leaves(place):
    root = place.root
    first = inputs_of(root, "plain", "ada")
    assert first == inputs_of(root, "plain", "bob") != inputs_of(root, "plain", "dan")
    assert inputs_of(root, "plain", "cyd") == "cyd"
    hand_in(root, "plain", "ada", writes(ANSWERS), EARLY)
    assert grade(place, ["plain"]) == 0
    record = root / "grading" / "plain" / "bob" / "record.json"
    before = record.stat().st_mtime_ns
    assert roster(place, ["--remove", "ada"]) == 0
    assert "ada" not in (root / KEPT).read_text()
    assert inputs_of(root, "plain", "bob") == first
    assert grade(place, ["plain"]) == 0
    assert record.stat().st_mtime_ns == before  # nothing is graded again


def test_an_assignment_may_have_groups_of_its_own_or_none(place, tmp_path):
    (tmp_path / "own.csv").write_text("group,student\nOne,ada\nOne,cyd\n")
    assert groups(place, [str(tmp_path / "own.csv"), "plain"]) == 0
    assert inputs_of(place.root, "plain", "cyd") == inputs_of(place.root, "plain", "ada")
    assert inputs_of(place.root, "other", "ada") == inputs_of(place.root, "other", "bob")
    assert groups(place, ["--none", "plain"]) == 0
    assert inputs_of(place.root, "plain", "ada") == "ada"
    assert groups(place, [str(tmp_path / "own.csv"), "unknown"]) == 2
    assert groups(place, ["--none", "all"]) == 0
    assert json.loads((place.root / KEPT).read_text()) == {"plain": {}}


def test_a_later_list_moves_no_submission_of_what_is_graded(place, tmp_path):
    for student, when in (("ada", EARLY), ("cyd", LATER)):
        hand_in(place.root, "plain", student, writes(ANSWERS | {"why": f"By {student}."}), when)
    assert grade(place, ["plain"]) == 0
    records = sorted((place.root / "grading" / "plain").glob("*/record.json"))
    before = [path.stat().st_mtime_ns for path in records]
    (tmp_path / "new.csv").write_text("group,student\nNew,ada\nNew,cyd\n")
    assert groups(place, [str(tmp_path / "new.csv")]) == 0
    assert grade(place, ["plain"]) == 0
    assert before == [path.stat().st_mtime_ns for path in records]
    assert members(place.root, "plain", "ada") == ["ada", "bob"]
    assert members(place.root, "other", "ada") == ["ada", "cyd"]
    assert groups(place, [str(tmp_path / "new.csv"), "plain"]) == 0
    assert members(place.root, "plain", "ada") == ["ada", "cyd"]


def test_one_submission_is_checked_with_the_inputs_of_its_group(place, monkeypatch):
    seen = []
    monkeypatch.setattr(single, "choose", lambda isolation: isolation)
    monkeypatch.setattr(single, "work", lambda task: seen.append(task.inputs_of) or fake.work(task))
    hand_in(place.root, "plain", "ada", writes(ANSWERS), EARLY)
    course = Course.load(place.root)
    with Guard() as guard:
        for student in ("ada", "bob", "cyd"):
            single.grade_one(course, "plain", course.submission("ada", "plain"), student, "none", guard)
    assert seen == [inputs_of(place.root, "plain", student) for student in ("ada", "ada", "cyd")]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("group,student\nRed,ada\nBlue,ada\n", "ada is in two groups, Red and Blue"),
        ("group,student\nRed,zoe\n", "the gradebook knows no such student"),
        ("team of,student\nRed,ada\n", "no column called group"),
        ("group,student\n,ada\n", "names no group"),
    ],
)
def test_a_list_that_is_wrong_changes_nothing(place, tmp_path, call, lines, said):
    before = (place.root / KEPT).read_text()
    (tmp_path / "wrong.csv").write_text(lines)
    assert said in call(groups, place, str(tmp_path / "wrong.csv"), code=2)
    assert (place.root / KEPT).read_text() == before


def test_partners_are_marked_as_one(place):
    for student in ("ada", "dan"):
        hand_in(place.root, "plain", student, writes(ANSWERS | {"why": f"By {student}."}), EARLY)
    assert grade(place, ["plain"]) == 0
    course = Course.load(place.root)
    with Guard() as guard, course.gradebook() as gradebook:
        answers = Class(course, "plain", guard)
        for question in answers.questions:  # a written answer, and a task
            found = [sorted(one.answer.student for one in unit.given) for unit in answers.units(gradebook, question)]
            assert sorted(found) == [["ada", "bob"], ["dan", "eve"]]


def test_who_marks_must_be_said_where_markers_are_named(place, call):
    assert "ann (33%), ben (67%)" in call(markers, place, "--share", "ann", "--share", "ben=2")
    assert "--as ann or --as ben" in call(mark, place, "plain", "--no-browser", code=2)
    for wrong in ("ann=0", "ann=x", "=2", "a@b"):
        with pytest.raises(SystemExit):
            markers(place, ["--share", wrong])
    assert "No markers are named" in call(markers, place, "--none")
