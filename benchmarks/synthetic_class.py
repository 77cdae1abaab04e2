"""A class that hands in the attention assignment, for measurements: every student another mixture.

Each answer is the master's own, a second solution's, one of the named misconceptions of `autograder.checks.attention`
written out as a student would, the empty stub, or an error; variables are renamed and comments added from student to
student. A few hand in what is no notebook, loop without end or end the process. The same seed gives the same class.
"""

import ast
import functools
import importlib
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell

from autograder.checks.attention import EXERCISES
from autograder.course import notebooks
from autograder.release import build_exercises
from autograder.specification import Exercise, Misconception

ROOT = Path(__file__).resolve().parents[1]
ASSIGNMENT = "attention"
SYNONYMS = {
    "largest": ("top", "biggest", "row_max", "m"),
    "total": ("norm", "denominator", "z"),
    "weights": ("alpha", "attention", "w"),
    "e": ("exps", "numerator", "ex"),
    "hidden": ("h", "layer", "inner"),
    "position": ("t", "pos", "index"),
    "mixed": ("context", "out", "heads_out"),
    "joined": ("concat", "together", "flat"),
    "scores": ("logits", "energies", "sims"),
}
REMARKS = ("# TODO: ask in the tutorial", "# as on the slides", "# this took me two hours", "# works!!", "")
TRIES = ("print(torch.__version__)", "x = torch.randn(3, 4)\nx.softmax(-1)", "math.sqrt(64)", "1 / 0", "# notes")


def make_course(root: Path) -> Path:
    """The assignment's masters and the course's settings in `root`, its exercises released."""
    own = shutil.ignore_patterns("*.ipynb", ".*")
    shutil.copytree(ROOT / "solutions" / ASSIGNMENT, root / "solutions" / ASSIGNMENT, ignore=own)
    for name in ("pyproject.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, root / name)
    notebooks.build(root)
    build_exercises(root)
    return root


def fill(root: Path, count: int, seed: int = 0, plain: bool = False) -> list[str]:
    """Hand in for `count` students, and say who they are. plain: only whole notebooks that run to their end."""
    right, released = solutions(root), _released(root)
    students = [f"student{number:05d}" for number in range(count)]
    for student in students:
        chance = random.Random(f"{seed} {student}")
        skill = chance.betavariate(4, 2)
        notebook = nbformat.from_dict(released)
        cells = {c.metadata.nbgrader.grade_id: c for c in notebook.cells if "nbgrader" in c.metadata}
        for name, ways in right.items():
            source = answer(name, ways, skill, chance)
            if source:
                cells[name].source = source
        cells["written"].source = f"{student} thinks that all words are looked at, and that this costs n times m."
        for _ in range(chance.choice((0, 0, 0, 1, 2))):
            notebook.cells.insert(chance.randrange(3, len(notebook.cells)), new_code_cell(chance.choice(TRIES)))
        _save(root / "submitted" / student / ASSIGNMENT, notebook, cells, "" if plain else _special(chance))
    return students


def answer(name: str, ways: list[str], skill: float, chance: random.Random) -> str:
    """One answer of a student of that skill, between 0 and 1; nothing is the stub."""
    drawn = chance.random()
    if drawn < 0.3 + 0.65 * skill:
        return mutated(chance.choice(ways), chance)
    if drawn < 0.9:
        return mutated(chance.choice(mistaken(name)), chance)
    return chance.choice(("", f"def {EXERCISES[f'{ASSIGNMENT}.{name}'].signature}:\n    return undefined_name"))


def solutions(root: Path) -> dict[str, list[str]]:
    """By question: the master's answer, and the second solution's."""
    master = nbformat.read(root / "solutions" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)
    second = ast.parse((ROOT / "tests" / "autograder" / "solutions_attention.py").read_text(encoding="utf-8"))
    functions = {node.name: ast.unparse(node) for node in second.body if isinstance(node, ast.FunctionDef)}
    found = {}
    for cell in master.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in functions:
            lines = [line for line in cell.source.split("\n") if "### " not in line]
            found[name] = ["\n".join(lines), f"import numpy as np\n\n{functions[name]}"]
    return found


def mutated(source: str, chance: random.Random) -> str:
    """The same in another hand."""
    tree = ast.parse(source)
    parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    new = {
        old: chance.choice(SYNONYMS[old])
        for old in sorted(SYNONYMS.keys() & names - parameters)
        if chance.random() < 0.7
    }
    new = {old: word for old, word in new.items() if word not in names | parameters}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in new:
            node.id = new[node.id]
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) and chance.random() < 0.5:
            node.body = node.body[1:]
    return f"{chance.choice(REMARKS)}\n{ast.unparse(tree)}".strip()


# --- misconceptions as a student writes them ----------------------------------------------------------------------


@functools.cache
def mistaken(name: str) -> list[str]:
    """Each misconception of a question as the text of a cell; not those that stand on the reference itself."""
    exercise = EXERCISES[f"{ASSIGNMENT}.{name}"]
    written = [written_out(exercise, mistake) for mistake in exercise.misconceptions]
    return [source for source in written if "reference" not in source]


