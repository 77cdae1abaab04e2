"""A class that hands in the attention assignment: right in several styles, wrong as students are, and hostile.

The notebooks are the released ones with answers written into them; they are graded by the real engine.
"""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat.v4 import new_output

from autograder.question.questions import read_master
from solutions.attention.checks import EXERCISES
from tests.autograder.answers import sources

NAMES = [exercise.function for exercise in EXERCISES.values()]
SOFTMAX = (
    "    e = np.exp(scores - scores.max(axis=-1, keepdims=True))\n    weights = e / e.sum(axis=-1, keepdims=True)\n"
)
WRONG = {
    "dot_score": [
        "def dot_score(query, keys):\n    return query * keys",
        "def dot_score(query, keys):\n    return keys @ keys.T @ query",
    ],
    "bilinear_score": [
        "def bilinear_score(query, keys, W):\n    return keys @ W @ query",
        "def bilinear_score(query, keys, W):\n    return (query @ W.T) @ keys.T",
    ],
    "additive_score": [
        "def additive_score(query, keys, W_query, W_key, v):\n    return (W_query @ query + keys @ W_key.T) @ v",
        "def additive_score(query, keys, W_query, W_key, v):\n"
        "    return torch.tanh(W_query @ query + keys @ W_key.T).sum(-1)",
    ],
    "attend": [
        f"def attend(scores, values, mask=None):\n{SOFTMAX}    if mask is not None:\n        weights = weights * mask\n"
        "    return weights @ values, weights",
        "def attend(scores, values, mask=None):\n    e = np.exp(scores)\n"
        "    weights = e / e.sum(axis=-2, keepdims=True)\n    return weights @ values, weights",
    ],
    "scaled_dot_product_attention": [
        "def scaled_dot_product_attention(q, k, v, mask=None):\n    return attend(q @ np.swapaxes(k, -1, -2), v, mask)",
        "def scaled_dot_product_attention(q, k, v, mask=None):\n"
        "    return attend(q @ np.swapaxes(k, -1, -2) / q.shape[-1], v, mask)",
    ],
    "decoder_mask": [
        "def decoder_mask(lengths, time):\n    return undefined_name",
        "def decoder_mask(lengths, time):\n    t = torch.arange(time)\n    causal = t[None, :] < t[:, None]\n"
        "    return (causal[None] & (t[None, None, :] < lengths[:, None, None]))[:, None]",
    ],
}
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
HOSTILE = (
    "<script>alert(1)</script> <img src=https://evil.example/x.png onerror=alert(2)> [click](javascript:alert(3))"
    ' <svg onload=alert(4)><a href="javascript:alert(5)">x</a></svg> <iframe src=https://evil.example></iframe>'
    " <style>body{background:url(https://evil.example/b.png)}</style> $\\text{<script>alert(6)</script>}$"
    " and a formula $\\frac{e^{s_j}}{\\sum_k e^{s_k}}$.\n\n$$\\alpha = \\operatorname{softmax}(s)$$"
)


def answers(root: Path) -> dict[str, str]:
    """The master's own answers: the reference."""
    master = read_master(root / "solutions/attention/attention.ipynb")
    return {
        cell.metadata.nbgrader.grade_id: "\n".join(line for line in cell.source.split("\n") if "SOLUTION" not in line)
        for cell in master.cells
        if cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "code"
    }


def styled(name: str, source: str, style: random.Random) -> str:
    """The same function in another hand: other names, other spaces, a comment."""
    renamed = {
        "weights": style.choice(["weights", "alpha", "w", "attn"]),
        "largest": style.choice(["largest", "m", "mx"]),
    }
    for old, new in renamed.items():
        source = re.sub(rf"\b{old}\b", new, source)
    return re.sub(r'    """.*?"""\n', "", source, flags=re.S)


def fill(root: Path, count: int, seed: int = 0) -> dict[str, str]:
    """Hand in for `count` students. Returns what is special about some: student -> a word."""
    chance = random.Random(seed)
    reference = answers(root)
    second = sources("attention")
    special = dict(zip((f"student{n:04d}" for n in range(count)), _special(), strict=False))
    for number in range(count):
        student = f"student{number:04d}"
        skill = chance.random()
        chosen = {}
        for name in NAMES:
            wrong = WRONG.get(name, [])
            if wrong and chance.random() > 0.45 + 0.5 * skill:
                chosen[name] = chance.choice(wrong)
            elif chance.random() < 0.1 * (1 - skill):
                chosen[name] = ""
            else:
                written = second[name] if chance.random() < 0.3 else reference[name]
                chosen[name] = styled(name, written, chance)
        _hand_in(root, student, chosen, special.get(student, ""), reference)
    return special


def _special() -> Iterator[str]:
    yield from (
        "perfect",
        "empty",
        "copied",
        "copied-renamed",
        "reference",
        "network",
        "closed",
        "hostile",
        "json",
        "exit",
    )
    yield from ("tampered", "formula")


def _hand_in(root: Path, student: str, chosen: dict[str, str], special: str, reference: dict[str, str]) -> None:
    notebook = nbformat.read(root / "exercises/attention/attention.ipynb", as_version=4)
    cells = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
    if special in ("perfect", "reference"):
        chosen = dict(reference)
    if special == "empty":
        chosen = {}
    if special.startswith("copied"):
        chosen = {**reference, "attend": COPIED}
        if special == "copied-renamed":
            chosen["attend"] = re.sub(r"\b(shifted|raised|below|together|alpha)\b", r"my_\1", COPIED)
    for name, source in chosen.items():
        if source:
            cells[name].source = source
    if special != "empty":
        cells[
            "written"
        ].source = f"Attention of {student} looks at all words; the cost is $O(n^2 d)$, so long texts are dear."
    if special == "network":
        cells["dot_score"].source += "\nimport socket\nsocket.create_connection(('192.0.2.1', 80), timeout=1)"
    if special == "closed":
        cells["dot_score"].source = (
            "from nlmcore.attention import dot_score as theirs\n\n\n"
            "def dot_score(query, keys):\n    return theirs(query, keys)"
        )
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
    folder = root / "submitted" / student / "attention"
    folder.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, folder / "attention.ipynb")
    if special == "json":
        whole = json.dumps(notebook)
        (folder / "attention.ipynb").write_text(whole[: len(whole) // 2], encoding="utf-8")
    (folder / "timestamp.txt").write_text("2025-11-21 12:00:00 UTC", encoding="utf-8")
