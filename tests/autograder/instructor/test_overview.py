"""The table and the instructor's page, from a gradebook and records."""

import json
from dataclasses import replace

import nbformat
import pytest

from autograder.feedback import write_feedback
from autograder.grading import records
from autograder.grading.marking import LATE
from autograder.instructor import report_rows, write_overview, write_report
from autograder.instructor.lessons import difficulties, to_look_at, uncontained
from autograder.instructor.likeness import anonymous
from autograder.instructor.overview import counts
from autograder.instructor.rows import Asked, Row, automatic_alone, questions_asked
from autograder.instructor.written import titles
from autograder.pages import part
from solutions.attention.checks import EXERCISES
from tests.autograder.courses import marked, table
from tests.autograder.pages import Page, dangers, unfit
from tests.autograder.small_course import SCHEME, SEED, notebook_cells, small_course

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return small_course(tmp_path_factory.mktemp("course"))


def rows(course):
    return {row.student: row for row in report_rows(course, "attention")}


def mark(course, student, points, waits=False, cell="written"):
    marked(course, student, cell, points, waits, "attention")


def test_every_state_is_told_from_every_other_and_ungraded_is_not_zero(course):
    found = {student: (row.state, row.score) for student, row in rows(course).items()}
    assert found == {
        "ada": ("graded", 4.5),
        "bob": ("waiting", 0.0),
        "cat": ("graded", 0.0),
        "dan": ("blocked", None),
        "eve": ("fault", None),
        "fay": ("nothing handed in", None),
        "gus": ("not graded", None),
    }


def test_a_row_has_every_question_penalty_and_extra_credit(course):
    ada, bob = (rows(course)[student] for student in ("ada", "bob"))
    assert ada.questions == {"check_dot_score": 2.0, "written": 3.5}
    assert (ada.penalty, ada.extra, ada.of) == (1.0, 0.5, 6.0)
    assert bob.questions == {"check_dot_score": 0.0, "written": None}
    assert bob.waiting == ("written",)


def test_the_csv_keeps_empty_from_zero_and_defuses_formulas(course):
    found = {row["student"]: row for row in table(write_report(course, "attention"))}
    assert (found["cat"]["score"], found["bob"]["written"]) == ("0", "")
    assert found["dan"]["score"] == found["fay"]["score"] == found["dan"]["check_dot_score"] == ""
    assert [found["fay"][name] for name in ("first name", "last name", "email")] == ["'=cmd()", "'+1", "'-x@y.z"]
    assert found["ada"]["late penalty"] == "1.0"


def test_the_words_are_of_the_marks_as_they_are_now(tmp_path):
    course = small_course(tmp_path)

    said = "1 repaired; look at it: tried to open a network connection"
    assert {student: row.words for student, row in rows(course).items()} == {
        "ada": "5.5 of 6, less 1 for being late; 1 repaired",
        "bob": f"0 of 2, and 4 to be marked by hand (written); {said}",
        "cat": "0 of 6; 1 repaired",
        "dan": "its JSON breaks off",
        "eve": "the reference fails",
        "fay": "",
        "gus": "",
    }
    mark(course, "bob", 2.5)
    mark(course, "ada", 3.0, waits=True)
    assert rows(course)["bob"].words == f"2.5 of 6; {said}"
    ada = rows(course)["ada"]  # as after a regrade: it is not final
    assert (ada.state, ada.score, ada.waiting) == ("waiting", 4.5, ("written",))
    assert "to be confirmed, as the answer or its worth has changed since it was marked: written" in ada.words
    automatic = automatic_alone(questions_asked(course, "attention"), report_rows(course, "attention"))[1]
    assert next(row.words for row in automatic if row.student == "bob") == f"0 of 2; {said}"


