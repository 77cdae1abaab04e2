"""Matches a submission's cells with those of the source notebook: foreign cells, lost names, copies, answers written
elsewhere."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nbformat import from_dict

from autograder.preflight.finding import Finding, listed, shown
from autograder.preflight.master import Master, MasterCell, defined, same_text


def grade_id(cell: Any) -> str | None:
    """The source notebook's name of a cell; None for the student's own."""
    name = cell.metadata.get("nbgrader", {}).get("grade_id")
    return name if isinstance(name, str) else None


def name_cells(cells: list[Any], master: Master) -> Iterator[Finding]:
    """Afterwards every cell of the source notebook has its name, at most once, and no other cell has one. Changes
    `cells`."""
    known = {cell.id: cell for cell in master.cells}
    yield from _strangers(cells, known)
    yield from _copies(cells, known)  # first, since a copy may be another cell that has lost its own name
    yield from _lost(cells, master)
    yield from _copies(cells, known)


def likeness(notebook: Any, master: Master) -> int:
    """How many of the source notebook's cells a notebook contains or answers."""
    named = {name for cell in notebook.cells if (name := grade_id(cell)) is not None}
    ids = {cell.id for cell in notebook.cells}
    names = frozenset[str]().union(*(defined(cell.source) for cell in notebook.cells if cell.cell_type == "code"))
    asked = {own.id: master.signature(own) if own.solution else frozenset() for own in master.cells}
    return sum(name in named or name in ids or bool(signed and signed <= names) for name, signed in asked.items())


def worked_on(notebook: Any, master: Master) -> int:
    own = {cell.id: cell for cell in master.cells if cell.solution}
    return sum(says_something(cell, own[name]) for cell in notebook.cells if (name := grade_id(cell)) in own)


def says_something(cell: Any, own: MasterCell) -> bool:
    """Whether an answer is neither empty nor the stub."""
    return bool(cell.source.strip()) and not same_text(cell.source, own.source)


def _strangers(cells: list[Any], known: Mapping[str, MasterCell]) -> Iterator[Finding]:
    """Cells that claim to be from the source notebook, but are not, become ordinary cells."""
    for cell in cells:
        about = cell.metadata.get("nbgrader")
        if about is None:
            continue
        name = about.get("grade_id")
        if isinstance(name, int | float) and not isinstance(name, bool):
            about["grade_id"] = name = str(name)  # a name of digits, written as a number by another program
        answer = isinstance(name, str) and name in known and known[name].solution
        another = answer and _is_fixed_text(cell, known.values())
        if isinstance(name, str) and name in known and not another:
            continue
        del cell.metadata["nbgrader"]
        if name is not None and not another:
            words = f"The cell {shown(name, 40)!r} does not belong to this assignment; it was run as an ordinary cell."
            yield Finding("repaired", "unknown-cell", words)


def _is_fixed_text(cell: Any, owns: Iterable[MasterCell]) -> bool:
    return any(own.fixed and own.source.strip() and own.is_original(cell.source) for own in owns)


def _lost(cells: list[Any], master: Master) -> Iterator[Finding]:
    """A fixed cell is known by its text. Cells with an answer's id are copies of it, if it is missing or empty."""
    named = {grade_id(cell): cell for cell in cells}
    found = []
    for own in master.cells:
        there = named.get(own.id)
        if there is not None and (own.fixed or says_something(there, own)):
            continue
        nameless = [cell for cell in cells if grade_id(cell) is None]
        if own.fixed:
            known = [cell for cell in nameless if _is_fixed_text(cell, [own])][:1]
        else:
            known = [cell for cell in nameless if cell.id == own.id and not _is_fixed_text(cell, master.cells)]
        for cell in known:
            cell.metadata["nbgrader"] = {"grade_id": own.id}
        if known:
            found.append(own.id)
    if found:
        words = f"nbgrader's metadata was missing or foreign in {listed(found)}; known by their ids or texts."
        yield Finding("repaired", "lost-name", words)


