"""A class that hands in an assignment, for measurements and for looking: every student another mixture.

    python benchmarks/synthetic_class.py /tmp/class --assignment self_attention --students 30

Each answer is the master's own, a second solution's, one of the named misconceptions of `solutions` written
out as a student would, the empty stub, or an error; variables are renamed and comments added from student to student.
A few hand in what is no notebook, loop without end or end the process. The same seed gives the same class. The command
makes a course in a new folder, and hands in there: grade it with `--course /tmp/class`.
"""

import argparse
import ast
import random
import shutil
from pathlib import Path
from typing import Any

import nbformat
from nbformat.v4 import new_code_cell
from written_out import mistaken, second_solutions

from autograder.question.find import exercises_of, find
from autograder.question.questions import read_master
from autograder.release.build import build_exercises
from autograder.texts import notebooks

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


def make_course(root: Path, assignment: str = ASSIGNMENT) -> Path:
    """The assignment's masters and the course's settings in `root`, its exercises released."""
    own = shutil.ignore_patterns("*.ipynb", ".*")
    shutil.copytree(ROOT / "solutions" / assignment, root / "solutions" / assignment, ignore=own)
    for name in ("pyproject.toml", "nbgrader_config.py"):
        shutil.copy(ROOT / name, root / name)
    notebooks.build(root)
    build_exercises(root)
    return root


def fill(root: Path, count: int, seed: int = 0, plain: bool = False, assignment: str = ASSIGNMENT) -> list[str]:
    """Hand in for `count` students, and say who they are; who is there already stays. plain: only whole notebooks that
    run to their end."""
    right, released = solutions(root, assignment), _released(root, assignment)
    students = [f"student{number:05d}" for number in range(count)]
    for student in students:
        if (root / "submitted" / student / assignment).exists():
            continue
        chance = random.Random(f"{seed} {student}")
        skill = chance.betavariate(4, 2)
        notebook = nbformat.from_dict(released)
        cells = {c.metadata.nbgrader.grade_id: c for c in notebook.cells if "nbgrader" in c.metadata}
        for name, ways in right.items():
            source = answer(f"{assignment}.{name}", ways, skill, chance)
            if source:
                cells[name].source = source
        if "written" in cells:
            cells["written"].source = f"{student} thinks that all words are looked at, and that this costs n times m."
        for _ in range(chance.choice((0, 0, 0, 1, 2))):
            notebook.cells.insert(chance.randrange(3, len(notebook.cells)), new_code_cell(chance.choice(TRIES)))
        _save(root / "submitted" / student / assignment, notebook, cells, "" if plain else _special(chance))
    return students


def answer(name: str, ways: list[str], skill: float, chance: random.Random) -> str:
    """One answer to the exercise `name` of a student of that skill, between 0 and 1; nothing is the stub."""
    drawn = chance.random()
    if drawn < 0.3 + 0.65 * skill:
        return mutated(chance.choice(ways), chance)
    if drawn < 0.9 and (wrong := mistaken(name)):
        return mutated(chance.choice(wrong), chance)
    return chance.choice(("", f"def {find(name).signature}:\n    return undefined_name"))


def solutions(root: Path, assignment: str = ASSIGNMENT) -> dict[str, list[str]]:
    """By question: the master's answer, and the second solution's."""
    master = read_master(root / "solutions" / assignment / f"{assignment}.ipynb")
    second = second_solutions(assignment)
    found = {}
    for cell in master.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        if name in second:
            lines = [line for line in cell.source.split("\n") if "### " not in line]
            found[name] = ["\n".join(lines), second[name]]
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


# --- handing in ---------------------------------------------------------------------------------------------------


def _released(root: Path, assignment: str) -> Any:
    return nbformat.read(root / "exercises" / assignment / f"{assignment}.ipynb", as_version=4)


def _special(chance: random.Random) -> str:
    kinds = {"broken": 0.01, "renamed": 0.01, "copied": 0.02, "deleted": 0.02, "endless": 0.003, "exit": 0.005}
    return chance.choices([*kinds, ""], [*kinds.values(), 1 - sum(kinds.values())])[0]


def _save(folder: Path, notebook: Any, cells: dict[str, Any], special: str) -> None:
    folder.mkdir(parents=True)
    assignment = folder.name
    exercises = list(exercises_of(assignment).values())
    middle, late = exercises[len(exercises) // 2], exercises[-2:][0]
    if special == "copied":
        cell = cells[middle.function]
        notebook.cells.append(new_code_cell(cell.source, metadata=cell.metadata))
    if special == "deleted":
        notebook.cells.remove(cells[f"check_{middle.function}"])
    if special == "endless":
        cells[late.function].source = f"def {late.signature}:\n    while True:\n        pass"
    if special == "exit":
        cells[late.function].source = "import os\nos._exit(0)"
    path = folder / (f"My {assignment}.ipynb" if special == "renamed" else f"{assignment}.ipynb")
    nbformat.write(notebook, path)
    if special == "broken":
        path.write_bytes(path.read_bytes()[:5000])
    (folder / "timestamp.txt").write_text("2025-11-21 12:00:00 UTC", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a course with a class that has handed in.")
    parser.add_argument("folder", type=Path, help="where: a folder that does not exist yet")
    parser.add_argument("--assignment", default=ASSIGNMENT, help="which assignment (%(default)s)")
    parser.add_argument("--students", type=int, default=30, help="how many (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="another seed is another class")
    given = parser.parse_args()
    if not exercises_of(given.assignment):
        parser.error(f"there is no assignment {given.assignment!r} in solutions")
    if given.folder.exists():
        parser.error(f"{given.folder} is there already")
    given.folder.mkdir(parents=True)
    students = fill(
        make_course(given.folder, given.assignment), given.students, given.seed, assignment=given.assignment
    )
    print(f"{len(students)} students have handed in {given.assignment} in {given.folder / 'submitted'}")


if __name__ == "__main__":
    main()
