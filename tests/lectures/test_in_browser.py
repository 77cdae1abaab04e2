"""Every lecture in JupyterLab and Chromium: all cells run, every control answers the keyboard, pictures are kept.

The measured latencies lie under artefacts/ afterwards, and with NLM_PICTURES=1 every screen of the notebook and of its
slides as a picture: look at them.
"""

import json
import os
import shutil
import statistics
import time
from pathlib import Path

import nbformat
import pytest

from autograder.texts import text
from tests.lab import (
    ASK_AGAIN,
    CRAMPED,
    LETTERS,
    NARROW,
    OUT_OF_VIEW,
    PATIENCE,
    SETTLED,
    TOO_WIDE,
    UNANSWERED,
    Desk,
    at_rest,
    run_all_cells,
    save,
)
from tests.lectures import outputs as lecture_outputs
from tests.lectures.conftest import ROOT
from tests.notebook_runner import LIVE
from tests.widget_controls import move_all

ARTEFACTS = ROOT / "artefacts"
LAPTOP, TALL = {"width": 1366, "height": 768}, {"width": 1366, "height": 2600}
"""As wide as on a laptop; the higher one is for reading, in fewer steps."""
ZOOMED = {"width": 911, "height": 2600}
"""The same laptop at 150 %."""
LAPTOPS = {"on a laptop": LAPTOP, "at 150 %": {"width": 911, "height": 512}}
"""As high as they are, since how high a picture may be depends on that."""
PROJECTOR = {"width": 1920, "height": 1080}
LATENCY_MS, HEADROOM = 100, 3
"""From key to picture: what a widget should take, and how many times that a machine with much else to do may."""
ALL_SHOWN = """live => live === [...document.querySelectorAll('.jupyter-widgets')]
  .filter(e => !e.parentElement.closest('.jupyter-widgets')).length"""
"""JupyterLab draws cells that are not seen yet when it has nothing else to do."""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.alone,
    pytest.mark.timeout(300),
]


def test_a_lecture_runs_and_its_widgets_answer(lecture: Path, desk: Desk, next_lecture: str) -> None:
    name = f"{lecture.stem}.ipynb"
    notebook = text.from_text(lecture.read_text(encoding="utf-8"), ROOT)
    (desk.work / name).write_text(text.as_json(notebook), encoding="utf-8")
    with desk.notebook(name, LAPTOP) as page:
        look_at(lecture.stem, desk, page, next_lecture)


def look_at(stem: str, desk: Desk, page, next_lecture: str) -> None:
    began, timeline = time.monotonic(), {}
    run_all_cells(page)
    save(page)
    timeline["run"] = time.monotonic() - began
    assert not desk.heard

    folder = ARTEFACTS / stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    executed = nbformat.read(desk.work / f"{stem}.ipynb", as_version=4)
    live = sum(LIVE in out.get("data", {}) for cell in executed.cells for out in cell.get("outputs", []))
    page.wait_for_function(ALL_SHOWN, arg=live, timeout=20_000 * PATIENCE)
    asked = [_look_up(box) for box in page.query_selector_all(".nlm-predict")]
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
    (folder / "latency.json").write_text(json.dumps(widgets, indent=1, ensure_ascii=False))
    medians = [widget["median_ms"] for widget in widgets] + [round(ms, 1) for ms in asked]
    timeline["widgets"] = time.monotonic() - began
    if next_lecture:
        desk.start_kernel(f"{next_lecture}.ipynb")
    faults += _read(page, folder)
    timeline["pages"] = time.monotonic() - began
    faults += _present(page, folder)
    timeline["slides"] = time.monotonic() - began
    print(f"\n{stem}: key press to picture, median ms per widget: {medians}")
    print("  seconds until: " + ", ".join(f"{what} {seconds:.1f}" for what, seconds in timeline.items()))

    assert not desk.heard
    kept = ARTEFACTS / "lectures"
    lecture_outputs.keep(kept, stem, lecture_outputs.RUNS[1], executed, ROOT)
    other_run = lecture_outputs.differences(kept, stem, ROOT) or []
    faults += [f"another run showed something else: {what}" for what in other_run]
    assert not faults, "\n".join(dict.fromkeys(faults))
    limit = LATENCY_MS * HEADROOM * PATIENCE
    assert max(medians) <= limit, f"{LATENCY_MS} ms is the aim, {limit:.0f} the limit: {medians}"


def _look_up(box) -> float:
    """Say "show me" to a prediction, by keyboard; milliseconds until its answer is seen."""
    box.scroll_into_view_if_needed()
    assert box.query_selector("pre.nlm-printed, .nlm-live, svg, img") is None, "it shows what it should keep"
    button = box.wait_for_selector(
        "button:text-is('show me')", timeout=20_000 * PATIENCE
    )  # a box comes before its parts
    button.focus()
    box.evaluate(
        """box => { window.__answered = new Promise(done => {
             let pressed;
             window.addEventListener('keydown', () => { pressed = performance.now(); }, { capture: true, once: true });
             const look = () => box.innerText.includes('The answer:')
               ? done(performance.now() - pressed) : requestAnimationFrame(look);
             look(); }); }"""
    )
    button.press("Enter")
    return box.evaluate("() => window.__answered")


