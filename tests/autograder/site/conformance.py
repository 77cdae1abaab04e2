"""What the tests last said of each criterion, in the report on accessibility.

    python -m tests.autograder.site.conformance      writes it again, from `tests/passed.json`

A person judges each criterion, and names the tests that look at it. What these said when all tests last ran stands
behind their names: passed, passed in part (a run looks at a share of the lectures), failed, or no record.
"""

import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from autograder.files import write_whole
from autograder.pages import FOLDER
from tests.passed import BROKEN, ROOT, kept

WHERE = FOLDER / "conformance.md"
TESTS = [*sorted(Path(__file__).parent.glob("test_*.py")), ROOT / "tests" / "lectures" / "test_pages.py"]
ROW = re.compile(r"^\| ([\d.]+) .+ \((AA?)\) \| (.+?) \| (.*) \|$", re.M)
SAID = re.compile(r"(\btest (?:`\w+`(?:, )?)+)(?: \([a-z ]+\))?(?=[<|\s]|$)", re.M)
LAST = re.compile(r"^\| Last results \|.*\|\n", re.M)


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


def outcome(test: str, record: dict[str, dict[str, str]]) -> str:
    """Of the files that have this test, or call this helper, in all runs of which there is a record."""
    files = {path.relative_to(ROOT).as_posix() for path in TESTS if re.search(rf"\b{test}\(", path.read_text("utf-8"))}
    runs = (each for run in record.values() for each in run.items())
    known = {group: state for group, state in runs if group.partition(" ")[0] in files}
    if BROKEN in known.values():
        return "failed"
    lectures = len([*(ROOT / "lectures").glob("[0-9]*_*.py")])
    seen = Counter(group.partition(" ")[0] for group in known)
    whole = all(seen[file] >= (lectures if "lectures" in file else 1) for file in files)
    return "passed" if files and whole else "passed in part" if known else "no record"


def renewed(report: str, record: dict[str, dict[str, str]]) -> str:
    """The report with the outcomes of the record."""
    order = ("failed", "no record", "passed in part", "passed")

    def behind(found: re.Match[str]) -> str:
        said = {outcome(test, record) for test in re.findall(r"`(\w+)`", found[1])}
        return f"{found[1].rstrip()} ({next(one for one in order if one in said)})"

    made = SAID.sub(behind, report)
    tested = Counter(found[1] for found in re.finditer(r"\btest (?:`\w+`(?:, )?)+ \(([a-z ]+)\)", made))
    without = sum(not row.named("test") and row.result != "Not Applicable" for row in rows(made))
    by_axe = sum(not row.named("test") and bool(row.named("axe-core")) for row in rows(made))
    counts = ", ".join(f"{tested[one]} {one.replace('no', 'without a')}" for one in reversed(order) if tested[one])
    runs = "; ".join(sorted(record)) or "none"
    line = (
        f"| Last results | of {tested.total()} criteria with a test of their own, {counts}, in the recorded runs of all"
        f' tests ({runs}). "In part": a run looks at a share of the lectures. {without} others were judged by reading'
        f" the pages, {by_axe} of them with axe-core |\n"
    )
    return LAST.sub(lambda _: line, made)


if __name__ == "__main__":
    before = WHERE.read_text("utf-8")
    after = renewed(before, kept())
    if after != before:
        write_whole(WHERE, after)
        print(f"Written: {WHERE}")
