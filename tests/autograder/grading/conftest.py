from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.autograder.grading import postgres


@pytest.fixture(scope="module")
def server() -> Iterator[Path]:
    """A PostgreSQL server; the folder of its socket."""
    yield from postgres.running()
