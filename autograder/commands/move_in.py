"""`import FOLDER`: imports an assignment of nbgrader or otter. `attacks ASSIGNMENT`: what known attacks earn on it."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.commands import shared
from autograder.commands.shared import Course, Environment, Given, command, count, flag, option

if TYPE_CHECKING:
    from autograder.extras.imported.rivals import Table


@command(
    "import",
    "Bring an assignment of nbgrader (its source notebook) or of otter-grader (a master, or what otter assign made)\n"
    "to solutions/NAME. What could not be carried over is listed, with what to do. The original is only read.",
    "import ~/course/source/ps1",
    "import ~/otter/hw01/hw01.ipynb --name shapes",
    "import ~/otter/hw01/dist/autograder --name shapes",
    shared.path("path", metavar="FOLDER-or-NOTEBOOK"),
    option("--name", help="what it is to be called here: small letters, digits and _ (default: from the folder)"),
    option("--no-attacks", action="store_false", dest="attacks", help="do not try known attacks on it"),
)
def bring(place: Environment, given: Given) -> int:
    return shared.run(lambda: _bring(place.root, given))


def _bring(root: Path, given: Given) -> int:
    from autograder.extras.imported.bring import bring as bring_in

    brought = bring_in(root, given.path, given.name)
    hand = f" and {brought.by_hand:g} for a person" if brought.by_hand else ""
    print(
        f"solutions/{brought.name}: {count(len(brought.notebooks), 'notebook')} of {brought.kind}, {brought.points:g}"
        f" points for the grader{hand}."
    )
    if brought.notes.rows:
        print("Not carried over:")
    for what, do in brought.notes.rows:
        print(f"  - {what}\n      {do}")
    if given.attacks:
        where = "where it came from and here (in the sandbox, some seconds)"
        print(f"\nTrying known attacks on it, {where} ...", flush=True)
        _attack(root, brought.name, brought.kind)
    print(f"Now: python3 -m autograder build, then look at exercises/{brought.name}/")
    return 0


@command(
    "attacks",
    "Try known attacks on an assignment whose tests are asserts: what they earn in stock nbgrader (or in otter), and\n"
    "here. Everything runs in the sandbox, on copies; nothing is written.",
    "attacks ps1",
    "attacks hw01 --as otter",
    option("--as", choices=("nbgrader", "otter"), default="nbgrader", dest="kind", help="where it came from"),
    flag("--json", "the table for a program"),
    writes=False,
)
def attacks(course: Course, assignment: str, given: Given) -> int:
    shared.refuse(not (course.root / "solutions" / assignment).is_dir(), f"there is no solutions/{assignment}")
    return _attack(course.root, assignment, given.kind, given.json)


def _attack(root: Path, assignment: str, kind: Any, json: bool = False) -> int:
    from autograder.extras.imported.rivals import compare

    table = compare(root, assignment, kind)
    if json:
        return shared.as_json(asdict(table))
    print("\n".join(lines(assignment, table)))
    return 0


def lines(assignment: str, table: "Table") -> list[str]:
    """The table in words: how much more each attack earns than an unwritten notebook."""
    said = [f"Points of {table.of:g} that an attack gains", f"{'':42}{table.kind:>10}{'here':>8}"]
    said += [
        f"  {row.name:40}{_shown(row.there):>10}{_shown(row.here):>8}  {'; '.join(filter(None, (row.how, row.words)))}"
        for row in table.rows
    ]
    for what, (there, here) in (("(nothing written)", table.nothing), ("(the master, solved)", table.solved)):
        said.append(f"  {what:40}{_shown(there):>10}{_shown(here):>8}")
    if table.failing:
        said.append(f"! The original solution does not pass here: {', '.join(table.failing)}. Look at these first.")
        if table.kind == "otter":
            said.append("  otter compares what Python prints, and NumPy 2 prints np.True_ and np.float64(0.5): bool(…)")
            said.append("  or float(…) around the tested value makes such a test independent of it.")
    open_ = sorted({cell for row in table.rows if row.here for cell in row.cells})
    if open_:
        said += [
            "",
            f"Still to be had by a cheat here: {', '.join(open_)}.",
            "Their tests run in the student's process, where nothing can be proved. To close such a question, declare",
            f"it: inputs, properties and mistakes in solutions/{assignment}/checks/, and in the master a heading that",
            f"ends in [[{assignment}.FUNCTION]] instead of the test cell (autograder/guide/writing-an-assignment.md).",
            "Its answers are then judged outside.",
        ]
    return said


def _shown(points: float | None) -> str:
    return "no mark" if points is None else f"{points:.3g}"
