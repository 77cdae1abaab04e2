"""Damage to the master's cells, row by row: what is put right and said; the student's own is left alone."""

import copy
import logging

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.preflight.master import Master, MasterCell, same_text
from autograder.preflight.names import grade_id
from autograder.preflight.order import MISSING
from autograder.preflight.repair import repair
from solutions.attention.checks import EXERCISES
from tests.autograder.courses import by_hand
from tests.autograder.preflight.conftest import kinds, place, sanitised, whole

pytestmark = pytest.mark.filterwarnings("ignore")  # nbgrader's and sqlalchemy's own
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
    duplicate(nb, "attend", 1, ATTEND)
    cell(nb, "attend").source = "import math"


def duplicate(nb, name, below, source=None):
    """A copy right above or below the cell, or at the end."""
    made = copy.deepcopy(cell(nb, name))
    made.source = made.source if source is None else source
    nb.cells.insert(place(nb, name) + below, made)


def answered_twice(nb):
    duplicate(nb, "attend", 0)
    nb.cells[place(nb, "attend") + 1].source = ATTEND


def paste(nb, where, stubs=None):
    """The whole notebook once more, as it was released if the stubs are given."""
    again = copy.deepcopy(nb.cells)
    for one in again:
        one.source = (stubs or {}).get(grade_id(one), one.source)
    nb.cells[where:where] = again


def delete(nb, *names):
    nb.cells = [one for one in nb.cells if grade_id(one) not in names]


def delete_every_named(nb):
    nb.cells = [one for one in nb.cells if grade_id(one) is None] + [new_code_cell(ATTEND)]


def delete_tests(nb):
    nb.cells = [one for one in nb.cells if not (grade_id(one) or "").startswith("check_")]


def retype(nb, name, kind):
    old = cell(nb, name)
    old.cell_type = kind
    if kind != "code":
        old.pop("outputs", None), old.pop("execution_count", None)


def edit(nb, name, source):
    cell(nb, name).source = source


def move(nb, name, to):
    nb.cells.insert(to, nb.cells.pop(place(nb, name)))


def meta(nb, name, **changes):
    about = cell(nb, name).metadata.nbgrader
    about.update(changes)
    for key in [key for key, value in changes.items() if value is ...]:
        del about[key]


def no_metadata(nb):
    for one in nb.cells:
        one.metadata = {}


def edited_and_nameless(nb):
    one = cell(nb, "check_attend")
    one.metadata, one.source = {}, "print('my own work')"


def no_metadata_no_ids(nb):
    for number, one in enumerate(nb.cells):
        one.metadata, one.id = {}, f"new-{number}"


def answer_in_a_new_cell(nb, stubs, where):
    cell(nb, "attend").source = stubs["attend"]
    nb.cells.insert(place(nb, "attend") if where == "above" else len(nb.cells), new_code_cell(ATTEND))


def answer_in_another_cell(nb, stubs, name, form):
    cell(nb, "attend").source = stubs["attend"]
    cell(nb, name).source = form.format(cell(nb, name).source, ATTEND)


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
STUBS = object()
"""Stands for the released answer cells, by name; STUB for that of `attend`."""
STUB = object()


def row(said, damage, *arguments, last=None, **options):
    """`last`: what is defined last above the test, which is asked; "solved" if it is the first answer."""
    words = (str(each)[:40] for each in (*arguments, *options.items()) if each not in (STUB, STUBS))
    return pytest.param(said, damage, arguments, options, last, id=" ".join([damage.__name__, *words]))


