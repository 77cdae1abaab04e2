"""Damage to the master's cells, row by row: what is put right and said; the student's own is left alone."""

import copy

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.preflight.master import Master, MasterCell, same_text
from autograder.preflight.names import grade_id
from autograder.preflight.order import MISSING
from autograder.preflight.repair import repair
from solutions.attention.checks import EXERCISES
from tests.autograder.courses import by_hand
from tests.autograder.preflight.conftest import kinds, place, whole

ATTEND = "def attend(scores, values, mask=None):\n    return 'mine'"


def cell(notebook, name):
    return notebook.cells[place(notebook, name)]


def test_an_untouched_and_a_solved_notebook_need_nothing(released, solved, master):
    for notebook in (released, solved):
        made, found = repair(whole(notebook), master)
        assert found == []
        # Only the hidden tests have come back.
        originals = {own.id: own.source for own in master.cells if own.fixed}
        for before, after in zip(notebook.cells, made.cells, strict=True):
            assert after.source == originals.get(grade_id(after), before.source)
            assert after.id == before.id


def split(nb):
    """JupyterLab's "split cell" copies the metadata to both halves."""
    at = place(nb, "attend")
    nb.cells.insert(at + 1, copy.deepcopy(nb.cells[at]))
    nb.cells[at].source, nb.cells[at + 1].source = "import math", ATTEND


def twice_all_stubs(nb):
    at = place(nb, "attend")
    stub = copy.deepcopy(nb.cells[at])
    stub.source = STUB["attend"]
    nb.cells.insert(at + 1, stub)  # below the answer: run, it would define the function over again, as nothing


def stub_first(nb):
    at = place(nb, "attend")
    stub = copy.deepcopy(nb.cells[at])
    stub.source = STUB["attend"]
    nb.cells.insert(at, stub)


def answered_twice(nb):
    at = place(nb, "attend")
    nb.cells.insert(at, copy.deepcopy(nb.cells[at]))
    nb.cells[at + 1].source = ATTEND


def answer_below_the_test(nb):
    nb.cells.append(copy.deepcopy(cell(nb, "attend")))
    nb.cells[-1].source = ATTEND


def pasted_twice(nb):
    nb.cells += copy.deepcopy(nb.cells)


def released_pasted_below(nb):
    again = copy.deepcopy(nb.cells)
    for one in again:
        if grade_id(one) in STUB:
            one.source = STUB[grade_id(one)]
    nb.cells += again


def released_pasted_above(nb):
    again = copy.deepcopy(nb.cells)
    for one in again:
        if grade_id(one) in STUB:
            one.source = STUB[grade_id(one)]
    nb.cells[:0] = again


def copy_of_test(nb):
    nb.cells.append(copy.deepcopy(cell(nb, "check_attend")))


def delete(*names):
    def change(nb):
        nb.cells = [one for one in nb.cells if grade_id(one) not in names]

    change.__name__ = f"delete {' '.join(names)}"
    return change


def delete_every_named(nb):
    nb.cells = [one for one in nb.cells if grade_id(one) is None] + [new_code_cell(ATTEND)]


def delete_tests(nb):
    nb.cells = [one for one in nb.cells if not (grade_id(one) or "").startswith("check_")]


def retype(name, kind):
    def change(nb):
        old = cell(nb, name)
        old.cell_type = kind
        if kind != "code":
            old.pop("outputs", None), old.pop("execution_count", None)

    change.__name__ = f"{name} becomes {kind}"
    return change


def edit(name, source):
    def change(nb):
        cell(nb, name).source = source

    change.__name__ = f"{name} edited"
    return change


def move(name, to):
    def change(nb):
        nb.cells.insert(to, nb.cells.pop(place(nb, name)))

    change.__name__ = f"{name} moved to {to}"
    return change


def meta(name, **changes):
    def change(nb):
        about = cell(nb, name).metadata.nbgrader
        for key, value in changes.items():
            if value is ...:
                about.pop(key, None)
            else:
                about[key] = value

    change.__name__ = f"{name}: {changes}"
    return change


def no_metadata(nb):
    for one in nb.cells:
        one.metadata = {}


def edited_and_nameless(nb):
    one = cell(nb, "check_attend")
    one.metadata, one.source = {}, "print('my own work')"


def no_metadata_no_ids(nb):
    for number, one in enumerate(nb.cells):
        one.metadata, one.id = {}, f"new-{number}"


