"""The presenter view: every cell of a lecture has its place in it, and in a real browser it does what it says."""

import json
import re
from collections.abc import Sequence
from pathlib import Path

import nbformat
import pytest

from autograder.texts import text
from tests.lab import CRAMPED, KERNEL, PATIENCE, TOO_WIDE, Desk, at_rest, expect
from tests.lectures.conftest import ROOT

EXTENSION = ROOT / "autograder" / "present" / "labextensions" / "nlm-slides"
TYPES = {"slide", "subslide", "fragment", "skip", "notes"}


def test_every_cell_of_a_lecture_has_its_place(lecture: Path) -> None:
    cells = text.from_text(lecture.read_text(encoding="utf-8"), ROOT).cells
    places = [cell.metadata.get("slideshow", {}).get("slide_type") for cell in cells]
    for cell, place in zip(cells, places, strict=True):
        assert place in TYPES, f"slide_type {place!r}, one of {sorted(TYPES)} is needed:\n{cell.source[:300]}"
        assert place != "notes" or cell.cell_type == "markdown", f"notes are words:\n{cell.source[:300]}"
    assert places[0] == "slide"
    assert places.count("slide") >= 4, "each section begins a slide"


def test_a_lecture_says_nothing_to_students_about_presenting(lecture: Path) -> None:
    for cell in text.from_text(lecture.read_text(encoding="utf-8"), ROOT).cells:
        notes = cell.metadata.get("slideshow", {}).get("slide_type") == "notes"
        assert notes or "make present" not in " ".join(cell.source.split()), cell.source[:300]


def test_no_long_code_is_in_view_that_is_not_the_lesson(lecture: Path) -> None:
    for cell in text.from_text(lecture.read_text(encoding="utf-8"), ROOT).cells:
        hidden = cell.metadata.get("jupyter", {}).get("source_hidden") or "lesson" in cell.metadata.get("tags", [])
        if cell.cell_type == "code" and not hidden:
            advice = 'fold a helper with jupyter={"source_hidden": true}, and tag the lesson itself tags=["lesson"]'
            assert len(cell.source.split("\n")) <= 15, f"{advice}:\n{cell.source[:300]}"


def test_jupyterlab_is_told_where_the_extension_is() -> None:
    package = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
    build = package["jupyterlab"]["_build"]
    assert (EXTENSION / build["load"]).exists()
    assert f"_JUPYTERLAB['{package['name']}'] =" in (EXTENSION / build["load"]).read_text(encoding="utf-8")


def sections_without_notes(cells: list[nbformat.NotebookNode]) -> list[str]:
    noted: dict[str, bool] = {}
    for cell in cells:
        if cell.metadata.get("slideshow", {}).get("slide_type") == "notes":
            noted |= {title: True for title in list(noted)[-1:]}
        elif cell.cell_type == "markdown":
            noted |= dict.fromkeys(re.findall(r"^## (.*)$", cell.source, re.MULTILINE), False)
    return [title for title, has in noted.items() if not has]


def test_every_section_has_notes_for_the_lecturer(lecture: Path) -> None:
    lacking = sections_without_notes(text.from_text(lecture.read_text(encoding="utf-8"), ROOT).cells)
    assert not lacking, f"no cell of slide_type notes (what to ask, what goes wrong, how long) in {lacking}"


def test_a_section_without_a_note_is_found() -> None:
    note = nbformat.v4.new_markdown_cell("Ask.", metadata={"slideshow": {"slide_type": "notes"}})
    sections = [nbformat.v4.new_markdown_cell(f"## {title}") for title in ("One", "Two", "Three")]
    assert sections_without_notes([sections[0], note, sections[1], sections[2], note]) == ["Two"]


