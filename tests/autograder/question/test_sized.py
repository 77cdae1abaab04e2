"""Inputs whose sizes have names, and the rows that are made of them: `autograder.question.sized`."""

import pytest
import torch
from torch import Tensor

from autograder.question.draw import Draw
from autograder.question.sized import MAIN, ODD, at, between, beyond, cases, largest, of_question, these, usual
from autograder.question.specification import Both


def table(draw: Draw, rows: int, columns: int, power: float = 2.0) -> tuple[Tensor, dict[str, Tensor], float]:
    return draw.normal(rows, columns), {"bias": draw.normal(columns)}, power


def made(kind):
    return kind(Draw(0, 5))


def test_sizes_are_drawn_and_what_has_a_default_is_no_size():
    first, second = made(cases(table, at("usual"), at("a column", columns=1, power=3.0)))
    (x, _, power), (column, _, other) = first.calls[0], second.calls[0]
    assert x.shape[0] != x.shape[1] > 1
    assert column.shape[1] == 1
    assert (power, other) == (2.0, 3.0)


def test_every_size_is_one_and_everything_is_float64_without_being_asked_for():
    ones, double = made(usual(table, []))
    assert ones.calls[0][0].shape == (1, 1)
    x, entries, _ = double.calls[0]
    assert x.dtype == entries["bias"].dtype == torch.float64
    assert [case.label for case in made(usual(lambda draw: (draw.normal(2),), []))] == ["float64"]


def test_a_row_is_about_the_questions_inputs_unless_it_has_its_own():
    own = {MAIN: cases(table, at("usual")), ODD: usual(table, [])}
    kind = Both((at("a row", rows=1), these(at("other", lambda draw: (7,)), at()), MAIN, ODD))
    labels = [case.label for case in made(of_question(kind, "the property", table, own))]
    assert labels == ["a row", "other", "the property", "usual", "every size 1", "float64"]
    with pytest.raises(TypeError, match="“a row”: the question has no inputs"):
        made(at("a row", rows=1))
    with pytest.raises(TypeError, match="no inputs="):
        made(of_question(MAIN, "", None, {}))


def test_a_value_of_a_row_may_be_drawn():
    (case,) = made(cases(table, at("a row", columns=largest(2), rows=beyond(9), power=between(3, 3))))
    x, _, power = case.calls[0]
    assert (x.shape[1], power) == (7, 3)
    assert x.shape[0] > 10


def test_what_has_no_floating_point_numbers_has_no_case_in_double_precision():
    assert [case.label for case in made(usual(lambda draw, size: ([size],), []))] == ["every size 1"]
