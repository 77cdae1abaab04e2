"""The marking page: who may see it, what it writes, what it refuses, and one pass by keyboard in a real browser."""

import re
import sqlite3

import pytest

import autograder.grading.run as run_module
from autograder.commands.mark import mark
from autograder.grading.byhand import ChangedMeanwhile, answers_to, mark_by_hand
from autograder.grading.course import Course
from autograder.grading.run import grade
from autograder.instructor import report_rows
from autograder.instructor.marking_page import guarded
from tests.autograder.courses import ANSWERS, hand_in, marked, nothing, writes
from tests.autograder.grading import fake
from tests.autograder.instructor.visitor import Visitor, running, visiting
from tests.autograder.pages import dangers, unfit
from tests.lab import expect, running_chromium

pytestmark = pytest.mark.filterwarnings("ignore")
HOSTILE = "My reason: $\\alpha^2$ <script>alert(1)</script><img src=x onerror=alert(2)> [me](javascript:alert(3))"
SAME = ("ada", "bob", "cat")


@pytest.fixture(scope="module")
def template(plain_template, tmp_path_factory):
    handed_in = dict.fromkeys(SAME, writes(ANSWERS)) | {"dan": writes(ANSWERS | {"why": HOSTILE}), "eve": nothing}
    return fake.graded(plain_template, tmp_path_factory.mktemp("class") / "course", handed_in)


@pytest.fixture
def visitor(course):
    with visiting(course) as made:
        yield made


def marks(course, cell="why") -> dict[str, tuple[float | None, bool, str | None]]:
    with course.gradebook() as book:
        found = {}
        for student in (*SAME, "dan", "eve"):
            mark = book.find_grade(cell, "one", "plain", student)
            words = book.find_comment(cell, "one", "plain", student).manual_comment
            found[student] = (mark.manual_score, mark.needs_manual_grade, words)
        return found


def to(visitor, words: str) -> Visitor:
    """Go to the answer with these words in it."""
    next(answer for answer in visitor.walk() if words in visitor.page)
    return visitor


@pytest.fixture
def hands_in_again(course, monkeypatch):
    """dan, other notebooks; all is graded."""
    monkeypatch.setattr(run_module, "work", fake.work)

    def change(names, new):
        for name in names:
            path = course.root / "submitted" / "dan" / "plain" / f"{name}.ipynb"
            path.write_text(new(path.read_text()))
        list(grade(course, "plain"))

    return change


def test_nobody_else_gets_in(visitor):
    stranger = Visitor(f"http://{visitor.host}/?token=wrong")
    assert stranger.enter().status == 403
    assert stranger.ask("GET", "/mark.js") == 403
    assert visitor.ask("GET", "/0/", Host="evil.example") == 403
    to(visitor, "addition is repeated")
    at, fields = visitor.at, {"token": visitor.token, "points": "1"}
    assert visitor.ask("POST", at, fields) == 403  # a page of another server, to which the browser adds our cookie
    assert visitor.ask("POST", at, fields, Origin=f"http://{visitor.host}1") == 403
    assert visitor.ask("POST", at, {"points": "1"}, Origin=f"http://{visitor.host}") == 403
    assert "default-src 'none'; script-src 'self'" in visitor.headers["Content-Security-Policy"]
    assert "unsafe" not in visitor.headers["Content-Security-Policy"]


def test_names_are_hidden_until_they_are_asked_for(visitor):
    to(visitor, "addition is repeated")
    assert not re.search(r"\b(ada|bob|cat|dan)\b", visitor.page)
    visitor.post("/names", back=visitor.at)
    assert "ada, bob, cat" in to(visitor, "addition is repeated").page


def test_what_a_student_wrote_is_inert_and_mathematics_is_drawn(visitor):
    to(visitor, "My reason")
    answer = re.search(r"<article.*?</article>", visitor.page, re.S)[0]
    assert dangers(answer) == []
    assert unfit(visitor.page) == []
    assert "<math" in answer


def test_the_same_answer_is_shown_once_and_marked_together(visitor, course):
    to(visitor, "addition is repeated")
    assert "and 2 others the same to the letter" in visitor.page
    assert visitor.save(points="2,5", words="Say why.", alike="yes") == 200
    assert "2.5 points saved for 3 answers." in visitor.page
    assert {s: marks(course)[s] for s in SAME} == dict.fromkeys(SAME, (2.5, False, "Say why."))
    assert "My reason" in visitor.page  # the next that waits
    visitor.save(points="0")
    assert "Drawing" in visitor.page or "drawing" in visitor.page  # done: the other question is named
    assert marks(course)["dan"] == (0.0, False, None)


