import json

import nbformat
import pytest

from autograder.instructor.rows import Asked, Row
from autograder.instructor.table import write_report
from autograder.instructor.written import titles
from tests.autograder.courses import table
from tests.autograder.small_course import CELLS, SCHEME, small_course

ASKED = [Asked("ps1", "check_heads", 4, "check_heads"), Asked("ps1", "a", 1, "a"), Asked("ps1", "b", 2, "b")]
CALLED = {"check_heads": "4. Several heads", "a": "Problem 1", "b": "Problem 1"}
MARKS = {"check_heads": 4, "a": 0, "b": None}
ADA = Row(student="ada", state="waiting", score=4, of=7, questions=MARKS, waiting=("a", "b"))


@pytest.fixture
def course(monkeypatch):
    monkeypatch.setattr("autograder.instructor.table.rows_asked_for", lambda *given: (ASKED, [ADA]))
    monkeypatch.setattr("autograder.instructor.table.titles", lambda *given: CALLED)


def test_questions_are_called_as_in_the_notebook_and_each_can_be_told_from_the_others(course, tmp_path):
    (row,) = table(write_report(course, "ps1", path=tmp_path / "x.csv"))
    marks = {name: row[name] for name in ("4. Several heads", "Problem 1 (a)", "Problem 1 (b)")}
    assert list(marks.values()) == ["4", "0", ""], "no mark is not zero"
    assert row["waiting for a person"] == "Problem 1 (a), Problem 1 (b)"


def test_a_program_gets_the_names_and_the_titles(course, tmp_path):
    told = json.loads(write_report(course, "ps1", "json", tmp_path / "x.json").read_text(encoding="utf-8"))
    assert [(q["name"], q["title"]) for q in told["questions"]] == list(CALLED.items())
    assert told["students"][0]["questions"]["check_heads"] == 4


@pytest.mark.filterwarnings("ignore")  # nbgrader warns about itself
def test_the_lines_around_a_mark_scheme_are_not_what_a_question_is_called(tmp_path):
    course = small_course(tmp_path)
    master = nbformat.v4.new_notebook()
    for name, kind, source, grade, solution, locked, points in CELLS:
        about = {"grade_id": name, "grade": grade, "solution": solution, "locked": locked, "points": points}
        cell = (nbformat.v4.new_code_cell if kind == "code" else nbformat.v4.new_markdown_cell)(source)
        cell.metadata.nbgrader = {"schema_version": 3, "task": False, "cell_type": kind, **about}
        master.cells.append(cell)
    assert SCHEME in (cell.source for cell in master.cells)
    path = tmp_path / course.directory.source_directory / "attention" / "attention.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(master, path)
    assert titles(course, "attention")["written"] == "2. In words"
