import dataclasses

import pytest

from autograder.question.judges import same_values
from autograder.question.specification import Exercise, Misconception, Property, case

NAMES = ("y",)


def one_case(draw):
    return [case("a number", draw.normal(3))]


def doubling(**changes):
    """A small exercise: return twice the input."""
    fields = dict(
        name="small.double",
        title="Twice",
        signature="double(x)",
        arguments=("x",),
        returns=NAMES,
        minutes=1,
        difficulty="easy",
        reference=lambda x: 2 * x,
        properties=(Property(name="twice", points=2, cases=one_case, judge=same_values(NAMES)),),
        misconceptions=(
            Misconception(id="squared", sentence="That is the square of it.", implementation=lambda x: x * x),
        ),
    )
    return Exercise(**{**fields, **changes})


def test_points_are_the_sum_of_the_properties_and_the_function_is_the_last_part_of_the_name():
    half = Property(name="half", points=0.5, cases=one_case, judge=same_values(NAMES))
    exercise = doubling(properties=(*doubling().properties, half))
    assert exercise.points == 2.5
    assert exercise.function == "double"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "double"}, "assignment.function"),
        ({"properties": doubling().properties * 2}, "two properties"),
        ({"misconceptions": doubling().misconceptions * 2}, "two misconceptions"),
        ({"properties": ()}, "points must be positive"),
        ({"properties": (dataclasses.replace(doubling().properties[0], points=-1),)}, "points must be positive"),
    ],
)
def test_a_declaration_that_contradicts_itself_is_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        doubling(**changes)


def test_an_exercise_can_be_remembered_by_itself():
    assert len({doubling(), doubling()}) == 2  # functions differ, so exercises do
    exercise = doubling()
    assert {exercise: 1}[exercise] == 1
