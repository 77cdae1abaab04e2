"""A sandbox that does not start with one entry stops nobody else's race; one that does not start at all stops it."""

from typing import Any

import pytest

from autograder.race import boxed
from autograder.sandbox import BoxFault, BoxResult, Job
from tests.autograder.race.entries import RIGHT, SMALL


class Picky:
    """Starts with the code of no entry, or with nothing at all."""

    def __init__(self, broken: bool) -> None:
        self.broken = broken

    def run(self, job: Job, limits: Any = None) -> BoxResult:
        if job.cells or self.broken:
            raise BoxFault("it does not start")
        return BoxResult(cells=(), ended="finished", words="")


def test_an_entry_with_which_the_sandbox_does_not_start_is_at_fault_alone() -> None:
    found = boxed.run(Picky(broken=False), [RIGHT], [], SMALL, 0.5, 3, b"secret")  # type: ignore[arg-type]
    assert (found.fault, found.bits) == ("raised", None)
    assert "starts without it" in found.words


def test_a_broken_sandbox_is_nobodys_fault() -> None:
    with pytest.raises(BoxFault):
        boxed.run(Picky(broken=True), [RIGHT], [], SMALL, 0.5, 3, b"secret")  # type: ignore[arg-type]
