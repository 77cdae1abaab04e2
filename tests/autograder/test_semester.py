"""A semester as INSTRUCTORS.md has it, with 30 students: two markers, a late rule, a withdrawal, a crash, an update in
mid-term and an assignment in pairs. Every mark is compared with arithmetic of this file's own."""

import csv
import math
import multiprocessing
import os
import re
import shutil
import signal
import time
from collections import Counter
from datetime import datetime, timedelta

import nbformat
import pytest

import autograder.grading.run as run_module
from autograder.commands.backups import backup, restore
from autograder.commands.dates import due, extend
from autograder.commands.grade import grade
from autograder.commands.marks import report
from autograder.commands.regrade import regrade
from autograder.commands.students import collect, roster
from autograder.commands.together import groups, markers
from autograder.grading.course import Course
from autograder.instructor.rows import report_rows
from autograder.release.build import build_exercises
from tests.autograder.courses import ANSWERS, ROOT, env, table, zipped
from tests.autograder.grading import fake
from tests.autograder.instructor.visitor import Visitor, running, visiting

pytestmark = [pytest.mark.everything, pytest.mark.filterwarnings("ignore"), pytest.mark.timeout(600)]
IDS = [f"s{number:02}" for number in range(30)]
NAMES = {student: (f"Ann{number}", f"Lástname{number}") for number, student in enumerate(IDS)}
ABSENT, GONE = {11, 12}, 7
HOURS_25 = timedelta(hours=25)
LATE = {3: timedelta(minutes=30), 4: HOURS_25, 5: timedelta(days=8), 6: HOURS_25, 14: timedelta(days=3, minutes=1)}
DUE = datetime(2026, 11, 13, 23, 59)
RULE = """\
c = get_config()
c.AssignLatePenalties.plugin_class = "autograder.grading.late.LatePolicy"
c.LatePolicy.percent_a_day = 10  # of the points earned, for each day begun
c.LatePolicy.grace_hours = 1  # so much later still counts as on time
c.LatePolicy.closed_after_days = 7  # what comes later earns nothing
"""
WORKSHEET = ("Identifier", "Full name", "Email address", "Grade", "Maximum Grade", "Last modified (submission)")


@pytest.fixture
def place(plain, monkeypatch):
    """Two assignments: `plain`, and `pairs`, which is the same with other names."""
    monkeypatch.setattr(run_module, "work", fake.work)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    shutil.copy(ROOT / "nbgrader_config.py", plain)
    (plain / "course_config.py").write_text(RULE)
    shutil.copytree(plain / "solutions" / "plain", plain / "solutions" / "pairs")
    build_exercises(plain)
    yield env(plain)
    monkeypatch.undo()
    time.tzset()


def done(command, place, *words):
    assert command(place, [str(word) for word in words]) == 0


def right(number: int) -> dict[str, str]:
    """What a student answers: half of them leave `triple` out."""
    found = {key: text for key, text in ANSWERS.items() if not (key == "triple" and number % 2)}
    return found | {"why": f"My reason is number {number}."}


def automatic(number: int, of_double: float) -> float:
    """Without `count`, which reads a file that `FakeBox` has not: 0 of 5 for all."""
    return of_double + 2 * (number % 2 == 0)


