"""The cases of a question follow from one function, whose arguments without a default are sizes."""

import pytest
import torch

from autograder.exercise.draw import Draw
from autograder.exercise.sized import MAIN, ODD, at, cases, of_question, usual
from autograder.exercise.specification import Both


def rows(draw, time, units, scale=1.0):
    return scale * draw.normal(time, units), {"ids": [draw.integers(0, 9, time)], "gain": draw.normal(units)}


def test_sizes_are_drawn_all_different_and_a_row_fixes_what_it_names():
    (drawn,), (fixed,) = cases(rows, at("drawn"))(Draw(1, 4)), cases(rows, at("fixed", time=7, scale=0.0))(Draw(1, 4))
    table, _ = drawn.calls[0]
    assert len(set(table.shape)) == 2
    table, _ = fixed.calls[0]
    assert (fixed.label, len(table), int(table.count_nonzero())) == ("fixed", 7, 0)


def test_the_usual_unusual_cases_are_size_one_and_double_precision():
    odd = {case.label: case.calls[0] for case in usual(rows, [at("one unit", units=1)])(Draw(1, 4))}
    assert [*odd] == ["one unit", "every size 1", "float64"]
    assert odd["every size 1"][0].shape == (1, 1)
    table, more = odd["float64"]
    assert table.dtype == more["gain"].dtype == torch.float64
    assert more["ids"][0].dtype == torch.int64
    assert [case.label for case in usual(lambda draw, n: (draw.integers(0, n, n),), [])(Draw(1, 4))] == ["every size 1"]


def test_a_property_names_rows_of_its_question():
    own = {MAIN: cases(rows, at("a batch")), ODD: usual(rows, [])}
    named = of_question(Both((MAIN, at("one step", time=1), at("two numbers", lambda draw: (1, 2)))), own, rows)
    assert [case.label for case in named(Draw(1, 4))] == ["a batch", "one step", "two numbers"]
    with pytest.raises(TypeError, match="no inputs="):
        at("one step", time=1)(Draw(1, 4))