def test_the_same_answer_is_marked_one_by_one_unless_the_marker_says_otherwise(visitor, course):
    to(visitor, "addition is repeated").save(points="1")
    found = [marks(course)[student] for student in SAME]
    assert found.count((1.0, False, None)) == 1
    assert found.count((None, True, None)) == 2
    assert "the same for all 3 students" in to(visitor, "addition is repeated").page


def test_what_somebody_else_has_changed_is_not_overwritten(visitor, course):
    to(visitor, "My reason")
    marked(course, "dan", "why", 3.0)
    assert visitor.save(points="1", words="Mine") == 409
    assert "Not saved: this answer, its mark or its comment has been changed since you saw it" in visitor.page
    assert 'value="1"' in visitor.page  # what was typed
    assert "3 of 4 points, given by hand" in visitor.page
    assert marks(course)["dan"] == (3.0, False, None)
    assert visitor.save(points="1") == 200
    assert marks(course)["dan"] == (1.0, False, None)


def test_the_database_itself_refuses_what_has_changed_and_writes_nothing_of_it(course):
    with course.gradebook() as book:
        seen = sorted(answers_to(book, "plain", "one", "why"), key=lambda one: one.student)[:3]
        mark_by_hand(book, seen[2:], 2.0, "")
        two = [one for one in answers_to(book, "plain", "one", "why") if one.student == "cat"]
        mark_by_hand(book, two, 3.0, "")
        with pytest.raises(ChangedMeanwhile):
            mark_by_hand(book, two, 1.0, "")
        with pytest.raises(ChangedMeanwhile):
            mark_by_hand(book, seen, 1.0, "Mine.")
        mark_by_hand(book, seen[:1], None, "A comment.")
        with pytest.raises(ChangedMeanwhile):
            mark_by_hand(book, seen[:1], None, "Mine.")
    found = marks(course)
    assert (found["ada"], found["bob"]) == ((None, True, "A comment."), (None, True, None))
    assert found["cat"] == (3.0, False, None)


def test_an_answer_that_was_graded_anew_meanwhile_is_not_marked_unseen(visitor, course, hands_in_again):
    to(visitor, "My reason")
    hands_in_again(["one"], lambda text: text.replace("My reason", "Another reason"))
    assert visitor.save(points="1") == 409
    assert "Another reason" in visitor.page
    assert marks(course)["dan"] == (None, True, None)


def test_what_was_not_graded_is_not_offered_and_a_mark_for_it_is_refused(visitor, course, hands_in_again):
    to(visitor, "My reason")
    at, state = visitor.at, re.search(r'name="state" value="([^"]*)"', visitor.page)[1]
    hands_in_again(["one", "two"], lambda text: "{")
    assert visitor.post(at, state=state, points="3") == 404
    assert marks(course)["dan"] == (None, True, None)
    assert {row.student: row.state for row in report_rows(course, "plain")}["dan"] == "blocked"
    assert "not shown: 1" in to(visitor, "addition is repeated").page
    visitor.save(points="1", alike="yes")
    assert "My reason" not in visitor.page
    assert "Every answer has a mark." in visitor.page


def test_who_confirms_a_mark_sees_the_answer_that_it_was_given_for(visitor, hands_in_again):
    to(visitor, "My reason").save(points="3")
    hands_in_again(["one"], lambda text: text.replace("My reason", "Another thought"))
    to(visitor, "Another thought")
    assert visitor.page.index("Another thought") < visitor.page.index("My reason") < visitor.page.index("Mark scheme")
    visitor.save(points="3")
    assert "My reason" not in to(visitor, "Another thought").page


def test_the_late_penalty_follows_what_is_marked(course):
    with (course.root / "nbgrader_config.py").open("a") as file:
        file.write("get_config().LateSubmissionPlugin.penalty_method = 'zero'\n")
    with course.gradebook() as book:
        book.update_or_create_assignment("plain", duedate="2025-11-20 12:00:00 UTC")
    with visiting(Course.load(course.root)) as late:
        to(late, "My reason").save(points="3")
    with course.gradebook() as book:
        dan = book.find_submission_notebook("one", "plain", "dan")
        assert dan.score == dan.late_submission_penalty == 8.0  # 5 of the grader's, and these


