"""A small class graded by the real engine: every page that comes of it, searched for what must not be there."""

import pytest

from autograder.feedback import write_feedback
from autograder.grading.course import Course
from autograder.grading.run import grade
from autograder.instructor import report_rows, write_overview
from autograder.question.questions import read_master
from autograder.release.build import REGIONS
from autograder.sandbox.tiers import IsolationMissing
from solutions.attention.checks import EXERCISES
from tests.autograder.courses import copy
from tests.autograder.pages import dangers, unfit
from tests.autograder.synthetic import fill
from tests.lab import running_chromium

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def graded(own_template, tmp_path_factory):
    root = copy(own_template, tmp_path_factory.mktemp("class") / "course")
    special = fill(root)
    course = Course.load(root)
    try:
        list(grade(course, "attention"))
    except IsolationMissing as missing:
        pytest.skip(f"no sandbox on this machine: {missing}")
    pages = {path.parts[-3]: path for path in write_feedback(course, "attention")}
    overview = write_overview(course, "attention")
    return course, {word: pages[student] for student, word in special.items()}, overview


def secret_lines(root):
    """Lines that stand in hidden regions of the master and nowhere else."""
    hidden, shown, inside = set(), set(), False
    for cell in read_master(root / "solutions/attention/attention.ipynb").cells:
        for line in cell.source.split("\n"):
            if any(f"BEGIN {region}" in line for region in REGIONS[1:]):
                inside = True
            (hidden if inside else shown).add(line.strip())
            if any(f"END {region}" in line for region in REGIONS[1:]):
                inside = False
    return {line for line in hidden - shown if len(line) > 8}


def test_no_hidden_line_and_no_seed_in_any_page_of_feedback(graded):
    course, pages, _ = graded
    secrets = secret_lines(course.root)
    assert len(secrets) > 10
    for word, path in pages.items():
        page = path.read_text(encoding="utf-8")
        assert [line for line in {*secrets, "NLM_HIDDEN_SEED", "BEGIN SOLUTION"} if line in page] == [], word


def test_every_page_is_harmless_readable_and_small(graded):
    _, pages, overview = graded
    for path in [*pages.values(), overview]:
        page = path.read_text(encoding="utf-8")
        assert dangers(page) == [], path
        assert unfit(page) == [], path
        assert len(page.encode()) < 300_000


def test_everybody_is_in_the_rows_with_the_state_that_is_theirs(graded):
    course, pages, _ = graded
    students = {word: path.parts[-3] for word, path in pages.items()}
    rows = {row.student: row for row in report_rows(course, "attention")}
    assert rows[students["perfect"]].score == sum(exercise.points for exercise in EXERCISES.values())
    assert (rows[students["empty"]].state, rows[students["empty"]].score) == ("graded", 0)
    assert (rows[students["json"]].state, rows[students["json"]].score) == ("blocked", None)
    assert rows[students["tampered"]].state == "waiting"


def test_the_overview_names_copies_and_attempts(graded):
    _, pages, overview = graded
    students = {word: path.parts[-3] for word, path in pages.items()}
    page = overview.read_text(encoding="utf-8")
    alike = page[page.index('id="alike"') :]
    copied = f'<th scope="row">{students["copied"]}</th>\n<td>{students["copied-renamed"]}</td>'
    assert copied in alike
    eyes = page[page.index('id="eyes"') : page.index('id="alike"')]
    for word in ("network", "closed", "json", "exit", "tampered"):
        assert students[word] in eyes, word
    assert students["perfect"] not in eyes


@pytest.mark.browser
def test_in_a_real_browser_nothing_is_fetched_or_run_and_nothing_scrolls_sideways(graded):
    _, pages, overview = graded
    happened: list[str] = []
    with running_chromium() as browser:
        for width, height in ((390, 844), (1366, 768)):
            page = browser.new_page(viewport={"width": width, "height": height})
            page.on("dialog", lambda dialog: (happened.append(dialog.message), dialog.dismiss()))
            page.on("request", lambda request: happened.append(request.url[:100]))
            page.on("console", lambda message: happened.append(message.text))
            for path in (pages["hostile"], pages["perfect"], overview):
                page.goto(path.as_uri())
                page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
                assert page.evaluate("document.documentElement.scrollWidth") <= width, path
                assert page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") >= 16
    assert [one for one in happened if not one.startswith(("file:", "data:image/"))] == []
