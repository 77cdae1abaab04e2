"""Exercises are built when something that they are made of has changed, and nobody's work is ever written over."""

import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from autograder import seal
from autograder.texts import exercises
from autograder.texts.text import as_json, digest

QUESTIONS = {"area": "How large is a circle?", "rim": "How long is its rim?"}


def made(questions: dict[str, str], text: str) -> dict[str, Any]:
    """A notebook as it is released, made from a master with this text."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "markdown", "metadata": {}, "source": f"# Circles\n\n{len(questions)}"}
    ]
    for name, asked in questions.items():
        check = {"nbgrader": {"grade_id": f"check_{name}", "grade": True}}
        cells += [
            {"cell_type": "markdown", "metadata": {}, "source": [f"## {name}\n", asked]},
            {"cell_type": "code", "metadata": {"nbgrader": {"grade_id": name}}, "source": "pass", "outputs": []},
            {"cell_type": "code", "metadata": check, "source": f"check({name})", "outputs": []},
        ]
    notebook = {"cells": cells, "metadata": {"nlmcourse": {"built_from": digest(text)}}}
    seal.seal(notebook)
    return notebook


def write_master(course: Path, **questions: str) -> None:
    text = f"# %%\n{json.dumps(questions or QUESTIONS)}\n"
    (course / "solutions" / "circles" / "circles.py").write_text(text)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for folder in ("solutions/circles", "autograder", "exercises"):
        (tmp_path / folder).mkdir(parents=True)
    write_master(tmp_path)
    return tmp_path


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Stands in for nbgrader: the master's text is a list of questions; calls are counted."""
    module = ModuleType("release")
    module.calls = 0

    def build_exercises(root: Path, gradebook: str, audited: bool) -> None:
        module.calls += 1
        module.audits += audited
        target = root / "exercises" / "circles" / "circles.ipynb"
        target.parent.mkdir(exist_ok=True)
        text = (root / "solutions" / "circles" / "circles.py").read_text()
        target.write_text(as_json(made(json.loads(text.partition("\n")[2]), text)))
        if module.fails:
            raise RuntimeError("nbgrader refuses")

    module.build_exercises, module.fails, module.audits = build_exercises, False, 0
    module.gradebook_of = lambda root: ""
    monkeypatch.setattr(exercises.importlib, "import_module", lambda name: module)
    return module


def released(course: Path) -> Path:
    return course / "exercises" / "circles" / "circles.ipynb"


def mine(course: Path) -> Path:
    return course / "work" / "circles" / "circles.ipynb"


def answer(notebook: Path, words: str = "my answer") -> bytes:
    """Work in a notebook, as JupyterLab saves it."""
    document = json.loads(notebook.read_text())
    document["cells"][2]["source"] = words
    notebook.write_text(json.dumps(document))
    return notebook.read_bytes()


def run(notebook: Path) -> bytes:
    """Run a notebook without writing anything."""
    document = json.loads(notebook.read_text())
    document["cells"][2] |= {"outputs": ["3.14"], "execution_count": 1}
    document["metadata"]["language_info"] = {"version": "3.99"}
    notebook.write_text(json.dumps(document))
    return notebook.read_bytes()


def forget(course: Path) -> None:
    """As in a clone: what was built is there, and no record of it."""
    (course / exercises.RECORD).unlink()


# --- `exercises/` ---------------------------------------------------------------------------------------------


def test_built_once_and_then_only_when_something_changes(course: Path, release: ModuleType) -> None:
    assert not exercises.current(course)
    assert exercises.build(course) == (1, [])
    assert exercises.current(course)
    assert exercises.build(course) == (0, [])
    assert release.calls == 1
    write_master(course, area="How large?")
    assert exercises.build(course) == (1, [])
    assert "How large?" in released(course).read_text()


def test_who_opens_a_lecture_waits_for_no_audit_and_who_builds_gets_it_later(course: Path, release: ModuleType) -> None:
    exercises.build(course, audited=False)
    exercises.build(course, audited=False)
    assert (release.calls, release.audits) == (1, 0)
    exercises.build(course)
    exercises.build(course)
    assert (release.calls, release.audits) == (2, 1)
    exercises.build(course, audited=False)
    assert release.calls == 2


def test_a_fresh_clone_is_built_only_for_those_who_release_or_grade(course: Path, release: ModuleType) -> None:
    exercises.build(course)
    forget(course)
    assert exercises.current(course)
    assert not exercises.current(course, recorded=True)
    assert not exercises.current(course, audited=True)
    write_master(course, area="How large?")
    assert not exercises.current(course)
    assert exercises.build(course, audited=False) == (1, [])


def test_an_assignment_that_was_not_released_is_not_done(course: Path, release: ModuleType) -> None:
    (course / "solutions" / "squares").mkdir()
    (course / "solutions" / "squares" / "squares.py").write_text("# %%\nv1\n")
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"no notebook was built from its text: squares\."):
            exercises.build(course)
        assert not exercises.current(course)
    assert released(course).exists()


@pytest.mark.parametrize(
    "name", ["solutions/circles/checks.py", "autograder/release.py", "nbgrader_config.py", "course_config.py"]
)
def test_whatever_takes_part_in_the_release_counts(course: Path, release: ModuleType, name: str) -> None:
    exercises.build(course)
    (course / name).write_text("x = 1\n")
    assert not exercises.current(course)


