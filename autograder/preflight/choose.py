"""Which file is which notebook of the assignment: by its name, and by its content.

A file of the right name counts, unless it has no answers and another file has some (the released notebook next to
`attention (1).ipynb`), or it is not a copy of the assignment at all.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autograder.preflight.archive import ENDINGS as PACKED
from autograder.preflight.archive import OTHERS
from autograder.preflight.finding import Finding, Prepared, left_behind, listed, shown
from autograder.preflight.master import Master
from autograder.preflight.names import likeness, worked_on
from autograder.preflight.read import Unreadable, read_notebook
from autograder.preflight.repair import repair

MOST_NOTEBOOKS = 20
EXPORTS = (".py", ".html", ".pdf", ".md", ".docx")
"""What is handed in by mistake where a notebook was asked for."""
ENDINGS = (".ipynb", ".ipynb.txt", ".ipynb.json")  # browsers add the last two when a notebook is downloaded


def is_notebook(name: str) -> bool:
    return name.lower().endswith(ENDINGS) and not name.startswith(".")


def choose(
    paths: Sequence[tuple[Path, str]], masters: Sequence[Master], made: Prepared, besides: Sequence[Path] = ()
) -> Path | None:
    """Put the repaired notebooks and the findings into `made`. Returns the file of the first notebook.
    paths: (file, its path inside the submission), in the order in which they are preferred. besides: the other files
    of the submission."""
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
            made.findings.append(_missing(master, read, trouble, besides, named))
            continue
        taken[chosen] = master
        if chosen.name != f"{master.name}.ipynb":
            made.findings.append(renamed(chosen.name, master.name))
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


def renamed(name: str, notebook: str) -> Finding:
    return Finding("repaired", "renamed", f"{shown(name)} is graded as {notebook}.ipynb.")


def _best(paths: Sequence[Path], read: dict[Path, tuple[Any, list[Finding]]], master: Master) -> Path | None:
    """The file that counts as this notebook; None if no file is a copy of it."""
    alike = {}
    for path in paths:
        notebook, exact = read[path][0], path.name == f"{master.name}.ipynb"
        shared = likeness(notebook, master)
        if shared and (exact or 2 * shared >= len(master.cells)):
            answers = worked_on(notebook, master)
            alike[path] = (bool(answers), exact, answers, shared, -paths.index(path))
    return max(alike, key=lambda path: alike[path], default=None)


def _missing(
    master: Master, read: dict[Path, Any], trouble: dict[Path, str], besides: Sequence[Path], named: set[str]
) -> Finding:
    name = f"{master.name}.ipynb"
    broken = next((p for p in trouble if p.name == name), None) or next(iter(trouble), None)
    if broken is not None:
        return Finding("blocked", "unreadable", f"{trouble[broken]}. It was not graded.")
    if any(path.name == name for path in read):
        words = f"{name} has none of this assignment's cells: it is a different notebook, or its cells were deleted."
        return Finding("blocked", "foreign-notebook", f"{words} It was not graded.")
    instead = next((path.name for path in besides if path.suffix.lower() in EXPORTS), None)
    words = f"There is no {name}. Nothing of it was graded."
    other = next((path.name for path in read if path.name not in named), None)
    packed = next((path.name for path in besides if path.name.lower().endswith((*OTHERS, *PACKED))), None)
    if instead is not None:
        words += f" {shown(instead)} is an export of a notebook: hand in the notebook itself."
    elif other is not None:
        words += f" {shown(other)} is a notebook, but not of this assignment."
    elif packed is not None:
        words += f" {shown(packed)} was not unpacked: hand in the notebook itself, or one zip with it."
    return Finding("blocked", "missing", words)
