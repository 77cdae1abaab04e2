"""Write the figures in the prose of lectures as their cells compute them (`autograder.texts.figures` says how).

    python -m lectures.facts 19          runs one lecture and writes its figures into its text
    python -m lectures.facts --check     runs all; writes nothing, and says what is not what the lectures compute

Exit status 1: an expression fails, a claim does not hold, or, with --check, a figure is not what is computed.
"""

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from autograder.files import write_whole
from autograder.texts import figures, text
from autograder.texts.executed import execute

from lectures import FOLDER

ROOT = FOLDER.parent
ENDED = "what this lecture has left: "


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
    return [
        f"“…{before[-60:]}” should end in {value}: [[{expression}]]"
        for cell in prose(source)
        for before, expression in figures.marked(cell)
        if (value := found.get(expression, "")) and not figures.says(before, value)
    ]


def left_by(source: str, module: str, call: str) -> Any:
    """Run a lecture in a kernel; then, after its last cell, what this call of a module of `lectures` gives, as JSON does."""
    # names that no lecture gives to something of its own
    look = (
        f"import json as _json; from lectures import {module} as _asked\n"
        f"print({ENDED!r} + _json.dumps(_asked.{call}))"
    )
    with tempfile.TemporaryDirectory() as nobody:
        predictions = Path(nobody) / "predictions.json"
        outputs = execute(text.from_text(source, ROOT), FOLDER, predictions, lambda: look)
    printed = "".join(output.get("text", "") for output in outputs)
    return json.loads(printed.partition(ENDED)[2])


def compute(source: str) -> tuple[dict[str, str], list[str]]:
    """Run a lecture in a kernel and evaluate its expressions there, after the last cell."""
    asked = figures.expressions(source)
    found, wrong = left_by(source, "facts", f"values({asked!r}, globals())")
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
        path for path in sorted(FOLDER.glob("[0-9]*_*.py")) if is_asked(path, given.lecture)
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
        found, wrong = compute(source)
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


def is_asked(path: Path, names: list[str]) -> bool:
    """Whether a lecture is named, by its number or its topic; without names, each is."""
    number, _, topic = path.stem.partition("_")
    return not names or any(
        name in (topic, path.stem) or re.fullmatch(f"0*{int(number)}", name) for name in names
    )


if __name__ == "__main__":
    sys.exit(main())
