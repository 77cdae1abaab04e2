"""`preflight ASSIGNMENT`: look at what was handed in, before any of it runs."""

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from autograder.commands import common

if TYPE_CHECKING:
    from autograder.course.environment import Environment

EXAMPLES = """
preflight attention
preflight attention --student ada
preflight attention --json
"""


def parser() -> argparse.ArgumentParser:
    made = common.parser(
        "preflight",
        "Say of every submission what would be repaired, left behind, or not be gradable. Runs none.",
        EXAMPLES,
    )
    common.students(made)
    made.add_argument("--json", action="store_true", help="everything that was found, for a program")
    return made


def main(place: "Environment", words: Sequence[str]) -> int:
    given = parser().parse_args(words)
    return common.run(lambda: _look(place, given))


def _look(place: "Environment", given: argparse.Namespace) -> int:
    from dataclasses import asdict

    from autograder.preflight import check_folder, report

    found = check_folder(common.course(place, given), given.assignment, given.students)
    blocked = sum(prepared.blocked for _, prepared in found)
    if given.json:
        rows = {student: [asdict(finding) for finding in prepared.findings] for student, prepared in found}
        common.as_json({"assignment": given.assignment, "students": rows})
        return 1 if blocked else 0
    clean = 0
    for student, prepared in found:
        if not prepared.findings:
            clean += 1
            continue
        print(student)
        print("\n".join(f"    {line}" for line in report(prepared).split("\n")))
    print(
        f"{common.count(len(found), 'submission')}: {clean} with nothing to say, {len(found) - clean - blocked} put"
        f" right or noted, {blocked} not gradable as they are."
    )
    return 1 if blocked else 0