def test_nothing_to_mark_is_said_instead_of_an_empty_page(place, plain, call):
    hand_in(plain, "plain", "ada", nothing)
    said = call(mark, place, "plain", "--no-browser", code=1)
    assert "1 not graded, and so not shown: ada." in said
    assert "grade plain" in said


@pytest.mark.parametrize("typed", ["5", "-1", "nan", "inf", "two", "1e400", ""])
def test_points_that_are_none_are_refused_in_words(visitor, course, typed):
    assert to(visitor, "My reason").save(points=typed) == 422
    assert ("points must be a number from 0 to 4" if typed else "type the points first") in visitor.page
    assert marks(course)["dan"] == (None, True, None)


def test_a_comment_alone_and_a_mark_that_is_taken_back(visitor, course):
    to(visitor, "My reason").save(points="", words="See me.")
    assert marks(course)["dan"] == (None, True, "See me.")
    to(visitor, "My reason").save(points="2", words="See me.")
    assert marks(course)["dan"] == (2.0, False, "See me.")
    to(visitor, "My reason").save(back="yes", words="See me.")
    assert marks(course)["dan"] == (None, True, "See me.")


def test_an_untouched_answer_has_its_automatic_zero_and_does_not_wait(visitor):
    to(visitor, "the answer was not touched")
    assert "0 of 4 points" in visitor.page


def test_a_task_shows_what_the_student_added_and_is_never_marked_unseen_with_another(visitor, course):
    visitor.ask("GET", "/1/")
    assert "Draw it." in visitor.page
    assert "The student has added no cell" in visitor.page
    assert "the same to the letter" not in visitor.page
    visitor.save(points="2")
    assert sum(one[0] == 2.0 for one in marks(course, "drawing").values()) == 1


@pytest.mark.everything  # SQLite waits for five seconds
def test_a_gradebook_that_somebody_keeps_locked_is_said_in_words(visitor, course, monkeypatch):
    monkeypatch.setattr(guarded, "PATIENCE", 0.0)
    to(visitor, "My reason")
    other = sqlite3.connect(course.root / "gradebook.db")
    other.execute("BEGIN EXCLUSIVE")
    try:
        assert visitor.save(points="1") == 503
        assert "keeps it locked" in visitor.page
    finally:
        other.rollback()
        other.close()
    assert to(visitor, "My reason").save(points="1") == 200


@pytest.mark.browser
def test_one_pass_by_keyboard_alone(course):
    asked, wrong = [], []
    with running(course, "plain") as address, running_chromium() as browser:
        page = browser.new_page(viewport={"width": 390, "height": 844})
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: (wrong.append(dialog.message), dialog.dismiss()))
        page.goto(address)
        given = {}
        for points in "31":  # two units wait in this question; they come in the order of their digests
            expect(page.locator("#points")).to_be_focused()
            given[page.locator("#answer").inner_text()[:7]] = float(points)
            page.keyboard.type(points)
            if page.locator("[name=alike]").count():
                page.keyboard.press("x")
            if points == "3":
                page.keyboard.press("c")
                page.keyboard.type("Well put.")
            else:
                page.keyboard.press("s")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390
            with page.expect_navigation():
                page.keyboard.press("Enter")
        found = marks(course)
        assert found["ada"] == found["bob"] == (given["Because"], False, "Well put.")
        assert found["dan"] == (given["My reas"], False, "Well put.")
        expect(page.get_by_role("link", name="Look at its answers again")).to_be_focused()
        page.keyboard.press("Enter")
        expect(page.locator("#points")).to_be_focused()
        first = page.url
        page.keyboard.press("ArrowRight")
        page.wait_for_url(lambda url: url != first)
        expect(page.locator("#points")).to_be_focused()
        page.keyboard.type("2")
        page.keyboard.press("ArrowLeft")
        expect(page.locator("#said")).to_contain_text("Not saved")
        page.keyboard.press("ArrowLeft")
        page.wait_for_url(first)
    assert wrong == []
    assert {url.split("/")[2] for url in asked} == {address.split("/")[2]}
