"""A course that is graded without walls, and commands as a user gives them."""

from collections.abc import Callable
from pathlib import Path

import pytest

import autograder.grading.run as run_module
from autograder.launcher.environment import Environment
from tests.autograder.courses import env
from tests.autograder.grading import fake


@pytest.fixture
def place(plain: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    monkeypatch.setattr(run_module, "work", fake.work)
    return env(plain)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Gives a command, holds it to its exit code, and returns what it said."""

    def give(command: Callable[..., int], place: Environment, *words: object, code: int = 0) -> str:
        capsys.readouterr()
        found = command(place, [str(word) for word in words])
        said = capsys.readouterr()
        assert found == code, said
        return said.out + said.err

    return give
