"""The report on accessibility has every criterion once; the tests that it names exist, and what they last said is read
from their record; axe-core runs its rules."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from autograder.pages import FOLDER
from autograder.site.conformance import BROKEN, recorded, rows, told
from tests.autograder.site import browsing
from tests.passed import ROOT, kept

RESULTS = {"Supports", "Partially Supports", "Not Applicable"}
HERE = Path(__file__).parent

REPORT = (FOLDER / "conformance.md").read_text("utf-8")
ROWS = rows(REPORT)


def test_every_criterion_is_there_once() -> None:
    assert Counter(row.level for row in ROWS) == {"A": 31, "AA": 24}, "WCAG 2.2, without 4.1.1, which is obsolete"
    assert len({row.criterion for row in ROWS}) == len(ROWS)
    assert {row.result for row in ROWS} <= RESULTS
    assert all(row.told for row in ROWS if row.criterion != "3.2.4")


def test_the_tests_that_it_names_exist() -> None:
    there = "\n".join(file.read_text("utf-8") for file in HERE.glob("*.py"))
    named = {test for row in ROWS for test in row.named("test")}
    assert len(named) > 5
    assert all(f"def {test}(" in there for test in named)


def test_what_the_tests_last_said_stands_behind_their_names() -> None:
    file = "tests/autograder/site/test_try_in_browser.py"
    test = "`test_attention_by_keyboard`"
    row = f"| 2.1.1 Keyboard (A) | Supports | <small>test {test}</small> |\n| Last results | |\n"
    failed, fine, unknown = (told(ROOT, row, {"here": record}) for record in ({file: BROKEN}, {file: "1a"}, {}))
    assert f"{test} (failed)<" in failed
    assert f"{test} (passed)<" in fine
    assert f"{test} (no record)<" in unknown
    assert "of 1 criteria with a test of their own, 1 failed," in failed


def test_the_record_is_that_of_the_tests() -> None:
    assert recorded(ROOT) == kept()
    with_tests = sum(bool(row.named("test")) for row in ROWS)
    assert f"of {with_tests} criteria with a test of their own" in told(ROOT, REPORT, kept())
    assert not recorded(ROOT / "nlmcore")


def test_the_rules_that_it_names_are_run_for_that_criterion() -> None:
    package = pytest.importorskip("axe_playwright_python")
    script = next(Path(package.__file__).parent.glob("*.js")).read_text("utf-8")
    rules = re.findall(r'\{id:"([a-z0-9-]+)"[^{}]*?tags:\[([^\]]*)\]', script)
    tags = {name: json.loads(f"[{of}]") for name, of in rules}
    off = Path(browsing.__file__).read_text("utf-8").partition("off = ")[2].partition("\n")[0]
    named = [(row.criterion.replace(".", ""), rule) for row in ROWS for rule in row.named("axe-core")]
    assert len(named) > 20
    for criterion, rule in named:
        assert f"wcag{criterion}" in tags[rule], f"{criterion}: {rule}"
        assert set(browsing.RULES) & set(tags[rule]), f"{rule} is not run"
        assert "experimental" not in tags[rule], f"{rule} is not run by default"
        assert f'"{rule}"' not in off
