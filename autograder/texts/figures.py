"""Figures in the prose of a lecture that nobody types: the value, and behind it, unseen, the expression that gives it.

    15<!--[[len(below)]]--> rows end below 1.838<!--[[final[VANILLA]:.3f]]-->        as in an f-string
    fifteen<!--[[words(len(below))]]--> rows                                          a count in words
    two thirds of them<!--[[? abs(share - 2 / 3) < 0.03]]--> do                       a claim, with what must hold

The names are those that the lecture's cells leave. `python -m lectures.facts` runs a lecture and renews its values; one
test asks for every lecture whether they are what its cells compute, and whether its claims hold. So a notebook is built
from the text as it stands, and JupyterLab, which reads the text itself, hides HTML comments.

`words` is the function below, even where a lecture has a variable of that name; every name has the value that the last
cell leaves.

The value comes first: Markdown takes a line that begins with a comment for HTML. It contains no space. An expression
stands in one line and contains neither `-->` nor, in a table, `|`; and a formula, `$…$`, has no figures.

Standard library only: the launcher gathers the glossary with it under a bare Python.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

MARK = re.compile(r"<!--\[\[(?P<expression>.+?)\]\]-->")
_VALUE = re.compile(r"[^\s()\[\]*_|<>~≈=“”\"':;]*$")
_BELOW_THIRTEEN = (
    *("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
)


def words(markdown: str) -> str:
    """Markdown without the expressions: what a reader sees."""
    return MARK.sub("", markdown)


def marked(markdown: str) -> Iterator[tuple[str, str]]:
    """(what stands before an expression, since the one before it; the expression), for each of them."""
    at = 0
    for found in MARK.finditer(markdown):
        yield markdown[at : found.start()], found["expression"]
        at = found.end()


def expressions(markdown: str) -> list[str]:
    return MARK.findall(markdown)


def evaluated(expression: str, names: Mapping[str, Any]) -> str:
    """What one expression says; of a claim, nothing. AssertionError if the claim does not hold."""
    known = {**names, "words": in_words}
    if expression.startswith("?"):
        if not eval(expression[1:].strip(), known):
            raise AssertionError("this does not hold")
        return ""
    text = str(eval(f"f'''{{{expression}}}'''", known))
    if not text:
        raise ValueError("this says nothing")
    return re.sub(r"(?<![\w−-])-(?=[\d.])", "−", text)


def in_words(count: int) -> str:
    """3 -> three; from thirteen on, digits."""
    return _BELOW_THIRTEEN[count] if 0 <= count < len(_BELOW_THIRTEEN) else f"{count:,}"


def renewed(markdown: str, values: Mapping[str, str]) -> str:
    """Markdown with each value that is given for its expression; capitals stay."""
    made = []
    for before, expression in marked(markdown):
        value = values.get(expression, "")
        if value and not says(before, value):
            old = _VALUE.search(before)
            capital = old is not None and old[0][:1].isupper() and value[:1].islower()
            before = _VALUE.sub("", before) + (value[:1].upper() + value[1:] if capital else value)
        made.append(f"{before}<!--[[{expression}]]-->")
    return "".join(made) + MARK.split(markdown)[-1]


def says(before: str, value: str) -> bool:
    """Whether what stands before an expression ends in its value; a word may have a capital."""
    ending = _VALUE.search(before)
    return ending is not None and value in (ending[0], ending[0][:1].lower() + ending[0][1:])
