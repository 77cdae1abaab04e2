import csv
import json

import pytest

from autograder.instructor.rows import Asked, Row
from autograder.instructor.table import write_report

ASKED = [Asked("ps1", "check_heads", 4, "check_heads"), Asked("ps1", "a", 1, "a"), Asked("ps1", "b", 2, "b")]
CALLED = {"check_heads": "4. Several heads", "a": "Problem 1", "b": "Problem 1"}
ADA = Row(
    student="ada", state="waiting", score=4, of=7, questions={"check_heads": 4, "a": 0, "b": None}, waiting=("a", "b")
)


@pytest.fixture
def course(monkeypatch):
    monkeypatch.setattr("autograder.instructor.table.rows_asked_for", lambda *given: (ASKED, [ADA]))
    monkeypatch.setattr("autograder.instructor.table.titles", lambda *given: CALLED)


def test_questions_are_called_as_in_the_notebook_and_each_can_be_told_from_the_others(course, tmp_path):
    with write_report(course, "ps1", path=tmp_path / "x.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    marks = {name: row[name] for name in ("4. Several heads", "Problem 1 (a)", "Problem 1 (b)")}
    assert list(marks.values()) == ["4", "0", ""], "no mark is not zero"
    assert row["waiting for a person"] == "Problem 1 (a), Problem 1 (b)"


def test_a_program_gets_the_names_and_the_titles(course, tmp_path):
    told = json.loads(write_report(course, "ps1", "json", tmp_path / "x.json").read_text(encoding="utf-8"))
    assert [(q["name"], q["title"]) for q in told["questions"]] == list(CALLED.items())
    assert told["students"][0]["questions"]["check_heads"] == 4
