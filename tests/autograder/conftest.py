"""Small courses, made once for all tests of the grader and copied; and commands as a user gives them."""

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def plain_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.autograder.courses import plain_course

    return plain_course(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="session")
def own_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from autograder.release.build import build_exercises
    from tests.autograder.courses import course

    root = course(tmp_path_factory.mktemp("own"), "attention")
    build_exercises(root, audited=False)
    return root


@pytest.fixture(scope="session", autouse=True)
def gradebooks_are_soon_made() -> Iterator[None]:
    """Whenever nbgrader makes a gradebook, it starts a program that says which form is the latest."""
    import nbgrader.api

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nbgrader.api, "get_alembic_version", functools.cache(nbgrader.api.get_alembic_version))
        yield


@pytest.fixture
def plain(plain_template: Path, tmp_path: Path) -> Path:
    from tests.autograder.courses import copy

    return copy(plain_template, tmp_path / "course")


@pytest.fixture
def own(own_template: Path, tmp_path: Path) -> Path:
    from tests.autograder.courses import copy

    return copy(own_template, tmp_path / "own")


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Gives a command, holds it to its exit code, and returns what it said."""

    def give(command: Callable[..., int], place: Any, *words: object, code: int = 0) -> str:
        capsys.readouterr()
        found = command(place, [str(word) for word in words])
        said = capsys.readouterr()
        assert found == code, said
        return said.out + said.err

    return give


@pytest.fixture
def place(plain: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A course that is graded without walls, for commands."""
    import autograder.grading.run as run_module
    from tests.autograder.courses import env
    from tests.autograder.grading import fake

    monkeypatch.setattr(run_module, "work", fake.work)
    return env(plain)
