"""The lecture on attention as a page, opened from a folder in a real Chromium, by keyboard alone."""

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.site import publish, translate
from autograder.site.kept import executed
from tests.lab import CHROMIUM_FLAGS, PATIENCE, ROOT, find_chromium

pytestmark = [
    pytest.mark.everything,
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]
LECTURE = "lectures/12_attention.html"
# axe does not read MathML, so it takes a heading with a formula for an empty one.
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
MS = 5_000 * PATIENCE
KEYS = {"radio": ["ArrowRight", "ArrowLeft"], "checkbox": ["Space"], "": ["ArrowDown", "ArrowUp"]}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Executed here, or taken from an earlier build of the same sources."""
    out = tmp_path_factory.mktemp("served") / "sub" / "path"
    assert publish.publish(SimpleNamespace(root=ROOT), ["--only", "12", "--out", str(out)]) == 0  # type: ignore[arg-type]
    return out


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def opened(chromium: Any) -> Iterator[Any]:
    """Opens a page; at the end nothing was said on its console, and nothing was asked of another host."""
    context, heard = chromium.new_context(reduced_motion="reduce"), []

    def listen(page: Any) -> None:
        page.set_default_timeout(MS)
        page.on("console", lambda said: heard.append(said.text) if said.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: heard.append(str(error)))
        own = ("file:", "data:", "blob:", "http://127.0.0.1:")
        page.on("request", lambda asked: None if asked.url.startswith(own) else heard.append(asked.url))

    def visit(address: str | Path, width: int = 1366, height: int = 768, scheme: str = "light") -> Any:
        page = context.new_page()
        listen(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.goto(address.as_uri() if isinstance(address, Path) else address)
        return page

    yield visit
    context.close()
    assert not heard


def press(page: Any, host: Any, control: Any) -> bool:
    """Whether a key that a control knows changes the picture."""
    part = control.query_selector("input:checked, input, select")
    before = host.inner_html()
    kind = part.get_attribute("type") or ""
    part.focus()
    for key in KEYS.get(kind, ["ArrowRight", "ArrowLeft"]):
        part = control.query_selector(":focus") or part
        part.press(key)
        try:
            page.wait_for_function("([host, before]) => host.innerHTML !== before", arg=[host, before], timeout=MS / 2)
            return True
        except Exception:  # at the end of its range: the other direction
            continue
    return False


def test_every_control_answers_the_keyboard_and_says_what_changed(site: Path, opened: Any) -> None:
    page = opened(site / LECTURE)
    for button in page.query_selector_all(".nlm-predict .answers button:text-is('show me')"):
        button.focus()
        button.press("Enter")
    boxes = page.query_selector_all(".nlm-live")
    assert len(boxes) == 9
    for box in boxes:
        host, controls = box.query_selector(".widget-html-content"), box.query_selector_all(".control")
        assert controls
        for control in controls:
            assert press(page, host, control), control.inner_text()
        page.wait_for_function("says => says.textContent.trim()", arg=box.query_selector(":scope > [role=status]"))


def test_what_was_moved_last_stays_and_the_rest_goes_back_in_words(site: Path, opened: Any) -> None:
    page = opened(site / LECTURE)
    box = page.query_selector(".nlm-live")  # six sliders, of which two are drawn at a time
    for slider in box.query_selector_all("input[type=range]")[:3]:
        slider.focus()
        slider.press("End")
        page.wait_for_timeout(50)
    says = box.query_selector(":scope > [role=status]")
    page.wait_for_function("says => says.textContent.includes('Back at the start: score of h1.')", arg=says)
    readouts = [output.inner_text() for output in box.query_selector_all(".readout")]
    assert readouts[:4] == ["1.5", *readouts[1:3], "−0.5"]
    assert readouts[1] == readouts[2] != "0.9"
    assert f"h2: score {readouts[1]}" in box.query_selector("svg").get_attribute("aria-label")


def test_a_prediction_is_judged_and_kept_in_this_browser(site: Path, opened: Any) -> None:
    page = opened(site / LECTURE)
    first = page.locator(".nlm-predict").first
    assert not first.locator("img").is_visible()
    first.get_by_role("button", name="about 256").press("Enter")
    first.get_by_text("Not quite. Your guess: about 256.").wait_for()
    first.locator("img").wait_for()
    page.reload()
    first.get_by_text("Not quite. Your guess: about 256.").wait_for()
    page.get_by_text("Your first guesses in this lecture: 0 of 1 right.").wait_for()


def test_the_german_page_is_complete_and_speaks_german(site: Path, opened: Any) -> None:
    lecture = ROOT / "lectures" / "12_attention.py"
    translation = publish.translation(ROOT, lecture, "de")
    translate.asked(translation, executed(lecture, ROOT, ROOT / "build" / "site")[0])
    assert not [key for key, found in translation.asked.items() if not found]
    page = opened(site / LECTURE)
    page.get_by_role("link", name="Deutsch").press("Enter")
    page.wait_for_url("**/de/lectures/12_attention.html")
    body = page.locator("body").inner_text()
    for message in translation.lecture.catalogue:
        if message.id and message.id != message.string and len(message.id) > 40:
            assert message.id not in body
    box = page.query_selector(".nlm-live")
    slider = box.query_selector("input[type=range]")
    slider.press("ArrowRight")
    says = box.query_selector(":scope > [role=status]")
    page.wait_for_function(
        "says => says.textContent.startsWith('Scores und Softmax-Gewichte. h1: Score 2.10, Gewicht')", arg=says
    )
    first = page.locator(".nlm-predict").first
    first.get_by_role("button", name="etwa 256").press("Enter")
    first.get_by_text("Nicht ganz. Deine Schätzung: etwa 256.").wait_for()
    page.get_by_text("Deine ersten Vorhersagen in dieser Vorlesung: 0 von 1 richtig.").wait_for()


@pytest.mark.parametrize(
    "name", [LECTURE, f"de/{LECTURE}", "index.html", "search.html?q=softmax", "lectures/glossary.html"]
)
def test_axe_finds_nothing_in_either_theme(site: Path, opened: Any, name: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    path, _, query = name.partition("?")
    for scheme in ("light",) if name.startswith("de/") else ("light", "dark"):
        page = opened(f"{(site / path).as_uri()}?{query}", scheme=scheme)
        page.evaluate(
            "document.querySelectorAll('details').forEach(part => { part.hidden = false; part.open = true; })"
        )
        found = axe.run(
            page,
            options={
                "runOnly": RULES,
                "preload": False,
                "resultTypes": ["violations"],
                "rules": {"empty-table-header": {"enabled": False}},
            },
        ).response["violations"]
        assert not found, [(one["id"], one["nodes"][0]["html"][:200]) for one in found]
        page.close()


def test_a_phone_and_a_zoom_of_400_percent_scroll_in_one_direction(site: Path, opened: Any) -> None:
    for width in (390, 320):
        page = opened(site / LECTURE, width, 844)
        assert page.evaluate("document.documentElement.scrollWidth") == width
        page.close()


def test_search_finds_a_section(site: Path, opened: Any) -> None:
    page = opened(site / "search.html")
    page.get_by_label("Words").fill("bottleneck translate")
    page.locator("#found a").first.wait_for()
    assert "Attention" in page.locator("#found a").first.inner_text()
    page.locator("#found a").first.press("Enter")
    page.wait_for_url("**/lectures/12_attention.html#*")


def test_it_works_under_a_path_of_a_server(site: Path, opened: Any) -> None:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            pass

    handler = functools.partial(Quiet, directory=str(site.parents[1]))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        page = opened(f"http://127.0.0.1:{server.server_port}/sub/path/{LECTURE}")
        box = page.query_selector(".nlm-live")
        assert press(page, box.query_selector(".widget-html-content"), box.query_selector(".control"))
        server.shutdown()
