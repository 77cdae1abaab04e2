"""Random damage to a real submission: never an exception, nothing of the student's lost, nbgrader content."""

import copy
import json

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from autograder.preflight.master import same_text
from autograder.preflight.names import grade_id
from autograder.preflight.read import Unreadable, _parse, notebook_of
from autograder.preflight.repair import repair
from tests.autograder.preflight.conftest import answered
from tests.autograder.preflight.test_repair import assert_fit, assert_own_cells_are_kept, assert_same_after_sanitising

pytestmark = pytest.mark.filterwarnings("ignore")  # nbgrader's and sqlalchemy's own

scalar = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.just("\ud800"), st.just("attend")
)
junk = st.recursive(scalar, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner))
names = st.sampled_from(["attend", "check_attend", "written", "dot_score", "check_dot_score", "unknown"])
keys = st.sampled_from(["cell_type", "source", "metadata", "id", "outputs", "attachments"])
flags = st.sampled_from(["grade", "solution", "locked", "task", "points", "schema_version", "checksum", "grade_id"])
types = st.sampled_from(["code", "markdown", "raw"])
at = st.integers(0, 200)

texts = st.text(max_size=30) | st.just("def attend(): return 1")
DAMAGES = {
    **{"delete": (at,), "copy": (at, at), "move": (at, at), "type": (at, types), "key": (at, keys, junk), "twice": ()},
    **{"drop": (at, keys), "flag": (at, flags, junk | names), "cell": (at, junk), "text": (at, texts)},
}
damage = st.one_of(st.tuples(st.just(kind), *parts) for kind, parts in DAMAGES.items())


def apply(content, one):
    cells = content["cells"]
    kind, *rest = one
    if kind == "twice":
        cells += copy.deepcopy(cells)
        return
    if not cells:
        return
    where = rest[0] % len(cells)
    cell = cells[where]
    if kind == "delete":
        del cells[where]
    elif kind == "copy":
        cells.insert(rest[1] % (len(cells) + 1), copy.deepcopy(cell))
    elif kind == "move":
        cells.insert(rest[1] % len(cells), cells.pop(where))
    elif kind == "cell":
        cells[where] = rest[1]
    elif isinstance(cell, dict):
        if kind == "type":
            cell["cell_type"] = rest[1]
        elif kind == "key":
            cell[rest[1]] = rest[2]
        elif kind == "drop":
            cell.pop(rest[1], None)
        elif kind == "text":
            cell["source"] = rest[1]
        elif isinstance(cell.get("metadata"), dict):
            about = cell["metadata"].setdefault("nbgrader", {})
            if isinstance(about, dict):
                about[rest[1]] = rest[2]


@pytest.fixture(scope="module")
def submission(_released):
    """Answered, as plain JSON."""
    return json.loads(json.dumps(answered(copy.deepcopy(_released))))


def damaged(submission, damages):
    """Its notebook with these damages, as it is read."""
    content = copy.deepcopy(submission)
    for one in damages:
        apply(content, one)
    return notebook_of(json.loads(json.dumps(content)), "attention.ipynb")[0]


DOT_SCORE, ATTEND, CHECK_ATTEND = 3, 14, 15
"""Where these cells are in the notebook."""
COPY = [("copy", ATTEND, ATTEND), ("drop", ATTEND, "metadata")]
"""A copy without metadata, above the cell itself."""


@example([("flag", DOT_SCORE, "grade_id", "check_attend"), ("text", DOT_SCORE, "x")])
@example([("text", DOT_SCORE, "def attend(): return 1"), *COPY, ("text", ATTEND, "x"), ("text", ATTEND + 1, "")])
@example([("delete", ATTEND), ("key", ATTEND, "id", "attend"), *COPY, ("key", DOT_SCORE, "id", "attend")])
@given(st.lists(damage, max_size=12))
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
def test_any_damage_is_repaired_and_nothing_is_lost(submission, master, damages):
    read = damaged(submission, damages)
    made, found = repair(read, master)
    assert_fit(made, master)
    assert_own_cells_are_kept(read, made, master)
    assert repair(made, master)[0].cells == made.cells
    assert all(finding.words.isprintable() and len(finding.words) < 400 for finding in found)
    for own in master.cells:  # an answer cell that is still there says what the student wrote, or nothing
        texts = [cell.source for cell in made.cells if grade_id(cell) == own.id and own.solution]
        there = [cell.source for cell in read.cells]
        assert all(text in there or same_text(text, own.source) or "restored empty" in text for text in texts)


@given(st.lists(damage, max_size=12))
@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
def test_nbgraders_own_sanitising_changes_no_text_after_a_repair(submission, master, own_template, damages):
    made, _ = repair(damaged(submission, damages), master)
    assert_same_after_sanitising(made, own_template)


@given(st.data())
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
def test_damaged_bytes_are_read_or_refused(submission, master, data):
    content = bytearray(json.dumps(submission).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        where = data.draw(st.integers(0, len(content) - 1))
        kind = data.draw(st.sampled_from(["cut", "byte", "text"]))
        if kind == "cut":
            del content[where : where + data.draw(st.integers(1, 400))]
        else:
            what = data.draw(st.binary(max_size=3)) if kind == "byte" else b'"}]'
            content[where : where + 1] = what
        if not content:
            break
    try:
        read, _ = notebook_of(_parse("attention.ipynb", bytes(content)), "attention.ipynb")
    except Unreadable:
        return
    assert_fit(repair(read, master)[0], master)
