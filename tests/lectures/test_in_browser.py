"""Every lecture in JupyterLab and Chromium: all cells run, every control answers the keyboard, pictures are kept.

The screenshots and the measured latencies lie under artefacts/ afterwards: look at them.
"""

import json
import os
import shutil
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from autograder.launcher import text
from tests.lab import (
    CHROMIUM_FLAGS,
    PATIENCE,
    SETTLED,
    TOO_WIDE,
    find_chromium,
    listen_for_errors,
    run_all_cells,
    running_lab,
    save,
    shut_down_kernels,
)
from tests.lectures import outputs as lecture_outputs
from tests.lectures.conftest import LECTURES, ROOT
from tests.widget_controls import move_all

ARTEFACTS = ROOT / "artefacts"
LAPTOP, TALL = {"width": 1366, "height": 768}, {"width": 1366, "height": 1300}
"""As wide as on a laptop; the higher one is for pictures, of which fewer are then needed."""
PROJECTOR = {"width": 1920, "height": 1080}
SLIDES = 12
"""Every slide is looked at; so many of a lecture are kept as pictures, spread evenly. NLM_ALL_SLIDES=1 keeps all."""
LATENCY_MS, HEADROOM = 100, 3
"""From key to picture: what a widget should take, and how many times that a machine with much else to do may."""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.timeout(300),
    # Playwright and JupyterLab close some of their own sockets late.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator:
    chromium = find_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, headless=True, args=CHROMIUM_FLAGS)
        # One context for all lectures: what of JupyterLab the first has fetched and compiled, the others find there.
        yield running.new_context(viewport=LAPTOP)
        running.close()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, Path]]:
    """Address, token and folder of a JupyterLab that has the lectures as notebooks, and all that lies beside them."""
    work, private = tmp_path_factory.mktemp("course") / "lectures", tmp_path_factory.mktemp("private")
    shutil.copytree(ROOT / "lectures", work, ignore=shutil.ignore_patterns("*.ipynb", ".ipynb_checkpoints"))
    for lecture in LECTURES:
        notebook = text.from_text(lecture.read_text(encoding="utf-8"), ROOT)
        (work / f"{lecture.stem}.ipynb").write_text(text.as_json(notebook), encoding="utf-8")
    with running_lab(work, private) as (url, token):
        yield url, token, work


def test_a_lecture_runs_and_its_widgets_answer(lecture: Path, browser, lab: tuple[str, str, Path]) -> None:
    url, token, work = lab
    began, timeline = time.monotonic(), {}
    page = browser.new_page()
    page.set_viewport_size(LAPTOP)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    heard = listen_for_errors(page)
    page.goto(f"{url}/lab/tree/{lecture.stem}.ipynb?reset&token={token}")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000 * PATIENCE)
    timeline["open"] = time.monotonic() - began
    run_all_cells(page)
    save(page)
    timeline["run"] = time.monotonic() - began
    assert not [*errors, *heard]

    folder = ARTEFACTS / lecture.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    boxes = page.query_selector_all(".nlm-live")
    assert boxes, "a lecture without a widget is a text"
    widgets, faults = [], []
    for index, box in enumerate(boxes):
        box.scroll_into_view_if_needed()
        moved = move_all(page, box)
        times = [ms for control in moved for ms in control.ms]
        median = round(statistics.median(times), 1) if times else None
        widgets.append({"median_ms": median, "controls": [control.record() for control in moved]})
        if not moved:
            faults.append(f"widget {index} has no control that is reached by keyboard")
        for control in moved:
            name = f"widget {index}, {control.kind} {control.label!r}"
            if not control.ms and not control.alerts:
                faults.append(f"{name}: no key changes the picture, and no alert says why")
            faults += [f"{name}: {alert}" for alert in control.alerts if "Error" in alert or "Traceback" in alert]
    page.set_viewport_size(TALL)  # every widget in one picture
    for index, box in enumerate(boxes):
        box.scroll_into_view_if_needed()
        box.screenshot(path=folder / f"widget-{index}.png")
        faults += [f"widget {index} is too wide: {what}" for what in page.evaluate(TOO_WIDE)]
    (folder / "latency.json").write_text(json.dumps(widgets, indent=1, ensure_ascii=False))
    medians = [widget["median_ms"] for widget in widgets]
    timeline["widgets"] = time.monotonic() - began
    faults += _photograph(page, folder)
    timeline["pictures"] = time.monotonic() - began
    faults += _present(page, folder)
    timeline["slides"] = time.monotonic() - began
    print(f"\n{lecture.stem}: key press to picture, median ms per widget: {medians}")
    print("  seconds until: " + ", ".join(f"{what} {seconds:.1f}" for what, seconds in timeline.items()))
    shut_down_kernels(page, url, token)
    page.close()

    assert not [*errors, *heard]
    kept = ARTEFACTS / "lectures"
    executed = nbformat.read(work / f"{lecture.stem}.ipynb", as_version=4)
    lecture_outputs.keep(kept, lecture.stem, lecture_outputs.RUNS[1], executed, ROOT)
    other_run = lecture_outputs.differences(kept, lecture.stem, ROOT) or []
    faults += [f"another run showed something else: {what}" for what in other_run]
    assert not faults, "\n".join(dict.fromkeys(faults))
    limit = LATENCY_MS * HEADROOM * PATIENCE
    assert max(medians) <= limit, f"{LATENCY_MS} ms is the aim, {limit:.0f} the limit: {medians}"


