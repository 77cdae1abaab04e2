import pytest
import torch

from autograder.check import examine
from autograder.question.outcome import Outcome
from autograder.question.report import Report
from autograder.question.resemblance import resemblance
from tests.autograder.test_specification import doubling

RIGHT = torch.tensor([[1.0, 2.0, -4.0], [0.5, 3.0, 7.0]])
NAMES = "y", "z"


def said(mine, right=RIGHT):
    return resemblance(Outcome(outputs=(mine,)), Outcome(outputs=(right,)), NAMES[:1], [0])


@pytest.mark.parametrize(
    ("mine", "words"),
    [
        (-RIGHT, "Your y has the wrong sign everywhere."),
        (RIGHT * 8, "Your y is 8 times what it should be, everywhere."),
        (RIGHT.flip(1), "Your y has the right values, in reverse order along axis 1."),
        (RIGHT[:, [1, 0, 2]], "Your y has the right values, in another order along axis 1."),
        (RIGHT[:, [1, 1, 2]], None),
        (RIGHT.T, "Your y is the transpose of what it should be."),
        (RIGHT[None], "Your y has the right values; its shape differs only in axes of length 1."),
        (RIGHT + 1, None),
        (RIGHT * 1.001, None),
        (RIGHT * torch.nan, None),
    ],
)
def test_what_a_wrong_result_has_in_common_with_the_right_one(mine, words):
    assert said(mine) == words


def test_nothing_is_said_of_a_result_that_is_right_or_has_too_few_numbers():
    assert said(RIGHT) is None
    assert said(torch.tensor([2.0, 2.0]), torch.tensor([1.0, 1.0])) is None
    assert said(torch.tensor([False, True]), torch.tensor([True, False])) is None
    assert said(torch.tensor([0.0, 1e-6, 1.0]), torch.tensor([1.0, 1e-6, 0.0])) is None, "one number stands out"


def test_tiny_numbers_are_not_all_the_same():
    assert said(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([1e-9, 2e-9, 3e-9])) is None
    assert said(torch.zeros(3), torch.tensor([1.0, 2.0, 3.0])) is None


def test_a_result_in_the_place_of_another_is_recognised():
    pair = Outcome(outputs=(RIGHT, RIGHT + 1)), Outcome(outputs=(RIGHT + 1, RIGHT))
    assert resemblance(*pair, NAMES, [0, 1]) == "Your y is what z should be."
    nothing = torch.zeros_like(RIGHT)
    assert resemblance(Outcome(outputs=(nothing, RIGHT)), Outcome(outputs=(RIGHT, nothing)), NAMES, [0]) is None


def test_a_report_on_public_inputs_says_it_and_one_on_hidden_inputs_does_not():
    def student(x):
        return -2 * x

    assert "has the wrong sign everywhere" in str(Report(examine(doubling(), student, None)))
    assert "wrong sign" not in str(Report(examine(doubling(), student, 3)))
