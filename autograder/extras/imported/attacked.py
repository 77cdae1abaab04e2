"""What is handed in to compare two graders: nothing, the solution, and the released notebooks under each attack."""

import ast
import builtins
import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell

from autograder.extras.imported.needs import trees
from autograder.extras.imported.tricks import TRICKS, Trick, is_test

NOTHING, SOLVED = "nothing", "solved"


def read(folder: Path) -> dict[str, Any]:
    return {path.stem: nbformat.read(path, as_version=4) for path in sorted(folder.glob("*.ipynb"))}


def automatic(notebook: Any) -> Iterator[tuple[str, float]]:
    for cell in notebook.cells:
        if is_test(cell):
            about = cell.metadata["nbgrader"]
            yield about["grade_id"], float(about.get("points") or 0)


def submissions(released: dict[str, Any], masters: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield NOTHING, released
    solved = {}
    for stem, notebook in released.items():
        answers = {c.metadata.nbgrader.grade_id: c.source for c in masters[stem].cells if "nbgrader" in c.metadata}
        solved[stem] = copy.deepcopy(notebook)
        for cell in solved[stem].cells:
            if cell.metadata.get("nbgrader", {}).get("solution"):
                cell.source = answers[cell.metadata.nbgrader.grade_id]
    yield SOLVED, solved
    for trick in TRICKS:
        made = {}
        for stem, notebook in released.items():
            made[stem] = copy.deepcopy(notebook)
            made[stem].cells = list(_attacked(made[stem].cells, masters[stem].cells, trick))
        yield trick.key, made


def _attacked(cells: list[Any], master: list[Any], trick: Trick) -> list[Any]:
    if trick.change is not None:
        return trick.change(cells)
    made: list[Any] = []
    used = _names_of_tests(master)
    done = False
    for cell in cells:
        if is_test(cell) and not (done and trick.first):
            about = cell.metadata["nbgrader"]
            text = trick.cell.replace("NAMES", repr(used.get(about["grade_id"], [])))
            made.append(new_code_cell(text.replace("POINTS", f"{about.get('points', 1)}")))
            done = True
        made.append(cell)
    return made


def _names_of_tests(master: list[Any]) -> dict[str, list[str]]:
    """By test cell: the names it uses from the source notebook's code cells."""
    defined: set[str] = set()
    found: dict[str, list[str]] = {}
    for cell in master:
        if cell.cell_type != "code":
            continue
        if is_test(cell):
            nodes = [node for tree in trees([cell]) for node in ast.walk(tree)]
            used = {n.id for n in nodes if isinstance(n, ast.Name)} | {n.arg for n in nodes if isinstance(n, ast.arg)}
            used |= {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
            found[cell.metadata["nbgrader"]["grade_id"]] = sorted((used & defined) - set(dir(builtins)))
        else:
            for node in (statement for tree in trees([cell])[:1] for statement in tree.body):
                if isinstance(node, ast.FunctionDef | ast.ClassDef):
                    defined.add(node.name)
                elif isinstance(node, ast.Assign):
                    defined |= {n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)}
    return found


def hand_in(folder: Path, made: dict[str, Any]) -> None:
    folder.mkdir(parents=True)
    for stem, notebook in made.items():
        (folder / f"{stem}.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
