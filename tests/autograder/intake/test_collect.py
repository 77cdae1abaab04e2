"""Downloads as the systems make them, taken apart; and what a student could put into one."""

import json
import shutil
import zipfile
from datetime import datetime
from functools import partial
from pathlib import Path

import pytest

from autograder.commands.students import collect
from autograder.grading.beside import MARKED_LATE, timestamp_of
from autograder.grading.course import Course
from autograder.intake import handed
from autograder.intake.collect import numbers_of
from autograder.intake.naming import Names, Person, joined
from autograder.intake.roster import enrol, read_roster
from autograder.intake.when import moment
from tests.autograder.courses import env, hand_in, nothing, zipped
from tests.autograder.intake.test_roster import WORKSHEET

pytestmark = pytest.mark.filterwarnings("ignore")

CLASS = """\
Student,ID,SIS User ID,SIS Login ID,Section
"Lovelace, Ada",101,3034001,ada,1
"Öztürk-O'Brien, Müge",102,3034002,muege,1
"Schmidt, Anna",103,3034003,anna,1
"Schmidt, Anna",104,3034004,anna2,1
"Meyer, Jo Ann",105,3034005,jo,1
"""


@pytest.fixture
def place(plain, tmp_path):
    (tmp_path / "class.csv").write_text(CLASS, encoding="utf-8")
    enrol(Course.load(plain), *read_roster(tmp_path / "class.csv"))
    return env(plain)


@pytest.fixture
def take(place, call):
    """`collect plain …`: what it says."""
    return partial(call, collect, place, "plain")


def there(place) -> dict[str, str]:
    """All that lies in submitted/, as text."""
    root = place.root / "submitted"
    return {p.relative_to(root).as_posix(): p.read_text() for p in sorted(root.rglob("*")) if p.is_file()}


# --- the systems --------------------------------------------------------------------------------------------

MOODLE = {
    "Ada Lovelace_4711_assignsubmission_file_/one.ipynb": "ada",
    "Ada Lovelace_4711_assignsubmission_file_/data/words.txt": "w",
    "Ada Lovelace_4711_assignsubmission_file_/timestamp.txt": "1990-01-01 00:00:00 UTC",
    "Ada Lovelace_4711_assignsubmission_onlinetext_/onlinetext.html": "<p>hello</p>",
    "Müge Öztürk-OBrien_4712_assignsubmission_file/one.ipynb": "muege",
    "Anna Schmidt_4713_assignsubmission_file_/one.ipynb": "anna",
    "J. A. Meyer_4714_assignsubmission_file_/one.ipynb": "jo",
}


@pytest.mark.parametrize("free", [0, 10])
def test_a_full_disk_is_not_blamed_on_the_download(place, take, tmp_path, monkeypatch, free):
    usage = shutil.disk_usage(tmp_path)._replace(free=free)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    said = take(zipped(tmp_path / "NLP-plain-99.zip", MOODLE | {"Ada Lovelace_4711_x/big.txt": "x" * 99}), code=1)
    assert "No space left" in said
    assert "Download it again" not in said
    assert there(place) == {}


def test_moodle(place, take, tmp_path):
    path = zipped(tmp_path / "NLP-plain-99.zip", MOODLE)
    take(path, "--dry-run", code=1)
    assert there(place) == {}
    said = take(path, code=1)
    assert there(place) == {
        "ada/plain/one.ipynb": "ada",
        "ada/plain/data/words.txt": "w",
        "muege/plain/one.ipynb": "muege",
    }
    for words in (
        "NLP-plain-99.zip: Moodle, 4 submissions.",
        "Ada Lovelace_4711 wrote an online text",
        "Taken: 2 new.",
        "Without a time, and so not late: ada, muege.\n  Moodle's grading worksheet",
        "Handed in nothing (or below): anna (Anna Schmidt), anna2 (Anna Schmidt), jo (Jo Ann Meyer).",
        "Anna Schmidt_4713: several are called so; perhaps anna or anna2",
        "J. A. Meyer_4714: nobody in the gradebook is called",
        "  Anna Schmidt_4713,\n",
    ):
        assert words in said
    assert numbers_of(Course.load(place.root), "plain") == {"ada": "4711", "muege": "4712"}
    (tmp_path / "who.csv").write_text("Anna Schmidt_4713,anna2\nJ. A. Meyer_4714,jo,2026-11-21 23:58\n")
    take(path, "--match", tmp_path / "who.csv")
    assert there(place)["anna2/plain/one.ipynb"] == "anna"
    assert timestamp_of(place.root / "submitted/jo/plain")[0] == _utc("2026-11-21 23:58")