def test_essays_alone_wait_for_a_person_and_a_blocked_one_whom_a_person_has_marked_is_graded(tmp_path):
    course = small_course(tmp_path)
    with course.gradebook() as book:
        book.add_student("dan")
        book.add_submission("attention", "dan")
        for name in ("check_dot_score", "written"):
            grade = book.find_grade(name, "attention", "attention", "bob")
            grade.auto_score, grade.needs_manual_grade = None, True
        book.db.commit()
    for name in ("check_dot_score", "written"):
        mark(course, "dan", 1.0, cell=name)
    bob, dan = (rows(course)[student] for student in ("bob", "dan"))
    assert (bob.state, bob.score) == ("waiting", 0.0)
    assert (dan.state, dan.score, dan.words) == ("graded", 2.0, "2 of 6; its JSON breaks off")


def test_the_json_says_null(course):
    facts = json.loads(write_report(course, "attention", "json").read_text(encoding="utf-8"))
    found = {row["student"]: row for row in facts["students"]}
    assert found["bob"]["questions"] == {"check_dot_score": 0.0, "written": None}
    assert (facts["points"], found["dan"]["score"]) == (6, None)
    with pytest.raises(ValueError, match="csv or json"):
        write_report(course, "attention", "xml")


def test_automatic_points_alone_are_there_before_essays_are_read(course):
    told = {row["student"]: row for row in table(write_report(course, "attention", automatic=True))}
    found = {name: (row["state"], row["automatic points"], row["out of"]) for name, row in told.items()}
    assert found["ada"] == ("graded", "2", "2")
    assert found["bob"] == ("graded", "0", "2")  # waits to be marked by hand, but not for these
    assert found["dan"] == ("blocked", "", "2")
    assert "written" not in told["ada"]
    facts = json.loads(write_report(course, "attention", "json", automatic=True).read_text(encoding="utf-8"))
    assert (facts["automatic points alone"], facts["points"]) == (True, 2)


def test_the_page_says_what_to_teach_and_whom_to_look_at(course):
    page = write_overview(course, "attention").read_text(encoding="utf-8")
    said = " ".join(Page(page).text.split())
    assert dangers(page) == []
    assert unfit(page) == []
    sentence = next(m.sentence for m in EXERCISES["attention.dot_score"].misconceptions if m.id == "not-summed")
    taught = (sentence, "1 of 2 who wrote it", "return query * keys")  # cat's is not written
    looked_at = ("tried to open a network connection", "its JSON breaks off", "the reference fails", "put back")
    counts = ("6 of 7 students handed something in", "1 of 5 submissions ran without isolation")
    graded = ("Handed in and not graded yet: 1",)
    assert [words for words in (*taught, *looked_at, *counts, *graded) if words not in said] == []
    assert "Bob" not in said  # the docstring is his
    assert SEED not in page


def test_the_penalty_follows_the_marks_and_the_extensions_and_the_page_names_who_is_late(tmp_path):
    course = small_course(tmp_path)

    def ada() -> tuple[float, float | None]:
        row = rows(course)["ada"]
        return row.penalty, row.score

    def page() -> str:
        return " ".join(Page(write_overview(course, "attention").read_text(encoding="utf-8")).text.split())

    assert ada() == (1.0, 4.5)
    assert "Handed in late: 1" in page()
    assert "ada 60 minutes 1" in page()
    mark(course, "ada", 1.0)
    assert ada() == (0.0, 3.5)
    mark(course, "ada", 4.0)
    assert ada() == (1.0, 5.5)
    with course.gradebook() as book:
        book.grant_extension("attention", "ada", hours=2)
    feedback = write_feedback(course, "attention", ["ada"])[0].read_text(encoding="utf-8")
    assert "6.5 of 6 points" in " ".join(Page(feedback).text.split())
    assert ada() == (0.0, 6.5)
    assert "Handed in late" not in page()


def test_what_nobody_has_marked_yet_is_not_the_hardest_question(tmp_path):
    course = small_course(tmp_path)
    asked = questions_asked(course, "attention")

    def hardest() -> list[str]:
        return [one.name for one in difficulties(asked, report_rows(course, "attention"))]

    assert hardest() == ["check_dot_score"]  # cat's untouched answer has its zero, and bob's waits
    mark(course, "bob", 1.0)
    assert sorted(hardest()) == ["check_dot_score", "written"]