def _photograph(page, folder: Path) -> list[str]:
    """The whole notebook, one screen at a time, from the top; what is too wide for it, or not set as mathematics."""
    scroll = """(y) => { const panel = document.querySelector('.jp-WindowedPanel-outer');
                         panel.scrollTo(0, y); return panel.scrollHeight; }"""
    unset = "() => [...document.querySelectorAll('mjx-merror, [data-mjx-error]')].map(e => e.innerText)"
    height, y, number, faults = page.evaluate(scroll, 0), 0, 0, []
    while y < height:
        page.evaluate(scroll, y)
        page.evaluate(SETTLED)
        page.screenshot(path=folder / f"page-{number:02}.png")
        faults += [f"page {number}: too wide: {what}" for what in page.evaluate(TOO_WIDE)]
        faults += [f"page {number}: mathematics that cannot be set: {what}" for what in page.evaluate(unset)]
        height = page.evaluate(scroll, y)  # cells take their height when they are first seen
        y, number = y + TALL["height"] - 90, number + 1
    return faults


def _present(page, folder: Path) -> list[str]:
    """The same notebook in the presenter view, screen by screen, as from a clicker; what is too wide, or dead."""
    page.set_viewport_size(PROJECTOR)
    page.evaluate("() => document.querySelector('.jp-WindowedPanel-outer').scrollTo(0, 0)")
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Escape")  # out of the editor, if the click has led into one
    page.keyboard.press("Control+Alt+P")
    place = page.locator("#nlm-place")
    place.wait_for(timeout=10_000 * PATIENCE)
    seen = """() => { const e = document.querySelector('#nlm-place'); return [e.innerText, e.dataset.whole === 'true',
        document.querySelector('.jp-WindowedPanel-outer').scrollTop,
        [...document.querySelectorAll('.nlm-shown')].map(cell => cell.innerText.trim()).join(' ')]; }"""
    faults, pictured, tried, before = [], [], False, None
    while (now := page.evaluate(seen)) != before:
        before = now
        where, whole, _, words = now
        if not words:
            faults.append(f"slide {where} is empty")
        if whole:
            faults += [f"slide {where}: too wide: {what}" for what in page.evaluate(TOO_WIDE)]
            number, of = (int(part) for part in where.split("/"))
            part = (number - 1) * SLIDES // of if of > SLIDES else number
            if part not in pictured or os.environ.get("NLM_ALL_SLIDES"):
                page.screenshot(path=folder / f"slide-{number:02}-{len(pictured):02}.png")
                pictured.append(part)
        live = page.locator(".nlm-shown .nlm-live")
        if not tried and live.count():
            tried = True
            if not any(control.ms for control in move_all(page, live.first.element_handle(), 1, only_first=True)):
                faults.append(f"slide {where}: the widget does not answer")
            page.evaluate("() => document.activeElement.blur()")
        page.keyboard.press("PageDown")
        page.evaluate(SETTLED)
    if not tried:
        faults.append("no widget is on a slide")
    page.keyboard.press("Escape")
    place.wait_for(state="detached", timeout=10_000)
    page.set_viewport_size(LAPTOP)
    return faults
