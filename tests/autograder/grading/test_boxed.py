"""A class in the real box: every kind of submission gets what it deserves, whoever was graded before, both ways."""

import shutil

import pytest

import autograder.grading.execute as execute_module
from autograder.grading import records
from autograder.grading.course import Course
from autograder.grading.run import grade
from autograder.sandbox import Box, Limits
from solutions.attention.checks import EXERCISES
from tests.autograder.answers import sources
from tests.autograder.courses import copy, hand_in, nothing, snapshot, writes
from tests.autograder.grading.test_own import by_nbgrader
from tests.autograder.sandbox.conftest import NEEDS_SANDBOX
from tests.autograder.synthetic import answers

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), NEEDS_SANDBOX]
QUICK = Limits(wall=25, cell_wall=2, call_wall=1, cpu=25)
POINTS = {exercise.function: exercise.points for exercise in EXERCISES.values()}
ON_ATTEND = {"attend", "scaled_dot_product_attention", "multi_head_attention", "one_vector", "hardening"}
ON_DOT = {"dot_score", "bilinear_score"}

DOT = "def dot_score(query, keys):\n    return keys @ query"
SWALLOWS = f"""
{DOT}
while True:
    try:
        while True: pass
    except BaseException:
        pass
"""
PATCHES = """
import torch, sys, builtins
def additive_score(query, keys, W_query, W_key, v):
    return torch.zeros(1, 1)
torch.allclose = torch.equal = torch.Tensor.allclose = lambda *a, **k: True
class Always(torch.Tensor):
    def __eq__(self, other): return True
builtins.all = lambda *a: True
check = lambda *a, **k: 26.0
sys.modules.pop('autograder.check', None)
get_ipython().ast_transformers.clear()
3.0
"""
REFERENCE = f"from nlmcore.attention import dot_score as theirs\n{DOT.replace('keys @ query', 'theirs(query, keys)')}"
SEGFAULT = "def decoder_mask(lengths, time):\n    import ctypes\n    return ctypes.string_at(0)"
ENDLESS = "def decoder_mask(lengths, time):\n    while True: pass"
LOUD = "import sys, warnings, tqdm\nwarnings.warn('careful')\nfor _ in tqdm.tqdm(range(3)): print('x', file=sys.stderr)"

WRITTEN = {  # what is changed in the solved notebook, and the questions that are lost by it
    "right": ({}, set()),
    "loud": ({"dot_score": LOUD + "\ndef dot_score(query, keys):\n    return keys @ query"}, set()),
    "raises": ({"decoder_mask": "def decoder_mask(lengths, time):\n    return undefined"}, {"decoder_mask"}),
    "no-python": ({"decoder_mask": "def decoder_mask(:"}, {"decoder_mask"}),
    "segfault": ({"decoder_mask": SEGFAULT}, {"decoder_mask"}),
    "endless": ({"decoder_mask": ENDLESS}, {"decoder_mask"}),
    "swallows": ({"dot_score": SWALLOWS}, set()),  # the cell is ended all the same, after the function was defined
    "stuck": ({"dot_score": f"{DOT}\nsum(range(10**15))"}, set()),  # in C, where no interrupt is heard: asked again
    "leaves": ({"dot_score": "import os\nos._exit(0)"}, ON_DOT),
    "patches": ({"additive_score": PATCHES}, {"additive_score"}),
    "reference": ({"dot_score": REFERENCE}, ON_DOT),
    "half": ({"attend": "def attend(scores, values, mask=None):\n    raise NotImplementedError()"}, ON_ATTEND),
}
BOTH_WAYS = {"right", "loud", "segfault", "nothing"}
"""Those whom nbgrader grades as well: each of them runs once more."""


@pytest.fixture(scope="module")
def both(own_template, tmp_path_factory):
    ours = copy(own_template, tmp_path_factory.mktemp("ours") / "course")
    right = answers(ours)
    for student, (changed, _) in WRITTEN.items():
        hand_in(ours, "attention", student, writes({**right, **changed}))
    hand_in(ours, "attention", "second", writes({**right, **sources("attention")}))
    hand_in(ours, "attention", "nothing", nothing)
    theirs = copy(ours, tmp_path_factory.mktemp("theirs") / "course")
    for folder in (theirs / "submitted").iterdir():
        if folder.name not in BOTH_WAYS:
            shutil.rmtree(folder)
    with pytest.MonkeyPatch.context() as patch, Box(QUICK) as box:
        patch.setattr(execute_module, "shared_box", lambda isolation: box)
        lines = {line.record.student: line for line in grade(Course.load(ours), "attention")}
        (theirs / "grading").mkdir()
        (theirs / "grading" / "secret").write_text((ours / "grading" / "secret").read_text())
        by_nbgrader(theirs, "attention")
    return ours, theirs, lines


def lost(root, student):
    """The questions that did not get all their points."""
    marks = records.load(root, "attention", student).marks
    assert {mark["cell"] for mark in marks} == {f"check_{name}" for name in POINTS}
    return {mark["cell"].removeprefix("check_"): mark["points"] for mark in marks if mark["points"] < mark["of"]}


@pytest.mark.parametrize("student", WRITTEN)
def test_what_is_wrong_costs_its_own_points_and_no_others(both, student):
    found = lost(both[0], student)
    assert set(found) == WRITTEN[student][1], both[2][student]
    assert not [name for name in found if found[name] > 0], found


def test_a_second_style_earns_everything_and_nothing_written_nothing(both):
    assert lost(both[0], "second") == {}
    assert lost(both[0], "nothing") == dict.fromkeys(POINTS, 0)
    assert both[2]["nothing"].record.incidents == []


def test_the_gradebooks_are_equal_cell_by_cell(both):
    one, two = (snapshot(root, "attention") for root in both[:2])
    assert set(one) == {*WRITTEN, "second", "nothing"}
    assert set(two) == BOTH_WAYS
    for student in two:
        assert one[student] == two[student], student


@pytest.mark.parametrize(
    ("student", "said"),
    [
        ("segfault", "crashed in compiled code"),
        ("stuck", "Cell 'dot_score': it took longer than it may"),
        ("leaves", "os._exit"),
        ("reference", "used nlmcore.attention, which is closed"),
    ],
)
def test_what_a_person_should_look_at_is_said(both, student, said):
    assert said in " ".join(both[2][student].record.incidents)
    assert "look at it" in both[2][student].words


def test_all_were_contained(both):
    assert {line.record.isolation for line in both[2].values()} == {"bubblewrap"}
