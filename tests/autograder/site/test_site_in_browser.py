"""The lecture on attention as a page with all its states, in a real Chromium."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from autograder.site import publish, translate
from autograder.site.kept import executed
from tests.autograder.site.browsing import press, uncover
from tests.autograder.site.conftest import ROOT
from tests.autograder.site.serving import served
from tests.lab import expect

pytestmark = [
    *(pytest.mark.everything, pytest.mark.browser, pytest.mark.slow, pytest.mark.timeout(300)),
    pytest.mark.xdist_group("attention as a page"),  # it is executed once
]
LECTURE = "lectures/12_attention.html"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Executed here, or taken from an earlier build of the same sources."""
    out = tmp_path_factory.mktemp("served") / "sub" / "path"
    assert publish.publish(SimpleNamespace(root=ROOT), ["--only", "12", "--out", str(out)]) == 0  # type: ignore[arg-type]
    return out


def test_the_german_page_is_complete_and_speaks_german(site: Path, opened: Any) -> None:
    lecture = ROOT / "lectures" / "12_attention.py"
    translation = publish.translation(ROOT, lecture, "de")
    translate.asked(translation, executed(lecture, ROOT)[0])
    assert not [key for key, found in translation.asked.items() if not found]
    page = opened(site / LECTURE)
    page.get_by_role("link", name="Deutsch").press("Enter")
    page.wait_for_url("**/de/lectures/12_attention.html")
    body = page.locator("body").inner_text()
    for message in translation.lecture.catalogue:
        if message.id and message.id != message.string and len(message.id) > 40:
            assert message.id not in body
    uncover(page)
    box = page.query_selector(".nlm-live")
    slider = box.query_selector("input[type=range]")
    slider.press("ArrowRight")
    says = box.query_selector(":scope > [role=status]")
    page.wait_for_function(
        "says => /^Scores und Softmax-Gewichte. h1: Score [0-9.]+, Gewicht/.test(says.textContent)", arg=says
    )
    first = page.locator(".nlm-predict").first
    first.get_by_role("button", name="etwa 256").press("Enter")
    first.get_by_text("Nicht ganz. Deine Schätzung: etwa 256.").wait_for()
    page.get_by_text("Deine ersten Vorhersagen in dieser Vorlesung: 0 von 1 richtig.").wait_for()


def test_forced_colours_show_which_option_is_chosen(site: Path, opened: Any) -> None:
    page = opened(site / LECTURE)
    page.emulate_media(forced_colors="active")
    chosen = page.locator(".option:has(:checked)").first
    other = page.locator(".option:not(:has(:checked))").first
    ground = "part => getComputedStyle(part).backgroundColor"
    assert chosen.evaluate(ground) != other.evaluate(ground)


def test_search_finds_a_section(site: Path, opened: Any) -> None:
    page = opened(site / "search.html")
    page.get_by_label("Words").fill("bottleneck translate")
    expect(page.locator("#found a").first).to_contain_text("Attention")
    page.locator("#found a").first.press("Enter")
    page.wait_for_url("**/lectures/12_attention.html#*")


def test_it_works_under_a_path_of_a_server(site: Path, opened: Any) -> None:
    with served(site.parents[1]) as address:
        page = opened(f"{address}/sub/path/{LECTURE}")
        uncover(page)
        box = page.query_selector(".nlm-live")
        assert press(page, box.query_selector(".widget-html-content"), box.query_selector(".control"))
