"""The presenter view: every cell of a lecture has its place in it, and in a real browser it does what it says."""

import json
from pathlib import Path

import nbformat
import pytest

from autograder.launcher import text
from tests.lab import PATIENCE, Desk
from tests.lectures.conftest import ROOT

EXTENSION = ROOT / "autograder" / "jupyter" / "labextensions" / "nlm-slides"
TYPES = {"slide", "subslide", "fragment", "skip", "notes"}


def test_every_cell_of_a_lecture_has_its_place(lecture: Path) -> None:
    cells = text.from_text(lecture.read_text(encoding="utf-8"), ROOT).cells
    places = [cell.metadata.get("slideshow", {}).get("slide_type") for cell in cells]
    for cell, place in zip(cells, places, strict=True):
        assert place in TYPES, f"slide_type {place!r}, one of {sorted(TYPES)} is needed:\n{cell.source[:300]}"
        assert place != "notes" or cell.cell_type == "markdown", f"notes are words:\n{cell.source[:300]}"
    assert places[0] == "slide"
    assert places.count("slide") >= 4, "each section begins a slide"


def test_jupyterlab_is_told_where_the_extension_is() -> None:
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    build = package["jupyterlab"]["_build"]
    assert (EXTENSION / build["load"]).exists()
    assert f"_JUPYTERLAB['{package['name']}'] =" in (EXTENSION / build["load"]).read_text(encoding="utf-8")


def a_lecture() -> nbformat.NotebookNode:
    make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
    cells = [
        (
            "markdown",
            "slide",
            "# First\n\n<details><summary>Answer</summary>Forty-two</details>\n\n| n |\n| --- |\n| 42 |",
        ),
        ("markdown", "notes", "Ask the **room**."),
        ("code", "skip", "x = 20"),
        ("markdown", "skip", "Not for the room."),
        ("code", "fragment", "x + 1"),
        ("code", "slide", "print('drawn', x + 2)"),
        ("markdown", "fragment", "The last."),
    ]
    built = [make[kind](source, metadata={"slideshow": {"slide_type": place}}) for kind, place, source in cells]
    built[5].metadata["jupyter"] = {"source_hidden": True}
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return nbformat.v4.new_notebook(cells=built, metadata={"kernelspec": kernel})


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_lecture_is_presented(desk: Desk) -> None:
    from playwright.sync_api import expect

    expect.set_options(timeout=10_000 * PATIENCE)
    nbformat.write(a_lecture(), desk.work / "00_presented.ipynb")
    page = desk.context.new_page()
    page.set_viewport_size({"width": 1920, "height": 1080})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(desk.address("doc/tree/00_presented.ipynb", "reset&present&"))
    place, shown = page.locator("#nlm-place"), page.locator(".jp-Cell.nlm-shown")
    prose = page.locator(".jp-RenderedMarkdown")
    expect(place).to_have_text("1 / 2", timeout=60_000 * PATIENCE)
    expect(page.locator("#jp-menu-panel")).to_be_hidden()
    expect(prose.filter(has_text="Not for the room.")).to_be_hidden()
    expect(prose.filter(has_text="Ask the room.")).to_be_hidden()
    for part, least in (("details", 24), ("td", 22)):
        size = page.locator(f".nlm-shown {part}").first.evaluate("e => getComputedStyle(e).fontSize")
        assert float(size.removesuffix("px")) >= least, f"{part}: readable from the back row"

    expect(prose.locator("details[open]")).to_have_count(0)
    page.keyboard.press("d")
    expect(prose.locator("details[open]")).to_have_count(1)
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    notes = opened.value
    expect(notes.locator("body")).to_contain_text("Ask the room.")
    page.bring_to_front()

    page.keyboard.press("PageDown")  # skipped code has run by itself
    expect(shown).to_have_count(2)
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".nlm-shown .jp-OutputArea-output")).to_have_text("21", timeout=30_000 * PATIENCE)
    expect(notes.locator("#next")).to_contain_text("print")

    page.keyboard.press("PageDown")  # and code that only draws runs when it is shown
    expect(place).to_have_text("2 / 2")
    expect(page.locator(".nlm-shown .jp-OutputArea-output")).to_have_text("drawn 22", timeout=30_000 * PATIENCE)
    page.keyboard.press("x")  # in a notebook, this cuts a cell
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")
    expect(shown).to_have_count(2)
    page.keyboard.press("PageUp")
    expect(shown).to_have_count(1)
    page.keyboard.press("PageUp")
    expect(place).to_have_text("1 / 2")
    expect(shown).to_have_count(2)

    page.keyboard.press("Escape")
    expect(place).to_have_count(0)
    expect(page.locator("#jp-menu-panel")).to_be_visible()
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(7)
    assert notes.is_closed()
    page.keyboard.press("Control+Alt+P")
    expect(place).to_be_visible()
    assert not errors, errors
    page.close()
