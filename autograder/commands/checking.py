"""The process in which `check` runs a notebook: cell after cell, an error stops its cell, and checks are noted.

    python -m autograder.commands.checking NOTEBOOK ANSWER.json

The answer is written after every question, so that a notebook that is stopped has said how far it came.
"""

import contextlib
import json
import sys
from pathlib import Path
from typing import Any

NOT_ANSWERED = "Not answered yet."


def main(notebook: Path, answer: Path) -> None:
    """Run the notebook and write the answer."""
    try:
        import nbformat

        cells = nbformat.read(notebook, as_version=4).cells
    except Exception as error:  # whatever nbformat's parsers raise about a file that is no notebook
        answer.write_text(json.dumps({"misuse": f"{notebook.name} is no notebook ({type(error).__name__})."}))
        return
    Checking(cells, answer).run()


class Checking:
    """One notebook on its way."""

    def __init__(self, cells: list[Any], answer: Path) -> None:
        self.cells, self.answer = cells, answer
        self.questions: list[dict[str, Any]] = []
        self.errors: list[str] = []
        self.asked: set[str] = set()

    def run(self) -> None:
        from IPython.core.interactiveshell import InteractiveShell
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
                self._written(cell, about)
            self._write(whole=False)
        self._left_out()
        self._write(whole=True)

    def _listen(self) -> None:
        """`check` notes what it finds, and stops nothing."""
        import autograder.check as module
        from autograder.exercise.report import Report

        def check(name: str, function: Any, *, hidden: bool = False) -> None:
            if hidden:
                return
            verdict = module.examine(module.find(name), function, None)
            self.asked.add(name)
            self._note(name, verdict.passed, str(Report(verdict)))

        module.check = check  # type: ignore[assignment]

    def _note(self, name: str, holds: bool, words: str) -> None:
        self.questions = [q for q in self.questions if q["name"] != name]
        self.questions.append({"name": name, "holds": holds, "words": words})

    def _after(self, number: int, about: dict[str, Any], error: BaseException | None, asked: bool) -> None:
        is_test = about.get("grade") and not about.get("solution")
        words = "" if error is None else f"{type(error).__name__}: {error}".strip().split("\n")[0]
        if is_test and not asked:
            self._note(about["grade_id"], error is None, words or "The test runs through.")
        elif error is not None and isinstance(error, NotImplementedError):
            self.errors.append(f"Cell {number} needs something that is not written yet.")
        elif error is not None:
            self.errors.append(f"Cell {number} stopped with {words}")

    def _written(self, cell: Any, about: dict[str, Any]) -> None:
        from nbgrader.utils import compute_checksum

        if about.get("checksum") == compute_checksum(cell) or not cell.source.strip():
            self._note(about["grade_id"], False, NOT_ANSWERED)
        else:
            self._note(about["grade_id"], True, "Answered; a person reads it.")

    def _left_out(self) -> None:
        """Questions of this assignment that no cell asks any more."""
        from autograder.exercise.find import exercises_of

        for assignment in sorted({name.partition(".")[0] for name in self.asked}):
            for name in exercises_of(assignment):
                if name not in self.asked:
                    self._note(name, False, "Its check is not in the notebook, or was not reached.")

    def _write(self, whole: bool) -> None:
        holds = whole and bool(self.questions) and all(question["holds"] for question in self.questions)
        facts = {"holds": holds, "questions": self.questions, "errors": self.errors, "whole": whole}
        self.answer.write_text(json.dumps(facts, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
