"""The presenter view of the lecture on attention, opened from a folder in a real Chromium."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from autograder.site import presented
from autograder.texts import text
from tests.autograder.site import test_site_in_browser as shared
from tests.autograder.site.browsing import press, violations
from tests.lab import ROOT, at_rest, expect

pytestmark = shared.pytestmark
site = shared.site
CRAMPED = """least => {
  // What is outside of the screen, has to be scrolled, or is too small for the back row.
  const found = [], main = document.querySelector('main');
  const closed = "details:not([open])";
  const folded = e => e.closest(closed) && e.closest("summary")?.parentElement !== e.closest(closed);
  if (main.scrollHeight > main.clientHeight + 1) found.push('the screen scrolls');
  for (const e of main.querySelectorAll('.nlm-shown *')) {
    if (!e.getClientRects().length || e.matches('svg *, math *, .nlm-strip *, .only-read, .option input')) continue;
    if (folded(e)) continue;
    const { right, bottom } = e.getBoundingClientRect(), words = e.tagName + ' ' + e.textContent.trim().slice(0, 60);
    if (bottom > innerHeight || right > innerWidth + 1) found.push(`off the screen: ${words}`);
    const { overflowX, fontSize } = getComputedStyle(e);
    if (/auto|scroll/.test(overflowX) && e.scrollWidth > e.clientWidth + 1) found.push(`scrolls: ${words}`);
    const says = [...e.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (says && !e.matches('sub, sup') && parseFloat(fontSize) < least) found.push(`too small: ${words}`);
  }
  const titles = [...document.querySelectorAll('#nlm-title, .nlm-shown :is(h1, h2, h3)')];
  if (!titles.some(e => e.textContent.trim())) found.push('no title');
  return found;
}"""
SHOWN = "() => document.querySelectorAll('.nlm-shown').forEach(cell => { cell.dataset.seen = 'yes'; })"
NEVER_SHOWN = """() => [...document.querySelectorAll("main > .cell:not([data-seen], [data-slide='skip'])")]
  .filter(cell => !cell.matches('.code') || cell.querySelector('.output')).map(cell => cell.textContent.slice(0, 99))"""
FOLDED = "details:not(.fold):not([open]):not(.nlm-predict details)"
SWIPE = """([from, to]) => {
  const main = document.querySelector('main');
  const touch = clientX => new Touch({ identifier: 1, target: main, clientX, clientY: 300 });
  main.dispatchEvent(new TouchEvent('touchstart', { touches: [touch(from)], changedTouches: [touch(from)] }));
  main.dispatchEvent(new TouchEvent('touchend', { touches: [], changedTouches: [touch(to)] }));
}"""


def present(opened: Any, page: Path, at: str = "", **more: Any) -> Any:
    one = opened(f"{page.as_uri()}?present{at}", **more)
    one.locator("#nlm-place[data-part]").wait_for()
    return one


def part(page: Any) -> str:
    return str(page.locator("#nlm-place").get_attribute("data-part"))


def go_to(page: Any, inside: str) -> Any:
    """Page Down until this is on the screen."""
    found = page.locator(f".nlm-shown {inside}").first
    for _ in range(150):
        if found.is_visible():
            return found
        page.keyboard.press("PageDown")
    raise AssertionError(f"{inside} is on no screen")


def last_slide(page: Any) -> str:
    return str(page.locator("#nlm-place").inner_text()).partition(" / ")[2]


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (1366, 768)])
def test_everything_is_shown_and_every_step_fits(site: Path, opened: Any, width: int, height: int) -> None:
    page = present(opened, site / shared.LECTURE, width=width, height=height)
    steps: list[str] = []
    while part(page) not in steps:
        steps.append(part(page))
        assert at_rest(page, CRAMPED, 28 * min(width / 1920, height / 1080) - 0.1) == [], steps[-1]
        page.evaluate(SHOWN)
        page.keyboard.press("ArrowRight")  # Page Down would answer the questions, too
    assert len(steps) > 60
    assert page.locator("#nlm-place").inner_text() == f"{last_slide(page)} / {last_slide(page)}"
    assert page.evaluate(NEVER_SHOWN) == []
    for _ in range(len(steps)):
        page.keyboard.press("PageUp")
    assert part(page) == steps[0]


def test_the_screens_are_those_of_jupyterlab(site: Path, opened: Any) -> None:
    page = present(opened, site / shared.LECTURE)
    cells = text.from_text((ROOT / "lectures" / "12_attention.py").read_text(encoding="utf-8"), ROOT).cells
    script = (presented.SHARED / "cells.js").read_text(encoding="utf-8").replace("export ", "")
    screens = page.evaluate(
        f"""cells => {{ {script}
          const model = cell => ({{ type: cell.cell_type, getMetadata: name => cell.metadata[name],
            sharedModel: {{ getSource: () => cell.source }} }});
          return readSteps(cells.map(cell => ({{ model: model(cell) }}))).pop().screen + 1; }}""",
        json.loads(json.dumps(cells)),
    )
    assert last_slide(page) == str(screens)


def test_fragments_come_one_by_one_and_a_reload_stays(site: Path, opened: Any) -> None:
    page = present(opened, site / shared.LECTURE, "#slide-6")
    shown = page.locator("main > .nlm-shown")
    before = shown.count()
    page.keyboard.press("PageDown")
    expect(shown).not_to_have_count(before)
    assert shown.count() > before  # one part at a time, with what belongs to it
    expect(page).to_have_url(re.compile(r"\?present#slide-6\.\d$"))
    says = page.locator("body > [role=status]")
    expect(says).to_have_text(f"Slide 6 of {last_slide(page)}, part 2. 2. A weighted sum of encoder states")
    at = part(page)
    page.reload()
    expect(page.locator("#nlm-place")).to_have_attribute("data-part", at)
    page.keyboard.press("PageUp")
    expect(shown).to_have_count(before)


def test_widgets_and_predictions_answer_on_their_slides(site: Path, opened: Any) -> None:
    page = present(opened, site / shared.LECTURE, width=1920, height=1080)
    box = go_to(page, ".nlm-predict")
    expect(box.locator("img")).to_be_hidden()
    page.keyboard.press("PageDown")  # as from a clicker
    page.locator(".nlm-shown .nlm-predict details").get_by_text("The answer:").wait_for()
    assert at_rest(page, CRAMPED, 27.9) == []  # the answer makes the step longer than the screen
    live = go_to(page, ".nlm-live")
    at = part(page)
    live = live.element_handle()
    control = live.query_selector(".control")
    assert press(page, live.query_selector(".widget-html-content"), control)
    assert control.evaluate("node => node.contains(document.activeElement)"), "a picture that changes takes no focus"
    assert part(page) == at
    page.keyboard.press("PageDown")
    expect(page.locator("#nlm-place")).not_to_have_attribute("data-part", at)


def test_d_opens_answers_c_shows_code_and_o_all_screens(site: Path, opened: Any) -> None:
    page = present(opened, site / shared.LECTURE)
    go_to(page, FOLDED)
    while page.locator(".nlm-shown .nlm-predict").count():  # where a question is on the screen, d answers it
        page.keyboard.press("ArrowRight")
        go_to(page, FOLDED)
    page.keyboard.press("d")
    expect(page.locator(".nlm-shown details[open]")).not_to_have_count(0)
    page.keyboard.press("d")
    expect(page.locator(".nlm-shown details[open]")).to_have_count(0)
    go_to(page, ".nlm-live")
    expect(page.locator(".nlm-shown pre.code").first).to_be_hidden()
    page.keyboard.press("c")
    expect(page.locator(".nlm-shown pre.code").first).to_be_visible()
    page.keyboard.press("o")
    cards = page.locator("#nlm-overview [role=option]")
    expect(cards).to_have_count(int(last_slide(page)))
    cards.nth(3).click()
    expect(page.locator("#nlm-place")).to_have_text(re.compile("^4 / "))


def test_n_opens_the_notes_which_a_reader_does_not_meet(site: Path, opened: Any) -> None:
    page = present(opened, site / shared.LECTURE, "#slide-2")
    with page.expect_popup() as popup:
        page.keyboard.press("n")
    notes = popup.value
    expect(notes.locator("#notes")).to_have_text("No notes for this screen.")
    expect(notes.locator("#next")).to_have_text("1. One vector is not enough")
    expect(notes.locator("body")).to_contain_text(re.compile(r"2 / \d+ · \d min"))
    for _ in range(20):
        if not (words := notes.locator("#notes").inner_text()).startswith("No notes"):
            break
        at = part(page)
        notes.keyboard.press("ArrowRight")  # with the focus there
        expect(page.locator("#nlm-place")).not_to_have_attribute("data-part", at)
    assert len(words) > 40
    assert int(page.locator("#nlm-place").inner_text().partition(" / ")[0]) > 2
    with notes.expect_event("close"):
        page.keyboard.press("Escape")
    assert words.split("\n")[0] not in page.locator("body").inner_text()


def test_escape_leads_back_to_the_same_section(site: Path, opened: Any) -> None:
    page = opened(site / shared.LECTURE)
    page.evaluate("document.querySelector('#does-it-help-measured').scrollIntoView()")
    page.keyboard.press("Control+Alt+P")
    page.locator("#nlm-place[data-part]").wait_for()
    expect(page.locator(".nlm-shown h3, .nlm-shown h2")).to_have_text("Does it help? Measured")
    expect(page.locator("footer")).to_be_hidden()
    expect(page.locator("#content")).to_be_focused()
    page.evaluate(SWIPE, [900, 300])
    swiped = part(page)
    place = page.locator("#nlm-place")
    page.evaluate(SWIPE, [300, 900])
    expect(place).not_to_have_attribute("data-part", swiped)
    page.get_by_role("button", name="next", exact=True).click()
    expect(place).to_have_attribute("data-part", swiped)
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile("12_attention.html#does-it-help-measured$"))
    expect(page.locator("footer")).to_be_visible()
    expect(page.locator("#nlm-bar, #nlm-title, .nlm-off")).to_have_count(0)
    page.wait_for_function(
        "() => { const { top } = document.activeElement.getBoundingClientRect(); return 0 <= top && top < 200; }"
    )
    page.get_by_role("button", name="Present").press("Enter")
    page.locator("#nlm-place[data-part]").wait_for()


def test_the_german_page_presents_in_german(site: Path, opened: Any) -> None:
    page = present(opened, site / "de" / shared.LECTURE, "#slide-2")
    expect(page.locator("body > [role=status]")).to_have_text(re.compile(f"^Folie 2 von {last_slide(page)}"))
    with page.expect_popup() as popup:
        page.keyboard.press("n")
    expect(popup.value.locator("body")).to_contain_text("Als Nächstes:")


def test_only_lectures_have_a_presenter_view(site: Path, opened: Any) -> None:
    page = opened(site / "index.html")
    assert page.locator("#present, script[src$='present.js']").count() == 0


@pytest.mark.parametrize("at", ["#slide-2", "#slide-7"])
def test_axe_finds_nothing_while_presenting(site: Path, opened: Any, at: str) -> None:
    for scheme in ("light", "dark"):
        page = present(opened, site / shared.LECTURE, at, scheme=scheme, width=1920, height=1080)
        assert not violations(page)
        page.close()
