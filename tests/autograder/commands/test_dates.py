"""`due` and `extend`, and what the three settings of the course's own rule take from late submissions."""

import re
import time
from datetime import datetime, timedelta

import pytest
from traitlets.config import Config

from autograder.commands.dates import due, extend
from autograder.commands.grade import grade
from autograder.commands.students import roster
from autograder.feedback.deliver import write_feedback
from autograder.grading.course import Course
from autograder.grading.deadlines import KEPT
from autograder.grading.gradebook import late_arithmetic, late_penalty
from autograder.instructor.overview import write_overview
from autograder.instructor.rows import report_rows
from tests.autograder.courses import ANSWERS, ROOT, hand_in, writes

pytestmark = pytest.mark.filterwarnings("ignore")
POLICY = """
c = get_config()
c.AssignLatePenalties.plugin_class = "autograder.grading.late.LatePolicy"
c.LatePolicy.percent_a_day = 20
"""
DAY = 86_400
MONDAYS = "26 October 2026, 23:59 (CET)", "30 March 2026, 23:59 (CEST)"


@pytest.fixture
def place(place, monkeypatch):
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    with (place.root / "nbgrader_config.py").open("a") as file:
        file.write(POLICY)
    yield place
    monkeypatch.undo()
    time.tzset()


def row(place, student):
    return next(row for row in report_rows(Course.load(place.root), "plain") if row.student == student)


def saved(place):
    with Course.load(place.root).gradebook() as gradebook:
        return gradebook.find_assignment("plain").duedate


def test_a_due_date_is_of_this_machines_zone_and_a_day_ends_at_its_end(place, call):
    assert due(place, ["plain"]) == 2
    assert "Without a due date: plain." in call(due, place)
    assert "Thursday, 20 November 2025, 23:59 (CET)" in call(due, place, "plain", "2025-11-20")
    assert saved(place) == datetime(2025, 11, 20, 22, 59, 59)
    assert due(place, ["plain", "2025-07-20T12:00"]) == 0
    assert saved(place) == datetime(2025, 7, 20, 10, 0)
    assert due(place, ["plain", "2025-07-20T12:00+00:00"]) == 0
    assert saved(place) == datetime(2025, 7, 20, 12, 0)
    assert due(place, ["plain", "--none"]) == 0
    assert saved(place) is None
    assert "knows no assignment 'other'" in call(due, place, "other", "2025-11-20", code=2)


def test_extensions_before_and_after_hand_in_count_in_the_next_report(place, tmp_path, call):
    (tmp_path / "class.csv").write_text("id,email\nada,a@x.y\nbob,b@x.y\ncyd,c@x.y\n")
    assert roster(place, [str(tmp_path / "class.csv")]) == 0
    assert "has no due date" in call(extend, place, "plain", "ada", "+1d", code=2)
    assert due(place, ["plain", "2025-11-20T13:00"]) == 0  # 12:00 in UTC
    assert "knows no student eve" in call(extend, place, "plain", "ada", "eve", "+2d", code=2)
    assert extend(place, ["plain", "ada", "+2d"]) == 0  # before anything is handed in
    for student in ("ada", "bob", "cyd"):
        hand_in(place.root, "plain", student, writes(ANSWERS), "2025-11-22 11:00:00 UTC")  # 47 hours late
    assert grade(place, ["plain"]) == 0
    full = row(place, "ada").score
    assert row(place, "ada").late == 0
    assert full > 0
    assert row(place, "bob").score == pytest.approx(0.6 * full)
    assert extend(place, ["plain", "bob", "cyd", "+1d12h"]) == 0  # after it
    assert row(place, "bob").late == 11 * 3600
    assert row(place, "bob").score == row(place, "cyd").score == pytest.approx(0.8 * full)
    assert grade(place, ["plain", "--again"]) == 0
    assert row(place, "bob").score == pytest.approx(0.8 * full)
    assert "bob                 Saturday, 22 November 2025, 1:00 (CET)" in call(due, place)
    assert extend(place, ["plain", "bob", "+0"]) == 0
    assert row(place, "bob").score == pytest.approx(0.6 * full)
    assert due(place, ["plain", "--none"]) == 0
    assert row(place, "cyd").score == full
    assert due(place, ["plain", "2025-11-20T13:00"]) == 0  # extensions are kept
    assert row(place, "cyd").score == pytest.approx(0.8 * full)
    assert roster(place, ["--remove", "cyd"]) == 0
    assert "cyd" not in (place.root / KEPT).read_text()


