"""The table and the instructor's page, from a gradebook and records."""

import csv
import json
from dataclasses import replace

import pytest

from autograder.feedback import write_feedback
from autograder.grading import records
from autograder.grading.marking import LATE
from autograder.instructor import report_rows, write_overview, write_report
from autograder.instructor.lessons import difficulties, to_look_at, uncontained
from autograder.instructor.likeness import anonymous
from autograder.instructor.overview import counts
from autograder.instructor.rows import automatic_alone, questions_asked
from autograder.pages import duration, part
from solutions.attention.checks import EXERCISES
from tests.autograder.pages import Page, dangers, unfit
from tests.autograder.small_course import SEED, small_course

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    return small_course(tmp_path_factory.mktemp("course"))


def lines(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def test_every_state_is_told_from_every_other_and_ungraded_is_not_zero(course):
    found = {row.student: (row.state, row.score) for row in report_rows(course, "attention")}
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
    rows = {row.student: row for row in report_rows(course, "attention")}
    ada = rows["ada"]
    assert ada.questions == {"check_dot_score": 2.0, "written": 3.5}
    assert (ada.penalty, ada.extra, ada.of) == (1.0, 0.5, 6.0)
    assert rows["bob"].questions == {"check_dot_score": 0.0, "written": None}
    assert rows["bob"].waiting == ("written",)


def test_the_csv_keeps_empty_from_zero_and_defuses_formulas(course):
    rows = {row["student"]: row for row in lines(write_report(course, "attention"))}
    assert rows["cat"]["score"] == "0"
    assert rows["bob"]["written"] == ""
    assert rows["dan"]["score"] == rows["fay"]["score"] == rows["dan"]["check_dot_score"] == ""
    assert rows["fay"]["first name"] == "'=cmd()"
    assert rows["fay"]["last name"] == "'+1"
    assert rows["fay"]["email"] == "'-x@y.z"
    assert rows["ada"]["late penalty"] == "1.0"


def test_the_words_are_of_the_marks_as_they_are_now(tmp_path):
    course = small_course(tmp_path)

    def words() -> dict[str, str]:
        return {row.student: row.words for row in report_rows(course, "attention")}

    said = "1 repaired; look at it: tried to open a network connection"
    assert words() == {
        "ada": "5.5 of 6, less 1 for being late; 1 repaired",
        "bob": f"0 of 2, and 4 to be marked by hand (written); {said}",
        "cat": "0 of 6; 1 repaired",
        "dan": "its JSON breaks off",
        "eve": "the reference fails",
        "fay": "",
        "gus": "",
    }
    with course.gradebook() as book:
        written = book.find_grade("written", "attention", "attention", "bob")
        written.manual_score, written.needs_manual_grade = 2.5, False
        book.find_grade("written", "attention", "attention", "ada").needs_manual_grade = True
        book.db.commit()
    assert words()["bob"] == f"2.5 of 6; {said}"
    assert "to be confirmed, as the answer or its worth has changed since it was marked: written" in words()["ada"]
    automatic = automatic_alone(questions_asked(course, "attention"), report_rows(course, "attention"))[1]
    assert next(row.words for row in automatic if row.student == "bob") == f"0 of 2; {said}"


def test_essays_alone_wait_for_a_person_and_a_blocked_one_whom_a_person_has_marked_is_graded(tmp_path):
    course = small_course(tmp_path)
    with course.gradebook() as book:
        book.add_student("dan")
        book.add_submission("attention", "dan")
        for name in ("check_dot_score", "written"):
            mark = book.find_grade(name, "attention", "attention", "bob")
            mark.auto_score, mark.needs_manual_grade = None, True
            mark = book.find_grade(name, "attention", "attention", "dan")
            mark.manual_score, mark.needs_manual_grade = 1.0, False
        book.db.commit()
    rows = {row.student: row for row in report_rows(course, "attention")}
    assert (rows["bob"].state, rows["bob"].score) == ("waiting", 0.0)
    assert (rows["dan"].state, rows["dan"].score) == ("graded", 2.0)
    assert rows["dan"].words == "2 of 6; its JSON breaks off"


def test_the_json_says_null(course):
    facts = json.loads(write_report(course, "attention", "json").read_text(encoding="utf-8"))
    assert facts["points"] == 6
    rows = {row["student"]: row for row in facts["students"]}
    assert rows["bob"]["questions"] == {"check_dot_score": 0.0, "written": None}
    assert rows["dan"]["score"] is None


def test_a_format_that_is_not_known_is_refused_in_words(course):
    with pytest.raises(ValueError, match="csv or json"):
        write_report(course, "attention", "xml")


def test_automatic_points_alone_are_there_before_essays_are_read(course):
    rows = {row["student"]: row for row in lines(write_report(course, "attention", automatic=True))}
    found = {name: (row["state"], row["automatic points"], row["out of"]) for name, row in rows.items()}
    assert found["ada"] == ("graded", "2", "2")
    assert found["bob"] == ("graded", "0", "2")  # waits to be marked by hand, but not for these
    assert found["dan"] == ("blocked", "", "2")
    assert "written" not in rows["ada"]
    facts = json.loads(write_report(course, "attention", "json", automatic=True).read_text(encoding="utf-8"))
    assert (facts["automatic points alone"], facts["points"]) == (True, 2)


def test_the_page_says_what_to_teach_and_whom_to_look_at(course):
    page = write_overview(course, "attention").read_text(encoding="utf-8")
    said = " ".join(Page(page).text.split())
    assert dangers(page) == []
    assert unfit(page) == []
    assert "6 of 7 students handed something in" in said
    sentence = next(m.sentence for m in EXERCISES["attention.dot_score"].misconceptions if m.id == "not-summed")
    assert sentence in said
    assert "1 of 2 who wrote it" in said  # cat's is not written
    assert "return query * keys" in said
    assert "Bob" not in said  # the docstring is his
    assert "1 of 5 submissions ran without isolation" in said
    assert "tried to open a network connection" in said
    assert "its JSON breaks off" in said
    assert "the reference fails" in said
    assert "put back" in said
    assert "Handed in and not graded yet: 1" in said
    assert SEED not in page


def test_a_mark_that_asks_for_a_second_look_is_not_final(tmp_path):
    course = small_course(tmp_path)
    with course.gradebook() as book:
        book.find_grade("written", "attention", "attention", "ada").needs_manual_grade = True  # as after a regrade
        book.db.commit()
    ada = report_rows(course, "attention")[0]
    assert (ada.state, ada.score, ada.waiting) == ("waiting", 4.5, ("written",))


def test_the_penalty_follows_the_marks_and_the_extensions_and_the_page_names_who_is_late(tmp_path):
    course = small_course(tmp_path)

    def ada() -> tuple[float, float | None]:
        (row,) = (row for row in report_rows(course, "attention") if row.student == "ada")
        return row.penalty, row.score

    def page() -> str:
        return " ".join(Page(write_overview(course, "attention").read_text(encoding="utf-8")).text.split())

    assert ada() == (1.0, 4.5)
    assert "Handed in late: 1" in page()
    assert "ada 60 minutes 1" in page()
    with course.gradebook() as book:
        book.find_grade("written", "attention", "attention", "ada").manual_score = 1.0
        book.db.commit()
    assert ada() == (0.0, 3.5)
    with course.gradebook() as book:
        book.find_grade("written", "attention", "attention", "ada").manual_score = 4.0
        book.db.commit()
    assert ada() == (1.0, 5.5)
    with course.gradebook() as book:
        book.grant_extension("attention", "ada", hours=2)
    feedback = write_feedback(course, "attention", ["ada"])[0].read_text(encoding="utf-8")
    assert "6.5 of 6 points" in " ".join(Page(feedback).text.split())
    assert ada() == (0.0, 6.5)
    assert "Handed in late" not in page()


@pytest.mark.parametrize(
    ("seconds", "words"), [(5, "1 minute"), (1200, "20 minutes"), (7200, "2 hours"), (172800, "2 days")]
)
def test_lateness_is_said_as_a_person_would(seconds, words):
    assert duration(seconds) == words


def test_what_nobody_has_marked_yet_is_not_the_hardest_question(tmp_path):
    course = small_course(tmp_path)
    asked = questions_asked(course, "attention")

    def hardest() -> list[str]:
        return [one.name for one in difficulties(asked, report_rows(course, "attention"))]

    assert hardest() == ["check_dot_score"]  # cat's untouched answer has its zero, and bob's waits
    with course.gradebook() as book:
        written = book.find_grade("written", "attention", "attention", "bob")
        written.manual_score, written.needs_manual_grade = 1.0, False
        book.db.commit()
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
