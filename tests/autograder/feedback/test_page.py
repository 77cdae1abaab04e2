"""The page that a student gets, whole: what it says, what it never says, and that it runs and fetches nothing."""

import re
import zipfile

import pytest

from autograder.feedback import write_feedback
from autograder.feedback.deliver import for_lms
from autograder.feedback.facts import Facts
from autograder.feedback.heatmap import heatmap
from autograder.feedback.page import feedback_page
from autograder.grading.course import Course
from autograder.pages import FOLDER, part
from solutions.attention.checks import EXERCISES
from tests.autograder import small_course as small
from tests.autograder.pages import Page, dangers, unfit

STYLE = (FOLDER / "page.css").read_text(encoding="utf-8")
pytestmark = pytest.mark.filterwarnings("ignore")  # nbgrader and what it stands on warn about themselves


@pytest.fixture(scope="module")
def small_folder(tmp_path_factory):
    return tmp_path_factory.mktemp("course")


@pytest.fixture(scope="module")
def pages(small_folder):
    course = small.small_course(small_folder)
    return {path.parts[-3]: path.read_text(encoding="utf-8") for path in write_feedback(course, "attention")}


def words(page: str) -> str:
    return re.sub(r"\s+", " ", Page(page.partition("<body>")[2]).text)


def test_everybody_who_handed_in_gets_a_page(pages):
    assert sorted(pages) == ["ada", "bob", "cat", "dan", "eve", "gus"]


def test_the_system_takes_the_pages_back_under_its_own_numbers(pages, small_folder):
    numbers = {"ada": "4711", "bob": "102_90001", "nobody": "4712"}
    made = for_lms(Course.load(small_folder), "attention", numbers)
    moodle, canvas = "ada_4711_assignsubmission_file_/attention.html", "bob-feedback_102_90001_attention.html"
    for system, name, student in (("Moodle", moodle, "ada"), ("Canvas", canvas, "bob")):
        with zipfile.ZipFile(made[system]) as archive:
            assert archive.namelist() == [name]
            assert archive.read(name).decode() == pages[student]
    assert len(made) == 2
    assert [part for part in canvas.split("_") if part.isdigit()] == ["102", "90001"]  # as Canvas reads it
    assert for_lms(Course.load(small_folder), "attention", {}) == {}


def test_nothing_runs_nothing_is_fetched_and_everybody_can_read_it(pages):
    for page in pages.values():
        assert dangers(page) == []
        assert unfit(page) == []
        assert "default-src 'none'" in page
        assert len(page.encode()) < 60_000
    assert "16px" in STYLE


def test_no_hidden_line_no_seed_and_no_mark_scheme(pages):
    for page in pages.values():
        for secret in (small.HIDDEN, "HIDDEN TESTS", "MARK SCHEME", "Half a point", "4711", "NLM_HIDDEN_SEED"):
            assert secret not in page


def test_marks_comments_penalty_and_extra_credit_are_said(pages):
    said = words(pages["ada"])
    assert "4.5 of 6 points" in said  # 2 + 3 + 0.5 - 1
    assert "1 point taken off" in said
    assert "0.5 of them extra credit" in said
    assert "marked by hand" in said
    assert "<strong>and</strong>" in pages["ada"] or "<b>and</b>" in pages["ada"]  # the comment is Markdown
    assert "well done" in said


def test_no_cost_is_promised_where_an_answer_was_not_found():
    repaired = {"kind": "repaired", "what": "lost-name", "words": "Known by its text."}
    lost = {"kind": "note", "what": "missing-answer", "words": "Not found."}
    about = {"student": "ada", "assignment": "attention", "notebook": "attention"}
    assert "at no cost" in feedback_page(Facts(**about, findings=(repaired,)), [])
    assert "at no cost" not in feedback_page(Facts(**about, findings=(repaired, lost)), [])


def test_a_named_misconception_with_its_example_side_by_side(pages):
    sentence = next(m.sentence for m in EXERCISES["attention.dot_score"].misconceptions if m.id == "not-summed")
    said = words(pages["bob"])
    assert sentence in said
    assert "scores, expected" in said
    assert "scores, yours" in said
    assert "return query * keys" in said
    assert sentence not in words(pages["ada"])
    assert "tried to open a network connection" in said
    assert "restored" in said


def test_not_marked_is_not_zero(pages):
    assert "0 of 6 points so far" in words(pages["bob"])
    assert "4 points still to be marked" in words(pages["bob"])
    assert "0 of 6 points so far" not in words(pages["cat"])
    assert "0 of 6 points" in words(pages["cat"])
    assert "not written yet" in words(pages["cat"])
    assert "that is not a zero" in words(pages["dan"])
    assert "it is not your fault" in words(pages["eve"])
    for student in ("dan", "eve"):
        assert "of 6 points" not in words(pages[student])


def test_formulas_are_drawn_without_a_network(pages):
    assert pages["ada"].count("<math") >= 3  # the question's, the answer's, the comment's


def test_the_heatmap_tells_the_difference_in_colours_numbers_and_words():
    drawn = heatmap("weights", [[0.0, 0.5], [-0.25, None]])
    assert "3 of 4 numbers differ, by 0.5 at most" in drawn
    assert "+0.50" in drawn
    assert "-0.25" in drawn
    assert "rgb(200,90,0)" in drawn
    assert "#ffffff" in drawn.partition("none")[0].rpartition("<text")[2]
    assert heatmap("weights", [[0.0]]) == heatmap("weights", None) == ""


def test_ink_on_every_colour_can_be_read():
    for i in range(-100, 101):
        drawn = heatmap("x", [[1.0, i / 100], [0.0, 0.0]])
        fill, ink = re.findall(r'fill="([^"]+)"', drawn)[2:4]
        assert contrast(fill, ink) > 4.5, i / 100
    colours = set(re.findall(r"(?<!background:)#[0-9a-f]{6}|color:(#[0-9a-f]{6})", STYLE))
    for colour in colours - {""}:
        assert contrast(colour, "#f2f6fb") > 4.5, colour


def contrast(one: str, other: str) -> float:
    """WCAG 2: (L1 + 0.05) / (L2 + 0.05)."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: str) -> float:
    numbers = re.findall(r"\d+", colour) if colour.startswith("rgb") else []
    values = [int(n) for n in numbers] or [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    linear = [v / 255 / 12.92 if v / 255 <= 0.03928 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in values]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_a_tables_caption_and_headings_are_escaped():
    assert "<b>" not in part("table", "<b>", ["<b>"], [["<b>"]])
