"""Marks as Canvas, Moodle and Gradescope take them: new files, and exported ones filled in."""

import csv
import io
from pathlib import Path

import pytest

from autograder.commands.marks import report
from autograder.grading.course import Course
from tests.autograder.courses import env
from tests.autograder.small_course import small_course

pytestmark = pytest.mark.filterwarnings("ignore")

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Reading (7),Attention (8811),Current Score
,,,,,Manual Posting,,
    Points Possible,,,,,10.00,6.00,(read only)
"Lovelace, Ada",101,s1,ada,NLP 01,9.5,,
"Martin, Bob",102,s2,bob,NLP 01 and NLP 02,9.5,3.00,
"=Cat, The",103,s3,CAT,NLP 01,,EX,
"Doe, Dan",104,s4,dan,NLP 01,,5.00,
"Stranger, Some",105,s9,zoe,NLP 01,,5.00,
"Student, Test",199,,9f3a0c,NLP 01,,,
"""
MOODLE = """\
"First name","Last name","ID number",Institution,Department,"Email address","Assignment: Attention (Real)",\
"Course total (Real)","Last downloaded from this course"
Ada,Lovelace,,,,ada@uni.example,-,-,1795300000
Bob,Martin,,,,bob@uni.example,3.00,3.00,1795300000
Cat,X,,,,cat@uni.example,-,-,1795300000
"""
MOODLE_DE = """\
Vorname;Nachname;Anmeldename;E-Mail-Adresse;"Aufgabe: Attention (Punkte)";"Quiz: Lesen (Punkte)"
Ada;Lovelace;x1;ada@uni.example;-;7,50
Cat;X;x3;cat@uni.example;-;8,00
"""
WORKSHEET = """\
Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,Last modified (submission),\
Last modified (grade),Feedback comments
Participant 4711,Ada Lovelace,ada@uni.example,Submitted for grading,,6.00,Yes,"Saturday, 21 November 2026, 11:58 PM",-,
Participant 4712,Cat X,cat@uni.example,Submitted for grading,,6.00,Yes,-,-,
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    made = small_course(tmp_path_factory.mktemp("course"))
    with made.gradebook() as book:
        for name in ("ada", "bob", "cat"):
            book.update_or_create_student(name, email=f"{name}@uni.example", last_name="X")
    return made


@pytest.fixture
def run(course: Course, tmp_path: Path, call, monkeypatch):
    """`report attention …`, given in a folder of its own: (what it said, out.csv)."""
    monkeypatch.setenv("NLM_FROM", str(tmp_path))

    def give(*words: str, export: str = "", encoding: str = "utf-8", code: int = 0):
        if export:
            (tmp_path / "export.csv").write_bytes(export.encode(encoding))
            words = (*words, "--into", "export.csv")
        said = call(report, env(course.root), "attention", *words, "--out", "out.csv", code=code)
        path = tmp_path / "out.csv"
        return said, path.read_bytes().decode(encoding if export else "utf-8-sig") if path.exists() else ""

    return give


def rows(content: str, separator: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(content), delimiter=separator))


def test_a_canvas_export_is_filled_in_and_nothing_else_in_it_changes(run):
    said, content = run(export=CANVAS)
    before, after = rows(CANVAS), rows(content)
    changed = {(r, c) for r, row in enumerate(after) for c, cell in enumerate(row) if before[r][c] != cell}
    assert changed == {(3, 6)}
    assert after[3][6] == "4.5"
    assert "1 final mark in the column 'Attention (8811)', out of 6" in said
    assert "Without a mark, which is not a zero: bob, dan, eve, fay, gus." in said
    assert "cat: there is 'EX' in the file, which stays" in said
    assert "(Some Stranger): not in the gradebook" in said


def test_a_mark_that_is_not_in_the_file_is_said(run):
    said, _ = run(export="\n".join(line for line in CANVAS.split("\n") if "CAT" not in line))
    assert "WITH A MARK, AND NOT IN THE FILE: cat." in said


