"""A class of one's own for each test of marking: a copy of the one that the module has graded."""

from pathlib import Path

import pytest

from autograder.grading.course import Course
from tests.autograder.courses import copy


@pytest.fixture
def course(template: Path, tmp_path: Path) -> Course:
    return Course.load(copy(template, tmp_path / "course"))
