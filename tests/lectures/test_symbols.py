"""One table of symbols for the course: formulas keep to it, or the lecture is listed there and says otherwise."""

import re
from pathlib import Path

import pytest

from autograder.texts.glossary import markdown_cells

LECTURES = Path(__file__).resolve().parents[2] / "lectures"
TABLE = (LECTURES / "SYMBOLS.md").read_text(encoding="utf-8")
ELSEWHERE = ("## Notation, words, sources", "> **What goes wrong.**")
"""How cells begin that translate other people's symbols, or that show mistakes."""


def otherwise() -> list[tuple[str, frozenset[str], str]]:
    """(lecture, the letters of its symbols, what it says) of every row of the second table."""
    rows = [
        line.strip("| ").split(" | ") for line in TABLE.split("## Otherwise")[1].splitlines() if line.startswith("|")
    ]
    return [(name, frozenset(re.findall(r"\$(\\?\w+)", symbols)), says) for name, symbols, _, says in rows[2:]]


def formulas(text: str) -> list[str]:
    """All mathematics of a lecture, except in the cells of `ELSEWHERE`."""
    cells = [cell for cell in markdown_cells(text) if not cell.startswith(ELSEWHERE)]
    return [" ".join(found.split()) for cell in cells for found in re.findall(r"\$\$?([^$]+)\$\$?", cell)]


LAWS = {
    r"\sigma": (r"\\sigma(?!'?\s*(\\big)?\()(?!\s*=\s*(0|1)\.|\$|$)", "σ stands before what it is applied to"),
    "U": (r"h_\{t-1\}\s*(\\,\s*)?(?!U)[A-Z]", "the previous state is multiplied by U"),
    "W": (r"(?<![\w\\])x_t\s*(\\,\s*)?(?!W)[A-Z]", "the input of a step is multiplied by W"),
    "V": (r"softmax\}?_?\w*\s*\(h(_t)?\s*(?!V)[A-Z]", "the state becomes scores through V"),
}
"""symbol -> a pattern that breaks its meaning, and the meaning in words."""


def faults(text: str, exempt: frozenset[str] = frozenset()) -> list[str]:
    return [
        f"{meaning}: ${formula}$"
        for symbol, (pattern, meaning) in LAWS.items()
        if symbol not in exempt
        for formula in formulas(text)
        if re.search(pattern, formula)
    ]


PAGES = sorted(LECTURES.glob("[0-9][0-9]_*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.stem[3:])
def test_a_lecture_keeps_to_the_symbols_or_says_otherwise(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    exempt = [(letters, says) for name, letters, says in otherwise() if name == page.stem[3:]]
    found = faults(text, frozenset(letter for letters, _ in exempt for letter in letters))
    assert not found, "\n".join(["lectures/SYMBOLS.md says:", *found])
    prose = " ".join(" ".join(markdown_cells(text)).split())
    for _, says in exempt:
        assert says in prose, f"SYMBOLS.md: this lecture says {says!r}"


def test_every_exception_is_a_lecture() -> None:
    assert {name for name, *_ in otherwise()} <= {path.stem[3:] for path in PAGES}


@pytest.mark.parametrize(
    "formula",
    [
        r"\rho^t \le \|W^t\| \le \sigma^t",
        r"h_t = h_{t-1} W",
        r"h_t = \tanh(x_t U + h_{t-1} U)",
        r"\hat y = \mathrm{softmax}(h W + b_2)",
    ],
)
def test_another_meaning_is_found(formula: str) -> None:
    assert faults(f"# %% [markdown]\n# So $${formula}.$$\n")


def test_the_usual_meanings_are_fine() -> None:
    text = r"$h_t = \tanh(x_t W + h_{t-1} U)$, $\sigma(1)$, $\sigma'(a)$, $\sigma = 0.73$, $\mathrm{softmax}(h_t V)$"
    assert not faults(f"# %% [markdown]\n# {text}\n")
