"""An exercise that passed as it is is not audited again, and whatever it depends on brings the audit back."""

import dataclasses
from types import SimpleNamespace

import pytest

from autograder.question import audited
from tests.autograder.test_specification import doubling

FILES = {
    "autograder/question/audit.py": "import autograder.question.public",
    "solutions/numbers/checks/__init__.py": "import autograder.question.laws.other, solutions.numbers.laws",
    "solutions/numbers/numbers.py": "import nlmcore.some\nfrom nlmcore.attention import dot_score",
    "autograder/question/laws/other.py": "",
    "solutions/numbers/laws.py": "",
    "autograder/question/public/__init__.py": "",
    "nlmcore/attention/__init__.py": "from nlmcore.attention.scores import dot_score",
    "nlmcore/attention/scores.py": "",
    "nlmcore/some/__init__.py": "",
    "nlmcore/some/data.safetensors": "",
}
OTHERS = (
    "solutions/letters/checks/__init__.py",
    "autograder/grading/run.py",
    "nlmcore/scaling.py",
    "nlmcore/some/x.py",
)


@pytest.fixture
def checkout(tmp_path):
    for name in (*FILES, *OTHERS):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"{FILES.get(name, '')}\nx = 1\n")
    return tmp_path


@pytest.fixture
def exercise(monkeypatch):
    """A declared exercise of the assignment "numbers"."""
    made = dataclasses.replace(doubling(), name="numbers.double")
    declared = {"numbers": SimpleNamespace(EXERCISES={made.name: made})}
    monkeypatch.setattr(audited.assignments, "module", declared.get)
    return made


@pytest.fixture
def audits(monkeypatch):
    """How often an audit was made, and what it finds."""
    said = SimpleNamespace(count=0, faults=[])

    def audit(exercise):
        said.count += 1
        return list(said.faults)

    monkeypatch.setattr(audited, "_audit", audit)
    return said


def test_what_passed_is_not_audited_again(checkout, exercise, audits):
    assert [audited.faults(exercise, checkout) for _ in range(3)] == [[], [], []]
    assert audits.count == 1


@pytest.mark.parametrize("name", [*FILES, "solutions/numbers/checks/more.py"])
def test_a_change_in_what_it_depends_on_brings_the_audit_back(checkout, exercise, audits, name):
    audited.faults(exercise, checkout)
    (checkout / name).write_text(f"{FILES.get(name, '')}\nx = 23\n")
    audited.faults(exercise, checkout)
    assert audits.count == 2
    audited.faults(exercise, checkout)
    assert audits.count == 2


def test_what_it_does_not_import_does_not(checkout, exercise, audits):
    audited.faults(exercise, checkout)
    for name in OTHERS:
        (checkout / name).write_text("x = 23\n")
    audited.faults(exercise, checkout)
    assert audits.count == 1


def test_faults_are_not_remembered(checkout, exercise, audits):
    audits.faults = ["numbers.double: it is wrong"]
    assert audited.faults(exercise, checkout) == audited.faults(exercise, checkout) == audits.faults
    audits.faults = []
    assert audited.faults(exercise, checkout) == []
    assert audits.count == 3


def test_a_changed_copy_of_a_declared_exercise_is_audited(checkout, exercise, audits):
    audited.faults(exercise, checkout)
    audited.faults(dataclasses.replace(exercise, minutes=exercise.minutes + 1), checkout)
    assert audits.count == 2


@pytest.mark.parametrize("kept", ["{", "[]", '{"numbers.double": 7}'])
def test_a_damaged_note_costs_an_audit(checkout, exercise, audits, kept):
    (checkout / "exercises").mkdir()
    (checkout / audited.KEPT).write_text(kept)
    assert audited.faults(exercise, checkout) == audited.faults(exercise, checkout) == []
    assert audits.count == 1


def test_the_audit_is_the_real_one(checkout, exercise):
    right = dataclasses.replace(exercise.misconceptions[0], implementation=exercise.reference)
    (fault, *_) = audited.faults(dataclasses.replace(exercise, misconceptions=(right,)), checkout)
    assert "passes the visible check" in fault
    assert audited.faults(exercise, checkout) == []
