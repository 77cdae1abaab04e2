"""Question 1c: a bias for every distance."""

import torch
from torch import Tensor

from autograder.checks.self_attention.angles import REFERENCE_ITSELF
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

BIAS = ("bias",)


def _relative(table: Tensor, time: int) -> Tensor:
    reach = (table.shape[1] - 1) // 2
    position = torch.arange(time)
    distance = (position[None, :] - position[:, None]).clamp(-reach, reach)
    return table[:, distance + reach]


def _biases(draw: Draw) -> list[Case]:
    heads, reach = draw.sizes(2)
    return [case("a text within reach", draw.normal(heads, 2 * reach + 1), reach + 1)]


def _far(draw: Draw) -> list[Case]:
    heads, reach = draw.sizes(2)
    return [
        case("a text longer than the reach", draw.normal(heads, 2 * reach + 1), reach + 4),
        case("one position", draw.normal(heads, 5), 1),
    ]


def _by_distance(table: Tensor, distance: Tensor) -> Tensor:
    reach = (table.shape[1] - 1) // 2
    return table[:, distance.clamp(-reach, reach) + reach]


def _steps(time: int) -> Tensor:
    position = torch.arange(time)
    return position[None, :] - position[:, None]


def _wrapped(table: Tensor, time: int) -> Tensor:
    reach = (table.shape[1] - 1) // 2
    return table[:, (_steps(time) + reach) % table.shape[1]]


def _nothing_beyond(table: Tensor, time: int) -> Tensor:
    reach = (table.shape[1] - 1) // 2
    return _relative(table, time).masked_fill(_steps(time).abs() > reach, 0.0)


RELATIVE_BIAS = Exercise(
    name="self_attention.relative_bias",
    title="A bias for every distance",
    signature="relative_bias(table, time)",
    arguments=("table", "time"),
    returns=BIAS,
    minutes=20,
    difficulty="medium",
    reference=_relative,
    properties=(
        Property(name="one number per head, query and key", points=0.25, cases=_biases, judge=same_shapes(BIAS)),
        Property(name="within reach", points=1.75, cases=_biases, judge=same_values(BIAS)),
        Property(name="beyond the reach, and one position", points=1, cases=_far, judge=same_values(BIAS)),
    ),
    misconceptions=(
        Misconception(
            id="direction-reversed",
            sentence=(
                "Before and after have changed places. The distance is key − query: a key *before* the query has a"
                " negative one, on the left of the table."
            ),
            implementation=lambda table, time: _by_distance(table, -_steps(time)),
        ),
        Misconception(
            id="distance-without-sign",
            sentence=(
                "You use |key − query|: what comes before and what comes after get the same bias. The table has a"
                " column for each."
            ),
            implementation=lambda table, time: _by_distance(table, _steps(time).abs()),
        ),
        Misconception(
            id="around-the-end",
            sentence=(
                "Beyond the reach you come in again on the other side of the table. All distances beyond it share its"
                " outermost column: `clamp`."
            ),
            implementation=_wrapped,
        ),
        Misconception(
            id="nothing-beyond-the-reach",
            sentence=(
                "Beyond the reach your bias is 0. Whatever is farther away shares the outermost column: `clamp` the"
                " distance."
            ),
            implementation=_nothing_beyond,
        ),
        Misconception(
            id="off-by-one",
            sentence="Your columns are off by one: distance 0 is the middle of the table, column (columns − 1) / 2.",
            implementation=lambda table, time: _by_distance(table, _steps(time) + 1),
        ),
    ),
    closed=REFERENCE_ITSELF,
)
