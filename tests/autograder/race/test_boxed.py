"""An entry in the sandbox: a right one is measured, a wrong one is named, and no process tells another what it saw."""

from collections.abc import Iterator

import pytest

from autograder.box import Box
from autograder.race import boxed, parts, rules
from tests.autograder.race.entries import LATE, REMEMBERS, RIGHT, SMALL, WRONG

pytestmark = pytest.mark.slow
CLOSED = parts.left_out([])


@pytest.fixture(scope="module")
def box() -> Iterator[Box]:
    with Box() as made:
        yield made


def raced(box: Box, *cells: str, seconds: float = 0.5) -> boxed.Run:
    return boxed.run(box, cells, CLOSED, SMALL, seconds, 3, 5)


def test_a_right_entry_is_measured_and_writes(box: Box) -> None:
    found = raced(box, RIGHT)
    assert found.fault == "", found
    assert found.bits is not None
    assert 1.5 < found.bits < 3.5
    assert len(found.sample.encode()) >= boxed.WRITTEN
    assert raced(box, RIGHT).bits == found.bits


@pytest.mark.parametrize("fault", WRONG)
def test_what_is_wrong_is_named(box: Box, fault: str) -> None:
    found = raced(box, RIGHT, WRONG[fault])
    assert found.fault == fault, found
    assert found.bits is None


def test_an_entry_that_does_not_stop_is_out_of_time(box: Box) -> None:
    assert raced(box, RIGHT, LATE).fault == "out-of-time"


def test_what_one_process_has_seen_does_not_help_another(box: Box) -> None:
    assert raced(box, RIGHT, REMEMBERS).fault == "sees-the-future"


def test_cells_that_the_entry_does_not_need_cost_nothing(box: Box) -> None:
    assert raced(box, "import time\nwhile True: time.sleep(1)\n", RIGHT, "1 / 0").fault == ""


def test_a_part_that_is_said_to_be_ones_own_is_not_there(box: Box) -> None:
    ours = "from nlmcore.tokens import BPETokenizer\n" + RIGHT.replace(
        "pairs = torch", "BPETokenizer.train(texts, 300)\n    pairs = torch"
    )
    assert parts.borrowed([ours]) == ["tokenizer"]
    assert raced(box, ours).fault == "foreign-text"
    assert boxed.run(box, [ours], parts.left_out(["tokenizer"]), SMALL, 2.0, 3, 5).fault == ""
    assert "foreign-text" in rules.SENTENCES