def answer_in_a_new_cell_above(nb):
    at = place(nb, "attend")
    nb.cells[at].source = STUB["attend"]
    nb.cells.insert(at, new_code_cell(ATTEND))


def answer_in_a_new_cell_below(nb):
    cell(nb, "attend").source = STUB["attend"]
    nb.cells.append(new_code_cell(ATTEND))


def answer_in_another_answer_cell(nb):
    cell(nb, "attend").source = STUB["attend"]
    cell(nb, "multi_head_attention").source += f"\n{ATTEND}"


def answer_in_the_test_cell(nb):
    cell(nb, "attend").source = STUB["attend"]
    cell(nb, "check_attend").source = f"{ATTEND}\n{cell(nb, 'check_attend').source}"


def answer_assigned_elsewhere(nb):
    """No cell says `def attend`: it cannot be found, and is asked at the end."""
    del nb.cells[place(nb, "attend")]
    nb.cells.append(new_code_cell("attend = lambda scores, values, mask=None: 'mine'"))


def same_ids(nb):
    for one in nb.cells:
        one.id = "same"


def foreign_cell(nb):
    nb.cells.append(new_code_cell("1", metadata={"nbgrader": {"grade_id": "other\n", "grade": True, "points": 9}}))


QUESTIONS = len(EXERCISES)
NAMED = 2 * QUESTIONS + 2
"""Every question has an answer cell and a test cell; the written one has its question and its answer."""
ROWS = [  # the damage, what is said
    (split, ["copied-cell"]),
    (twice_all_stubs, ["copied-cell"]),
    (stub_first, ["copied-cell"]),
    (answered_twice, ["copied-cell"]),
    (answer_below_the_test, ["copied-cell", "moved-cell"]),
    (pasted_twice, ["copied-cell"] * NAMED + ["moved-cell"]),
    (released_pasted_below, ["copied-cell"] * NAMED),
    (released_pasted_above, ["copied-cell"] * NAMED + ["moved-cell"]),
    (copy_of_test, ["copied-cell"]),
    (delete("check_attend"), ["deleted-cell"]),
    (delete("check_dot_score", "check_attend"), ["deleted-cell"]),
    (delete_tests, ["deleted-cell"]),
    (delete("attend"), ["deleted-answer"]),
    (delete("attend", "check_attend"), ["deleted-answer", "deleted-cell"]),
    (delete("written"), ["missing-answer"]),
    (delete("written_question", "written"), ["deleted-cell", "missing-answer"]),
    (delete_every_named, ["deleted-answer"] * (QUESTIONS - 1) + ["answer-elsewhere", "deleted-cell", "missing-answer"]),
    (retype("attend", "markdown"), ["retyped-cell"]),
    (retype("attend", "raw"), ["retyped-cell"]),
    (retype("check_attend", "markdown"), ["retyped-cell"]),
    (retype("written", "code"), ["retyped-cell"]),
    (edit("check_attend", "check = print"), ["edited-cell"]),
    (edit("check_attend", ""), ["edited-cell"]),
    (edit("written_question", "My answer: because."), ["edited-cell"]),
    (move("check_attend", 0), ["moved-cell"]),
    (move("attend", 100), ["moved-cell"]),
    (move("written", 0), []),
    (meta("check_attend", points=600), ["changed-points"]),
    (meta("check_attend", points=-1), ["changed-points"]),
    (meta("check_attend", points=float("nan")), ["changed-points"]),
    (meta("check_attend", points="6"), ["changed-points"]),
    (meta("check_attend", points=[6]), ["changed-points"]),
    (meta("check_attend", points=...), ["changed-points"]),
    (meta("check_attend", schema_version=1), []),
    (meta("check_attend", schema_version=99, checksum="0"), []),
    (meta("check_attend", schema_version="three"), []),
    (meta("check_attend", grade=False, locked=False), ["changed-metadata"]),
    (meta("check_attend", solution="yes"), ["changed-metadata"]),
    (meta("attend", locked=True, grade=True), ["changed-metadata"]),
    (meta("check_attend", grade_id=["x"]), ["lost-name"]),
    (meta("check_attend", grade_id=7), ["lost-name", "unknown-cell"]),
    (meta("check_attend", grade_id="attend"), ["lost-name"]),
    (no_metadata, ["lost-name"]),
    (edited_and_nameless, ["deleted-cell"]),
    (no_metadata_no_ids, ["answer-elsewhere"] * QUESTIONS + ["lost-answer", "lost-name"]),
    (answer_in_a_new_cell_above, ["answer-elsewhere"]),
    (answer_in_a_new_cell_below, ["answer-elsewhere", "moved-cell"]),
    (answer_in_another_answer_cell, ["answer-elsewhere", "moved-cell"]),
    (answer_in_the_test_cell, ["answer-elsewhere", "edited-cell"]),
    (answer_assigned_elsewhere, ["deleted-answer"]),
    (same_ids, []),
    (foreign_cell, ["unknown-cell"]),
]
STUB: dict[str, str] = {}