def _keep(page, path: Path) -> None:
    """As JPEG: a browser needs several times as long to write a PNG."""
    if os.environ.get("NLM_PICTURES"):
        page.screenshot(path=path, quality=85, type="jpeg")


def _read(page, folder: Path) -> list[str]:
    """The whole notebook from the top, one screen at a time; what is too wide for it, or not set as mathematics. Then
    the same in a narrow window."""
    faults = []
    for name, view, look in (("page", TALL, TOO_WIDE), ("zoomed", ZOOMED, NARROW)):
        page.set_viewport_size(view)
        screen = f"""async y => {{
            const panel = document.querySelector('.jp-WindowedPanel-outer');
            panel.scrollTo(0, y);
            await ({SETTLED})();
            const unset = [...document.querySelectorAll('mjx-merror, [data-mjx-error]')].map(e => e.innerText);
            return {{ height: panel.scrollHeight, unfit: ({look})(), unset }}; }}"""
        height, y, number = 1, 0, 0
        while y < height:
            seen = page.evaluate(screen, y)
            _keep(page, folder / f"{name}-{number:02}.jpg")
            faults += [f"{name} {number}: too wide or too small: {what}" for what in seen["unfit"]]
            faults += [f"{name} {number}: mathematics that cannot be set: {what}" for what in seen["unset"]]
            height = seen["height"]  # cells take their height when they are first seen
            y, number = y + view["height"] - 90, number + 1
    for name, view in LAPTOPS.items():
        page.set_viewport_size(view)
        small = page.evaluate(f"async () => {{ await ({SETTLED})(); return ({LETTERS})(); }}")
        faults += [f"{name}: {what}" for what in small]
    return faults


def _present(page, folder: Path) -> list[str]:
    """The same notebook in the presenter view, screen by screen, as from a clicker, which also answers each prediction;
    what is too wide, or dead, or out of view."""
    page.set_viewport_size(PROJECTOR)
    page.evaluate(ASK_AGAIN)
    page.evaluate("() => document.querySelector('.jp-WindowedPanel-outer').scrollTo(0, 0)")
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Escape")  # out of the editor, if the click has led into one
    page.keyboard.press("Control+Alt+P")
    place = page.locator("#nlm-place")
    place.wait_for(timeout=10_000 * PATIENCE)
    look = f"""async () => {{
        await ({SETTLED})();
        const place = document.querySelector('#nlm-place'), whole = place.dataset.whole === 'true';
        return {{ where: place.innerText, whole, wide: whole ? ({TOO_WIDE})() : [],
                  part: place.dataset.part, cramped: ({CRAMPED})(),
                  words: [...document.querySelectorAll('.nlm-shown')].map(cell => cell.innerText.trim()).join(' '),
                  picture: [...document.querySelectorAll('.nlm-shown :is(svg, img, canvas)')]
                    .some(e => Math.min(e.getBoundingClientRect().width, e.getBoundingClientRect().height) > 100),
                  live: [...document.querySelectorAll('.nlm-shown .nlm-live')]
                    .some(e => e.getBoundingClientRect().height > 0) }}; }}"""
    faults, number, tried, before = [], 0, False, None
    while (now := page.evaluate(look)) != before:
        before, where = now, now["where"]
        if not now["words"] and not now["picture"]:
            faults.append(f"slide {where} is empty")
        faults += [f"slide {where}: too wide: {what}" for what in now["wide"]]
        faults += [f"slide {where}: {what}" for what in now["cramped"]]
        if now["whole"]:
            _keep(page, folder / f"slide-{number:02}.jpg")
            number += 1
        if not tried and now["live"]:
            tried = True
            live = next(box for box in page.query_selector_all(".nlm-shown .nlm-live") if box.is_visible())
            live.wait_for_selector("button, input, select, .noUi-handle", timeout=20_000 * PATIENCE)  # come later
            if not any(control.ms for control in move_all(page, live, 1, only_first=True)):
                faults.append(f"slide {where}: the widget does not answer")
            page.evaluate("() => document.activeElement.blur()")
        asks = page.evaluate(UNANSWERED)
        page.keyboard.press("PageDown")
        if asks:
            page.locator("[data-pressed] .nlm-told").wait_for(state="attached", timeout=20_000 * PATIENCE)
            page.wait_for_timeout(400)  # the screen is cut anew when it has come to rest
            page.evaluate(SETTLED)
            faults += [f"slide {where}: {what}" for what in at_rest(page, OUT_OF_VIEW)]
    if not tried:
        faults.append("no widget is on a slide")
    page.keyboard.press("Escape")
    place.wait_for(state="detached", timeout=10_000 * PATIENCE)
    return faults