@pytest.mark.parametrize("change", [Path.unlink, run, answer])
def test_what_is_not_as_it_was_built_is_built_again(course: Path, release: ModuleType, change: Any) -> None:
    exercises.build(course)
    before = released(course).read_bytes()
    change(released(course))
    assert exercises.build(course)[0] == 1
    assert released(course).read_bytes() == before


def test_after_a_release_that_fails_it_is_built_again(course: Path, release: ModuleType) -> None:
    exercises.build(course)
    write_master(course, area="How large?")
    release.fails = True
    with pytest.raises(RuntimeError, match="refuses"):
        exercises.build(course)
    write_master(course)  # as the record has it
    release.fails = False
    assert exercises.build(course) == (1, [])


def test_a_course_without_masters_has_nothing_to_build(tmp_path: Path) -> None:
    assert exercises.current(tmp_path)
    assert exercises.build(tmp_path) == (0, [])


# --- `work/` --------------------------------------------------------------------------------------------------


@pytest.fixture
def begun(course: Path, release: ModuleType) -> Path:
    """A course whose exercises have been handed out."""
    exercises.build(course)
    assert exercises.hand_out(course) == (1, [])
    return course


def renew(course: Path, **questions: str) -> tuple[int, list[str]]:
    write_master(course, **questions)
    exercises.build(course)
    return exercises.hand_out(course)


@pytest.mark.parametrize("change", [Path.read_bytes, run])
def test_what_nobody_has_worked_in_follows_the_exercise(begun: Path, change: Any) -> None:
    assert mine(begun).read_bytes() == released(begun).read_bytes()
    before = change(mine(begun))
    assert exercises.hand_out(begun) == (0, [])
    assert mine(begun).read_bytes() == before
    assert renew(begun, area="How large?") == (1, [])
    assert mine(begun).read_bytes() == released(begun).read_bytes()


def test_work_is_kept_and_the_new_exercise_is_beside_it_with_what_is_new(begun: Path) -> None:
    work = answer(mine(begun))
    new, (note,) = renew(begun, area="How large?", volume="And a ball?")
    assert new == 1
    assert "work/circles/circles.ipynb has your work" in note
    assert "new: volume; changed: area; gone: rim." in note
    beside = mine(begun).with_name("circles-new.ipynb")
    assert beside.read_bytes() == released(begun).read_bytes()
    assert exercises.hand_out(begun) == (0, [])
    beside.unlink()
    assert exercises.hand_out(begun) == (0, [])  # it is said once
    assert mine(begun).read_bytes() == work


def test_work_beside_work_is_work(begun: Path) -> None:
    answer(mine(begun))
    renew(begun, area="How large?")
    begun_anew = answer(mine(begun).with_name("circles-new.ipynb"), "another answer")
    assert "circles-new-2.ipynb" in renew(begun, area="How big?")[1][0]
    assert mine(begun).with_name("circles-new.ipynb").read_bytes() == begun_anew
    mine(begun).with_name("circles-new.ipynb").replace(mine(begun))
    assert "changed: area" in renew(begun, area="What size?")[1][0]


def test_work_is_left_alone_while_the_exercise_stays_the_same(begun: Path) -> None:
    work = answer(mine(begun))
    for record in (exercises.BEGUN, exercises.RECORD):
        (begun / record).write_text("{")  # a damaged record costs a build, and no work
    exercises.build(begun)
    assert exercises.hand_out(begun) == (0, [])
    assert mine(begun).read_bytes() == work


def test_who_deletes_an_exercise_begins_afresh_and_own_files_stay(begun: Path) -> None:
    (mine(begun).parent / "helper.py").write_text("x = 1\n")
    answer(mine(begun))
    mine(begun).unlink()
    assert exercises.hand_out(begun) == (1, [])
    assert mine(begun).read_bytes() == released(begun).read_bytes()
    assert (mine(begun).parent / "helper.py").read_text() == "x = 1\n"


def test_what_was_written_where_exercises_are_made_is_kept_and_the_release_comes_back(begun: Path) -> None:
    before = released(begun).read_bytes()
    work = answer(released(begun))
    released(begun).with_name("helper.py").write_text("x = 1\n")
    assert not exercises.current(begun)
    assert len(exercises.build(begun)[1]) == 2
    assert released(begun).read_bytes() == before
    assert mine(begun).read_bytes() == before
    kept = {path.suffix: path.read_bytes() for path in (begun / "kept" / "exercises" / "circles").iterdir()}
    assert kept == {".ipynb": work, ".py": b"x = 1\n"}


def test_files_that_belong_to_an_exercise_are_no_work(begun: Path) -> None:
    for folder in ("solutions", "exercises"):
        (begun / folder / "circles" / "words.txt").write_text("one two")
    forget(begun)
    assert exercises.build(begun)[1] == []
    assert exercises.hand_out(begun) == (0, [])
    assert (mine(begun).parent / "words.txt").read_text() == "one two"


def test_a_students_copy_takes_the_exercises_from_where_its_archive_has_them(begun: Path) -> None:
    handed = begun / exercises.HANDED_OUT / "circles" / "circles.ipynb"
    handed.parent.mkdir(parents=True)
    handed.write_text(as_json(made({"area": "How large?"}, "newer")))
    os.utime(handed, (0, 0))
    assert exercises.hand_out(begun)[0] == 1
    assert mine(begun).read_bytes() == handed.read_bytes()
    assert mine(begun).stat().st_mtime > 10**9  # the files of the archive have the date of no day