PICTURE = """<svg xmlns="http://www.w3.org/2000/svg" width="760" height="900" aria-label="a tall one"></svg>"""
IN_VIEW = """async () => {
  const widget = document.querySelector('.nlm-live'), picture = [...widget.querySelectorAll('svg')].pop();
  picture.scrollIntoView({ block: 'end' });
  await new Promise(done => setTimeout(done, 500));
  const view = document.querySelector('.jp-WindowedPanel-outer').getBoundingClientRect();
  const handle = widget.querySelector('.noUi-handle').getBoundingClientRect();
  return { handle: handle.top - view.top, picture: picture.getBoundingClientRect().height, height: view.height,
           filter: getComputedStyle(picture).filter };
}"""
LONG = "\n\n".join(f"Paragraph {n} of a text that is longer than any screen. {'It goes on. ' * 20}" for n in range(14))
QUIET = "| n |\n| --- |\n| 42 |\n\n" + "\n\n".join(f"Line {n}." for n in range(4))


def notebook_of(cells: Sequence[tuple[str, str, str]]) -> nbformat.NotebookNode:
    """Its cells: (type, slide type, source)."""
    make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
    built = [make[kind](source, metadata={"slideshow": {"slide_type": place}}) for kind, place, source in cells]
    return nbformat.v4.new_notebook(cells=built, metadata=KERNEL)


def a_lecture() -> nbformat.NotebookNode:
    quiet = ("code", "fragment", "for n in range(2):\n    z = n")  # hidden, and without an output: no screen
    cells = [
        ("markdown", "slide", f"# First\n\n<details><summary>Answer</summary>Forty-two</details>\n\n{QUIET}"),
        ("markdown", "notes", "Ask the **room** for $x^2$."),
        ("code", "skip", "from IPython.display import HTML\nx = 20"),
        ("markdown", "skip", "Not for the room."),
        ("code", "fragment", "y = x + 1\ny"),
        ("code", "slide", f"HTML({PICTURE!r})"),
        quiet,
        ("markdown", "fragment", "The last of the pictures."),
        ("markdown", "slide", f"## Long\n\n{LONG}"),
        (
            "code",
            "slide",
            f"from lectures import show\nshow.live(lambda n: {PICTURE * 2!r}, n=show.slider(3, 1, 9, 1, 'n'))",
        ),
        quiet,
    ]
    built = notebook_of(cells)
    for cell in built.cells:
        if cell.source == quiet[2]:
            cell.metadata["jupyter"] = {"source_hidden": True}
    return built


ASKED = """show.predict('How tall?', choices=['tall', 'short'], answer='tall', why='See: ' + 20 * 'It is tall. ',
             reveals=[PICTURE, widget])"""