def test_reasons_to_look_are_told_apart(course):
    known = [records.load(course.root, "attention", student) for student in ("ada", "bob", "cat", "dan", "eve")]
    found = {(look.student, look.kind) for look in to_look_at(known)}
    changed = {(student, "changed") for student in ("ada", "bob", "cat")}
    assert found == {("bob", "refused"), ("dan", "blocked"), ("eve", "fault"), *changed}
    assert uncontained(known) == ["cat"]


def test_a_call_that_took_too_long_is_no_attempt_at_anything(course):
    ada = records.load(course.root, "attention", "ada")
    slow = replace(ada, incidents=[f"check_attend: {LATE}"], findings=[], marks=[])
    assert [look.kind for look in to_look_at([slow])] == ["stopped"]


def test_what_is_said_of_a_cell_is_not_said_again_as_an_incident(course):
    stopped = {"cell": "check_attend", "stopped": "it took 9 seconds", "verdict": {"closed": ["sum"]}}
    incidents = ["check_attend: it took 9 seconds", "sum was called, which is closed"]
    record = replace(records.load(course.root, "attention", "ada"), incidents=incidents, findings=[], marks=[stopped])
    found = [(look.kind, look.words) for look in to_look_at([record])]
    assert found == [("stopped", "check_attend: it took 9 seconds"), ("closed", "check_attend: sum")]


def test_tenths_and_their_words():
    assert counts([0.0, 0.099, 0.1, 0.3, 0.95, 1.0, 1.2]) == [2, 1, 0, 1, 0, 0, 0, 0, 0, 3]
    drawn = part("histogram", counts([0.3, 0.7, 0.7]), "70%", 3)
    assert "of 3 students" in drawn
    assert "The median is 70%" in drawn
    assert part("histogram", counts([]), "", 0)


def test_an_example_carries_no_name():
    code = '"""Bob."""\ndef f(x):\n    """By Bob."""\n    return x  # Bob'
    assert anonymous(code) == "def f(x):\n    return x"
    assert anonymous("def f(:") == ""
    assert anonymous("def f():\n    '''Bob'''") == "def f():\n    pass"


# --- what questions are called --------------------------------------------------------------------------------

ASKED = [Asked("ps1", "check_heads", 4, "check_heads"), Asked("ps1", "a", 1, "a"), Asked("ps1", "b", 2, "b")]
CALLED = {"check_heads": "4. Several heads", "a": "Problem 1", "b": "Problem 1"}
MARKS = {"check_heads": 4, "a": 0, "b": None}
ADA = Row(student="ada", state="waiting", score=4, of=7, questions=MARKS, waiting=("a", "b"))


@pytest.fixture
def problems(monkeypatch):
    monkeypatch.setattr("autograder.instructor.table.rows_asked_for", lambda *given: (ASKED, [ADA]))
    monkeypatch.setattr("autograder.instructor.table.titles", lambda *given: CALLED)


def test_questions_are_called_as_in_the_notebook_and_each_can_be_told_from_the_others(problems, tmp_path):
    (row,) = table(write_report(None, "ps1", path=tmp_path / "x.csv"))
    marks = {name: row[name] for name in ("4. Several heads", "Problem 1 (a)", "Problem 1 (b)")}
    assert list(marks.values()) == ["4", "0", ""], "no mark is not zero"
    assert row["waiting for a person"] == "Problem 1 (a), Problem 1 (b)"


def test_a_program_gets_the_names_and_the_titles(problems, tmp_path):
    told = json.loads(write_report(None, "ps1", "json", tmp_path / "x.json").read_text(encoding="utf-8"))
    assert [(q["name"], q["title"]) for q in told["questions"]] == list(CALLED.items())
    assert told["students"][0]["questions"]["check_heads"] == 4


def test_the_lines_around_a_mark_scheme_are_not_what_a_question_is_called(tmp_path):
    course = small_course(tmp_path)
    master = nbformat.v4.new_notebook(cells=notebook_cells())
    assert SCHEME in (cell.source for cell in master.cells)
    path = tmp_path / course.directory.source_directory / "attention" / "attention.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(master, path)
    assert titles(course, "attention")["written"] == "2. In words"