def test_another_maximum_there_is_refused_until_the_marks_are_scaled(run):
    export = CANVAS.replace("6.00,(read", "100,(read")
    said, content = run(export=export, code=2)
    assert content == ""
    assert "out of 100 points, and these marks are out of 6" in said
    assert rows(run("--out-of", "100", export=export)[1])[3][6] == "75"


def test_the_column_is_named_where_it_is_not_certain(run):
    export = CANVAS.replace("Attention", "Week 11")
    assert "one of 'Section', 'Reading (7)', 'Week 11 (8811)', 'Current Score'" in run(export=export, code=2)[0]
    run("--column", "week 11", export=export)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_moodle_export_keeps_its_encoding_and_what_moodle_has(run, encoding):
    _, content = run(export=MOODLE.replace("Department", "Département"), encoding=encoding)
    assert [row[6] for row in rows(content)[1:]] == ["4.5", "3.00", "0"]
    assert [row[8] for row in rows(content)[1:]] == ["1795300000"] * 3
    assert "Département" in content


def test_a_german_export_gets_commas(run):
    assert [row[4] for row in rows(run(export=MOODLE_DE)[1], ";")[1:]] == ["4,5", "0"]


def test_moodles_grading_worksheet_is_filled_in(run):
    assert [row[4] for row in rows(run(export=WORKSHEET)[1])[1:]] == ["4.5", "0"]
    run(export=WORKSHEET.replace("6.00", "100.00"), code=2)


def test_two_lines_of_one_student_are_left_alone(run):
    said, content = run(export=CANVAS + '"Lovelace, Ada",201,s1,ada,NLP 03,,,\n')
    assert [row[6] for row in rows(content) if row[3] == "ada"] == ["", ""]
    assert "ada is found in more than one line" in said


def test_who_is_called_like_another_gets_nothing_of_theirs(run):
    said, content = run(export=MOODLE + "Ada,X,,,,eve@uni.example,-,-,1795300000\n")
    assert [row[6] for row in rows(content)[1:]] == ["4.5", "3.00", "0", "-"]
    assert "only the name is that of ada, who is in another line" in said


def test_the_export_itself_is_never_written_over(run, tmp_path):
    (tmp_path / "out.csv").write_text(CANVAS)
    assert "the file that was exported" in run("--into", "out.csv", code=2)[0]


def test_a_new_file_has_only_those_with_a_mark(run):
    head, possible, *canvas = rows(run("--lms", "canvas")[1])
    assert head == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "attention"]
    assert possible == ["    Points Possible", "", "", "", "", "6"]
    assert [(row[3], row[5]) for row in canvas] == [("ada", "4.5"), ("cat", "0")]
    head, *moodle = rows(run("--lms", "moodle")[1])
    assert head == ["Username", "First name", "Last name", "Email address", "attention"]
    assert [(row[0], row[4]) for row in moodle] == [("ada", "4.5"), ("cat", "0")]


def test_moodle_gets_no_column_with_a_gap(run, course):
    with course.gradebook() as book:
        book.update_or_create_student("cat", email=None)
    try:
        assert rows(run("--lms", "moodle")[1])[0] == ["Username", "First name", "Last name", "attention"]
    finally:
        with course.gradebook() as book:
            book.update_or_create_student("cat", email="cat@uni.example")


def test_automatic_points_are_labelled(run):
    said, content = run("--lms", "moodle", "--automatic")
    assert rows(content)[0][-1] == "attention (automatic points)"
    assert [(row[0], row[-1]) for row in rows(content)[1:]] == [("ada", "2"), ("bob", "0"), ("cat", "0")]
    assert "3 marks of automatic points alone in the column" in said


def test_gradescopes_list_tells_graded_from_ungraded_and_missing(run):
    content = run("--lms", "gradescope")[1]
    found = {row["SID"]: row for row in csv.DictReader(io.StringIO(content))}
    marks = [(found[name]["Total Score"], found[name]["Status"]) for name in ("ada", "bob", "fay")]
    assert marks == [("4.5", "Graded"), ("", "Ungraded"), ("", "Missing")]
    assert found["ada"]["2: written (4 pts)"] == "3.5"
