"""Which file is which notebook of the assignment: by its name, and by what is in it.

A file of the right name counts. It does not count against another that has answers, when it has none itself (the
released notebook beside `attention (1).ipynb`), nor where it is no copy of the assignment at all.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.preflight.finding import Finding, Prepared, left_behind, listed, shown
from autograder.preflight.master import Master
from autograder.preflight.names import likeness, worked_on
from autograder.preflight.read import Unreadable, read_notebook
from autograder.preflight.repair import repair

MOST_NOTEBOOKS = 20
ENDINGS = (".ipynb", ".ipynb.txt", ".ipynb.json")  # browsers add the last two when a notebook is downloaded


def is_notebook(name: str) -> bool:
    return name.lower().endswith(ENDINGS) and not name.startswith(".")


def choose(paths: Sequence[tuple[Path, str]], masters: Sequence[Master], made: Prepared) -> Path | None:
    """Put the repaired notebooks into `made`, and what was found. Returns the file that the first of them came from.
    paths: (file, its path inside the submission), in the order in which they are preferred."""
    read: dict[Path, tuple[Any, list[Finding]]] = {}
    trouble: dict[Path, str] = {}
    named = {f"{master.name}.ipynb" for master in masters}
    for path, _ in sorted(paths, key=lambda one: one[0].name not in named)[:MOST_NOTEBOOKS]:
        try:
            read[path] = read_notebook(path)
        except Unreadable as reason:
            trouble[path] = str(reason)
    taken: dict[Path, Master] = {}
    for master in masters:
        free = [p for p in read if p not in taken and (p.name == f"{master.name}.ipynb" or p.name not in named)]
        chosen = _best(free, read, master)
        if chosen is None:
            made.findings.append(_missing(master, read, trouble))
            continue
        taken[chosen] = master
        if chosen.name != f"{master.name}.ipynb":
            words = f"{shown(chosen.name)} is graded as {master.name}.ipynb."
            made.findings.append(Finding("repaired", "renamed", words))
        rivals = [p for p in free if p is not chosen and worked_on(read[p][0], master)]
        if rivals:
            others = listed(shown(p.name) for p in rivals)
            words = f"Several notebooks have answers: {shown(chosen.name)} was graded, not {others}."
            made.findings.append(Finding("note", "several-notebooks", words))
        notebook, found = repair(read[chosen][0], master)
        made.notebooks[master.name] = notebook
        made.findings += [*read[chosen][1], *found]
    for path, inside in paths:
        if path in trouble and taken:
            made.findings.append(left_behind(inside, f"{trouble[path]}", "unreadable"))
        elif path not in taken and path not in trouble:
            made.findings.append(left_behind(inside, "no notebook of this assignment, or a second copy of one"))
    return next(iter(taken), None)


def _best(paths: Sequence[Path], read: dict[Path, tuple[Any, list[Finding]]], master: Master) -> Path | None:
    """The file that counts as this notebook; None if none is a copy of it."""
    alike = {}
    for path in paths:
        notebook, exact = read[path][0], path.name == f"{master.name}.ipynb"
        shared = likeness(notebook, master)
        if shared and (exact or 2 * shared >= len(master.cells)):
            answers = worked_on(notebook, master)
            alike[path] = (bool(answers), exact, answers, shared, -paths.index(path))
    return max(alike, key=lambda path: alike[path], default=None)


def _missing(master: Master, read: dict[Path, Any], trouble: dict[Path, str]) -> Finding:
    name = f"{master.name}.ipynb"
    broken = next((p for p in trouble if p.name == name), None) or next(iter(trouble), None)
    if broken is not None:
        return Finding("blocked", "unreadable", f"{trouble[broken]}. It was not graded.")
    if any(path.name == name for path in read):
        words = (
            f"{name} has none of this assignment's cells: it is another notebook, or everything was deleted from it."
        )
        return Finding("blocked", "foreign-notebook", f"{words} It was not graded.")
    return Finding("blocked", "missing", f"There is no {name}. Nothing of it was graded.")
