"""The start page in JupyterLab: the lectures by parts, and back to where the reader was."""

from typing import Any

import nbformat
import pytest

from tests.lab import KERNEL, PATIENCE, Desk, expect

LIST = """\
# Lectures

## Part one: words

| lecture | |
|---|---|
| 1 | [First](81_first.py): counting |

## Part two: more

| lecture | |
|---|---|
| 2 | [Second](82_second.py): reading |
"""
TEXT = '# %% [markdown]\n# # A lecture\n# <img src="figures/a.svg">\n#\n# | minutes | 20 | 30 |\n'
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"></svg>'
ASSIGNMENTS = "| `ngrams` | [1](../lectures/81_first.py) | six functions | 3½ hours |\n"


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.alone
def test_the_start_page_leads_back_to_where_the_reader_was(desk: Desk) -> None:
    cells = [nbformat.v4.new_markdown_cell(f"cell {i}") for i in range(11)]
    files = {"lectures/README.md": LIST, "exercises/README.md": ASSIGNMENTS, "lectures/figures/a.svg": SVG}
    files |= {f"lectures/{name}.py": TEXT for name in ("81_first", "82_second")}
    for name, content in files.items():
        (desk.work / name).parent.mkdir(parents=True, exist_ok=True)
        (desk.work / name).write_text(content)
    for name in ("81_first", "82_second"):
        nbformat.write(
            nbformat.v4.new_notebook(cells=cells, metadata=KERNEL),
            desk.work / "lectures" / f"{name}.ipynb",
        )
    page = desk.context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    late: list[Any] = []  # the lecture that the address names opens when the reader has long chosen another one
    page.route("**/api/contents/lectures/81_first.ipynb?**", lambda route: late.append(route))
    try:
        page.goto(desk.address("lab/tree/lectures/81_first.ipynb", "welcome&"))
        start = page.get_by_role("tabpanel", name="Start")
        start.get_by_role("link", name="Start with").wait_for(timeout=60_000 * PATIENCE)
        expect(start.get_by_role("heading", level=2)).to_have_text(["Part one: words", "Part two: more", "Assignments"])
        start.get_by_text("Counting. 50 minutes in class.").wait_for(timeout=20_000 * PATIENCE)
        expect(start.get_by_role("cell", name="3½ hours")).to_be_visible()

        start.get_by_role("link", name="2. Second").click()
        page.wait_for_function(
            "() => jupyterapp.shell.currentWidget?.context?.path === 'lectures/82_second.ipynb'"
            " && jupyterapp.shell.currentWidget.content.nlmRead"
            " && jupyterapp.shell.currentWidget.content.widgets.length > 10",  # before, the places below are not there
            timeout=60_000 * PATIENCE,
        )
        for route in late:
            route.continue_()
        page.unroute("**/api/contents/lectures/81_first.ipynb?**")
        page.wait_for_function("() => [...jupyterapp.shell.widgets('main')].length === 3", timeout=60_000 * PATIENCE)
        expect(start).not_to_be_visible()
        expect(page.get_by_role("tabpanel", name="82_second.ipynb")).to_be_visible()

        page.evaluate("() => { for (const at of [5, 2]) jupyterapp.shell.currentWidget.content.activeCellIndex = at; }")
        page.evaluate("() => jupyterapp.commands.execute('nlm-slides:welcome')")
        start.get_by_role("link", name="Continue: Second, 50 % read").click()
        page.wait_for_function(
            "() => jupyterapp.shell.currentWidget?.content?.activeCellIndex === 2", timeout=20_000 * PATIENCE
        )
        assert not faults
    finally:
        page.close()
