"""`regrade`: a check was wrong, and everybody is graded again; what changes is said before anything is written."""

import json
from pathlib import Path

import pytest

import autograder.grading.drafts as drafts_module
import autograder.grading.run as run_module
from autograder.commands.around import feedback
from autograder.commands.grade import grade
from autograder.commands.marks import report
from autograder.commands.regrade import regrade
from autograder.grading.course import Course
from autograder.instructor import report_rows
from autograder.instructor.changed import reasons
from tests.autograder.courses import ANSWERS, hand_in, marked, nothing, snapshot, table, writes
from tests.autograder.grading import fake

pytestmark = pytest.mark.filterwarnings("ignore")
WRONG = {"double": "def double(x):\n    return x * x"}  # right at 2: only the hidden -7 tells


def mend(root: Path, old: str, new: str) -> None:
    """Change a test cell where the grader reads it: in the gradebook, as a build does."""
    with Course.load(root).gradebook() as book:
        for name in ("test_double", "test_triple"):
            cell = book.find_source_cell(name, "one", "plain")
            cell.source = cell.source.replace(old, new)
        book.db.commit()


@pytest.fixture
def graded(place):
    """ada is right, bob squares, cat squares and has a mark by hand, dan handed in nothing new."""
    wrong = writes(ANSWERS | WRONG)
    for student, change in {"ada": writes(ANSWERS), "bob": wrong, "cat": wrong, "dan": nothing}.items():
        hand_in(place.root, "plain", student, change)
    grade(place, ["plain"])
    marked(Course.load(place.root), "cat", "test_double", 2.0)
    return place


def everything(root: Path) -> dict[str, bytes]:
    folders = [root / name for name in ("gradebook.db", "autograded", "submitted")]
    files = [path for folder in folders for path in ([folder] if folder.is_file() else sorted(folder.rglob("*")))]
    records = [p for p in (root / "grading").rglob("*") if ".regrade" not in p.parts and p.name != "regrade.csv"]
    return {str(path): path.read_bytes() for path in [*files, *records] if path.is_file() and path.name[0] != "."}


def test_it_says_what_would_change_and_writes_nothing(graded, call):
    mend(graded.root, "assert double(-7) == -14", "assert double(-7) in (-14, 49)")
    before = everything(graded.root)
    said = call(regrade, graded, "plain")
    assert everything(graded.root) == before
    assert "plain: 4 submissions graded again; 1 mark changes." in said
    assert "bob: 2 -> 5" in said
    assert "test_double: 0 -> 3: its test cell gives another result" in said
    assert "(the list says what): cat." in said
    assert "1 up and 0 down" in said
    assert "regrade plain --apply" in said
    rows = {row["student"]: row for row in table(graded.root / "grading" / "regrade.csv")}
    assert (rows["bob"]["old mark"], rows["bob"]["new mark"], rows["bob"]["new total"]) == ("0", "3", "5")
    assert "stays" in rows["cat"]["why"]
    assert rows.keys() == {"bob", "cat"}


def test_what_was_shown_is_written_without_running_anything_again(graded, call, monkeypatch):
    mend(graded.root, "assert double(-7) == -14", "assert double(-7) in (-14, 49)")
    regrade(graded, ["plain"])
    monkeypatch.setattr(run_module, "work", None)
    facts = json.loads(call(regrade, graded, "plain", "--apply", "--json"))
    assert (facts["applied"], facts["up"], facts["down"], len(facts["changes"])) == (True, 1, 0, 2)
    grades = {name: about["one"]["grades"] for name, about in snapshot(graded.root, "plain").items()}
    marks = {name: dict((g[0], g[1:3]) for g in marks)["test_double"] for name, marks in grades.items()}
    assert marks == {"ada": (3.0, None), "bob": (3.0, None), "cat": (3.0, 2.0), "dan": (0.0, None)}
    assert {g[0]: g[3] for g in grades["cat"]}["test_double"] is False  # the mark by hand stays confirmed
    assert list((graded.root / "grading").glob("regraded-*.csv"))
    assert not list((graded.root / "grading").rglob(".regrade"))
    assert "0 of them in this run" in call(grade, graded, "plain")  # all of it counts as graded


