"""A laptop at 150 % zoom, in a real browser: what is too wide is scrolled in its own box, and letters stay readable."""

import nbformat
import pytest

from tests.lab import KERNEL, LETTERS, NARROW, PATIENCE, Desk, at_rest, run_all_cells

LAPTOP, ZOOMED = {"width": 1366, "height": 768}, {"width": 911, "height": 512}
"""At 100 % and at 150 %, where JupyterLab's list of files takes a third."""
TABLE = f"| a | b |\n| --- | --- |\n| `{'wide' * 40}` | $x$ |"
EQUATION = f"$$ {' + '.join(f'x_{{{i}}}^2' for i in range(60))} $$"
FIGURE = '<img src="figures/logistic_neuron.svg" width="860" alt="one neuron">'
DRAWN = (
    f"# {'A long first line of folded code. ' * 6}"
    + """
from lectures import show

def draw(wide):
    canvas = show.Canvas()
    canvas.text(0, 20, "letters", 14)
    canvas.rect(0, 30, wide, 900)
    return canvas.svg("a wide one")

def draw_yours(wide):
    return draw(wide)"""
)
LIVE = "show.live(lambda f, wide: f(wide), draw, yours=draw_yours, wide=show.slider(700, 500, 2000, 100, 'wide'))"
ASKED = "show.predict('Which?', choices=['a', 'b'], answer='a', why='So.', reveals=draw(1800))"
PLAIN = "__import__('IPython').display.HTML(draw(1700))"
ENDS = ((0, "bottom"), (1, "top"))
SCROLLS = "box => getComputedStyle(box).overflowX === 'auto' && box.scrollWidth > box.clientWidth + 1"


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.alone
def test_nothing_is_cut_or_too_small_to_read(desk: Desk) -> None:
    texts = [nbformat.v4.new_markdown_cell(f"A text.\n\n{wide}") for wide in (TABLE, EQUATION, FIGURE)]
    code = [nbformat.v4.new_code_cell(source) for source in (DRAWN, LIVE, ASKED, PLAIN)]
    code[0].metadata["jupyter"] = {"source_hidden": True}
    notebook = nbformat.v4.new_notebook(cells=[*texts, *code], metadata=KERNEL)
    nbformat.write(notebook, desk.work / "00_narrow.ipynb")
    with desk.notebook("00_narrow.ipynb", LAPTOP) as page:
        run_all_cells(page)
        page.set_viewport_size(ZOOMED)
        page.evaluate("() => jupyterapp.shell.expandLeft()")
        page.locator(".nlm-predict button", has_text="show me").click(timeout=30_000 * PATIENCE)
        text, drawing = page.locator(".jp-RenderedMarkdown"), page.locator("svg[aria-label='a wide one']")
        drawing.nth(2).wait_for(timeout=30_000 * PATIENCE)
        text.locator("mjx-container[display] mjx-math").wait_for(timeout=30_000 * PATIENCE)
        page.wait_for_function("() => document.querySelector('.jp-RenderedMarkdown img[style]')")
        own_boxes = drawing.locator("xpath=ancestor::*[contains(@class, 'widget-html-content')]")
        for box in (*map(text.locator, ("table", "mjx-container[display]", "p:has(img)")), own_boxes.last):
            page.wait_for_function(SCROLLS, arg=box.element_handle(), timeout=30_000 * PATIENCE)  # in its own box
        assert at_rest(page, NARROW) == []
        assert at_rest(page, LETTERS) == []
        end, begin = (drawing.nth(i).evaluate(f"e => e.getBoundingClientRect().{side}") for i, side in ENDS)
        assert begin > end, "two that are too wide together: one below the other"
