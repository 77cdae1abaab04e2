"""What the exercises of "sequences" promise beyond what every assignment must (`test_checks.py`)."""

import pytest
import torch

from autograder.check import examine
from nlmcore.training import exponential_decay, inverse_sigmoid_decay, linear_decay
from solutions.sequences.checks import EXERCISES
from tests.autograder.answers import answers, second

SOLUTIONS = second(answers("sequences"))


def test_the_references_are_the_librarys_schedules():
    share = EXERCISES["sequences.teacher_share"].reference
    for step in (0, 3, 17):
        assert share(step, "linear", 0.04) == pytest.approx(linear_decay(step, slope=0.04))
        assert share(step, "exponential", 0.9) == pytest.approx(exponential_decay(step, base=0.9))
        assert share(step, "inverse sigmoid", 7.0) == pytest.approx(inverse_sigmoid_decay(step, k=7.0))


def names(exercise, function):
    return [m.id for m in examine(EXERCISES[f"sequences.{exercise}"], function, None).misconceptions]


def test_a_row_turned_over_is_named_in_the_callers_tensor_too():
    assert names("reverse", lambda tokens, lengths: tokens.copy_(tokens.flip(1))) == ["padding-in-front"]


@pytest.mark.parametrize("length", ["min", "median"])
def test_only_the_longest_length_is_called_the_longest(length):
    def by_another(tokens, lengths):
        return SOLUTIONS["reverse"](tokens, torch.full_like(lengths, int(getattr(lengths, length)())))

    assert "by-the-longest" not in names("reverse", by_another)


@pytest.mark.parametrize("states", [[], [[0.0]], [[float("nan")] * 5] * 6, torch.zeros(6)], ids=str)
def test_states_of_any_shape_are_a_complaint_and_no_fault_of_the_grader(states):
    verdict = examine(EXERCISES["sequences.write"], lambda *given: ([3] * 6, states), None)
    assert verdict.points == 0