def download(place, tmp_path, assignment, who, late):
    """What Moodle makes of the submissions, and its grading worksheet."""
    members, rows = {}, [WORKSHEET]
    for number, student in enumerate(IDS):
        full, when = " ".join(NAMES[student]), ""
        if number in who:
            for path in (place.root / "exercises" / assignment).glob("*.ipynb"):
                notebook = nbformat.read(path, 4)
                for cell in notebook.cells:
                    about = cell.metadata.get("nbgrader", {})
                    if about.get("solution") and about.grade_id in right(number):
                        cell.source = right(number)[about.grade_id]
                members[f"{full}_{7000 + number}_assignsubmission_file_/{path.name}"] = nbformat.writes(notebook)
            when = (DUE + late.get(number, -timedelta(hours=5))).strftime("%A, %d %B %Y, %I:%M %p")
        rows.append((f"Participant {7000 + number}", full, f"{student}@x.y", "", "100", when))
    archive = zipped(tmp_path / f"{assignment}.zip", members)
    with (tmp_path / f"{assignment}.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return archive, "--match", tmp_path / f"{assignment}.csv"


def killed_while_grading(place, after: int) -> None:
    """`grade` in a process of its own, which dies as soon as so many are graded."""
    grading = place.root / "grading" / "plain"
    process = multiprocessing.get_context("fork").Process(target=grade, args=(place, ["plain"]))
    process.start()
    while process.is_alive() and len(list(grading.glob("*/record.json"))) < after:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert after <= len(list(grading.glob("*/record.json"))) < len(IDS) - len(ABSENT)


def number_in(page: str) -> int | None:
    found = re.search(r"My reason is number (\d+)\.", page)
    return int(found[1]) if found else None


def mark_alternately(course, assignment, points) -> dict[int, tuple[str, float]]:
    """Both markers at the same time, each on the own share: by whom, and what, for each student."""
    found: dict[int, tuple[str, float]] = {}
    shares = {"share": True}
    with (
        running(course, assignment, by="ann", **shares) as first,
        running(course, assignment, by="bob", **shares) as second,
    ):
        going = {"ann": Visitor(first).enter(), "bob": Visitor(second).enter()}
        while going:
            for by, visitor in list(going.items()):
                number = number_in(visitor.page)
                if number is None:
                    del going[by]
                    continue
                assert number not in found
                fields, given = points(number)
                assert visitor.save(live="yes", **fields) == 200
                found[number] = by, given
    return found


def drawings(course, assignment) -> None:
    """The task is marked for everybody, with one point."""
    with running(course, assignment, by="ann") as address:
        visitor = Visitor(address).enter()
        visitor.ask("GET", "/1/")
        while 'id="points"' in visitor.page and "Draw it." in visitor.page:
            visitor.save(points="1")


def less(score: float, late: timedelta) -> float:
    """The score after the rule of `RULE`."""
    if late <= timedelta(hours=1):
        return score
    return 0.0 if late > timedelta(days=7) else score * (1 - 0.1 * math.ceil(late / timedelta(days=1)))


def scores(place, assignment) -> dict[str, float | None]:
    rows = report_rows(Course.load(place.root), assignment)
    return {row.student: None if row.score is None else round(row.score, 6) for row in rows}


def test_a_semester(place, tmp_path, capsys):
    root, course = place.root, Course.load(place.root)
    (tmp_path / "participants.csv").write_text(
        "First name,Last name,Username,Email address\n"
        + "".join(f"{first},{last},{student},{student}@x.y\n" for student, (first, last) in NAMES.items()),
        encoding="utf-8",
    )
    done(roster, place, tmp_path / "participants.csv")
    for assignment in ("plain", "pairs"):
        done(due, place, assignment, "2026-11-13T23:59")
    done(markers, place, "--share", "ann", "--share", "bob=2")
    done(extend, place, "plain", "s06", "+2d")  # before it is handed in

    who = {*range(len(IDS))} - ABSENT
    done(collect, place, "plain", *download(place, tmp_path, "plain", who, LATE))
    killed_while_grading(place, after=6)
    done(grade, place, "plain")

    with visiting(course, by="ann") as ann:
        assert ann.items({"words-1": "Reason", "points-1": "2", "words-2": "Example", "points-2": "1"}) == 200

    def points(number: int) -> tuple[dict[str, object], float]:
        ways = ({"points": "", "item": ["1"]}, 2.0), ({"points": "2,5"}, 2.5), ({"points": "", "item": ["1", "2"]}, 3.0)
        return ways[number % 3]

    by_hand = mark_alternately(course, "plain", points)
    drawings(course, "plain")
    assert {*by_hand} == who
    assert Counter(by for by, _ in by_hand.values()) == {"ann": 9, "bob": 19}  # 28 students, a third and two thirds

    extended, of_double = {6}, 3.0

    def expected(number: int) -> float | None:
        if number in ABSENT:
            return None
        late = LATE.get(number, timedelta()) - (timedelta(days=2) if number in extended else timedelta())
        return round(less(automatic(number, of_double) + by_hand[number][1] + 1, late), 6)

    def all_expected() -> dict[str, float | None]:
        return {student: expected(number) for number, student in enumerate(IDS) if f"{number}" not in left}

    left: set[str] = set()
    assert scores(place, "plain") == all_expected()
    done(report, place, "plain")
    written = {row["student"]: row["score"] for row in table(root / "grading" / "plain" / "report.csv")}
    found = {student: float(score) if score else None for student, score in written.items()}
    assert found == pytest.approx(all_expected(), abs=0.01)
    with visiting(course, by="bob") as bob:
        assert bob.items({"points-1": "1.5"}) == 200  # worth less, for all who have it
    by_hand = {n: (by, given - 0.5 * (n % 3 != 1)) for n, (by, given) in by_hand.items()}
    done(extend, place, "plain", "s04", "+2d")  # after it is handed in
    extended.add(4)
    assert scores(place, "plain") == all_expected()

    with visiting(course, by="ann", second=4) as ann:
        for _ in range(4):
            assert by_hand[number_in(ann.page)][0] == "bob"
            ann.save(points="0.5")
        assert number_in(ann.page) is None
    assert scores(place, "plain") == all_expected()
    capsys.readouterr()
    done(markers, place, "plain")
    assert "Marked twice: 4, 4 of them differently." in capsys.readouterr().out

    rows = ["Username,Assignment: plain (Real)", *(f"{student},-" for student in IDS)]
    (tmp_path / "export.csv").write_text("\n".join(rows) + "\n")
    into = ("plain", "--into", tmp_path / "export.csv", "--out", tmp_path / "marks.csv")
    done(report, place, *into)
    sent = {row["Username"]: row["Assignment: plain (Real)"] for row in table(tmp_path / "marks.csv")}
    found = {student: None if mark == "-" else float(mark) for student, mark in sent.items()}
    assert found == pytest.approx(all_expected(), abs=0.01)

    done(roster, place, "--remove", IDS[GONE])
    left.add(f"{GONE}")
    assert scores(place, "plain") == all_expected()
    named = [path.name for path in root.rglob("*") if path.is_file() and IDS[GONE].encode() in path.read_bytes()]
    assert {*named} <= {"report.csv", "overview.html", "gradebook.db"}  # the first two are written anew by `report`

    source = root / "solutions" / "plain" / "one.ipynb"
    notebook = nbformat.read(source, 4)  # an update in mid-term: a question is worth more
    cell = next(one for one in notebook.cells if one.metadata.get("nbgrader", {}).get("grade_id") == "test_double")
    cell.metadata.nbgrader.points = 4
    nbformat.write(notebook, source)
    build_exercises(root)
    assert scores(place, "plain") == all_expected()  # until it is graded again
    assert all(row.stale for row in report_rows(Course.load(root), "plain") if row.score is not None)
    assert report(place, [str(word) for word in into]) == 2
    done(regrade, place, "plain")
    assert scores(place, "plain") == all_expected()
    done(regrade, place, "plain", "--apply")
    of_double = 4.0
    assert scores(place, "plain") == all_expected()
    done(report, place, *into)

    present = [number for number in range(len(IDS)) if number != GONE]
    (tmp_path / "teams.csv").write_text("group,student\n" + "".join(f"Team {n // 2},{IDS[n]}\n" for n in present))
    done(groups, place, tmp_path / "teams.csv", "pairs")
    late = {0: timedelta(hours=30), 2: timedelta(hours=30), 8: timedelta(hours=2)}
    uploads = {*range(0, len(IDS), 2)} - {10}
    done(extend, place, "pairs", "s01", "+2d")  # the partner of s00
    done(collect, place, "pairs", *download(place, tmp_path, "pairs", uploads, late))
    done(grade, place, "pairs")
    in_pairs = mark_alternately(course, "pairs", lambda number: ({"points": f"{number % 5}"}, float(number % 5)))
    drawings(course, "pairs")

    def of_pair(number: int) -> float | None:
        first = number - number % 2
        if first not in uploads:
            return None
        behind = late.get(first, timedelta()) - (timedelta(days=2) if first == 0 else timedelta())
        return round(less(automatic(first, 3.0) + in_pairs[first][1] + 1, behind), 6)

    assert scores(place, "pairs") == {IDS[number]: of_pair(number) for number in present}

    done(report, place, "--all", "--weight", "pairs=2")
    rows = table(root / "grading" / "course.csv")
    whole = {row["student"]: float(row["total (%)"]) for row in rows if row["total (%)"]}
    for number in present:
        marks = ((expected(number), 17, 1), (of_pair(number), 16, 2))
        parts = [(100 * mark / of, weight) for mark, of, weight in marks if mark is not None]
        if parts:
            weighted = sum(part * weight for part, weight in parts) / sum(weight for _, weight in parts)
            assert whole[IDS[number]] == pytest.approx(weighted, abs=0.01)

    done(backup, place, tmp_path / "week.zip")
    fresh = tmp_path / "fresh"
    kept = ("submitted", "autograded", "grading", "feedback", "gradebook.db", "course_config.py")
    shutil.copytree(root, fresh, ignore=shutil.ignore_patterns(*kept))
    other = env(fresh)
    done(restore, other, tmp_path / "week.zip")
    build_exercises(fresh)
    assert scores(other, "plain") == all_expected()
