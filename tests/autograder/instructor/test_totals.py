"""The whole course: weights, the lowest dropped, and what a missing mark is worth."""

import json
from dataclasses import replace

import pytest

from autograder.commands.grade import grade
from autograder.commands.marks import report
from autograder.grading.course import Course
from autograder.instructor import totals as module
from autograder.instructor.rows import Row
from tests.autograder.courses import ANSWERS, hand_in, table, writes

pytestmark = pytest.mark.filterwarnings("ignore")
NOTHING, WAITING = "nothing handed in", "waiting"


@pytest.fixture
def course(monkeypatch):
    """ada: 100, 50, 80 and 60 %. bob: 40 %, nothing, 90 % and 70 %. eve: nothing, then a mark that is still to come."""
    marks = {
        "one": {"ada": 10.0, "bob": 4.0, "eve": NOTHING},
        "two": {"ada": 5.0, "bob": NOTHING, "eve": WAITING},
        "three": {"ada": 8.0, "bob": 9.0, "eve": NOTHING},
        "capstone": {"ada": 6.0, "bob": 7.0, "eve": NOTHING},
    }

    def rows(_, name):
        return [
            Row(student=who, state="graded", score=mark, of=10.0)
            if isinstance(mark, float)
            else Row(student=who, state=mark, score=3.0 if mark == WAITING else None, of=10.0)
            for who, mark in marks[name].items()
        ]

    monkeypatch.setattr(module, "report_rows", rows)
    monkeypatch.setattr(module, "handed_in", lambda _: list(marks))


def percent(weights=None, drop=0, zero=False):
    return {one.student: one.percent for one in module.totals(None, weights or {}, drop, zero)[0]}


@pytest.mark.parametrize(
    ("how", "ada", "bob"),
    [
        ({}, (100 + 50 + 80 + 60) / 4, (40 + 90 + 70) / 3),
        ({"zero": True}, (100 + 50 + 80 + 60) / 4, (40 + 0 + 90 + 70) / 4),
        ({"drop": 1}, (100 + 80 + 60) / 3, (40 + 90 + 70) / 3),  # what bob did not hand in is dropped first
        ({"drop": 2}, (100 + 80) / 2, (90 + 70) / 2),
        ({"drop": 1, "zero": True}, (100 + 80 + 60) / 3, (40 + 90 + 70) / 3),
        ({"drop": 9}, 100, 90),  # never everything
        ({"weights": {"capstone": 3}}, (100 + 50 + 80 + 3 * 60) / 6, (40 + 90 + 3 * 70) / 5),
        ({"weights": {"two": 2}, "drop": 1}, (100 + 2 * 50 + 80) / 4, (90 + 70) / 2),  # neither dropped nor its place
        ({"weights": {"one": 0, "two": 0}}, (80 + 60) / 2, (90 + 70) / 2),
    ],
)
def test_a_total_is_the_weighted_mean_of_what_is_left(course, how, ada, bob):
    found = percent(**how)
    assert (found["ada"], found["bob"]) == pytest.approx((ada, bob))


def test_a_mark_that_is_still_to_come_is_no_zero_and_the_total_says_so(course):
    eve = module.totals(None, {}, 1, False)[0][2]
    assert (eve.percent, eve.open, dict(eve.parts)["two"]) == (None, ("two",), None)
    assert module.totals(None, {}, 0, True)[0][2].percent == 0


def test_who_falls_is_named_and_two_marks_are_no_trend(course):
    found, _ = module.totals(course, {}, 0, False)
    assert module.fallen(found, 16) == ["ada"]  # 60 after a mean of 76.7; bob has 40 and 90 before his 70
    assert module.fallen(found, 17) == []
    shorter = [replace(found[0], parts={"one": 90.0, "two": 10.0})]
    assert module.fallen(shorter, 5) == []


def test_questions_that_two_sheets_share_count_twice_and_it_is_said(course, monkeypatch):
    """As an assignment and its core sheet do, for whoever hands in both."""
    asked = {"one": ["attention.attend"], "two": ["attention.attend", "attention.written"], "three": ["gates.leaky"]}
    monkeypatch.setattr(module, "exercises_of", lambda name: dict.fromkeys(asked.get(name, ())))
    assert list(module.twice(module.totals(None, {}, 0, False)[0])) == [("one", "two", 1, ["ada"])]
    assert not list(module.twice(module.totals(None, {"two": 0}, 0, False)[0]))


def test_a_weight_is_of_something_that_was_handed_in(course):
    with pytest.raises(ValueError, match="nobody has handed in four"):
        percent({"four": 1})
    with pytest.raises(ValueError, match="every assignment has a weight of 0"):
        percent(dict.fromkeys(["one", "two", "three", "capstone"], 0.0))


def test_the_command_writes_a_table(place, plain, call):
    assert "Nobody has handed in anything yet" in call(report, place, "--all", code=2)
    hand_in(plain, "plain", "ada", writes(ANSWERS))
    assert grade(place, ["plain"]) == 0
    assert "Not final, because a mark is still to be given: ada." in call(report, place, "--all")
    with Course.load(plain).gradebook() as book:
        for notebook in book.assignment_submissions("plain")[0].notebooks:
            for one in notebook.grades:
                one.manual_score, one.needs_manual_grade = one.max_score / 2, False
        book.db.commit()
    assert report(place, ["--all", "--weight", "plain=2"]) == 0
    (row,) = table(plain / "grading" / "course.csv")
    assert (row["student"], row["total (%)"], row["plain (%)"], row["dropped"]) == ("ada", "50.0", "50.0", "")
    assert report(place, ["--all", "--format", "json"]) == 0
    (one,) = json.loads((plain / "grading" / "course.json").read_text())
    assert one["percent"] == 50


@pytest.mark.parametrize("words", ["", "plain --all", "plain --drop 1", "--all --lms moodle", "--all --drop -1"])
def test_misuse_is_said(place, words):
    assert report(place, words.split()) == 2


@pytest.mark.parametrize("weight", ["capstone", "capstone=much", "=2", "capstone=-1", "capstone=inf", "capstone=nan"])
def test_no_weight_is_refused(place, weight):
    with pytest.raises(SystemExit):
        report(place, ["--all", "--weight", weight])