COPIED = ["copied-cell"]
TEST = "check_attend"
ROWS = [  # what is said, the damage
    row(COPIED, split, last=ATTEND),
    row(COPIED, duplicate, "attend", 1, STUB, last="solved"),  # run, it would define the function again, as nothing
    row(COPIED, duplicate, "attend", 0, STUB, last="solved"),
    row(COPIED, answered_twice, last=ATTEND),
    row([*COPIED, "moved-cell"], duplicate, "attend", 200, ATTEND, last=ATTEND),
    row([*COPIED * NAMED, "moved-cell"], paste, 200, last="solved"),
    row(COPIED * NAMED, paste, 200, STUBS, last="solved"),
    row([*COPIED * NAMED, "moved-cell"], paste, 0, STUBS, last="solved"),
    row(COPIED, duplicate, TEST, 200, last="solved"),
    row(["deleted-cell"], delete, TEST),
    row(["deleted-cell"], delete, "check_dot_score", TEST),
    row(["deleted-cell"], delete_tests),
    row(["deleted-answer"], delete, "attend"),
    row(["deleted-answer", "deleted-cell"], delete, "attend", TEST),
    row(["missing-answer"], delete, "written"),
    row(["deleted-cell", "missing-answer"], delete, "written_question", "written"),
    row(
        ["answer-elsewhere", *["deleted-answer"] * (QUESTIONS - 1), "deleted-cell", "missing-answer"],
        delete_every_named,
    ),
    row(["retyped-cell"], retype, "attend", "markdown"),
    row(["retyped-cell"], retype, "attend", "raw"),
    row(["retyped-cell"], retype, TEST, "markdown"),
    row(["retyped-cell"], retype, "written", "code"),
    row(["edited-cell"], edit, TEST, "check = print"),
    row(["edited-cell"], edit, TEST, ""),
    row(["edited-cell"], edit, "written_question", "My answer: because."),
    row(["moved-cell"], move, TEST, 0),
    row(["moved-cell"], move, "attend", 100),
    row([], move, "written", 0),
    *(row(["changed-points"], meta, TEST, points=points) for points in (600, -1, float("nan"), "6", [6], ...)),
    row([], meta, TEST, schema_version=1),
    row([], meta, TEST, schema_version=99, checksum="0"),
    row([], meta, TEST, schema_version="three"),
    row(["changed-metadata"], meta, TEST, grade=False, locked=False),
    row(["changed-metadata"], meta, TEST, solution="yes"),
    row(["changed-metadata"], meta, "attend", locked=True, grade=True),
    row(["lost-name"], meta, TEST, grade_id=["x"]),
    row(["lost-name", "unknown-cell"], meta, TEST, grade_id=7),
    row(["lost-name"], meta, TEST, grade_id="attend"),
    row(["lost-name"], no_metadata, last="solved"),
    row(["deleted-cell"], edited_and_nameless),
    row([*["answer-elsewhere"] * QUESTIONS, "lost-answer", "lost-name"], no_metadata_no_ids, last="solved"),
    row(["answer-elsewhere"], answer_in_a_new_cell, STUBS, "above", last=ATTEND),
    row(["answer-elsewhere", "moved-cell"], answer_in_a_new_cell, STUBS, "below", last=ATTEND),
    row(
        ["answer-elsewhere", "moved-cell"],
        *(answer_in_another_cell, STUBS, "multi_head_attention", "{0}\n{1}"),
        last=ATTEND,
    ),
    row(["answer-elsewhere", "edited-cell"], answer_in_another_cell, STUBS, TEST, "{1}\n{0}", last=ATTEND),
    row(["deleted-answer"], answer_assigned_elsewhere),
    row([], same_ids),
    row(["unknown-cell"], foreign_cell),
]


@pytest.mark.parametrize(("said", "damage", "arguments", "options", "last"), ROWS)
def test_every_damage_is_put_right_and_said(solved, master, own_template, said, damage, arguments, options, last):
    stubs = {own.id: own.source for own in master.cells if own.solution}
    answer = cell(solved, "attend").source if last == "solved" else last
    damage(solved, *({STUBS: stubs, STUB: stubs["attend"]}.get(each, each) for each in arguments), **options)
    handed_in = whole(solved)
    before = copy.deepcopy(handed_in)
    made, found = repair(handed_in, master)
    assert handed_in == before
    assert kinds(found) == sorted(said)
    assert_fit(made, master)
    assert_own_cells_are_kept(handed_in, made, master)
    assert repair(made, master)[0].cells == made.cells, "repairing again changes nothing"
    assert_same_after_sanitising(made, own_template)
    if last is not None:
        above = [one.source for one in made.cells[: place(made, TEST)] if one.cell_type == "code"]
        assert answer in [source for source in above if "def attend(" in source][-1]


def assert_same_after_sanitising(made, root):
    """nbgrader's own changes neither a text nor a type."""
    logging.disable(logging.CRITICAL)
    after = sanitised(made, root)
    logging.disable(logging.NOTSET)
    assert [(c.cell_type, c.source) for c in after.cells] == [(c.cell_type, c.source) for c in made.cells]
    assert [c.metadata.get("nbgrader") for c in after.cells] == [c.metadata.get("nbgrader") for c in made.cells]


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


def test_a_deleted_answer_is_asked_at_the_end_where_everything_is_defined(solved, master):
    answer_assigned_elsewhere(solved)
    made, _ = repair(whole(solved), master)
    assert grade_id(made.cells[-1]) == "check_attend"


def test_a_written_answer_that_was_deleted_is_not_given_zero_unseen(solved, master):
    from nbgrader.utils import determine_grade

    delete(solved, "written")
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
    edit(solved, "written_question", "My answer: because.")
    made, _ = repair(whole(solved), master)
    assert made.cells[place(made, "written_question") + 1].source == "My answer: because."


def test_a_put_back_test_stands_right_below_its_answer(solved, master):
    delete(solved, "check_dot_score", "check_attend", "check_multi_head_attention")
    made, _ = repair(whole(solved), master)
    for name in ("dot_score", "attend", "multi_head_attention"):
        assert place(made, f"check_{name}") == place(made, name) + 1


def test_blanks_and_line_endings_in_a_locked_cell_are_no_edit(solved, master):
    cell(solved, "check_attend").source = cell(solved, "check_attend").source.replace("\n", "\r\n") + "  \n\n"
    assert repair(whole(solved), master)[1] == []


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
