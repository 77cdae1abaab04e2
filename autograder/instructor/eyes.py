"""Submissions that a person should look at, and why. Nothing here changes a mark."""

from collections.abc import Iterable
from dataclasses import dataclass

from autograder.engine.record import Record

CHANGED = ("cell", "test", "kind", "type", "order")
"""Findings of these words are about the notebook's own cells: deleted, edited, retyped, moved, given twice."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """One reason to look at one submission."""

    student: str
    kind: str
    words: str


KINDS = {
    "fault": "The grader failed: no mark, and not the student's fault",
    "blocked": "Could not be graded as handed in: no mark",
    "stopped": "Had to be stopped",
    "refused": "Tried something that the box refuses",
    "closed": "Used a name that is closed in the question",
    "changed": "Cells of the notebook were changed, and put back",
}
"""In the order in which they are said."""


def to_look_at(found: Iterable[Record]) -> list[Look]:
    """Every reason once, by kind and student."""
    made: dict[tuple[str, str, str], Look] = {}
    for record in found:
        for kind, words in _reasons(record):
            made.setdefault((record.student, kind, words), Look(student=record.student, kind=kind, words=words))
    order = list(KINDS)
    return sorted(made.values(), key=lambda look: (order.index(look.kind), look.student))


def _reasons(record: Record) -> Iterable[tuple[str, str]]:
    if record.state in ("fault", "blocked"):
        yield record.state, record.words
    stopped = {mark["cell"]: mark["stopped"] for mark in record.marks if mark.get("stopped")}
    for cell, words in stopped.items():
        yield "stopped", f"{cell}: {words}"
    closed = {mark["cell"]: mark["verdict"].get("closed", []) for mark in record.marks}
    for cell, names in closed.items():
        if names:
            yield "closed", f"{cell}: {', '.join(names)}"
    for words in record.incidents:
        if any(text in words for text in stopped.values()) or "which is closed" in words:
            continue  # said above
        yield "refused", words
    for finding in record.findings:
        parts = str(finding.get("what", "")).split("-")
        if finding.get("kind") == "repaired" and any(word in parts or f"{word}s" in parts for word in CHANGED):
            yield "changed", str(finding.get("words", ""))


def uncontained(found: Iterable[Record]) -> list[str]:
    """Students whose code ran without a wall around it."""
    return [record.student for record in found if record.isolation == "none"]