@pytest.fixture(autouse=True)
def _stubs(master):
    STUB.update({own.id: own.source for own in master.cells if own.solution})


@pytest.mark.parametrize(("damage", "said"), ROWS, ids=[damage.__name__ for damage, _ in ROWS])
def test_every_damage_is_put_right_and_said(solved, master, damage, said):
    damage(solved)
    handed_in = whole(solved)
    before = copy.deepcopy(handed_in)
    made, found = repair(handed_in, master)
    assert handed_in == before
    assert kinds(found) == sorted(said)
    assert_fit(made, master)
    assert_own_cells_are_kept(handed_in, made, master)


def assert_fit(made, master):
    """Every cell of the master's once, with its text, type and metadata."""
    names = [name for one in made.cells if (name := grade_id(one)) is not None]
    assert len(names) == len(set(names))
    known = {own.id: own for own in master.cells}
    assert {own.id for own in master.cells if own.fixed or own.grade} <= set(names) <= set(known)
    for one in made.cells:
        own = known.get(grade_id(one))
        if own is not None:
            assert dict(one.metadata.nbgrader) == own.metadata()
            assert one.cell_type == own.type
            assert not own.fixed or one.source == own.source
    assert len({one.id for one in made.cells}) == len(made.cells)
    assert all(set(one) >= {"id", "cell_type", "metadata", "source"} for one in made.cells)


def assert_own_cells_are_kept(before, made, master):
    """What the student wrote, in its order and unchanged; only copies of stubs, and fixed cells, may be missing."""
    known = {own.id: own for own in master.cells}
    stubs = [own.source for own in master.cells if own.solution]
    own = [
        one.source
        for one in before.cells
        if not (known.get(grade_id(one)) and known[grade_id(one)].fixed)
        and one.source.strip()
        and not any(same_text(one.source, stub) for stub in stubs)
        and not any(own.fixed and own.is_original(one.source) for own in master.cells)
    ]
    there = iter(one.source for one in made.cells)
    assert all(source in there for source in own)


# What is defined last above the test is what is asked.
LAST = {
    split: ATTEND,
    twice_all_stubs: "solved",
    stub_first: "solved",
    answered_twice: ATTEND,
    answer_below_the_test: ATTEND,
    pasted_twice: "solved",
    released_pasted_below: "solved",
    released_pasted_above: "solved",
    copy_of_test: "solved",
    no_metadata: "solved",
    no_metadata_no_ids: "solved",
    answer_in_a_new_cell_above: ATTEND,
    answer_in_a_new_cell_below: ATTEND,
    answer_in_another_answer_cell: ATTEND,
    answer_in_the_test_cell: ATTEND,
}


@pytest.mark.parametrize("damage", LAST, ids=lambda damage: damage.__name__)
def test_the_answer_is_what_stands_above_its_test(solved, master, damage):
    expected = {"solved": cell(solved, "attend").source}.get(LAST[damage], LAST[damage])
    damage(solved)
    made, _ = repair(whole(solved), master)
    above = [one.source for one in made.cells[: place(made, "check_attend")] if one.cell_type == "code"]
    assert expected in [source for source in above if "def attend(" in source][-1]


def test_a_deleted_answer_is_asked_at_the_end_where_everything_is_defined(solved, master):
    answer_assigned_elsewhere(solved)
    made, _ = repair(whole(solved), master)
    assert grade_id(made.cells[-1]) == "check_attend"


def test_a_written_answer_that_was_deleted_is_not_given_zero_unseen(solved, master):
    from nbgrader.utils import determine_grade

    delete("written")(solved)
    made, _ = repair(whole(solved), master)
    assert determine_grade(cell(made, "written")) == (None, by_hand("attention"))  # None: a human must look