def a_question() -> nbformat.NotebookNode:
    """Saved by an earlier kernel: all its cells have a number, and the output of the last one is from then."""
    widget = "show.live(lambda n: PICTURE, n=show.slider(3, 1, 9, 1, 'n'))"
    cells = [
        ("markdown", "slide", "# First"),
        ("code", "skip", f"from lectures import show\nPICTURE = {PICTURE!r}\nwidget = {widget}"),
        ("markdown", "fragment", " ".join(["Before the question."] * 20)),
        ("code", "fragment", ASKED),
        ("markdown", "fragment", "<details><summary>What to notice</summary>It was tall.</details>"),
        ("markdown", "slide", "## Second"),
        ("code", "fragment", "print(*range(400), sep='\\n')\nraise ValueError('this is wrong')"),
    ]
    built = notebook_of(cells)
    built.cells[3].metadata["jupyter"] = {"source_hidden": True}
    for count, cell in enumerate((cell for cell in built.cells if cell.cell_type == "code"), start=1):
        cell.execution_count = count
    built.cells[3].outputs = [nbformat.v4.new_output("stream", name="stdout", text="from yesterday")]
    return built


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.alone
def test_a_clicker_asks_and_answers(desk: Desk) -> None:
    nbformat.write(a_question(), desk.work / "00_asked.ipynb")
    with desk.notebook("00_asked.ipynb", {"width": 1920, "height": 1080}) as page:
        page.evaluate("() => jupyterapp.shell.expandLeft()")
        page.locator("[data-status=idle]").first.wait_for(timeout=60_000 * PATIENCE)
        page.keyboard.press("Control+Alt+P")
        page.locator(".nlm-shown p", has_text="Before the question.").wait_for(timeout=30_000 * PATIENCE)
        page.keyboard.press("PageDown")
        question = page.locator(".nlm-shown .nlm-predict")
        expect(question).to_be_visible(timeout=30_000 * PATIENCE)  # what a kernel of yesterday has run runs again
        expect(page.get_by_text("from yesterday")).to_have_count(0)
        expect(page.locator(".nlm-shown summary")).to_be_in_viewport()
        expect(question.get_by_text("show me")).to_be_visible()
        page.keyboard.press("PageDown")
        for part in (
            question.get_by_text("How tall?"),
            question.get_by_text("The answer:"),
            question.locator("svg").first,
        ):
            expect(part).to_be_in_viewport(ratio=1)
        expect(question.get_by_text("show me")).to_be_hidden()
        assert "0 of" not in question.inner_text(), "nobody has guessed"
        assert at_rest(page, CRAMPED) == []
        heading, place, folded = page.locator(".nlm-shown h2"), page.locator("#nlm-place"), []
        for _ in range(3):  # what else it reveals, and what was folded
            folded.append(page.locator("details", has_text="It was tall.").is_visible())
            if heading.is_visible():
                break
            part = place.get_attribute("data-part")
            page.keyboard.press("PageDown")
            expect(place).not_to_have_attribute("data-part", part)
        expect(heading).to_be_visible()
        assert any(folded), "what was folded has been seen"
        page.keyboard.press("Shift+Enter")
        expect(page.get_by_text("ValueError: this is wrong")).to_be_in_viewport(timeout=30_000 * PATIENCE)
        page.keyboard.press("Escape")
        expect(page.locator(".jp-DirListing").first).to_be_visible()


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.alone
def test_a_lecture_is_presented(desk: Desk) -> None:
    nbformat.write(a_lecture(), desk.work / "00_presented.ipynb")
    page = desk.context.new_page()
    page.set_viewport_size({"width": 1920, "height": 1080})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(desk.address("doc/tree/00_presented.ipynb", "reset&present&"))
    place, shown, title = page.locator("#nlm-place"), page.locator(".jp-Cell.nlm-shown"), page.locator("#nlm-title")
    prose = page.locator(".jp-RenderedMarkdown")

    def look() -> None:
        assert at_rest(page, CRAMPED) == []
        assert at_rest(page, TOO_WIDE) == []

    expect(place).to_have_text("1 / 4", timeout=60_000 * PATIENCE)
    expect(page.locator("#jp-menu-panel")).to_be_hidden()
    expect(prose.filter(has_text="Not for the room.")).to_be_hidden()
    expect(prose.filter(has_text="Ask the room")).to_be_hidden()
    expect(title).to_be_empty()
    look()

    expect(prose.locator("details[open]")).to_have_count(0)
    page.keyboard.press("d")
    expect(prose.locator("details[open]")).to_have_count(1)
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    notes = opened.value
    expect(notes.locator("#notes")).to_contain_text("Ask the room")
    expect(notes.locator("#notes mjx-container")).to_have_count(1)
    letter = "e => getComputedStyle(e.querySelector('mjx-c'), '::before').content"
    assert notes.locator("#notes mjx-container").evaluate(letter) not in ("none", "normal", ""), "mathematics is set"
    page.bring_to_front()

    page.keyboard.press("PageDown")  # skipped code has run by itself
    expect(shown).to_have_count(2)
    page.keyboard.press("Shift+Enter")
    expect(page.locator(".nlm-shown .jp-OutputArea-output")).to_have_text("21", timeout=30_000 * PATIENCE)
    look()

    page.keyboard.press("PageDown")  # what only draws runs by itself, its code is not projected, its picture fits
    expect(place).to_have_text("2 / 4")
    expect(title).to_have_text("First")
    picture, code = page.locator(".nlm-shown svg[aria-label]"), page.locator(".nlm-shown .cm-line")
    expect(picture).to_be_visible(timeout=30_000 * PATIENCE)
    expect(code.first).to_be_hidden()
    look()
    page.keyboard.press("c")
    expect(code.first).to_be_visible()
    look()
    page.keyboard.press("c")
    page.keyboard.press("x")  # in a notebook, this cuts a cell
    page.keyboard.press("PageDown")
    expect(prose.filter(has_text="The last of the pictures.")).to_be_visible()
    expect(picture).to_be_visible()
    look()

    read: set[str] = set()  # a long text is cut into pages, of which none scrolls
    for _ in range(40):
        if place.inner_text() == "4 / 4":
            break
        part = place.get_attribute("data-part")
        page.keyboard.press("PageDown")
        expect(place).not_to_have_attribute("data-part", part)
        read |= set(re.findall(r"Paragraph \d+", " ".join(page.locator(".nlm-shown").all_inner_texts())))
        look()
        if place.get_attribute("data-part") == "5.2":
            expect(title).to_have_text("Long")
    expect(place).to_have_text("4 / 4")
    assert len(read) == 14
    expect(page.locator(".nlm-shown .nlm-live svg")).to_have_count(2, timeout=30_000 * PATIENCE)
    look()
    page.keyboard.press("PageDown")  # there is nothing more: the screen stays
    expect(page.locator(".nlm-running")).to_have_count(0)
    expect(place).to_have_attribute("data-running", "0")
    expect(page.locator(".nlm-shown .nlm-live svg")).to_have_count(2)
    expect(place).to_have_attribute("data-whole", "true")

    page.keyboard.press("o")
    cards = page.get_by_role("option")
    expect(cards).to_have_text([re.compile(title) for title in ("1 · First", "2 · First", "3 · Long", "4 · Long")])
    expect(cards.nth(1).locator("svg")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    expect(place).to_have_text("2 / 4")
    page.keyboard.press("PageUp")
    expect(place).to_have_text("1 / 4")

    page.evaluate("() => { window.print = () => {}; }")
    page.keyboard.press("p")
    handout = page.locator("#nlm-handout")
    expect(handout).to_contain_text("Number 1 · First")
    assert handout.inner_text().index("Paragraph 13") < handout.inner_text().index("Forty-two")
    assert len(re.findall(rb"/Type /Page\b", page.pdf())) >= 3
    page.evaluate("() => window.dispatchEvent(new Event('afterprint'))")
    expect(handout).to_have_count(0)

    page.keyboard.press("Escape")
    expect(place).to_have_count(0)
    expect(page.locator("#jp-menu-panel")).to_be_visible()
    expect(page.locator(".jp-Notebook .jp-Cell")).to_have_count(11)
    assert notes.is_closed()
    note = page.locator(".jp-Cell.nlm-note")  # not for the reader of a notebook, unless it is asked for
    expect(note).to_be_hidden()
    page.evaluate("() => jupyterapp.commands.execute('nlm-slides:notes')")
    expect(note).to_be_visible()
    page.set_viewport_size({"width": 1366, "height": 768})
    page.evaluate("() => jupyterapp.commands.execute('apputils:change-theme', { theme: 'JupyterLab Dark' })")
    seen = page.evaluate(IN_VIEW)  # a control and what it changes share the screen, and nothing in it is white
    assert seen["handle"] > 0, "the control is in view at the end of its picture"
    assert seen["picture"] <= seen["height"]
    assert "invert" in seen["filter"]
    page.keyboard.press("Control+Alt+P")
    expect(place).to_be_visible()
    assert not errors, errors
    page.close()
