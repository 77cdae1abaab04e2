"""The living model in JupyterLab: the kernel answers what is pressed, written and typed."""

import nbformat
import pytest

from lectures.widgets.living import EXPLAINED
from tests.lab import KERNEL, PATIENCE, Desk, run_all_cells

SOURCE = """\
from lectures import widgets
from lectures.trained import checkpoint

model, tokenizer, _ = checkpoint("char_gpt")
widgets.living(model, tokenizer, "ROMEO.", at="2.3", window=4, directions={0: model.output.weight[0].detach()})"""
SAYS = "words => document.querySelector('.nlm-living .says')?.textContent.includes(words)"
TOKENS = "count => document.querySelectorAll('.nlm-living .token').length === count"


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.alone
def test_the_kernel_answers_the_picture(desk: Desk) -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(SOURCE)], metadata=KERNEL)
    (desk.work / "own").mkdir(exist_ok=True)  # beside `lectures`, which a kernel in the root would import
    nbformat.write(notebook, desk.work / "own" / "00_living.ipynb")
    lecture, section = EXPLAINED["head"]
    explains = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(f"## {section}")], metadata=KERNEL)
    (desk.work / "lectures").mkdir(exist_ok=True)
    nbformat.write(explains, desk.work / "lectures" / f"{lecture}.ipynb")
    with desk.notebook("own/00_living.ipynb", {"width": 1366, "height": 768}) as page:

        def waits(what: str, arg: str | int) -> None:
            page.wait_for_function(what, arg=arg, timeout=20_000 * PATIENCE)

        run_all_cells(page)
        waits(SAYS, "Through a window of 4 tokens:")
        page.locator(".nlm-living .tokens button").first.press("Enter")
        waits(SAYS, "Through a window of 4 tokens and “R”:")
        page.get_by_label("strength").press("ArrowLeft")
        waits(SAYS, "Through a window of 4 tokens and “R”, with −0.50 times the direction after layer 0:")
        page.get_by_role("button", name="All on again").press("Enter")
        waits(SAYS, "Everything is on")
        page.locator(".nlm-living [data-part='2.3'][tabindex='0']").focus()
        page.keyboard.press("Enter")
        waits(SAYS, "Without head 2.3:")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        waits(SAYS, "Without head 2.3, head 3.3:")
        page.keyboard.press(" ")
        waits(TOKENS, len("ROMEO.") + 1)
        waits(SAYS, "Without head 2.3, head 3.3:")
        page.keyboard.press("Escape")
        waits(SAYS, "Everything is on")
        own = page.get_by_label("Your own sentence")
        own.fill("a" * 40)
        own.press("Enter")
        waits(SAYS, "this sentence has 40")
        own.fill("my lord")
        own.press("Enter")
        waits(TOKENS, len("my lord"))
        page.locator(".nlm-living .reads a").click()
        page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) h2", has_text=section).wait_for(timeout=20_000 * PATIENCE)
        assert not desk.heard
