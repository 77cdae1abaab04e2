"""A closed name is looked up when assignments are built and graded: there, nobody has the tests' packages."""

import sys
import tomllib

import pytest

from autograder import assignments
from autograder.question.closed import LIBRARIES
from autograder.question.find import exercises_of
from tests.lab import ROOT

ASSIGNMENTS = assignments.names()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_what_is_closed_comes_with_the_course_or_may_be_closed_where_it_is_not(assignment):
    here = {"nlmcore", "autograder", *sys.stdlib_module_names, *LIBRARIES}
    here |= {requirement.split(">")[0].split("=")[0] for requirement in PROJECT["dependencies"]}
    exercises = exercises_of(assignment).values()
    assert {name.split(".")[0] for exercise in exercises for name in exercise.closed} <= here


@pytest.mark.parametrize("assignment", ASSIGNMENTS)
def test_what_is_absent_is_absent_in_every_question_of_an_assignment(assignment):
    """The sandbox does without it for a whole notebook, so the check at home must not allow it in one question."""
    exercises = exercises_of(assignment).values()
    with_pytorch = (exercise for exercise in exercises if not exercise.numpy)
    assert len({tuple(sorted(exercise.closed)) for exercise in with_pytorch}) <= 1
