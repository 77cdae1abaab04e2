"""Exercises are built when something that they are made of has changed, and never over somebody's work."""

import json
import os
from pathlib import Path
from types import ModuleType

import pytest

from autograder.launcher import exercises


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for folder in ("solutions/circles", "autograder/checks", "exercises"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "solutions" / "circles" / "circles.py").write_text("# %%\nv1\n")
    return tmp_path


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Stands in for nbgrader: the released notebook is the master's text; calls are counted."""
    module = ModuleType("release")
    module.calls = 0

    def build_exercises(root: Path, gradebook: str, audited: bool) -> list[Path]:
        module.calls += 1
        module.audits += audited
        target = root / "exercises" / "circles" / "circles.ipynb"
        target.parent.mkdir(exist_ok=True)
        target.write_text((root / "solutions" / "circles" / "circles.py").read_text())
        if module.fails:
            raise RuntimeError("nbgrader refuses")
        return [target]

    module.build_exercises, module.fails, module.audits = build_exercises, False, 0
    module.gradebook_of = lambda root: ""
    monkeypatch.setattr(exercises.importlib, "import_module", lambda name: module)
    monkeypatch.setattr(exercises, "available", lambda: True)
    return module


def notebook(course: Path) -> Path:
    return course / "exercises" / "circles" / "circles.ipynb"


def change_master(course: Path, version: str = "v2") -> None:
    (course / "solutions" / "circles" / "circles.py").write_text(f"# %%\n{version}\n")


def test_built_once_and_then_only_when_something_changes(course: Path, release: ModuleType) -> None:
    assert not exercises.current(course)
    assert exercises.build(course) == (1, [])
    assert exercises.current(course)
    assert exercises.build(course) == (0, [])
    assert release.calls == 1
    change_master(course)
    assert exercises.build(course) == (1, [])
    assert "v2" in notebook(course).read_text()


def test_who_opens_a_lecture_waits_for_no_audit_and_who_builds_gets_it_later(course: Path, release: ModuleType) -> None:
    exercises.build(course, audited=False)
    exercises.build(course, audited=False)
    assert (release.calls, release.audits) == (1, 0)
    exercises.build(course)
    exercises.build(course)
    assert (release.calls, release.audits) == (2, 1)
    exercises.build(course, audited=False)
    assert release.calls == 2


def test_an_assignment_that_was_not_released_is_not_done(course: Path, release: ModuleType) -> None:
    (course / "solutions" / "squares").mkdir()
    (course / "solutions" / "squares" / "squares.py").write_text("# %%\nv1\n")
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"no notebook was built from its text: squares\."):
            exercises.build(course)
        assert not exercises.current(course)
    assert notebook(course).exists()


@pytest.mark.parametrize("name", ["autograder/checks/circles.py", "autograder/release.py", "nbgrader_config.py"])
def test_whatever_takes_part_in_the_release_counts(course: Path, release: ModuleType, name: str) -> None:
    exercises.build(course)
    (course / name).write_text("x = 1\n")
    assert not exercises.current(course)


def test_a_deleted_exercise_comes_back(course: Path, release: ModuleType) -> None:
    exercises.build(course)
    notebook(course).unlink()
    assert exercises.build(course) == (1, [])
    assert notebook(course).exists()


def test_work_is_left_alone_while_the_exercise_stays_the_same(course: Path, release: ModuleType) -> None:
    exercises.build(course)
    notebook(course).write_text("my answer")
    (course / "nbgrader_config.py").write_text("# another comment\n")
    assert exercises.build(course) == (0, [])
    assert notebook(course).read_text() == "my answer"
    assert not list((course / "kept").rglob("*.ipynb"))


def test_work_is_left_alone_and_the_student_told_when_the_exercise_changes(course: Path, release: ModuleType) -> None:
    exercises.build(course)
    notebook(course).write_text("my answer")
    change_master(course)
    new, notes = exercises.build(course)
    assert new == 0
    assert "your work" in notes[0]
    assert notebook(course).read_text() == "my answer"
    notebook(course).rename(notebook(course).with_name("mine.ipynb"))  # the way out that the note names
    assert exercises.build(course)[0] == 1
    assert "v2" in notebook(course).read_text()
    assert notebook(course).with_name("mine.ipynb").read_text() == "my answer"


def test_a_students_own_files_survive(course: Path, release: ModuleType) -> None:
    exercises.build(course)
    own = notebook(course).with_name("helper.py")
    own.write_text("x = 1\n")
    change_master(course)
    exercises.build(course)
    assert own.read_text() == "x = 1\n"


def test_work_survives_a_release_that_fails(course: Path, release: ModuleType) -> None:
    exercises.build(course)
    notebook(course).write_text("my answer")
    change_master(course)
    release.fails = True
    with pytest.raises(RuntimeError, match="refuses"):
        exercises.build(course)
    assert notebook(course).read_text() == "my answer"
    assert not exercises.current(course)


def test_what_was_released_before_a_fault_is_not_taken_for_somebodys_work(course: Path, release: ModuleType) -> None:
    exercises.build(course)
    change_master(course)
    release.fails = True
    with pytest.raises(RuntimeError, match="refuses"):
        exercises.build(course)
    assert exercises.worked_in(course) == []
    release.fails = False
    change_master(course, "v3")
    assert exercises.build(course) == (1, [])
    assert "v3" in notebook(course).read_text()


def test_work_in_what_a_failed_release_did_not_reach_is_still_work(
    course: Path, release: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    exercises.build(course)
    notebook(course).write_text("my answer")
    change_master(course)
    with monkeypatch.context() as failing:
        failing.setattr(release, "build_exercises", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            exercises.build(course)
    assert exercises.worked_in(course) == [notebook(course)]
    assert exercises.build(course)[0] == 0
    assert notebook(course).read_text() == "my answer"


def test_a_damaged_record_costs_a_build_and_no_work(course: Path, release: ModuleType) -> None:
    exercises.build(course)
    notebook(course).write_text("my answer")
    (course / exercises.RECORD).write_text("{")
    exercises.build(course)
    assert notebook(course).read_text() == "my answer"
    assert json.loads((course / exercises.RECORD).read_text())["files"]


def test_a_course_without_masters_has_nothing_to_build(tmp_path: Path) -> None:
    assert exercises.current(tmp_path)
    assert exercises.build(tmp_path) == (0, [])


def test_what_is_handed_out_is_of_today(tmp_path: Path) -> None:
    """The files of the archive have the date of no day, and so would the exercise in JupyterLab's list."""
    released = tmp_path / exercises.HANDED_OUT / "circles" / "circles.ipynb"
    released.parent.mkdir(parents=True)
    released.write_text("v1\n")
    os.utime(released, (0, 0))
    exercises.hand_out(tmp_path)
    place = tmp_path / "exercises" / "circles" / "circles.ipynb"
    assert place.read_text() == "v1\n"
    assert place.stat().st_mtime > 10**9
