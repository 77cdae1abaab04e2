"""A notebook that is opened again, in a real browser: its widgets' kernel is gone, and their stored HTML is shown."""

import shutil

import nbformat
import pytest

from lectures.show import live, predict, slider
from tests.lab import KERNEL, PATIENCE, Desk, expect
from tests.notebook_runner import LIVE

FRONT = ".jp-NotebookPanel:not(.lm-mod-hidden)"
TRUSTED = f"""() => {{  // asked again and again, since cells come late
    for (const panel of jupyterapp.shell.widgets('main'))
        for (const cell of panel.content?.widgets ?? []) cell.model.trusted = true;
    return document.querySelector('{FRONT} .nlm-static section.nlm-predict'); }}"""


def stored(widget) -> nbformat.NotebookNode:
    """A cell that has shown the widget, in a kernel that is gone."""
    data = {"text/html": widget._repr_mimebundle_()["text/html"]}
    data[LIVE] = {"model_id": "0" * 32, "version_major": 2, "version_minor": 0}
    return nbformat.v4.new_code_cell("…", outputs=[nbformat.v4.new_output("display_data", data)])


@pytest.mark.everything
@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.alone
def test_a_reopened_notebook_shows_what_is_stored(desk: Desk) -> None:
    asked = predict("How large is $x$?", within=0.1, answer=0.545, why="So.")
    picture = live(lambda n: f"<p>{n} words</p>", n=slider(3, 1, 10, 1, "n"))
    notebook = nbformat.v4.new_notebook(cells=[stored(asked), stored(picture)], metadata=KERNEL)
    nbformat.write(notebook, desk.work / "00_reopened.ipynb")
    with desk.notebook("00_reopened.ipynb", {"width": 1366, "height": 768}) as page:
        page.wait_for_function(TRUSTED, timeout=30_000 * PATIENCE)
        page.locator(".nlm-static", has_text="3 words").wait_for(timeout=30_000 * PATIENCE)
        expect(page.locator(".nlm-static details[open]")).to_have_count(0)
        page.locator(".nlm-static mjx-container").wait_for(timeout=30_000 * PATIENCE)
        page.locator(".nlm-static summary").click()
        expect(page.get_by_text("The answer:")).to_be_visible()
        assert "Error displaying widget" not in page.inner_text("body")
        asleep = {"path": "00_asleep.ipynb", "kernelPreference": {"shouldStart": False}}  # without a kernel
        shutil.copy(desk.work / "00_reopened.ipynb", desk.work / asleep["path"])
        page.evaluate("async file => { await jupyterapp.commands.execute('docmanager:open', file); }", asleep)
        page.wait_for_function(TRUSTED, timeout=30_000 * PATIENCE)
        expect(page.locator(f"{FRONT} .jp-KernelName")).to_have_text("No Kernel")
