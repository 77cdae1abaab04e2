"""Write the figures in the prose of lectures as their cells compute them (`autograder.launcher.figures` says how).

    python -m lectures.facts 19          runs one lecture and writes its figures into its text
    python -m lectures.facts --check     runs all; writes nothing, and says what is not what the lectures compute

Exit status 1: an expression fails, a claim does not hold, or, with --check, a figure is not what is computed.
"""

import argparse
import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.files import write_whole
from autograder.launcher import figures, text

from lectures import FOLDER

ROOT = FOLDER.parent
ENDED = "the figures of this lecture: "


def prose(source: str) -> list[str]:
    """The Markdown cells of a lecture's text."""
    return [
        cell.source for cell in text.from_text(source, ROOT).cells if cell.cell_type == "markdown"
    ]


def values(expressions: list[str], names: Mapping[str, Any]) -> tuple[dict[str, str], list[str]]:
    """Expression -> what it says, and what is wrong with the others, in sentences."""
    found, wrong = {}, []
    for expression in dict.fromkeys(expressions):
        try:
            found[expression] = figures.evaluated(expression, names)
        except Exception as error:  # whatever the expression raises
            wrong.append(f"[[{expression}]]: {type(error).__name__}: {error}")
    return found, wrong


def untrue(source: str, found: Mapping[str, str]) -> list[str]:
    """Figures of a lecture's text that are not what was found, in sentences."""
    wrong: list[str] = []
    for cell in prose(source):
        at = 0
        for mark in figures.MARK.finditer(cell):
            before, value = cell[at : mark.start()], found.get(mark["expression"], "")
            if value and not figures.says(before, value):
                wrong.append(f"“…{before[-60:]}” should end in {value}: [[{mark['expression']}]]")
            at = mark.end()
    return wrong


def compute(lecture: Path) -> tuple[dict[str, str], list[str]]:
    """Run a lecture in a kernel and evaluate its expressions there, after the last cell."""
    import nbformat
    from nbclient import NotebookClient

    source = lecture.read_text(encoding="utf-8")
    notebook = text.from_text(source, ROOT)
    asked = [expression for cell in prose(source) for expression in figures.expressions(cell)]
    last = f"import json; from lectures import facts\nprint({ENDED!r} + json.dumps(facts.values({asked!r}, globals())))"
    notebook.cells.append(nbformat.v4.new_code_cell(last))
    client = NotebookClient(notebook, timeout=900, resources={"metadata": {"path": str(FOLDER)}})
    with tempfile.TemporaryDirectory() as nobody:
        client.execute(
            env={**os.environ, "NLM_PREDICTIONS": str(Path(nobody) / "predictions.json")}
        )
    printed = "".join(output.get("text", "") for output in notebook.cells[-1].outputs)
    found, wrong = json.loads(printed.partition(ENDED)[2])
    return found, wrong


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m lectures.facts", description="Write the figures in the prose."
    )
    parser.add_argument(
        "lecture", nargs="*", help="its number or topic; without it, all that have figures"
    )
    parser.add_argument("--check", action="store_true", help="write nothing; say what differs")
    given = parser.parse_args(arguments)
    lectures = [
        path for path in sorted(FOLDER.glob("[0-9]*_*.py")) if _is_asked(path, given.lecture)
    ]
    if given.lecture and not lectures:
        parser.error(
            f"no lecture is called {' or '.join(given.lecture)}: give its number (5 or 05) or its topic"
        )
    failed = False
    for path in lectures:
        source = path.read_text(encoding="utf-8")
        if not (marks := figures.expressions(source)):
            print(f"{path.stem}: no figure is computed")
            continue
        found, wrong = compute(path)
        changed = untrue(source, found)
        claims = sum(mark.startswith("?") for mark in marks)
        print(
            f"{path.stem}: {len(marks) - claims} figures, {claims} claims; {len(changed)} differ, {len(wrong)} fail"
        )
        for line in [*wrong, *changed]:
            print(f"  {line}")
        failed |= bool(wrong) or (given.check and bool(changed))
        if changed and not given.check:
            write_whole(path, figures.renewed(source, found))
    return int(failed)


def _is_asked(path: Path, names: list[str]) -> bool:
    number, _, topic = path.stem.partition("_")
    return not names or any(
        name in (topic, path.stem) or re.fullmatch(f"0*{int(number)}", name) for name in names
    )


if __name__ == "__main__":
    sys.exit(main())
