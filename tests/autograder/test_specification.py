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
