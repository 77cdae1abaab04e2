"""Every lecture in JupyterLab and Chromium: all cells run, every widget answers the keyboard, pictures are kept.

The screenshots and the measured latencies lie under artefacts/ afterwards: look at them.
"""

import json
import shutil
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.course import text
from tests.lab import CHROMIUM_FLAGS, find_chromium, key_to_picture, run_all_cells, running_lab

ROOT = Path(__file__).parents[1]
LECTURES = sorted((ROOT / "lectures").glob("[0-9][0-9]_*.py"))
ARTEFACTS = ROOT / "artefacts"
LAPTOP, TALL = {"width": 1366, "height": 768}, {"width": 1366, "height": 1300}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    # Playwright and JupyterLab close some of their own sockets late.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator:
    chromium = find_chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, headless=True, args=CHROMIUM_FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    work, private = tmp_path_factory.mktemp("course"), tmp_path_factory.mktemp("private")
    shutil.copytree(ROOT / "lectures" / "figures", work / "figures")
    for lecture in LECTURES:
        notebook = text.from_text(lecture.read_text(encoding="utf-8"), ROOT)
        (work / f"{lecture.stem}.ipynb").write_text(text.as_json(notebook), encoding="utf-8")
    with running_lab(work, private) as address:
        yield address


@pytest.mark.parametrize("lecture", LECTURES, ids=lambda path: path.stem)
def test_a_lecture_runs_and_its_widgets_answer(lecture: Path, browser, lab: tuple[str, str]) -> None:
    url, token = lab
    page = browser.new_page(viewport=LAPTOP)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(f"{url}/lab/tree/{lecture.stem}.ipynb?reset&token={token}")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=60_000)
    run_all_cells(page)
    assert not errors, errors

    folder = ARTEFACTS / lecture.stem
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    boxes = page.locator(".nlm-live")
    count = boxes.count()
    assert count >= 1, "a lecture without a widget is a text"
    latencies = []
    for index in range(count):
        box = boxes.nth(index)
        box.scroll_into_view_if_needed()
        times = [key_to_picture(page, box, *_control(box, turn)) for turn in range(6)]
        latencies.append({"median_ms": round(statistics.median(times), 1), "all_ms": [round(t, 1) for t in times]})
        page.set_viewport_size(TALL)  # the whole widget in one picture
        box.scroll_into_view_if_needed()
        box.screenshot(path=folder / f"widget-{index}.png")
        page.set_viewport_size(LAPTOP)
    _photograph(page, folder)
    assert not errors, errors
    (folder / "latency.json").write_text(json.dumps(latencies, indent=1))
    print(f"\n{lecture.stem}: key press to picture, median ms per widget:", [v["median_ms"] for v in latencies])
    page.close()


def _control(box, turn: int):
    """A control of the widget and a key that changes it: its first slider there and back, else another button."""
    sliders = box.locator(".noUi-handle")
    if sliders.count():
        return sliders.first, ("ArrowRight", "ArrowLeft")[turn % 2]
    return box.locator(".widget-toggle-button:not(.mod-active)").first, "Space"


def _photograph(page, folder: Path) -> None:
    """The whole notebook, one screen at a time, from the top."""
    scroll = """(y) => { const panel = document.querySelector('.jp-WindowedPanel-outer');
                         panel.scrollTo(0, y); return panel.scrollHeight; }"""
    height, y, number = page.evaluate(scroll, 0), 0, 0
    while y < height:
        page.evaluate(scroll, y)
        page.wait_for_timeout(200)
        page.screenshot(path=folder / f"page-{number:02}.png")
        y, number = y + 600, number + 1
