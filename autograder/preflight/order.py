"""Restores deleted cells, and moves every test below the answer that it checks."""

from collections.abc import Iterator, Mapping
from typing import Any

from autograder.preflight.finding import Finding, listed
from autograder.preflight.master import Master, MasterCell
from autograder.preflight.names import grade_id, new_cell

MISSING = "This answer cell was missing from the submission and was restored empty."


def put_in_order(cells: list[Any], master: Master, answers: Mapping[str, Any]) -> Iterator[Finding]:
    """Changes `cells`. answers: the cell of each code answer; missing answers are not in it."""
    missing = {own.id for own in master.cells if own.grade and own.solution and place_of(cells, own.id) is None}
    deleted = list(_put_back(cells, master))
    moved: list[str] = []
    orphans: list[str] = []
    asked_at_end: set[str] = set()
    tests = {own.id for own in master.cells if own.test}
    for number, own in enumerate(master.cells):
        here = place_of(cells, own.id)
        if not own.test or here is None:
            continue
        asks = _asks(master, number)
        gone = [other.id for other in asks if other.solution and other.type == "code" and other.id not in answers]
        places = [p for other in asks if (p := _stands(cells, other, answers)) is not None]
        if gone:
            asked_at_end.add(own.id)
            places += [p for p, cell in enumerate(cells) if cell.cell_type == "code" and grade_id(cell) not in tests]
        least = max(places, default=-1)
        if here < least:
            while least + 1 < len(cells) and grade_id(cells[least + 1]) in moved:
                least += 1  # tests that go to the same place stay in the master's order
            cells.insert(least, cells.pop(here))
            moved.append(own.id)
        orphans += gone
    if restored := [name for name in deleted if name not in missing]:
        yield Finding("repaired", "deleted-cell", f"{listed(restored)}: missing from the notebook, and restored.")
    if missing:
        words = f"{listed(sorted(missing))}: this answer was not found in the notebook. Whoever marks it is told so."
        yield Finding("note", "missing-answer", words)
    told = [name for name in moved if name not in deleted and name not in asked_at_end]
    if told:
        yield Finding("repaired", "moved-cell", f"{listed(told)}: was above the answer, and was moved below it.")
    for name in dict.fromkeys(orphans):
        words = f"The answer cell {name!r} was deleted; its test was asked at the end, of whatever the notebook defines"
        yield Finding("note", "deleted-answer", f"{words}.")


def _put_back(cells: list[Any], master: Master) -> Iterator[str]:
    """Puts each below the nearest of the cells that were above it, or at the start if there is no such cell: tests,
    tasks, fixed texts, and answers marked by hand. Not other answers, because the stub would redefine, as unwritten,
    functions that may be answered elsewhere."""
    for number, own in enumerate(master.cells):
        if (own.fixed or own.grade) and place_of(cells, own.id) is None:
            above = (place_of(cells, other.id) for other in reversed(master.cells[:number]))
            cells.insert(next((place + 1 for place in above if place is not None), 0), _again(own))
            yield own.id


def place_of(cells: list[Any], name: str) -> int | None:
    return next((number for number, cell in enumerate(cells) if grade_id(cell) == name), None)


def _again(own: MasterCell) -> Any:
    """The source notebook's cell; an answer says that it was missing, so that it does not look like an untouched one,
    which nbgrader gives zero without asking anybody."""
    source = own.source
    if own.solution:
        source = f"# {MISSING}" if own.type == "code" else f"*{MISSING}*"
    return new_cell(own.type, source, {"nbgrader": own.metadata()}, own.id[:64])


def _asks(master: Master, number: int) -> list[MasterCell]:
    """The cells that must come before a test: the answers that it checks (those since the last test below an answer),
    and fixed code before it."""
    asked: list[MasterCell] = []
    for own in reversed(master.cells[:number]):
        if own.test and asked:
            break
        if own.solution:
            asked.append(own)
    fixed = [own for own in master.cells[:number] if own.fixed and not own.test and own.type == "code"]
    return [*asked, *fixed]


def _stands(cells: list[Any], own: MasterCell, answers: Mapping[str, Any]) -> int | None:
    if own.id in answers:
        return next((number for number, cell in enumerate(cells) if cell is answers[own.id]), None)
    return None if own.solution and own.type != "code" else place_of(cells, own.id)
