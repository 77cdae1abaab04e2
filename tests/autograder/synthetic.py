"""A class that hands in the attention assignment, a student for each thing that a page must bear, and known answers.

The notebooks are the released ones with answers written into them; they are graded by the real engine.
"""

import re
from pathlib import Path

import nbformat
from nbformat.v4 import new_output

from autograder.question.questions import read_master
from solutions.attention.checks import EXERCISES
from tests.autograder.answers import sources
from tests.autograder.courses import Change, hand_in

SPECIAL = (
    *("perfect", "empty", "copied", "copied-renamed", "network", "closed", "hostile"),
    *("json", "exit", "tampered", "formula"),
)
COPIED = """
def attend(scores, values, mask=None):
    # subtract the top value so that nothing overflows, then forget about the forbidden ones
    hidden = np.zeros_like(scores, dtype=bool) if mask is None else np.logical_not(mask)
    shifted = np.where(hidden, np.full_like(scores, -1e30), scores)
    top = shifted.max(axis=-1, keepdims=True)
    raised = np.where(hidden, np.zeros_like(scores), np.exp(shifted - top))
    below = raised.sum(axis=-1, keepdims=True).clip(min=1e-30)
    alpha = raised / below
    together = np.einsum("...ij,...jk->...ik", alpha, values)
    return together, alpha
"""
RENAMED = re.sub(r"\b(shifted|raised|below|together|alpha)\b", r"my_\1", COPIED)
HOSTILE = (
    "<script>alert(1)</script> <img src=https://evil.example/x.png onerror=alert(2)> [click](javascript:alert(3))"
    ' <svg onload=alert(4)><a href="javascript:alert(5)">x</a></svg> <iframe src=https://evil.example></iframe>'
    " <style>body{background:url(https://evil.example/b.png)}</style> $\\text{<script>alert(6)</script>}$"
    " and a formula $\\frac{e^{s_j}}{\\sum_k e^{s_k}}$.\n\n$$\\alpha = \\operatorname{softmax}(s)$$"
)


def answers(root: Path, assignment: str = "attention") -> dict[str, str]:
    """The master's own answers: the reference."""
    master = read_master(root / f"solutions/{assignment}/{assignment}.ipynb")
    return {
        cell.metadata.nbgrader.grade_id: _unmarked(cell.source)
        for cell in master.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }


def mistaken(function: str, mistake: str) -> str:
    """An answer with a known mistake, as text."""
    return _unmarked(EXERCISES[f"attention.{function}"].mistake(mistake).__dict__["source"])


def _unmarked(source: str) -> str:
    """As a student has it: without the lines that mark a solution in the master."""
    return "\n".join(line for line in source.split("\n") if "SOLUTION" not in line)


def fill(root: Path) -> dict[str, str]:
    """Hand in for all of them. Returns what is special: student -> a word."""
    reference = answers(root)
    texts = {"perfect": reference, "empty": {}, "copied": reference | {"attend": COPIED}}
    texts["copied-renamed"] = reference | {"attend": RENAMED}
    special = {f"student{number:04d}": word for number, word in enumerate(SPECIAL)}
    for student, word in special.items():
        change = _change(student, word, texts.get(word, reference | sources("attention")))
        path = hand_in(root, "attention", student, change) / "attention.ipynb"
        if word == "json":
            whole = path.read_text(encoding="utf-8")
            path.write_text(whole[: len(whole) // 2], encoding="utf-8")
    return special


def _change(student: str, special: str, texts: dict[str, str]) -> Change:
    def change(name: str, cells: dict[str, nbformat.NotebookNode], notebook: nbformat.NotebookNode) -> None:
        for function, source in texts.items():
            cells[function].source = source
        if special != "empty":
            cost = "the cost is $O(n^2 d)$, so long texts are dear"
            cells["written"].source = f"Attention of {student} looks at all words; {cost}."
        if special == "network":
            cells["dot_score"].source += "\nimport socket\nsocket.create_connection(('192.0.2.1', 80), timeout=1)"
        if special == "closed":
            theirs = "def dot_score(query, keys):\n    return theirs(query, keys)"
            cells["dot_score"].source = f"from nlmcore.attention import dot_score as theirs\n\n\n{theirs}"
        if special == "hostile":
            cells["written"].source = HOSTILE
            shown = f"\nfrom IPython.display import HTML, display\ndisplay(HTML({HOSTILE!r}))\n"
            cells["dot_score"].source += f"{shown}# </code><script>alert(7)</script>"
            cells["dot_score"].outputs = [new_output("display_data", data={"text/html": HOSTILE})]
        if special == "exit":
            cells["decoder_mask"].source = "import os\nos._exit(3)"
        if special == "tampered":
            cells["check_attend"].source = "check = print"
            notebook.cells.remove(cells["check_dot_score"])
        if special == "formula":
            cells["written"].source = "=HYPERLINK(1)"

    return change