@pytest.mark.parametrize(
    ("friday", "monday", "late", "said"),
    [
        ("2026-10-23T23:59", "2026-10-26 22:59:00 UTC", "2026-10-26 23:00:00 UTC", MONDAYS[0]),
        ("2026-03-27T23:59", "2026-03-30 21:59:00 UTC", "2026-03-30 22:00:00 UTC", MONDAYS[1]),
    ],
)
def test_an_extension_ends_at_the_same_time_of_day_after_the_clocks_change(place, friday, monday, late, said, call):
    for student, when in (("ada", monday), ("bob", late)):
        hand_in(place.root, "plain", student, writes(ANSWERS), when)
    assert grade(place, ["plain"]) == 0
    assert due(place, ["plain", friday]) == 0
    assert f"Monday, {said}" in call(extend, place, "plain", "ada", "bob", "+3d")
    assert call(due, place).count(f"Monday, {said}") == 2
    assert (row(place, "ada").late, row(place, "bob").late) == (0, 60)
    assert due(place, ["plain", "2026-06-05T12:00"]) == 0  # the extension counts from the new date
    with Course.load(place.root).gradebook() as gradebook:
        assert gradebook.find_submission("plain", "ada").extension == timedelta(days=3)


def test_an_extension_beyond_the_calendar_changes_nothing(place):
    hand_in(place.root, "plain", "ada", writes(ANSWERS))
    assert grade(place, ["plain"]) == 0
    assert due(place, ["plain", "2025-11-20"]) == 0
    assert extend(place, ["plain", "ada", "+999999w"]) == 2
    assert not (place.root / KEPT).exists()


@pytest.mark.parametrize(
    ("command", "words"),
    [(due, "plain soon"), (due, "plain 2025-13-01")]
    + [(extend, f"plain ada {by}") for by in ("2d", "+2", "+2x", "+-2d", "-2d", "+")],
)
def test_what_is_no_time_and_no_extension_is_refused(place, command, words):
    with pytest.raises(SystemExit):
        command(place, words.split())


def test_a_file_of_extensions_that_cannot_be_read_stops_with_its_name(place, call):
    due(place, ["plain", "2025-11-20"])
    (place.root / KEPT).write_text("{")
    assert "extensions.json cannot be read" in call(extend, place, "plain", "ada", "+1d", code=2)


@pytest.mark.parametrize(
    ("late", "settings", "lost"),
    [
        (1, {}, 1.0),
        (DAY, {}, 1.0),
        (DAY + 1, {}, 2.0),
        (30 * DAY, {}, 10.0),
        (3600, {"grace_hours": 1}, 0.0),
        (3601, {"grace_hours": 1}, 1.0),
        (2 * DAY, {"percent_a_day": 0, "closed_after_days": 2}, 0.0),
        (2 * DAY + 1, {"percent_a_day": 0, "closed_after_days": 2}, 10.0),
    ],
)
def test_what_a_late_submission_loses(late, settings, lost):
    config = Config({"LatePolicy": settings})
    config.AssignLatePenalties.plugin_class = "autograder.grading.late.LatePolicy"
    assert late_penalty(config, "ada", 10.0, late) == pytest.approx(lost)


def test_student_and_marker_see_how_a_penalty_comes_about(place):
    hand_in(place.root, "plain", "ada", writes(ANSWERS), "2025-11-22 11:00:00 UTC")  # 47 hours late
    assert grade(place, ["plain"]) == 0
    assert due(place, ["plain", "2025-11-20T13:00"]) == 0
    course = Course.load(place.root)
    how = late_arithmetic(course.config, 47 * 3600)
    assert re.findall(r"[\d.]+", how) == ["20", "2"]  # per cent, days begun
    pages = [path for path in write_feedback(course, "plain", ["ada"]) if path.stem == "one"]  # `two` has no points yet
    pages.append(write_overview(course, "plain"))
    assert [path for path in pages if how not in path.read_text(encoding="utf-8")] == []
    course.config.AssignLatePenalties.plugin_class = "nbgrader.plugins.LateSubmissionPlugin"  # one that does not say
    assert late_arithmetic(course.config, 47 * 3600) == ""


def test_a_courses_own_settings_are_in_a_file_beside(tmp_path):
    (tmp_path / "nbgrader_config.py").write_bytes((ROOT / "nbgrader_config.py").read_bytes())
    before = Course.load(tmp_path).config
    (tmp_path / "course_config.py").write_text(f"{POLICY}c.CourseDirectory.course_id = 'mine'\n")
    after = Course.load(tmp_path).config
    assert after.LatePolicy.percent_a_day == 20
    assert after.CourseDirectory.course_id == "mine" != before.CourseDirectory.course_id
    assert after.Autograde.autograde_preprocessors == before.Autograde.autograde_preprocessors
