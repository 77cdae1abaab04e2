"""Class lists as the systems export them, in the encodings in which they arrive, and what becomes of them."""

import json
import os
from pathlib import Path

import pytest

from autograder.commands.students import roster
from autograder.grading.course import Course
from autograder.intake.roster import people_of, read_roster
from tests.autograder.courses import env, zipped

pytestmark = pytest.mark.filterwarnings("ignore")

MOODLE = """\
"First name","Last name","ID number","Email address",Groups
Ada,Lovelace,3034001,ada.lovelace@uni.example,"Group A"
Müge,"Öztürk-O'Brien",3034002,muege@uni.example,
"""
MOODLE_DE = """\
Vorname;Nachname;Anmeldename;ID-Nummer;Institution;E-Mail-Adresse;"Aufgabe: Attention (Punkte)"
Ada;Lovelace;al123;3034001;;ada.lovelace@uni.example;-
Müge;Öztürk-O'Brien;mo77;3034002;;muege@uni.example;
"""
CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section,Attention (8811),Current Score
    Points Possible,,,,,26.0,(read only)
"Lovelace, Ada",101,3034001,al123,NLP 01,,
"Öztürk-O'Brien, Müge",102,3034002,muege@uni.example,NLP 01 and NLP 02,12.5,
"Student, Test",199,,9f3a0c,NLP 01,,
"""
GRADESCOPE = """\
First Name,Last Name,SID,Email,Role,Sections
Ada,Lovelace,3034001,ada.lovelace@uni.example,Student,NLP 01
Müge,Öztürk-O'Brien,3034002,muege@uni.example,Student,
Grace,Hopper,,hopper@uni.example,TA,
Alan,Turing,,turing@uni.example,Instructor,
"""
WORKSHEET = """\
ID,Vollständiger Name,ID-Nummer,E-Mail-Adresse,Status,Bewertung,Bestwertung,Bewertung kann geändert werden,\
Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung),Feedback als Kommentar
Teilnehmer/in4711,Ada Lovelace,3034001,ada.lovelace@uni.example,Zur Bewertung abgegeben,,"26,00",Ja,\
"Samstag, 21. November 2026, 23:58",-,
"""


def read(tmp_path: Path, text: str, encoding: str = "utf-8", **about: str):
    path = tmp_path / "list.csv"
    path.write_bytes(text.encode(encoding))
    return read_roster(path, **about)


def facts(people):
    return {p.id: (p.first, p.last, p.email, p.lms or p.number) for p in people}


NAMES = ("Ada", "Lovelace"), ("Müge", "Öztürk-O'Brien")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_every_encoding_and_separator_gives_the_same_people(tmp_path, encoding, separator):
    people, made = read(tmp_path, MOODLE.replace(",", separator).replace("\n", "\r\n"), encoding)
    assert [(p.first, p.last) for p in people] == [*NAMES]
    assert made.left_out == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (MOODLE, {"3034001": "ada.lovelace@uni.example", "3034002": "muege@uni.example"}),
        (MOODLE_DE, {"al123": "ada.lovelace@uni.example", "mo77": "muege@uni.example"}),
        (CANVAS, {"al123": "", "muege@uni.example": "muege@uni.example"}),
        (GRADESCOPE, {"3034001": "ada.lovelace@uni.example", "3034002": "muege@uni.example"}),
    ],
    ids=["moodle", "moodle-de", "canvas", "gradescope"],
)
def test_the_lists_of_every_system(tmp_path, text, expected):
    people, made = read(tmp_path, text)
    assert {p.id: p.email for p in people} == expected
    assert [(p.first, p.last) for p in people] == [*NAMES]
    assert len(made.left_out) == {CANVAS: 1, GRADESCOPE: 2}.get(text, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sep=;\nName;E-Mail\nLovelace, Ada;ada@x.y\n", {"ada": ("Ada", "Lovelace", "ada@x.y", "")}),
        ("name,email\nAda King Lovelace,ada@x.y\n", {"ada": ("Ada King", "Lovelace", "ada@x.y", "")}),
        ("email\nada@x.y\nbob@x.y\n", {"ada": ("", "", "ada@x.y", ""), "bob": ("", "", "bob@x.y", "")}),
        ("email\nada@x.y\nada@z.y\n", {"ada@x.y": ("", "", "ada@x.y", ""), "ada@z.y": ("", "", "ada@z.y", "")}),
        ("id,first_name,last_name,email,lms_user_id\nada,A,L,a@x.y,7\n", {"ada": ("A", "L", "a@x.y", "7")}),
        ("student,first name,last name,email,state\nada,A,L,a@x.y,graded\n", {"ada": ("A", "L", "a@x.y", "")}),
        ("name,canvas_user_id,user_id,login_id,sections\nAda L,7,303,ada,1\n", {"ada": ("Ada", "L", "", "7")}),
        ("Name;Vorname;Matrikel-Nr.\nLovelace;Ada;303\n", {"303": ("Ada", "Lovelace", "", "")}),
        ("Last Name\tFirst Name\tUsername\tStudent ID\nL\tA\tada\t303\n", {"ada": ("A", "L", "", "303")}),
        ("Vorname / Nachname,E-Mail-Adresse\nAda Lovelace,ada@x.y\n", {"ada": ("Ada", "Lovelace", "ada@x.y", "")}),
        (WORKSHEET, {"3034001": ("Ada", "Lovelace", "ada.lovelace@uni.example", "")}),
    ],
)
def test_lists_of_other_forms(tmp_path, text, expected):
    assert facts(read(tmp_path, text)[0]) == expected


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"PK\x03\x04xl/workbook.xml", "save it as CSV"),
        (b"\xd0\xcf\x11\xe0....", "save it as CSV"),
        (b"colour,size\nred,3\n", "tells students apart"),
        (b"Vorname,Nachname\nAda,Lovelace\n", "Its columns: Vorname, Nachname. Say which: --id COLUMN"),
        (b"email,name\n", "no students below"),
        (b"a title\nemail,name\nx@y.z,X\n", "is no line of headings"),
        ("email\n☃\n".encode("utf-16")[:-1], "is no text in UTF-8"),
    ],
)
def test_what_is_no_list_is_said_in_words(tmp_path, content, said):
    (tmp_path / "list.csv").write_bytes(content)
    with pytest.raises(ValueError, match=r"(?s).*" + said):
        read_roster(tmp_path / "list.csv")


def test_rows_that_cannot_be_are_left_out_with_their_reason(tmp_path):
    text = "id,name\nada,Ada L\nada,Ada L\nADA,Ada Other\n../x,Eve X\na+b,Bo B\n.x,C C\n,No Id\n3.03E+09,E E\n\n"
    people, made = read(tmp_path, text)
    assert [p.id for p in people] == ["ada"]
    whys = [f"{who}: {why}" for who, why in made.left_out]
    assert len(whys) == 6
    assert "line 4 (Ada Other): has the id 'ADA' of line 2" in whys[0]
    assert all("folder's name" in why for why in [*whys[1:4], whys[5]])
    assert "nothing in the column" in whys[4]


# --- into the gradebook -------------------------------------------------------------------------------------


@pytest.fixture
def place(plain):
    return env(plain)


def known(place):
    with Course.load(place.root).gradebook() as gradebook:
        return facts(people_of(gradebook))


def test_a_list_goes_into_the_gradebook_once_and_only_what_is_new_changes(place, tmp_path, call):
    path = tmp_path / "participants.csv"
    path.write_text(MOODLE_DE, encoding="utf-8")
    call(roster, place, path, "--dry-run")
    assert known(place) == {}
    assert "Added: 2. Changed: 0. Unchanged: 0." in call(roster, place, path)
    first = known(place)
    assert first["mo77"] == ("Müge", "Öztürk-O'Brien", "muege@uni.example", "3034002")
    assert "Added: 0. Changed: 0. Unchanged: 2." in call(roster, place, path)
    assert known(place) == first
    path.write_text(CANVAS.replace("Lovelace, Ada", "King, Ada"), encoding="utf-8")
    said = call(roster, place, path)  # Müge's login is her address there: she keeps her id
    assert "al123: last name Lovelace → King, number in the LMS 3034001 → 101" in said
    assert "Left out: line 5 (Test Student): Canvas's student for trying things out." in said
    assert known(place) == {
        "al123": ("Ada", "King", "ada.lovelace@uni.example", "101"),
        "mo77": ("Müge", "Öztürk-O'Brien", "muege@uni.example", "102"),
    }
    path.write_text("id,name,email\nnew,Ne W,muege@uni.example\nal123,Ada King,muege@uni.example\n", encoding="utf-8")
    found = json.loads(call(roster, place, path, "--json"))
    assert found["left_out"] == [["al123 (Ada King)", "has the address of mo77"]]
    assert found["absent"] == ["al123 (Ada King)"]


def test_a_student_who_is_removed_is_removed_everywhere_or_it_is_said_where_traces_remain(place, tmp_path, call):
    root, exchange = place.root, tmp_path / "exchange"
    inbound = exchange / "neural-language-models" / "inbound"
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(f"get_config().Exchange.root = {str(exchange)!r}\n")
    (tmp_path / "class.csv").write_text("id,email\nada_l,ada@uni.example\nada,a@uni.example\n")
    call(roster, place, tmp_path / "class.csv")
    with Course.load(root).gradebook() as book:
        for student in ("ada", "ada_l"):
            book.add_submission("plain", student)
    grading = root / "grading"
    files = ["submitted/{}/plain/one.ipynb", "autograded/{}/plain/one.ipynb", "feedback/{}/plain/one.html"]
    files += ["submitted/{}/.earlier/plain/x/one.ipynb", "grading/plain/{}/record.json", "grading/plain/race/{}.json"]
    files += ["grading/plain/.regrade/{}.json", "grading/desk/plain/{}.jsonl"]
    for student in ("ada", "ada_l"):
        for name in files:
            (root / name.format(student)).parent.mkdir(parents=True, exist_ok=True)
            (root / name.format(student)).write_text("{}")
        (inbound / f"{student}+plain+now").mkdir(parents=True)
    (grading / "plain" / "moodle.json").write_text('{"ada_l": "7", "ada": "8"}')
    (grading / "desk" / "tokens.csv").write_text("student,token\nada_l,1\nada,2\n")
    (grading / "plain" / "report.csv").write_text("ada_l,5\n")
    (grading / "plain" / "other.csv").write_text("ada,5\nx.ada_l\n")
    for name, student in (("theirs.zip", "ada-l"), ("another.zip", "ada")):
        zipped(grading / "plain" / name, {f"{student}_7_assignsubmission_file_/one.html": ""})
    before = {path for path in [*root.rglob("*"), *exchange.rglob("*")] if path.is_file() or path.parent == inbound}
    would = call(roster, place, "--remove", "ada_l", "--dry-run")
    assert {path for path in before if not path.exists()} == set()
    said = call(roster, place, "--remove", "ada_l")
    assert would.replace("Would be removed", "Removed") == said
    assert "  grading/plain/report.csv\n" in said
    assert "  grading/plain/theirs.zip\n" in said
    assert "other.csv" not in said
    assert "another.zip" not in said
    assert {path for path in before if not path.exists()} == {path for path in before if "ada_l" in str(path)}
    assert json.loads((grading / "plain" / "moodle.json").read_text()) == {"ada": "8"}
    assert (grading / "desk" / "tokens.csv").read_text() == "student,token\nada,2\n"
    assert list(known(place)) == ["ada"]
    assert "ada" not in (grading / "removed.log").read_text()
    assert roster(place, ["--remove", "ada_l"]) == 2


@pytest.mark.skipif(os.name != "posix", reason="modes are those of Unix")
def test_what_is_kept_about_students_is_for_its_owner_alone(place, tmp_path):
    (place.root / "gradebook.db").unlink()
    (tmp_path / "class.csv").write_text("id,email\nada,ada@uni.example\n")
    roster(place, [str(tmp_path / "class.csv")])
    kept = [place.root / name for name in ("gradebook.db", "submitted", "autograded", "feedback", "grading")]
    assert [path.name for path in kept if path.stat().st_mode & 0o077] == []


@pytest.mark.parametrize(
    ("words", "said"), [(["none.csv"], "No such file"), (["list.csv", "--id", "Matrikel"], "has no column 'Matrikel'")]
)
def test_misuse_is_said(place, tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "list.csv").write_text(MOODLE, encoding="utf-8")
    assert roster(place, words) in (1, 2)
    assert said in capsys.readouterr().err
