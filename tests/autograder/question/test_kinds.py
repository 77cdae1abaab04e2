"""Every question judges the kinds of inputs that apply to it, in the public check as well, so nobody is surprised."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch

from autograder.question.draw import Draw
from autograder.question.find import exercises_of
from autograder.question.interview import cases_of, questions
from autograder.question.kinds import EQUAL, SLICES, Equal, Slices
from autograder.question.outcome import tensors_in
from autograder.question.specification import Exercise, case
from autograder.question.travel import made_of
from tests.autograder.test_checks import ASSIGNMENTS

EVERY = [exercise for name in ASSIGNMENTS for exercise in exercises_of(name).values()]
OUTCOMES_IN_LISTS = {"features.changed"}
"""Their lists hold 0 and 1, no ids."""


def ids(value: Any) -> Iterator[int]:
    """The integers in lists."""
    for item in value if isinstance(value, list) else ():
        if isinstance(item, list):
            yield from ids(item)
        elif isinstance(item, int):
            yield item


@pytest.mark.parametrize("exercise", EVERY, ids=lambda e: e.name)
def test_every_kind_of_input_that_applies_is_judged(exercise: Exercise) -> None:
    calls = [call for one in cases_of(questions(exercise)) for call in one.calls]
    labels = {one.label for one in cases_of(questions(exercise))}
    assert any({"inputs_unchanged", "and_inputs_unchanged"} & set(made_of(p.judge)) for p in exercise.properties)
    given = tensors_in(calls)
    if any(t.ndim > 1 for t in given):
        assert any(not t.is_contiguous() for t in given), SLICES
    tables = [[n for t in tensors_in(call) if t.ndim > 1 for n in t.shape] for call in calls]
    if any(len(set(sizes)) > 1 for sizes in tables):
        assert EQUAL in labels or any(len(set(sizes)) == 1 and sizes[0] > 1 for sizes in tables), EQUAL
    if "lengths" in exercise.arguments and exercise.name != "decoding.length_penalty":
        at = exercise.arguments.index("lengths")
        room = [(call[at].max(), t.shape[1]) for call in calls for t in tensors_in(call) if t.ndim > 1]
        room += [(call[at].max(), call[1]) for call in calls if exercise.arguments[1] == "time"]
        assert any(longest < time for longest, time in room), "padding beyond the longest"
    if exercise.name not in OUTCOMES_IN_LISTS and any(True for call in calls for value in call for _ in ids(value)):
        assert any(number > 9 for call in calls for value in call for number in ids(value)), "ids of several digits"


def table(draw: Draw) -> list[Any]:
    rows, columns = draw.sizes(2)
    return [case("a table", draw.normal(rows, columns), [draw.normal(columns)], 3), case("another", draw.normal(1), [])]


def test_sizes_are_made_equal_and_tensors_slices():
    (equal,) = Equal(table)(Draw(1, 5))
    (sliced,) = Slices(table)(Draw(1, 5))
    square, (row,), three = equal.calls[0]
    assert equal.label == EQUAL
    assert square.shape == (len(row), len(row))
    assert three == 3
    assert not sliced.calls[0][0].is_contiguous()
    assert not sliced.calls[0][1][0].is_contiguous()
    assert torch.equal(sliced.calls[0][0], table(Draw(1, 5))[0].calls[0][0])


def test_no_case_is_added_where_there_is_nothing_to_change():
    def different(draw: Draw) -> list[Any]:
        while True:
            one, other = draw.sizes(2)
            if one != other:
                return [case("needs different sizes", torch.zeros(one, other))]

    assert Equal(lambda draw: [case("one size", draw.normal(draw.size()))])(Draw(1, 5)) == []
    assert Equal(different)(Draw(1, 5)) == []
    assert Slices(lambda draw: [case("numbers", 1, [2], torch.zeros(1))])(Draw(1, 5)) == []
