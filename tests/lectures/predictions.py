"""What a reader of a lecture sees before the answer to a prediction, and whether that gives the answer away."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_DETAILS = re.compile(r"<details.*?</details>", re.S)
_ALT = re.compile(r'(?:alt|aria-label)="([^"]*)"')
_TAG = re.compile(r"<[^>]+>", re.S)
_NUMBER = re.compile(r"(?<![\w.,])-?\d[\d,]*(?:\.\d+)?(?![\w]|[.,]\d)")


@dataclass
class Asked:
    """A prediction as the executed notebook keeps it."""

    cell: int
    kind: str
    question: str
    options: list[str]
    answer: str


def asked_in(cells: list[Any]) -> Iterator[Asked]:
    """The predictions of an executed notebook, in order."""
    for index, cell in enumerate(cells):
        for shown in _html(cell):
            if 'class="nlm-predict"' in shown:
                told = re.search(r'<p class="nlm-answer">The answer: <b>(.*?)</b>\.', shown, re.S)
                question = re.search(r"<b>Predict\.</b>(.*?)</p>", shown, re.S)
                kind = re.search(r'data-kind="(\w+)"', shown)
                assert told is not None, shown[:300]
                assert question is not None
                assert kind is not None
                options = [
                    _words(option) for option in re.findall(r"<li>(.*?)</li>", shown.partition("<details")[0], re.S)
                ]
                yield Asked(index, kind[1], _words(question[1]), options, _words(told[1]))


def given_away(cells: list[Any], asked: Asked) -> list[str]:
    """Where the section that asks shows the answer outside of what is closed or locked.

    A number of two digits or more is looked for everywhere, unless the question itself names it. A choice is looked
    for in outputs and alternative texts before the question: they tell it if they name no other choice.
    """
    numbers = {
        number
        for number in _NUMBER.findall(asked.answer)
        if len(re.sub(r"\D", "", number).lstrip("0")) > 1 and number not in _NUMBER.findall(asked.question)
    }
    if asked.kind == "choice":  # "about 50 (47.6)": the choices may be said, the measured number not
        numbers -= {number for option in asked.options for number in _NUMBER.findall(option)}
    found = []
    for index in _section(cells, asked.cell):
        cell = cells[index]
        for text in _open_text(cell):
            found += [f"{number} in: {_around(text, number)}" for number in numbers & {*_NUMBER.findall(text)}]
        if asked.kind == "choice" and index < asked.cell:
            choice = asked.answer.partition(" (")[0]
            for text in _outputs(cell):
                named = [option for option in asked.options if re.search(rf"\b{re.escape(option)}\b", text)]
                if named == [choice] and len(choice) > 2:
                    found.append(f"{choice!r} in: {_around(text, choice)}")
    return found


def _section(cells: list[Any], at: int) -> range:
    """From the heading above to the one below, or to the next prediction: there the reader has answered this one."""

    def heads(index: int) -> bool:
        return cells[index].cell_type == "markdown" and re.match(r"#+ ", cells[index].source) is not None

    first = next(index for index in range(at, -1, -1) if heads(index))
    after = (
        i for i in range(at + 1, len(cells)) if heads(i) or any('class="nlm-predict"' in h for h in _html(cells[i]))
    )
    return range(first, next(after, len(cells)))


def _open_text(cell: Any) -> list[str]:
    """All that is read without opening or answering anything."""
    if cell.cell_type == "markdown":
        return [_words(_DETAILS.sub("", cell.source)), *_ALT.findall(_DETAILS.sub("", cell.source))]
    hidden = cell.metadata.get("jupyter", {}).get("source_hidden") or _place(cell) == "skip"
    return ([] if hidden else [cell.source]) + _outputs(cell)


def _outputs(cell: Any) -> list[str]:
    if cell.cell_type != "code" or _place(cell) == "skip":
        return []
    printed = [out.text for out in cell.outputs if out.get("name") == "stdout"]
    shown = [_DETAILS.sub("", text) for text in _html(cell) if 'class="nlm-predict"' not in text]
    return printed + [alt for text in shown for alt in _ALT.findall(text)] + [_words(text) for text in shown]


def _place(cell: Any) -> str:
    return cell.metadata.get("slideshow", {}).get("slide_type", "")


def _html(cell: Any) -> list[str]:
    outputs = cell.outputs if cell.cell_type == "code" else []
    return [out.data["text/html"] for out in outputs if "text/html" in out.get("data", {})]


def _words(text: str) -> str:
    return " ".join(html.unescape(_TAG.sub(" ", text)).split())


def _around(text: str, what: str) -> str:
    at = text.find(what)
    return " ".join(text[max(0, at - 60) : at + 60].split())
