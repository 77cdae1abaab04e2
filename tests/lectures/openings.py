"""With what a widget opens that a prediction reveals, compared with what the prediction has asked."""

import re
from collections.abc import Iterator
from typing import Any

from lectures.show import Live, Prediction


def elsewhere(asked: Prediction) -> Iterator[str]:
    """Where a revealed widget could open with the answer, or with what the question names last, and opens with
    something else."""
    for widget in _lives(asked.revealed):
        opens = {name: _shown(control) for name, control in widget.controls.items()}
        for name, control in widget.controls.items():
            values = _values(control)
            answer = asked.kind.answer if asked.kind.name == "choice" else None
            wanted = {str(answer)} if str(answer) in values else _named(asked.question, values, control, name)
            if wanted and not (wanted | {str(answer)}) & {*opens.values()}:
                yield f"{asked.question!r}: {name} opens with {opens[name]!r}, not with {' or '.join(sorted(wanted))}"


def _lives(parts: Any) -> Iterator[Live]:
    for part in parts:
        if isinstance(part, Live):
            yield part
        yield from _lives(getattr(part, "children", ()))


def _values(control: Any) -> list[str]:
    """What may be chosen, as it is written; none for a field and a slider of numbers."""
    return [str(label) for label in getattr(control, "_options_labels", ())]


def _shown(control: Any) -> str:
    return (
        str(control.label)
        if hasattr(control, "_options_labels")
        else f"{control.value:g}"
        if _is_number(control)
        else ""
    )


def _is_number(control: Any) -> bool:
    return isinstance(control.value, (int, float)) and not isinstance(control.value, bool)


def _named(question: str, values: list[str], control: Any, name: str) -> set[str]:
    """The values of this control that the question is about: the name that it says last, a quoted one before all
    others; or any of its numbers that belong to this control."""
    for said in (" ".join(re.findall(r"“([^”]*)”", question)), question):
        found = [(m.end(), len(v), v) for v in values for m in re.finditer(rf"(?<!\w){re.escape(v)}(?!\w)", said)]
        found = [place for place in found if not re.fullmatch(r"[\d.,]+|\W*[a-z]{0,3}", place[2])]
        if found:
            whole = {value for *_, value in found if value.count(" ") > 2}  # sentences may all be meant
            return whole or {max(found)[2]}
    by_number = {number: value for value in values if (number := re.sub(r"[^\d.]", "", value))}
    named = set()
    for word in {name.replace("_", "-"), *re.findall(r"[a-z]{3,}", " ".join(values))}:
        number = r"\$?(\d[\d,]*(?:\.\d+)?)\$?"
        for m in re.finditer(rf"\b{word}s? ?(?:of|=|is)? ?{number}(?![\w%])|{number}[ -]{word}s?\b", question):
            said = (m[1] or m[2]).replace(",", "")
            if said in by_number:
                named.add(by_number[said])
            elif not values and _is_number(control) and control.min <= float(said) <= control.max:
                named.add(f"{float(said):g}")
    return named