def _utc(text: str) -> str:
    return datetime.fromisoformat(text).astimezone(handed.UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def test_moodles_grading_worksheet_says_who_and_when(place, take, tmp_path):
    row = 'Teilnehmer/in4713,Anna Schmidt,3034004,,Zur Bewertung abgegeben,,,Ja,"Freitag, 20. März 2026, 08:05",-,\n'
    wrong = 'Teilnehmer/in4712,Ada Lovelace,ada,,Zur Bewertung abgegeben,,,Ja,"Freitag, 20. März 2026, 08:05",-,\n'
    nobody = 'Teilnehmer/in4799,Eve Else,,,Zur Bewertung abgegeben,,,Ja,"Freitag, 20. März 2026, 08:05",-,\n'
    sheet = tmp_path / "Bewertungen.csv"
    sheet.write_text(WORKSHEET.replace("3034001,ada.lovelace@uni.example", "ada,") + row.replace("3034004", "anna2"))
    path = zipped(tmp_path / "moodle.zip", MOODLE)
    assert "Moodle's grading worksheet" not in take(path, "--match", sheet, code=1)
    found = there(place)
    assert found["anna2/plain/timestamp.txt"] == _utc("2026-03-20 08:05")
    assert found["ada/plain/timestamp.txt"] == _utc("2026-11-21 23:58")
    (tmp_path / "who.csv").write_text("Anna Schmidt_4713,anna2\n")
    said = take(path, "--match", sheet, "--match", tmp_path / "who.csv", "--dry-run", code=1)
    timeless = [line for line in said.splitlines() if line.startswith("Without a time")]
    assert "anna2" not in "".join(timeless)  # the worksheet has it
    sheet.write_text(WORKSHEET + wrong + nobody)
    said = take(path, "--match", sheet, code=1)
    assert "Müge Öztürk-OBrien_4712: the list says otherwise" in said
    assert "Eve Else is nobody in the gradebook" in said


def test_somebody_who_has_taken_anothers_name_gets_nothing_of_theirs(place, take, tmp_path):
    path = zipped(tmp_path / "m.zip", MOODLE | {"Ada Lovelace_4999_assignsubmission_file_/one.ipynb": "not ada"})
    assert "Ada Lovelace_4999: another in this download fits the same student; perhaps ada" in take(path, code=1)
    assert "ada/plain/one.ipynb" not in there(place)
    (tmp_path / "who.csv").write_text("Ada Lovelace_4711,ada\nAda Lovelace_4999,-\n")
    take(path, "--match", tmp_path / "who.csv", code=1)
    assert there(place)["ada/plain/one.ipynb"] == "ada"


def test_calling_oneself_by_anothers_id_is_no_surer_than_a_name(place, take, tmp_path):
    path = zipped(tmp_path / "m.zip", MOODLE | {"ada_4999_assignsubmission_file_/one.ipynb": "not ada"})
    assert "ada_4999: another in this download fits the same student" in take(path, code=1)
    assert "ada/plain/one.ipynb" not in there(place)


def test_moodle_with_hidden_names_and_its_worksheet(place, take, tmp_path):
    row = 'Participant 7,Ada Lovelace,ada,,Submitted,,,Yes,"Friday, 20 March 2026, 8:05 PM",-,\n'
    (tmp_path / "sheet.csv").write_text(WORKSHEET.splitlines()[0] + "\n" + row)
    path = zipped(tmp_path / "m.zip", {"Participant_7_assignsubmission_file_/one.ipynb": "ada"})
    take(path, "--match", tmp_path / "sheet.csv")
    assert there(place)["ada/plain/timestamp.txt"] == _utc("2026-03-20 20:05")


def test_moodle_as_loose_files_and_unpacked_by_a_browser(place, take, tmp_path):
    folder = tmp_path / "Downloads" / "NLP-plain-99"
    folder.mkdir(parents=True)
    (folder / "Ada Lovelace_4711_assignsubmission_file_one.ipynb").write_text("ada")
    (folder / ".DS_Store").write_text("")
    take(folder.parent)
    assert there(place) == {"ada/plain/one.ipynb": "ada"}


def test_canvas(place, take, tmp_path):
    members = {
        "lovelaceada_101_9001_one.ipynb": "old",
        "lovelaceada_101_9050_one-1.ipynb": "new",
        "lovelaceada_101_9051_part-2.csv": "data",
        "öztürkobrienmüge_LATE_102_9003_one.ipynb": "late",
        "schmidtanna_104_9004_one-3.ipynb": "anna2",
        "meyerjoann_105_text.html": "<p>",
        "somebodyelse_101_9009_one.ipynb": "?",
        "anon_x7Gh2_9010_one.ipynb": "anon",
    }
    said = take(zipped(tmp_path / "submissions.zip", members), code=1)
    assert there(place) == {
        "ada/plain/one.ipynb": "new",
        "ada/plain/part-2.csv": "data",
        "ada/.earlier/plain/no time/one.ipynb": "old",
        "anna2/plain/one.ipynb": "anna2",
        "muege/plain/one.ipynb": "late",
        "muege/plain/marked_late.txt": "late\n",
    }
    assert "Late, by the system's own mark, which does not say when: muege." in said
    assert "somebodyelse_101: nobody in the gradebook is called quite so; perhaps ada" in said
    assert "anon_x7Gh2" in said
    assert "meyerjoann_105 wrote an online text" in said
    assert timestamp_of(place.root / "submitted/muege/plain") == (None, MARKED_LATE)
    returned = {"ada": "101_9051", "anna2": "104_9004", "muege": "102_9003"}
    assert numbers_of(Course.load(place.root), "plain") == returned


METADATA = """\
submission_1:
  :submitters:
  - :name: Ada Lovelace
    :sid: ada
    :email: ada@uni.example
  :created_at: 2026-04-26 17:34:00.861687000 Z
  :score: 2.0
  :results: !ruby/hash:ActiveSupport::HashWithIndifferentAccess
    output: |-
      ====
  :history:
  - :id: 9
    :created_at: 2026-04-25 17:34:00.861687000 Z
submission_2:
  :submitters:
  - :name: Anna Schmidt
    :email: nobody@uni.example
  - :name: Jo Ann Meyer
  :created_at: 2026-04-26 17:34:00 Z
submission_3:
  :submitters:
  - :name: Müge Öztürk-O'Brien
  - :name: Jo Ann Meyer
    :sid: 105
  :created_at: 2026-04-27 01:00:00.5 Z
submission_4:
  :submitters: []
submission_5:
  :submitters:
  - :name: Ada Lovelace
    :sid: ada
  :created_at: 2026-04-24 17:34:00 Z
"""


def test_gradescope(place, take, tmp_path):
    top = "assignment_77_export"
    members = {f"{top}/submission_{n}/one.ipynb": f"s{n}" for n in (1, 2, 3, 4, 5)}
    path = zipped(tmp_path / "export.zip", {f"{top}/submission_metadata.yml": METADATA, **members})
    said = take(path, code=1)
    assert there(place) == {
        "ada/.earlier/plain/2026-04-24 17.34.00/one.ipynb": "s5",
        "ada/.earlier/plain/2026-04-24 17.34.00/timestamp.txt": "2026-04-24 17:34:00 UTC",
        "ada/plain/one.ipynb": "s1",
        "ada/plain/timestamp.txt": "2026-04-26 17:34:00 UTC",
        "jo/plain/one.ipynb": "s3",
        "jo/plain/timestamp.txt": "2026-04-27 01:00:00 UTC",
        "muege/plain/one.ipynb": "s3",
        "muege/plain/timestamp.txt": "2026-04-27 01:00:00 UTC",
    }
    assert "submission_2: several are called so; perhaps anna or anna2" in said
    assert "submission_4: the download does not say whose it is" in said
    (tmp_path / "who.csv").write_text("name,student\nsubmission_2,anna\nsubmission_2,jo\nsubmission_4,-\n")
    take(path, "--match", tmp_path / "who.csv")
    assert there(place)["anna/plain/one.ipynb"] == "s2"
    assert there(place)["jo/.earlier/plain/2026-04-26 17.34.00/one.ipynb"] == "s2"


def test_a_plain_folder_or_zip(place, take, tmp_path):
    hand_in(place.root, "plain", "ada", nothing)
    kept = there(place)
    (tmp_path / "copy").mkdir()
    (place.root / "submitted").rename(tmp_path / "copy" / "submitted")
    for inside, content in {
        "Anna Schmidt_103/x.ipynb": "?",
        "muege.zip": "PK",
        "jo_plain.ipynb": "jo",
        "a.txt": "",
    }.items():
        (tmp_path / "copy" / "submitted" / inside).parent.mkdir(exist_ok=True)
        (tmp_path / "copy" / "submitted" / inside).write_text(content)
    take(tmp_path / "copy", code=1)  # whose Anna's is
    found = there(place)
    assert {name: text for name, text in found.items() if name.startswith("ada/")} == kept
    assert found["muege/plain/muege.zip"] == "PK"
    assert found["jo/plain/jo_plain.ipynb"] == "jo"
    assert not any(name.startswith("anna") for name in found)


# --- nothing is lost ----------------------------------------------------------------------------------------


def test_the_newest_is_graded_and_every_other_is_kept_once(place, take, tmp_path):
    def plain(name: str, content: str, when: str = "") -> Path:
        stamp = {f"{name}/ada/plain/timestamp.txt": when} if when else {f"{name}/ada/timestamp.txt": "2000-01-01 00:00"}
        files = {f"{name}/ada/{'plain/' if when else ''}one.ipynb": content, f"{name}/jo/one.ipynb": "jo"}
        return zipped(tmp_path / f"{name}.zip", files | stamp)

    old = plain("old", "old", "2026-01-01 00:00:00 UTC")
    new = plain("new", "new", "2026-02-01 00:00:00 UTC")
    loose = plain("loose", "loose")
    expected = {
        "ada/plain/one.ipynb": "new",
        "ada/plain/timestamp.txt": "2026-02-01 00:00:00 UTC",
        "ada/.earlier/plain/2026-01-01 00.00.00/one.ipynb": "old",
        "ada/.earlier/plain/2026-01-01 00.00.00/timestamp.txt": "2026-01-01 00:00:00 UTC",
        "jo/plain/one.ipynb": "jo",
    }
    for downloads in ([old], [new], [old], [new, old], [old, new]):
        take(*downloads)
    assert there(place) == expected
    take(loose)  # without a time: what is given last counts
    assert there(place)["ada/plain/one.ipynb"] == "loose"
    assert "ada/plain/timestamp.txt" not in there(place)  # the student's own word
    assert there(place)["ada/.earlier/plain/2026-02-01 00.00.00/one.ipynb"] == "new"
    assert Course.load(place.root).students("plain") == ["ada", "jo"]


def test_an_archive_in_a_folders_place_is_kept_too(place, take, tmp_path):
    (place.root / "submitted/ada").mkdir(parents=True)
    (place.root / "submitted/ada/plain.zip").write_text("PK old")
    take(zipped(tmp_path / "x.zip", {"ada/one.ipynb": "new", "jo/one.ipynb": "jo"}))
    assert there(place)["ada/.earlier/plain/no time/plain.zip"] == "PK old"
    assert not (place.root / "submitted/ada/plain.zip").exists()


# --- what a student could put into it, and what goes wrong --------------------------------------------------


def test_a_member_that_climbs_out_stays_out(place, take, tmp_path):
    link = zipfile.ZipInfo("ada/link.ipynb")
    link.external_attr = 0o120777 << 16
    path = zipped(tmp_path / "x.zip", {"ada/one.ipynb": "ada", "../../evil.txt": "x", "ada/../jo/one.ipynb": "x"})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(link, "/etc/passwd")
    assert take(path).count("was not unpacked") == 3
    assert there(place) == {"ada/plain/one.ipynb": "ada"}
    assert not list(tmp_path.rglob("evil.txt"))


@pytest.mark.parametrize("most", [{"bytes": 50_000}, {"files": 3}])
def test_a_bomb_takes_nothing_and_leaves_nothing(place, take, tmp_path, monkeypatch, most):
    monkeypatch.setattr(handed, "CLASS", handed.replace(handed.CLASS, **most))
    members = {f"ada/{n}.ipynb": "0" * 30_000 for n in range(9)}
    said = take(zipped(tmp_path / "x.zip", members), code=2)
    assert "nothing of x.zip was taken, as it is not whole" in said.lower()
    assert list((place.root / "submitted").iterdir()) == []


def _cut(tmp_path: Path) -> Path:
    whole = zipped(tmp_path / "cut.zip", MOODLE).read_bytes()
    (tmp_path / "cut.zip").write_bytes(whole[: len(whole) // 2])
    return tmp_path / "cut.zip"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (_cut, "Download it again"),
        (lambda t: t / "none.zip", "there is no"),
        (lambda t: (t / "x.txt").write_text("") or t / "x.txt", "neither a folder nor an archive"),
        (lambda t: zipped(t / "e.zip", {}), "holds no files"),
        (lambda t: zipped(t / "y.zip", {"submission_metadata.yml": "{["}), "cannot be read"),
        (lambda t: zipped(t / "y.zip", {"submission_metadata.yml": "- x"}), "lists no submissions"),
    ],
)
def test_a_download_that_is_none_is_said_in_words(take, tmp_path, make, said):
    assert said.lower() in take(make(tmp_path), code=2).lower()


@pytest.mark.parametrize(
    ("lines", "said"),
    [("Ada,zoe\n", "'zoe' is no student"), ("Ada,ada,soon\n", "'soon' is no time"), ("Ada\n", "NAME,STUDENT")],
)
def test_a_list_of_pairs_that_is_wrong_is_said_in_words(place, take, tmp_path, lines, said):
    (tmp_path / "who.csv").write_text(lines)
    assert said in take(zipped(tmp_path / "x.zip", MOODLE), "--match", tmp_path / "who.csv", code=2)
    assert not there(place)


def test_without_a_class_nothing_can_be_matched(plain, tmp_path, call):
    path = zipped(tmp_path / "x.zip", MOODLE)
    assert "python3 -m autograder roster FILE" in call(collect, env(plain), "plain", path, code=2)


def test_it_speaks_json(take, tmp_path):
    found = json.loads(take(zipped(tmp_path / "x.zip", MOODLE), "--json", code=1))
    assert found["states"] == {"ada": "new", "muege": "new"}
    assert [one["label"] for one in found["unmatched"]] == ["Anna Schmidt_4713", "J. A. Meyer_4714"]


# --- names and times ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("Ada Lovelace", ("ada",)),
        ("Lovelace, Ada", ("ada",)),
        ("lovelaceada", ("ada",)),
        ("ada", ("ada",)),
        ("ada Ada Lovelace", ("ada",)),
        ("Lovelace_Ada_ada_4711", ("ada",)),
        ("Ada Maria Lovelace", ()),
        ("Müller Jörg", ("joerg",)),
        ("Jorg Muller", ("joerg",)),
        ("Joerg Mueller", ("joerg",)),
        ("Mu\u0308ller Jo\u0308rg", ("joerg",)),
        ("", ()),
        ("ada Byron", ()),
    ],
)
def test_names(name, ids):
    people = [Person(id="ada", first="Ada", last="Lovelace"), Person(id="joerg", first="Jörg", last="Müller")]
    assert Names(people).find(name).ids == ids


def test_a_name_that_is_exact_outweighs_one_that_is_alike():
    names = Names([Person(id="a", first="Jo", last="Müller"), Person(id="b", first="Jo", last="Mueller")])
    assert names.find("Jo Müller").ids == ("a",)
    assert names.find("Jo Muller").ids == ("a",)
    assert names.find("Jo Mueller").ids == ("b",)
    assert joined("O'Brien-Öz, Ada") == "obrienözada"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Saturday, 21 November 2026, 11:58 PM", "2026-11-21 23:58"),
        ("Wednesday, September 23, 2020, 12:05 AM", "2020-09-23 00:05"),
        ("Mittwoch, 13. März 2024, 10:15", "2024-03-13 10:15"),
        ("mardi 3 février 2026, 08:00", "2026-02-03 08:00"),
        ("martes, 3 de marzo de 2026, 08:00", "2026-03-03 08:00"),
        ("21.11.2026 23:58", "2026-11-21 23:58"),
        ("2026-11-21 23:58:01", "2026-11-21 23:58:01"),
        ("-", None),
        ("yesterday", None),
        ("31 February 2026, 10:00", None),
    ],
)
def test_times(text, expected):
    assert moment(text) == (datetime.fromisoformat(expected) if expected else None)