def _copies(cells: list[Any], known: Mapping[str, MasterCell]) -> Iterator[Finding]:
    """Of several cells with one name, one keeps it.

    For a fixed cell it is the first; for an answer, the last that is not empty. Copies of the empty stub are removed,
    because they would redefine, as unwritten, the functions answered above them. All others run as ordinary cells.
    """
    places: dict[str, list[Any]] = {}
    for cell in cells:
        if (name := grade_id(cell)) is not None:
            places.setdefault(name, []).append(cell)
    for name, copies in places.items():
        if len(copies) == 1:
            continue
        own = known[name]
        if own.fixed:
            intact = [c for c in copies if c.cell_type == own.type and own.is_original(c.source)]
            kept, empty = (intact or copies)[0], []
            how = "The first counts; the others were run as ordinary cells."
        else:
            written = [c for c in copies if says_something(c, own)]
            kept = written[-1] if written else copies[0]
            empty = [c for c in copies if c is not kept and not says_something(c, own)]
            how = "The last one that is not empty counts; the others were run as ordinary cells."
        for cell in copies:
            if cell is not kept:
                del cell.metadata["nbgrader"]
        remove(cells, empty)
        yield Finding("repaired", "copied-cell", f"The cell {name!r} is there {len(copies)} times. {how}")


def find_written(cells: list[Any], master: Master) -> Iterator[Finding]:
    """A written answer that has lost its name is known by its place: between two cells of the source notebook there are
    as many Markdown cells of unknown text as answers are missing there. Changes `cells`."""
    places = {name: number for number, cell in enumerate(cells) if (name := grade_id(cell)) is not None}
    gaps: dict[tuple[int, int], list[str]] = {}
    for number, own in enumerate(master.cells):
        if own.solution and own.type == "markdown" and own.id not in places:
            before = (places[other.id] for other in reversed(master.cells[:number]) if other.id in places)
            after = (places[other.id] for other in master.cells[number + 1 :] if other.id in places)
            gaps.setdefault((next(before, -1), next(after, len(cells))), []).append(own.id)
    found = []
    for (above, below), lost in gaps.items():
        free = [cell for cell in cells[above + 1 : below] if cell.cell_type == "markdown" and grade_id(cell) is None]
        unknown = [cell for cell in free if cell.source.strip() and not master.is_prose(cell.source)]
        if len(unknown) == len(lost):
            for cell, name in zip(unknown, lost, strict=True):
                cell.metadata["nbgrader"] = {"grade_id": name}
            found += lost
    if found:
        words = f"nbgrader's metadata was missing in {listed(found)}; known by the cells around it."
        yield Finding("repaired", "lost-answer", words)


def remove(cells: list[Any], which: list[Any]) -> None:
    """Remove exactly these cells, not others that are equal."""
    out = {id(cell) for cell in which}
    cells[:] = [cell for cell in cells if id(cell) not in out]


def find_answers(cells: list[Any], master: Master) -> tuple[dict[str, Any], list[Finding]]:
    """(the cell of each code answer, by its name; findings). Changes `cells`.

    An answer may be in a different cell, if the one of that name was deleted or left empty and a cell that defines the
    same functions was added. Then the last cell that defines them is the answer. Names that several of the source
    notebook's cells define are ignored. A missing answer is not in the result.
    """
    known = {cell.id: cell for cell in master.cells}
    named = {name: cell for cell in cells if (name := grade_id(cell)) is not None}
    answers, found = {}, []
    for own in master.cells:
        if not own.solution or own.type != "code":
            continue
        if (cell := named.get(own.id)) is not None:
            answers[own.id] = cell
            if says_something(cell, own):
                continue
        asked = master.signature(own)
        fixed = {name for name, one in known.items() if one.fixed}
        free = [c for c in cells if c is not cell and c.cell_type == "code" and grade_id(c) not in fixed]
        others = [c for c in free if asked and asked <= defined(c.source)]
        others = [c for c in others if says_something(c, own)] or (others if cell is None else [])
        if not others:
            continue
        answers[own.id] = others[-1]
        if cell is not None:
            remove(cells, [cell])
        if grade_id(others[-1]) is None:
            others[-1].metadata["nbgrader"] = {"grade_id": own.id}
        words = f"The answer cell {own.id!r} is empty or missing; {listed(sorted(asked))} was taken from another cell."
        found.append(Finding("repaired", "answer-elsewhere", words))
    return answers, found


def new_cell(kind: str, source: str, metadata: dict[str, Any], name: str) -> Any:
    made = {"id": name, "cell_type": kind, "metadata": metadata, "source": source}
    return from_dict(made | ({"outputs": [], "execution_count": None} if kind == "code" else {}))
