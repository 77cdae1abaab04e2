"""`check NOTEBOOK`: run a notebook's visible checks from a terminal; the exit code tells the truth.

The notebook runs in a separate process, in its folder, without a kernel, cell by cell. An error stops its cell, and
checks are recorded.

    python3 -m autograder.commands.checking NOTEBOOK ANSWER.json

The answer is written after every question, so that it is known how far a notebook came if it is stopped.
"""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

from autograder import temporary
from autograder.commands import shared
from autograder.commands.shared import Environment, Given, command, count, flag, option
from autograder.seal import SEAL

STATES = {True: "holds", False: "NOT YET"}


@command(
    "check",
    "Run a notebook and say of every question whether its visible check holds. Exit code 0: all properties hold and\n"
    "every question is answered; 1: something is missing; 2: there is no such notebook. Nothing is changed.",
    "check work/attention/attention.ipynb",
    "check work/attention/attention.ipynb --json",
    shared.path("notebook", metavar="NOTEBOOK"),
    option("--seconds", type=float, default=300, metavar="S", help="stop it after so long (default: 300)"),
    flag("--show", "let the cells print what they print"),
    flag("--json", "the result for a program"),
)
def check(place: Environment, given: Given) -> int:
    if not given.notebook.is_file():
        return shared.failed(f"There is no notebook {given.notebook}.", 2)
    found = run(given.notebook.resolve(), given.seconds, given.show)
    if "misuse" in found:
        return shared.failed(found["misuse"], 2)
    if given.json:
        shared.as_json(found)
    else:
        _tell(found)
    return 0 if found["holds"] else 1


def run(notebook: Path, seconds: float, show: bool = False) -> dict[str, Any]:
    """The result of `checking` for a notebook; if it did not reach its end, that nothing holds, and why."""
    with tempfile.TemporaryDirectory(prefix="check-", dir=temporary.home()) as folder:
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
        name = f"{STATES[question['holds']]:8} {question['name']}"
        print(name, *question["words"].split("\n"), sep="\n         ")
    shared.lines(f"{'note':8} {{}}", found.get("errors", []))
    if "ended" in found:
        print(f"{'NOT YET':8} {found['ended']}")
    missing, of = sum(not q["holds"] for q in found["questions"]), count(len(found["questions"]), "question")
    print(f"All {of} hold." if found["holds"] else f"{missing} of {of} not yet.")


# --- in a process of its own ------------------------------------------------------------------------------


def note_all(notebook: Path, answer: Path) -> None:
    try:
        import nbformat

        read = nbformat.read(notebook, as_version=4)
        cells, released = read.cells, read.metadata.get("nlmcourse", {}).get(SEAL, {}).get("questions", {})
    except Exception as error:  # whatever nbformat's parsers raise about a file that is no notebook
        answer.write_text(json.dumps({"misuse": f"{notebook.name} is no notebook ({type(error).__name__})."}))
        return
    Checking(cells, answer, released).run()


class Checking:
    def __init__(self, cells: list[Any], answer: Path, released: Collection[str] = ()) -> None:
        self.cells, self.answer, self.released = cells, answer, released  # the questions that it had, if it says so
        self.questions: dict[str, dict[str, Any]] = {}
        self.errors: list[str] = []
        self.asked: set[str] = set()

    def run(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell
        from nbgrader.utils import compute_checksum
        from traitlets.config import Config

        config = Config()
        config.HistoryManager.enabled = False
        shell = InteractiveShell.instance(config=config)
        with contextlib.suppress(Exception):  # pictures are drawn for nobody here
            shell.run_line_magic("matplotlib", "agg")
        self._listen()
        for number, cell in enumerate(self.cells, 1):
            about = cell.metadata.get("nbgrader", {})
            if cell.cell_type == "code":
                before = len(self.questions)
                result = shell.run_cell(cell.source, store_history=True)
                error = result.error_before_exec or result.error_in_exec
                self._after(number, about, error, asked=len(self.questions) > before)
            if about.get("grade") and about.get("solution"):
                empty = about.get("checksum") == compute_checksum(cell) or not cell.source.strip()
                words = "Not answered yet." if empty else "Answered; it is marked by hand."
                self._note(about["grade_id"], not empty, words)
            self._write(whole=False)
        self._left_out()
        self._write(whole=True)

    def _listen(self) -> None:
        import autograder.check as module
        from autograder.question.report import Report

        def check(name: str, function: Any, *, hidden: bool = False) -> None:
            if hidden:
                return
            verdict = module.examine(module.find(name), function, None)
            self.asked.add(name)
            self._note(name, verdict.passed, str(Report(verdict)))

        module.check = check  # type: ignore[assignment]

    def _note(self, name: str, holds: bool, words: str) -> None:
        self.questions.pop(name, None)  # the last one to come is the last one told
        self.questions[name] = {"name": name, "holds": holds, "words": words}

    def _after(self, number: int, about: dict[str, Any], error: BaseException | None, asked: bool) -> None:
        is_test = about.get("grade") and not about.get("solution")
        words = "" if error is None else f"{type(error).__name__}: {error}".strip().split("\n")[0]
        if is_test and not asked:
            self._note(about["grade_id"], error is None, words or "The test runs through.")
        elif isinstance(error, NotImplementedError):
            self.errors.append(f"Cell {number} needs something that is not written yet.")
        elif error is not None:
            self.errors.append(f"Cell {number} stopped with {words}")

    def _left_out(self) -> None:
        from autograder.question.find import exercises_of

        for assignment in sorted({name.partition(".")[0] for name in self.asked}):
            for name, exercise in exercises_of(assignment).items():
                if name not in self.asked and (not self.released or exercise.function in self.released):
                    self._note(name, False, "Its check is not in the notebook, or was not reached.")

    def _write(self, whole: bool) -> None:
        asked = list(self.questions.values())
        holds = whole and bool(asked) and all(question["holds"] for question in asked)
        facts = {"holds": holds, "questions": asked, "errors": self.errors, "whole": whole}
        self.answer.write_text(json.dumps(facts, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    note_all(Path(sys.argv[1]), Path(sys.argv[2]))
