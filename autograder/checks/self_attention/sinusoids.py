"""Question 1a: sinusoids."""

import torch
from torch import Tensor

import nlmcore.positions as reference
from autograder.checks.self_attention.angles import REFERENCE_ITSELF, angles
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

TABLE = ("table",)


def _table(angle: Tensor) -> Tensor:
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


def _own_wavelengths(length: int, d: int) -> Tensor:
    column = torch.arange(d)
    angle = torch.arange(length, dtype=torch.float64)[:, None] / 10_000 ** (column / d)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos())


def _usual(draw: Draw) -> list[Case]:
    length, half = draw.sizes(2)
    return [case("several positions", length + 3, 2 * half), case("a pair more", length + 2, 2 * half + 2)]


def _odd(draw: Draw) -> list[Case]:
    return [case("one position", 1, 4), case("two numbers", draw.largest + 2, 2), case("a long text", 60, 6)]


SINUSOIDS = Exercise(
    name="self_attention.sinusoids",
    title="Sines and cosines",
    signature="sinusoids(length, d)",
    arguments=("length", "d"),
    returns=TABLE,
    minutes=20,
    difficulty="medium",
    reference=lambda length, d: reference.sinusoidal(length, d),
    properties=(
        Property(name="one row per position", points=0.25, cases=_usual, judge=same_shapes(TABLE)),
        Property(name="the numbers", points=2.75, cases=_usual, judge=same_values(TABLE)),
        Property(name="short, narrow, long", points=1, cases=_odd, judge=same_values(TABLE)),
    ),
    misconceptions=(
        Misconception(
            id="in-two-blocks",
            sentence=(
                "Your sines stand in the first half and your cosines in the second. In this table they take turns:"
                " sine in column 2i, cosine in column 2i + 1. (Both ways are in use; a model must keep to one.)"
            ),
            implementation=lambda length, d: torch.cat([angles(length, d).sin(), angles(length, d).cos()], -1),
        ),
        Misconception(
            id="counted-from-one",
            sentence="Your first position is 1. It is 0: its sines are 0 and its cosines 1.",
            implementation=lambda length, d: _table(angles(length, d, first=1)),
        ),
        Misconception(
            id="half-the-exponent",
            sentence=(
                "Your exponent is i/d with i the number of the *pair*. It is 2i/d: the number of the column. As it is,"
                " the slow half of the waves is missing."
            ),
            implementation=lambda length, d: _table(angles(length, d, step=1)),
        ),
        Misconception(
            id="twice-the-exponent",
            sentence=(
                "Your exponent is 2 times the column, over d: i numbers the *pairs*, and 2i is the column already. With"
                " arange(0, d, 2) the 2 is in it."
            ),
            implementation=lambda length, d: _table(angles(length, d, step=4)),
        ),
        Misconception(
            id="sine-and-cosine-exchanged",
            sentence="Sine and cosine have changed places: the sine has the even columns.",
            implementation=lambda length, d: _table(angles(length, d)).unflatten(1, (-1, 2)).flip(-1).flatten(1),
        ),
        Misconception(
            id="each-column-its-own",
            sentence=(
                "Your exponent grows with every column. A sine and the cosine beside it share one wavelength: together"
                " they are the hand of one clock."
            ),
            implementation=_own_wavelengths,
        ),
    ),
    closed=REFERENCE_ITSELF,
    tolerance=1e-3,
)
