"""What a page does, on a small one that is made here: no lecture is executed."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from autograder.site.drawn import Gathered, Plan
from autograder.site.sheet import LIVE
from lectures.show import Canvas, live, predict, slider
from tests.autograder.site.browsing import uncovered, violations
from tests.autograder.site.conftest import cell, small_site
from tests.lab import expect

pytestmark = pytest.mark.browser


def drawing(n: int, m: int = 1) -> str:
    canvas = Canvas()
    canvas.photograph("data:image/png;base64,iVBORw0KGgo=", 0, 0, 40, 40)
    canvas.text(0, 60, f"n is {n}, m is {m}", 16)
    return canvas.svg(f"A picture of {n}, {m}.")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two questions, each before what answers it, and a widget, one of whose sliders moves at a time."""
    first = predict("Which is *more*?", choices=["two", "three", "four"], answer="three", why="It is counted.")
    second = predict("How many are there?", answer=42.0, within=1, why="They are counted.")
    widgets = {"a": first, "b": second, "w": live(drawing, n=slider(1, 1, 9, 1, "n"), m=slider(1, 1, 9, 1, "m"))}
    text, code = (partial(cell, kind, slideshow={"slide_type": "slide"}) for kind in ("markdown", "code"))
    return small_site(
        tmp_path_factory.mktemp("small"),
        Gathered(Plan(moved=1, most=9)),
        widgets,
        text("# Small\n\n## Counting\n\nA page with two questions that a reader should answer first."),
        code("first", {LIVE: {"model_id": "a"}}, {"text/html": "<b>right below: three</b>"}),
        text("| three |\n| - |\n| 3 |"),
        code("second", {LIVE: {"model_id": "b"}}),
        code("answer", {"text/html": "<p>it is 42</p>"}),
        text("<details><summary>More</summary>hidden</details>"),
        text("## A widget"),
        code("w", {LIVE: {"model_id": "w"}}),
    )


@pytest.fixture
def page(site: Path, opened: Any) -> Any:
    return opened(site / "small.html")


def test_what_answers_a_question_is_covered_until_it_is_answered(page: Any) -> None:
    below, table, answer = (page.get_by_text(words) for words in ("right below", "3", "it is 42"))
    expect(page.locator(".veil")).to_have_count(3)
    assert not uncovered(page)
    assert not violations(page)
    expect(page.locator(".nlm-live svg")).to_be_visible()  # the next section asks nothing
    first, second = page.locator(".nlm-predict").all()
    first.get_by_role("button", name="three").press("Enter")
    expect(below).to_be_visible()
    expect(table.last).to_be_visible()
    expect(answer).to_be_hidden()  # it waits for the second question
    second.get_by_label("guess").fill("40")
    second.get_by_label("guess").press("Enter")
    expect(answer).to_be_visible()
    expect(page.locator(".veil")).to_have_count(0)


def test_a_reader_may_look_without_an_answer_and_goes_on_from_there(page: Any) -> None:
    page.locator(".veil").last.get_by_role("button", name="show me").press("Enter")
    expect(page.get_by_text("it is 42")).to_be_visible()
    expect(page.locator(":focus")).to_have_text("it is 42")
    expect(page.locator(".nlm-predict details:visible")).to_have_count(0)  # the questions are still open


def test_on_paper_nothing_is_covered_it_is_light_and_afterwards_all_is_as_before(site: Path, opened: Any) -> None:
    page = opened(site / "small.html", scheme="dark")
    body, answer, opened_ones = page.locator("body"), page.get_by_text("it is 42"), page.locator("details[open]")
    expect(body).to_have_css("background-color", "rgb(18, 23, 29)")
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(body).to_have_css("background-color", "rgb(255, 255, 255)")
    expect(answer).to_be_visible()
    expect(opened_ones).to_have_count(3)
    expect(page.locator(".veil:visible, button:visible")).to_have_count(0)
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(opened_ones).to_have_count(0)
    expect(page.locator(".nlm-predict details:visible")).to_have_count(0)
    expect(answer).to_be_hidden()


def test_without_a_script_a_page_shows_everything(site: Path, chromium: Any) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((site / "small.html").as_uri())
    expect(page.get_by_text("it is 42")).to_be_visible()
    context.close()


def test_a_guess_and_the_answer_are_marked_and_the_keyboard_keeps_its_place(page: Any) -> None:
    first = page.locator(".nlm-predict").first
    button = first.get_by_role("button", name="four")
    button.press("Enter")
    right, wrong = (first.locator(f"[data-mark={kind}]") for kind in ("right", "wrong"))
    expect(wrong).to_have_text("four (your guess)")
    expect(right).to_have_text("three (the answer)")
    expect(first.locator("[data-mark]")).to_have_count(2)
    sign = "part => getComputedStyle(part, '::before').content"
    assert wrong.evaluate(sign) != right.evaluate(sign) != "none"
    expect(button).to_be_focused()
    first.get_by_role("button", name="two").press("Enter")  # the first guess counts
    expect(wrong).to_have_text("four (your guess)")
    page.reload()
    expect(wrong).to_have_text("four (your guess)")


def test_a_photograph_is_no_negative_in_the_dark(site: Path, opened: Any) -> None:
    def filters(scheme: str) -> list[str]:
        page = opened(site / "small.html", scheme=scheme)
        found = [page.locator(part).evaluate("part => getComputedStyle(part).filter") for part in (".nlm-photo", "svg")]
        return [str(one) for one in found]

    assert filters("light") == ["none", "none"]
    photograph, drawing = filters("dark")
    assert photograph == drawing != "none"  # inverted twice


def test_a_widget_says_that_it_loads_and_can_be_asked_again(site: Path, chromium: Any) -> None:
    context = chromium.new_context()
    page = context.new_page()
    waiting: list[Any] = []
    page.route("**/small/0.js", lambda route: waiting.append(route))
    with page.expect_request("**/small/0.js"):
        page.goto((site / "small.html").as_uri(), wait_until="domcontentloaded")  # the page does not wait for pictures
        page.locator(".nlm-live input[type=range]").first.press("End")
    page.get_by_text("Loading the pictures").wait_for()
    waiting.pop().abort()
    page.get_by_text("could not be loaded").wait_for()
    page.unroute("**/small/0.js")
    page.get_by_role("button", name="Try again").press("Enter")
    page.locator(".nlm-live svg[aria-label='A picture of 9, 1.']").wait_for()
    expect(page.locator(".waits")).to_be_empty()
    context.close()


def test_what_goes_back_is_said_though_keys_follow_fast(page: Any) -> None:
    page.evaluate(
        """() => {
          const [n, m] = document.querySelectorAll('.nlm-live input');
          for (const [slider, to] of [[n, 8], [m, 8], [m, 7]]) {
            slider.value = to;
            slider.dispatchEvent(new Event('input'));
          }
        }"""
    )
    status = page.locator(".nlm-live > [role=status]")
    expect(status).to_have_text("A picture of 1, 8. Back at the start: n.")
    expect(page.locator(".nlm-live input").first).to_have_value("0")
