"""A notebook that uses the student's library is graded by itself: with what it gives, and what was brought into it."""

from pathlib import Path
from typing import Any

import pytest

from autograder.grading.execute import data_files, run_plan
from autograder.grading.plan import plan_notebook
from autograder.question.find import exercises_of
from autograder.question.questions import read_master
from autograder.sandbox import Box, Limits
from tests.autograder.sandbox.conftest import NEEDS_SANDBOX
from tests.test_imports import ROOT

pytestmark = [pytest.mark.slow, NEEDS_SANDBOX]
ASKED = {"efficient_attention": {"remember", "in_order", "decode"}, "transformer": {"rotate"}}
ROTARY = """
from autograder.mine import bring
import torch
bring("positions.rotary")

def rotary(x, first, frequencies):
    angle = torch.arange(first, first + x.shape[-2])[:, None] * frequencies
    a, b = x.chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)
"""
CALLS = """
def rotate(x, first, base):
    return rotary(x, first, base ** (-torch.arange(0, x.shape[-1], 2) / x.shape[-1]))
"""
TAKES = """
from autograder.mine import mine
rotate = mine("transformer.rotate")
"""
REACHES = """
import sys
sys.path.append(".")
from mine.transformer.rotate import rotate
"""


@pytest.fixture(scope="module")
def box() -> Any:
    with Box(Limits(wall=60)) as made:
        yield made


def earned(box: Box, assignment: str, answers: dict[str, str]) -> dict[str, bool]:
    """Question -> whether it has all its points. answers: instead of the solutions, by function."""
    exercises = {n: e for n, e in exercises_of(assignment).items() if e.function in ASKED[assignment]}
    cells = read_master(ROOT / f"solutions/{assignment}/{assignment}.ipynb").cells
    for cell in cells:
        cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""), cell.source)
    place = (assignment, assignment, "ana")
    plan = plan_notebook("a test", cells, exercises, b"secret", place, {})
    return {mark.cell: mark.points == mark.of for mark in run_plan(box, plan, cells).marks if mark.cell in plan.tests}


def test_without_a_library_the_given_function_earns_everything(box: Box) -> None:
    found = earned(box, "efficient_attention", {})
    assert set(found.values()) == {True}
    assert len(found) == 3


@pytest.mark.parametrize(
    ("answer", "right"), [(ROTARY + CALLS, True), (CALLS, False), (TAKES, False), (REACHES, False)]
)
def test_what_was_brought_counts_and_a_library_gains_nothing(box: Box, answer: str, right: bool) -> None:
    assert earned(box, "transformer", {"rotate": answer}) == {"check_rotate": right}


def test_a_library_that_is_handed_in_is_left_behind(tmp_path: Path) -> None:
    for name in ("mine/transformer/rotate.py", "notes.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1")
    assert set(data_files(tmp_path)) == {"notes.csv"}