def test_a_written_answer_without_its_metadata_is_the_one_unknown_text_in_its_place(solved, master):
    no_metadata_no_ids(solved)
    made, _ = repair(whole(solved), master)
    assert cell(made, "written").source == "Because."
    solved.cells.append(new_markdown_cell("Thank you."))
    made, found = repair(whole(solved), master)
    assert MISSING in cell(made, "written").source  # either of two texts may be the answer, and a person decides
    assert {one.what: one.kind for one in found}["missing-answer"] == "note"
    assert [one.source for one in made.cells if grade_id(one) is None][-3] == "Because."


def test_what_was_written_into_the_question_is_kept_below_it(solved, master):
    edit("written_question", "My answer: because.")(solved)
    made, _ = repair(whole(solved), master)
    assert made.cells[place(made, "written_question") + 1].source == "My answer: because."


def test_a_put_back_test_stands_right_below_its_answer(solved, master):
    for name in ("check_dot_score", "check_attend", "check_multi_head_attention"):
        delete(name)(solved)
    made, _ = repair(whole(solved), master)
    for name in ("dot_score", "attend", "multi_head_attention"):
        assert place(made, f"check_{name}") == place(made, name) + 1


def test_blanks_and_line_endings_in_a_locked_cell_are_no_edit(solved, master):
    cell(solved, "check_attend").source = cell(solved, "check_attend").source.replace("\n", "\r\n") + "  \n\n"
    assert repair(whole(solved), master)[1] == []


@pytest.mark.parametrize(("damage", "_said"), ROWS, ids=[damage.__name__ for damage, _ in ROWS])
def test_repairing_again_changes_nothing(solved, master, damage, _said):
    damage(solved)
    made, _ = repair(whole(solved), master)
    again, _ = repair(made, master)
    assert again.cells == made.cells


# --- stock assignments: several answers per test, several tests per answer, tasks, fixed set-up -------------


def own(name, kind="code", source="", points=None, **flags):
    flags = {"locked": False, "grade": False, "solution": False, "task": False} | flags
    return MasterCell(id=name, type=kind, source=source, points=points, checksum="0" * 32, **flags)


STOCK = Master(
    name="stock",
    cells=(
        own("setup", source="import math", locked=True),
        own("a", source="def a(): ...", solution=True),
        own("b", source="x = None", solution=True),
        own("t1", source="assert a() and x", points=1.0, locked=True, grade=True),
        own("t2", source="assert a()", points=1.0, locked=True, grade=True),
        own("c", source="def c(): ...", solution=True, grade=True, points=2.0),
        own("task", "markdown", "Draw it.", points=3.0, locked=True, task=True),
    ),
)


def stock(*names):
    cells = []
    for name in names:
        found = next((one for one in STOCK.cells if one.id == name), None)
        make = new_markdown_cell if found is not None and found.type == "markdown" else new_code_cell
        metadata = {"nbgrader": found.metadata()} if found is not None else {}
        text = found.source + ("  # done" if found.solution else "") if found is not None else name
        cells.append(make(text, metadata=metadata))
    return whole({"nbformat": 4, "cells": cells})


@pytest.mark.parametrize(
    ("handed_in", "expected"),
    [
        ("setup a b t1 t2 c task", "setup a b t1 t2 c task"),
        ("setup b a t1 t2 c task", "setup b a t1 t2 c task"),
        ("setup a t1 b t2 c task", "setup a b t1 t2 c task"),
        ("setup t1 t2 a b c task", "setup a b t1 t2 c task"),
        ("a b t1 t2 setup c task", "a b setup t1 t2 c task"),
        ("a b t1 t2 c task", "setup a b t1 t2 c task"),
        ("setup a b t1 c task", "setup a b t1 t2 c task"),
        ("setup a b t1 t2", "setup a b t1 t2 c task"),
        ("setup a t1 t2 c task 1+1", "setup a c task 1+1 t1 t2"),  # b is gone: both tests at the end
        ("setup c task a b t1 t2", "setup c task a b t1 t2"),
    ],
)
def test_order(handed_in, expected):
    made, _ = repair(stock(*handed_in.split()), STOCK)
    assert " ".join(grade_id(one) or one.source for one in made.cells) == expected


def test_a_deleted_code_answer_for_a_human_comes_back_without_its_stub():
    made, _ = repair(stock("setup", "a", "b", "t1", "t2", "task"), STOCK)
    assert "def c" not in cell(made, "c").source
    assert cell(made, "c").source.startswith("# This answer cell was missing")