def test_marks_from_before_the_assignment_changed_are_said_to_be_so_and_not_passed_on(graded, call):
    export = (report, graded, "plain", "--lms", "moodle", "--automatic")
    call(*export)
    with Course.load(graded.root).gradebook() as book:
        book.find_grade_cell("test_double", "one", "plain").max_score = 6.0
        book.db.commit()
    rows = {row.student: row for row in report_rows(Course.load(graded.root), "plain")}
    assert all(row.stale for row in rows.values())
    assert "graded before the assignment changed, when it was out of 16" in rows["ada"].words
    said = call(report, graded, "plain")
    assert "Graded before the assignment changed: 4 students (ada, bob, cat, dan); run" in said
    assert "4 students (ada, bob, cat, dan)" in (graded.root / "grading/plain/overview.html").read_text()
    assert "--stale" in call(*export, code=2)
    call(*export, "--stale")
    older = "Graded before the assignment changed: 1 student (ada)"
    assert older in call(feedback, graded, "plain", "--student", "ada")
    assert "has changed since this was graded" in (graded.root / "feedback/ada/plain/one.html").read_text()
    regrade(graded, ["plain", "--apply"])
    (path,) = (graded.root / "grading").glob("regraded-*.csv")
    assert "waits for a second look: the question is worth 6 now" in path.read_text(encoding="utf-8")
    rows = {row.student: row for row in report_rows(Course.load(graded.root), "plain")}
    assert not any(row.stale for row in rows.values())
    assert rows["ada"].questions["test_double"] == 6
    assert rows["cat"].questions["test_double"] == 2  # by hand, out of 3: a person has to look at it again
    assert "test_double" in rows["cat"].waiting
    call(*export)
    (graded.root / "grading" / "plain" / "ada" / "record.json").unlink()  # as after nbgrader's own command
    assert not any(row.stale for row in report_rows(Course.load(graded.root), "plain"))


def test_killed_while_it_writes_it_goes_on_and_the_list_is_whole(graded, monkeypatch):
    mend(graded.root, "assert double(-7) == -14", "assert double(-7) == -14 or True")
    mend(graded.root, "2 if triple(2) == 6", "1 if triple(2) == 6")
    written = []

    class Dies(drafts_module.Writer):
        def write(self, done, prepared, fingerprint):
            made = super().write(done, prepared, fingerprint)
            written.append(done.student)
            if len(written) == 2:
                raise KeyboardInterrupt
            return made

    with monkeypatch.context() as patch:
        patch.setattr(drafts_module, "Writer", Dies)
        assert regrade(graded, ["plain", "--apply"]) == 130
    assert regrade(graded, ["plain", "--apply"]) == 0
    (path,) = (graded.root / "grading").glob("regraded-*.csv")
    rows = {(row["student"], row["question"]): row["new mark"] for row in table(path)}
    assert rows[("ada", "test_triple")] == rows[("cat", "test_triple")] == "1"
    assert rows[("bob", "test_double")] == "3"
    marks = {student: about["score"] for student, about in snapshot(graded.root, "plain").items()}
    assert marks["bob"] == 4


def test_a_submission_that_is_not_the_one_that_was_graded_is_left_alone(graded, call, monkeypatch):
    mend(graded.root, "2 if triple(2) == 6", "1 if triple(2) == 6")
    from autograder.commands import regrade as module

    shown = module._say

    def and_then_hands_in_again(*about):
        shown(*about)
        (graded.root / "submitted" / "ada" / "plain" / "more.txt").write_text("x")

    monkeypatch.setattr(module, "_say", and_then_hands_in_again)
    assert "1 submission changed meanwhile" in call(regrade, graded, "plain", "--apply", code=1)


def test_who_was_graded_by_nbgraders_own_command_is_graded_again_and_who_was_not_is_not(graded, call):
    (graded.root / "grading" / "plain" / "bob" / "record.json").unlink()
    hand_in(graded.root, "plain", "eve", writes(ANSWERS))
    mend(graded.root, "assert double(-7) == -14", "assert double(-7) in (-14, 49)")
    said = call(regrade, graded, "plain")
    assert "4 submissions graded again; 1 mark changes." in said
    assert "bob: 2 -> 5" in said
    assert "Not graded before, and so left alone (python3 -m autograder grade plain): eve." in said


def test_what_was_shown_before_is_looked_at_again_if_the_grader_has_changed(graded, monkeypatch):
    runs = []
    monkeypatch.setattr(run_module, "work", lambda task: runs.append(task.student) or fake.work(task))
    regrade(graded, ["plain"])
    regrade(graded, ["plain"])
    assert len(runs) == 4
    monkeypatch.setattr(drafts_module, "graders_code", lambda: "a law was mended")
    regrade(graded, ["plain"])
    assert len(runs) == 8


def test_names_are_looked_up_and_nothing_graded_is_said(place, call):
    call(regrade, place, "maths", code=2)
    assert "Nothing has been graded yet" in call(regrade, place, code=2)


def test_why_names_properties_and_misconceptions():
    def mark(holds, misconceptions, points=2.0):
        properties = [{"name": "rows sum to 1", "holds": holds, "points": points}]
        about = {"exercise": "attention.attend", "properties": properties, "misconceptions": misconceptions}
        return {"verdict": {**about, "closed": [], "unwritten": False}}

    assert reasons(mark(False, ["x"]), mark(True, [])) == "now holds: rows sum to 1; no longer recognised: x"
    assert reasons(mark(True, []), mark(False, ["axis"])).startswith("now fails: rows sum to 1; now recognised: axis")
    assert reasons(mark(True, []), mark(True, [], 3.0)) == "rows sum to 1 is worth 3, and was worth 2"
