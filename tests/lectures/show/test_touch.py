"""Pictures that answer the pointer and the keyboard, in a real browser."""

import nbformat
import pytest

from tests.lab import KERNEL, Desk, expect, run_all_cells

LINE = """
import numpy as np
from lectures.show import decision_svg, live, slider

def line(w1, w2, b):
    return decision_svg(np.zeros((3, 3)), [[0, 0]], [0], low=-1, high=2, alt="a line", line=(w1, w2, b), drag=True)

live(line, w1=slider(1.0, -2, 2, 0.1, "w1"), w2=slider(0.0, -2, 2, 0.1, "w2"), b=slider(-0.5, -2, 2, 0.1, "b"))
"""
CIRCUIT = """
from lectures import widgets
from nlmcore.autodiff import Value

product = Value(2.0, label="x") * 3.0
product.backward()
graph = product.graph()
widgets.circuit_player(graph.nodes, graph.edges)
"""

QUARTER = """line => { const { left, top, width, height } = line.getBoundingClientRect();
    return [left + width / 2, top + height / 4]; }"""
"""Not the middle of the line: there the arrow begins."""


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.alone
def test_a_line_is_dragged_and_a_node_is_pressed(desk: Desk) -> None:
    cells = [nbformat.v4.new_code_cell(source.strip()) for source in (LINE, CIRCUIT)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL), desk.work / "00_touched.ipynb")
    with desk.notebook("00_touched.ipynb", {"width": 1366, "height": 1600}) as page:
        run_all_cells(page)

        def reads(name: str) -> float:
            return float(page.locator(f".nlm-control-{name} .widget-readout").inner_text().replace("−", "-"))

        def drag(part: str, across: float, down: float) -> None:
            x, y = page.locator(f"[data-drag={part}]").last.evaluate(QUARTER)
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + across / 2, y + down / 2)
            page.mouse.move(x + across, y + down)  # too soon after the other to be drawn, before the release
            page.mouse.up()

        page.locator("[data-drag=line]").wait_for(state="attached")
        unit = page.locator(".nlm-live rect").first.evaluate("e => e.ownerSVGElement.getScreenCTM().a") * 380 / 3
        line = page.locator("[data-drag=line]")
        was = line.get_attribute("x1")
        drag("line", unit, 0)  # from x = 0.5 to x = 1.5
        expect(page.locator(".nlm-control-b .widget-readout")).to_have_text("−1.50")
        expect(line).not_to_have_attribute("x1", was)  # the picture follows the sliders
        middle = "+document.querySelector('svg[data-line]').dataset.line.split(' ')[2]"
        page.wait_for_function(f"() => {middle} === 1.5")  # the picture of the last move
        assert reads("w1") == 1.0, "the line keeps its direction"
        drag("arrow", 0, -3 * unit)
        expect(page.locator(".nlm-control-w1 .widget-readout")).not_to_have_text("1.00")
        assert abs(reads("w2")) > abs(reads("w1")), "the arrow points up now"
        handle = page.locator(".nlm-control-w2 .noUi-handle")  # the same by keyboard
        before = reads("w2")
        handle.press("ArrowLeft")
        expect(page.locator(".nlm-control-w2 .widget-readout")).to_have_text(f"{before - 0.1:.2f}".replace("-", "−"))

        nodes, step = page.locator("[data-sets]"), page.locator(".nlm-control-step .widget-readout")
        nodes.nth(1).click()
        expect(step).to_have_text("2")  # the value of the second node
        expect(nodes.nth(1)).to_have_attribute("data-sets", "step=3")
        nodes.nth(1).press("Enter")
        expect(step).to_have_text("3")  # its gradient
        expect(nodes.nth(1)).to_have_attribute("data-sets", "step=2")
        expect(nodes.nth(1)).to_be_focused()
        page.keyboard.press(" ")
        expect(step).to_have_text("2")
    assert not desk.heard