def written_out(exercise: Exercise, mistake: Misconception) -> str:
    """The declaration's code and what it stands on, under names of its own, behind the student's signature."""
    function: Callable[..., Any] = mistake.implementation
    while isinstance(function, partial):
        function = function.func
    known = _definitions(function.__module__)
    wanted = next(call for call in known.mistakes(exercise.name) if _keyword(call, "id") == repr(mistake.id))
    expression = next(keyword.value for keyword in wanted.keywords if keyword.arg == "implementation")
    needed: dict[str, ast.stmt] = {}
    _gather(expression, known.statements, needed)
    own = {old: f"{exercise.function}_{old.strip('_')}" for old in needed}
    parts = [ast.unparse(_Plain(own).visit(_copy(node))) for node in reversed(needed.values())]
    called = ast.unparse(_Plain(own).visit(_copy(expression)))
    head = "import math\nfrom functools import partial\nfrom torch import Tensor"
    body = f"def {exercise.signature}:\n    return ({called})({', '.join(exercise.arguments)})"
    return "\n\n".join([head, *parts, body])


class _Definitions:
    """The top-level statements of a module by the names that they define, those of its neighbours included."""

    def __init__(self, module: str) -> None:
        path = str(importlib.import_module(module).__file__)
        self.tree = tree = ast.parse(Path(path).read_text(encoding="utf-8"))
        self.statements: dict[str, ast.stmt] = {}
        for node in tree.body:
            if isinstance(node, ast.FunctionDef):
                self.statements[node.name] = node
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                self.statements[node.targets[0].id] = node
            elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("autograder.checks"):
                others = _definitions(str(node.module)).statements
                self.statements |= {a.name: others[a.name] for a in node.names if a.name in others}

    def mistakes(self, exercise: str) -> list[ast.Call]:
        """The misconceptions that are declared here for an exercise, or for whichever it is declared beside."""
        declared = [call for call in _calls(self.tree, "Exercise") if _keyword(call, "name") == repr(exercise)]
        return [found for place in (*declared, self.tree) for found in _calls(place, "Misconception")]


_definitions = functools.cache(_Definitions)


def _calls(tree: ast.AST, name: str) -> list[ast.Call]:
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == name]


def _keyword(call: ast.Call, name: str) -> str:
    return next((ast.unparse(keyword.value) for keyword in call.keywords if keyword.arg == name), "").replace('"', "'")


def _gather(node: ast.AST, known: dict[str, ast.stmt], needed: dict[str, ast.stmt]) -> None:
    """What a piece of code stands on, its users first."""
    node = _Plain({}).visit(_copy(node))
    for name in dict.fromkeys(part.id for part in ast.walk(node) if isinstance(part, ast.Name)):
        if name in known:
            needed.pop(name, None)
            needed[name] = known[name]
            _gather(known[name], {k: v for k, v in known.items() if k != name}, needed)


def _copy(node: Any) -> Any:
    return ast.parse(ast.unparse(node)).body[0]


class _Plain(ast.NodeTransformer):
    """Without types and docstrings, and with other names."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        node.returns = None
        if ast.get_docstring(node):
            node.body = node.body[1:]
        node.name = self.names.get(node.name, node.name)
        return self.generic_visit(node)

    def visit_arg(self, node: ast.arg) -> Any:
        return ast.arg(self.names.get(node.arg, node.arg))

    def visit_keyword(self, node: ast.keyword) -> Any:
        node.arg = self.names.get(node.arg, node.arg) if node.arg else None
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> Any:
        node.id = self.names.get(node.id, node.id)
        return node


# --- handing in ---------------------------------------------------------------------------------------------------


def _released(root: Path) -> Any:
    return nbformat.read(root / "exercises" / ASSIGNMENT / f"{ASSIGNMENT}.ipynb", as_version=4)


def _special(chance: random.Random) -> str:
    kinds = {"broken": 0.01, "renamed": 0.01, "copied": 0.02, "deleted": 0.02, "endless": 0.003, "exit": 0.005}
    return chance.choices([*kinds, ""], [*kinds.values(), 1 - sum(kinds.values())])[0]


def _save(folder: Path, notebook: Any, cells: dict[str, Any], special: str) -> None:
    folder.mkdir(parents=True)
    if special == "copied":
        notebook.cells.append(new_code_cell(cells["attend"].source, metadata=cells["attend"].metadata))
    if special == "deleted":
        notebook.cells.remove(cells["check_attend"])
    if special == "endless":
        cells["decoder_mask"].source = "def decoder_mask(lengths, time):\n    while True:\n        pass"
    if special == "exit":
        cells["decoder_mask"].source = "import os\nos._exit(0)"
    path = folder / ("My attention.ipynb" if special == "renamed" else f"{ASSIGNMENT}.ipynb")
    nbformat.write(notebook, path)
    if special == "broken":
        path.write_bytes(path.read_bytes()[:5000])
    (folder / "timestamp.txt").write_text("2025-11-21 12:00:00 UTC", encoding="utf-8")
