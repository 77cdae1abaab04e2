"""The report on accessibility, with what the tests last said of each criterion.

A person judges each criterion, and names the tests that look at it. What these said when all tests last ran is read
from `tests/passed.json` when the page is made, and stands behind their names: passed, passed in part (a run looks at a
share of the lectures), failed, or no record.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

ROW = re.compile(r"^\| ([\d.]+) .+ \((AA?)\) \| (.+?) \| (.*) \|$", re.M)
NAMED = re.compile(r"\btest (?:`\w+`(?:, )?)+(?=[<|\s]|$)", re.M)
LAST = re.compile(r"^\| Last results \|.*\|\n", re.M)
BROKEN = "not all passed"
"""What the record has of a group of which a test failed or was skipped."""

Record = Mapping[str, Mapping[str, str]]
"""Of each system and Python: a group of tests -> the digest with which it passed, or BROKEN."""


class Row(NamedTuple):
    criterion: str
    level: str
    result: str
    told: str

    def named(self, what: str) -> list[str]:
        """The rules after "axe-core:", or the tests after "test"."""
        found = re.search(rf"\b{what}:? ((?:`[^`]+`(?:, )?)+)", self.told)
        return re.findall(r"`([^`]+)`", found[1]) if found else []


def rows(report: str) -> list[Row]:
    return [Row(*found) for found in ROW.findall(report)]


def recorded(root: Path) -> Record:
    """Empty where the tests are not, as in a release."""
    file = root / "tests" / "passed.json"
    return json.loads(file.read_text("utf-8")) if file.is_file() else {}


def outcome(root: Path, test: str, record: Record) -> str:
    """Of the files that have this test, or call this helper, in all runs of which there is a record."""
    tests = root / "tests"
    there = [*sorted((tests / "autograder" / "site").glob("test_*.py")), *tests.glob("lectures/test_pages.py")]
    files = {path.relative_to(root).as_posix() for path in there if re.search(rf"\b{test}\(", path.read_text("utf-8"))}
    known = {
        group: state for run in record.values() for group, state in run.items() if group.partition(" ")[0] in files
    }
    if BROKEN in known.values():
        return "failed"
    lectures = len([*(root / "lectures").glob("[0-9]*_*.py")])
    seen = Counter(group.partition(" ")[0] for group in known)
    whole = all(seen[file] >= (lectures if "lectures" in file else 1) for file in files)
    return "passed" if files and whole else "passed in part" if known else "no record"


def told(root: Path, report: str, record: Record) -> str:
    """The report with the outcomes of the record."""
    order = ("failed", "no record", "passed in part", "passed")
    tested: Counter[str] = Counter()

    def behind(found: re.Match[str]) -> str:
        said = {outcome(root, test, record) for test in re.findall(r"`(\w+)`", found[0])}
        worst = next(one for one in order if one in said)
        tested[worst] += 1
        return f"{found[0].rstrip()} ({worst})"

    made = NAMED.sub(behind, report)
    without = sum(not row.named("test") and row.result != "Not Applicable" for row in rows(made))
    by_axe = sum(not row.named("test") and bool(row.named("axe-core")) for row in rows(made))
    counts = ", ".join(f"{tested[one]} {one.replace('no', 'without a')}" for one in reversed(order) if tested[one])
    line = (
        f"| Last results | of {tested.total()} criteria with a test of their own, {counts}, in the recorded runs of all"
        f' tests ({"; ".join(sorted(record)) or "none"}). "In part": a run looks at a share of the lectures. {without}'
        f" others were judged by reading the pages, {by_axe} of them with axe-core |\n"
    )
    return LAST.sub(lambda _: line, made)
