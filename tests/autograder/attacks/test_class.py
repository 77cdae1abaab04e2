"""One class, graded in one run by one box: attackers, an honest student before every few of them and after the last.

Not one attack gains a point over the same answers without it, none harms another's mark or anything else that is
there, and each is reported for what it is. Right solutions get all the points, however they are written and saved.
"""

import json
import multiprocessing
import sqlite3
from dataclasses import dataclass
from pathlib import Path

import nbformat
import pytest

import autograder.grading.execute as execute_module
import nlmcore
from autograder.grading import records
from autograder.grading.course import Course
from autograder.grading.gradebook import Scores, scores_of
from autograder.grading.records import Record
from autograder.grading.run import grade
from autograder.release.build import build_exercises
from autograder.sandbox import Limits
from solutions.attention.checks import EXERCISES
from tests.autograder.attacks.corpus import ATTACKS, VICTIM
from tests.autograder.attacks.honest import HONEST
from tests.autograder.attacks.submissions import ANSWERS, Submission, digest, hand_in
from tests.autograder.courses import course
from tests.autograder.sandbox.conftest import real_box

pytestmark = [
    pytest.mark.slow,
    pytest.mark.everything,  # half a minute; every attack meets the box alone in sandbox/test_attacks.py
    pytest.mark.timeout(300),
    pytest.mark.filterwarnings("ignore"),
]

LIMITS = Limits(wall=20, cell_wall=3, call_wall=1.5, cpu=15, memory=512 << 20, disk=8 << 20, file_size=4 << 20)
FULL = {f"check_{exercise.function}": exercise.points for exercise in EXERCISES.values()}


@dataclass(frozen=True)
class Graded:
    """What became of the class."""

    root: Path
    scores: dict[str, Scores]
    """What the gradebook holds."""
    before: str
    after: str
    starts: int
    """How often the box's warm parent was started."""
    left: list[multiprocessing.process.BaseProcess]
    """Children that this process did not have before, and still has."""

    def marks(self, student: str) -> dict[str, float | None]:
        """The automatic marks of the test cells."""
        found = self.scores.get(student, {}).get("attention", {})
        return {name: mark for name, mark in found.items() if name in FULL}

    def record(self, student: str) -> Record:
        found = records.load(self.root, "attention", student)
        assert found is not None
        return found

    def said(self, student: str) -> str:
        """All that is told of a submission: the record, and what the graded notebook shows."""
        text = json.dumps(vars(self.record(student)), ensure_ascii=False)
        path = self.root / "autograded" / student / "attention" / "attention.ipynb"
        if path.is_file():
            for cell in nbformat.read(path, as_version=4).cells:
                text += json.dumps(cell.get("outputs", []), ensure_ascii=False)
        return text


def by_student() -> dict[str, Submission]:
    """Attackers, each kind of honest student before every few of them, one more after the last, and the baselines."""
    students = {f"attack-{number:03}": one for number, one in enumerate(ATTACKS)}
    few = -(-len(ATTACKS) // len(HONEST))
    students |= {f"honest-{few * number:03}": one for number, one in enumerate((*HONEST, HONEST[0]))}
    return students | {f"like-{like}": Submission(name=like, like=like) for like in ANSWERS}  # type: ignore[arg-type]


STUDENTS = by_student()
ORDER = sorted(STUDENTS, key=lambda name: (name.rpartition("-")[2], name.startswith("attack")))


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    root = course(tmp_path_factory.mktemp("course"), "attention")
    build_exercises(root, audited=False)
    for student in sorted(STUDENTS, reverse=True):  # those to be robbed before the robbers
        hand_in(root, student, STUDENTS[student])
    kept = (root / "submitted", root / "solutions", root / "exercises")
    before, children = digest(*kept), set(multiprocessing.active_children())
    with real_box(LIMITS) as box, pytest.MonkeyPatch.context() as patch:
        patch.setattr(execute_module, "_boxes", {"auto": box})
        patch.setattr(Course, "students", lambda self, assignment: ORDER)
        lines = list(grade(Course.load(root), "attention"))
        assert [line.record.student for line in lines] == ORDER
        starts = box.starts
    with Course.load(root).gradebook() as gradebook:
        scores = scores_of(gradebook, "attention")
    left = [child for child in multiprocessing.active_children() if child not in children]
    return Graded(root, scores, before, digest(*kept), starts, left)


HOSTILE = [name for name in ORDER if name.startswith("attack")]
INNOCENT = [name for name in ORDER if name.startswith("honest")]


@pytest.mark.parametrize("student", HOSTILE, ids=lambda name: STUDENTS[name].name)
def test_an_attack_earns_what_its_answers_earn_without_it(graded: Graded, student: str) -> None:
    one = STUDENTS[student]
    marks, fair = graded.marks(student), graded.marks(f"like-{one.like}")
    expected = {name: 0.0 if name.removeprefix("check_") in one.loses else mark for name, mark in fair.items()}
    if one.state == "blocked":
        assert set(marks.values()) <= {None}
    else:
        assert marks == expected, graded.record(student)


@pytest.mark.parametrize("student", HOSTILE, ids=lambda name: STUDENTS[name].name)
def test_an_attack_is_reported_for_what_it_is(graded: Graded, student: str) -> None:
    one, said = STUDENTS[student], graded.said(student)
    assert graded.record(student).state == one.state, said
    for words in one.says:
        assert words in said, said
    assert "FOUND" not in said
    assert "root:x:0" not in said


def test_the_baselines_are_what_they_are_called(graded: Graded) -> None:
    assert graded.marks("like-nothing") == dict.fromkeys(FULL, 0.0)
    assert graded.marks("like-honest") == FULL
    assert 0 < sum(mark or 0 for mark in graded.marks("like-zeros").values()) < sum(FULL.values()) / 2


@pytest.mark.parametrize("student", INNOCENT, ids=lambda name: f"{name}: {STUDENTS[name].name}")
def test_right_solutions_get_every_point_whoever_was_graded_before(graded: Graded, student: str) -> None:
    record = graded.record(student)
    assert graded.marks(student) == FULL, (record.words, record.marks)
    assert record.incidents == []
    assert record.isolation == "bubblewrap"


def test_nothing_that_was_there_is_changed(graded: Graded) -> None:
    assert graded.before == graded.after
    assert not Path("/tmp/attention-attack").exists()
    assert "1/0" not in (Path(nlmcore.__file__).parent / "__init__.py").read_text(encoding="utf-8")
    with sqlite3.connect(graded.root / "gradebook.db") as database:
        assert database.execute("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'").fetchone() == (0,)
    assert VICTIM in graded.scores


def test_every_mark_is_a_number_between_zero_and_the_maximum(graded: Graded) -> None:
    for student in STUDENTS:
        for name, mark in graded.marks(student).items():
            assert mark is None or (type(mark) is float and 0 <= mark <= FULL[name]), (student, name, mark)


def test_the_box_outlives_all_of_them_but_who_must_be_ended_whole(graded: Graded) -> None:
    assert graded.starts <= 2


def test_nothing_is_left_running(graded: Graded) -> None:
    assert graded.left == []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                line = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            assert line != b"sleep\x001000\x00"
