"""Cases from one function of named sizes: what a row leaves open is drawn, what has a default is no size."""

import pytest
import torch

from autograder.exercise.draw import Draw
from autograder.exercise.sized import ODD, At, at, between, beyond, largest, of_question, several, these, usual
from autograder.exercise.specification import Both, Case


def table(draw: Draw, rows: int, columns: int, first: int = 0, more: dict | None = None):
    return draw.normal(rows, columns), first, {"more": [torch.ones(rows)]}


def made(*rows: At, largest: int = 9) -> list[Case]:
    return list(of_question(these(*rows), "the property", table, {})(Draw(1, largest)))


def test_a_row_gives_values_or_functions_of_the_draw_and_the_rest_is_drawn_or_its_default():
    plain, given = made(at("plain"), at("given", rows=1, columns=largest(2), first=between(3, 5)))
    assert plain.label == "plain"
    assert plain.calls[0][1] == 0
    assert len(set(plain.calls[0][0].shape)) == 2
    assert given.calls[0][0].shape == (1, 11)
    assert given.calls[0][1] in (3, 4, 5)
    assert made(at(first=beyond(20)))[0].calls[0][1] > 21


def test_a_row_without_a_label_has_the_name_of_its_property():
    assert [one.label for one in made(at(rows=2), at("two"))] == ["the property", "two"]


def test_double_precision_reaches_what_is_inside_lists_and_dictionaries():
    x, first, more = made(at(double=True))[0].calls[0]
    assert x.dtype == more["more"][0].dtype == torch.float64
    assert first == 0


def test_a_row_may_have_inputs_of_its_own_with_several_calls():
    def twice(draw: Draw, size: int) -> Case:
        return several((size,), (size,), known=(torch.ones(1),))

    (both,) = made(at("both", twice, size=3))
    assert (both.label, both.calls, len(both.known)) == ("both", ((3,), (3,)), 1)


def test_the_usual_cases_are_added_once():
    def labels(*odd: At) -> list[str]:
        return [one.label for one in usual(table, odd)(Draw(1, 4))]

    assert labels() == ["every size 1", "float64"]
    assert labels(at("tiny", rows=1, columns=1)) == ["tiny", "float64"]


def test_cases_of_the_question_need_its_inputs():
    known = {ODD: these(at("odd", table))}
    assert isinstance(of_question(Both((ODD, at("one"))), "", table, known), Both)
    assert of_question(ODD, "", table, known) is known[ODD]
    with pytest.raises(TypeError, match="no inputs"):
        at("one")(Draw(1, 4))
