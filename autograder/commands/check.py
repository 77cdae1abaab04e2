"""`check NOTEBOOK`: run a notebook's visible checks from a terminal; the exit code tells the truth.

The notebook runs in a process of its own (`autograder.commands.checking`), in its folder, without a kernel.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autograder.commands import common

if TYPE_CHECKING:
    from autograder.course.environment import Environment

EXAMPLES = """
check exercises/attention/attention.ipynb
check exercises/attention/attention.ipynb --json
"""
STATES = {True: "holds", False: "NOT YET"}


def parser() -> argparse.ArgumentParser:
    made = common.parser(
        "check",
        "Run a notebook and say of every question whether its visible check holds. Exit code 0: all of it holds and\n"
        "every question is answered; 1: something is missing; 2: there is no such notebook. Nothing is changed.",
        EXAMPLES,
        assignment=False,
    )
    made.add_argument("notebook", metavar="NOTEBOOK", type=Path)
    made.add_argument("--seconds", type=float, default=300, metavar="S", help="stop it after so long (default: 300)")
    made.add_argument("--show", action="store_true", help="let the cells print what they print")
    made.add_argument("--json", action="store_true", help="the result for a program")
    return made


def main(place: "Environment", words: Sequence[str]) -> int:
    given = parser().parse_args(words)
    notebook = common.here(given.notebook)
    if notebook.is_file():
        return _check(notebook.resolve(), given)
    print(f"There is no notebook {given.notebook}.", file=sys.stderr)
    return 2


def _check(notebook: Path, given: argparse.Namespace) -> int:
    found = run(notebook, given.seconds, given.show)
    if "misuse" in found:
        print(found["misuse"], file=sys.stderr)
        return 2
    if given.json:
        common.as_json(found)
    else:
        _tell(found)
    return 0 if found["holds"] else 1


def run(notebook: Path, seconds: float, show: bool = False) -> dict[str, Any]:
    """What `checking` says of a notebook; if it did not come to its end, that nothing holds, and why."""
    with tempfile.TemporaryDirectory(prefix="check-") as folder:
        answer = Path(folder) / "answer.json"
        line = [sys.executable, "-m", "autograder.commands.checking", str(notebook), str(answer)]
        out = None if show else subprocess.DEVNULL
        variables = {**os.environ, "MPLBACKEND": "Agg", "IPYTHONDIR": folder}
        roots = [str(Path(__file__).resolve().parents[2]), variables.get("PYTHONPATH", "")]
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, roots))
        try:
            code = subprocess.run(
                line, cwd=notebook.parent, env=variables, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                timeout=seconds, check=False,
            ).returncode  # fmt: skip
            why = f"the notebook ended its own process (exit code {code})"
        except subprocess.TimeoutExpired:
            why = f"it had not come to its end after {seconds:g} seconds: is there a loop that does not stop?"
        try:
            found: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = {"questions": []}
    if not found.pop("whole", False) and "misuse" not in found:
        found = {**found, "holds": False, "ended": why}
    return found


def _tell(found: dict[str, Any]) -> None:
    for question in found["questions"]:
        print(f"{STATES[question['holds']]:8} {question['name']}")
        for line in question["words"].split("\n"):
            print(f"         {line}")
    for error in found.get("errors", []):
        print(f"{'note':8} {error}")
    if "ended" in found:
        print(f"{'NOT YET':8} {found['ended']}")
    missing = sum(not question["holds"] for question in found["questions"])
    if found["holds"]:
        print(f"All {common.count(len(found['questions']), 'question')} hold.")
    else:
        print(f"{missing} of {common.count(len(found['questions']), 'question')} not yet.")
