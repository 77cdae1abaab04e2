"""What the questions on gates share: blocks of weights, and the sizes of a step."""

from collections.abc import Callable

from torch import Tensor

from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case


def blocks(draw: Draw, count: int, n_in: int, hidden: int) -> tuple[Tensor, Tensor, Tensor]:
    """W (count, n_in, hidden), U (count, hidden, hidden) and b (count, hidden)."""
    return (
        draw.normal(count, n_in, hidden) / n_in**0.5,
        draw.normal(count, hidden, hidden) / hidden**0.5,
        draw.normal(count, hidden),
    )


Cell = Callable[[Draw, int, int, int], Case]
"""Draws one step of a cell from a source of numbers and the sizes batch, n_in and hidden."""


def any_sizes(cell: Cell) -> Callable[[Draw], list[Case]]:
    """A batch, of sizes that differ."""
    return lambda draw: [cell(draw, *draw.sizes(3))]


def odd_sizes(cell: Cell) -> Callable[[Draw], list[Case]]:
    """As many units as inputs, in double precision; one text and one unit."""

    def cases(draw: Draw) -> list[Case]:
        (n,) = draw.sizes(1)
        square, small = cell(draw, 2, n, n), cell(draw, 1, n, 1)
        return [
            case("as many units as inputs, float64", *(t.double() for t in square.calls[0])),
            case("one text, one unit", *small.calls[0]),
        ]

    return cases
