"""Question 1b: queries and keys turned by their positions."""

import torch
from torch import Tensor

import nlmcore.positions as reference
from autograder.checks.self_attention.angles import REFERENCE_ITSELF, angles
from autograder.exercise.draw import Draw
from autograder.exercise.judges import law, same_values
from autograder.exercise.laws.self_attention import left_as_it_was, lengths_are_kept, scores_depend_on_the_distance
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

ROTATED = ("rotated",)


def _rotate(x: Tensor, base: float) -> Tensor:
    positions = torch.arange(len(x))
    return reference.rotary(x[None, None], positions, base=base, layout="half")[0, 0]


def _turned(x: Tensor, base: float, sign: int = 1, first: int = 0, step: int = 2) -> Tensor:
    angle = angles(len(x), x.shape[1], base, first, step) * sign
    a, b = x.double().chunk(2, -1)
    return torch.cat([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def _neighbours(x: Tensor, base: float) -> Tensor:
    angle = angles(len(x), x.shape[1], base)
    a, b = x.double()[:, 0::2], x.double()[:, 1::2]
    return torch.stack([a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], -1).flatten(1)


def _no_minus(x: Tensor, base: float) -> Tensor:
    angle = angles(len(x), x.shape[1], base)
    a, b = x.double().chunk(2, -1)
    return torch.cat([a * angle.cos() + b * angle.sin(), a * angle.sin() + b * angle.cos()], -1)


def _new_a(x: Tensor, base: float) -> Tensor:
    angle = angles(len(x), x.shape[1], base)
    a, b = x.double().chunk(2, -1)
    a = a * angle.cos() - b * angle.sin()
    return torch.cat([a, a * angle.sin() + b * angle.cos()], -1)


def _in_place(x: Tensor, base: float) -> Tensor:
    return x.copy_(_turned(x, base))


def _vectors(draw: Draw) -> list[Case]:
    time, half = draw.sizes(2)
    return [case("base 10,000", draw.normal(time + 2, 2 * half), 10_000.0)]


def _bases(draw: Draw) -> list[Case]:
    time, half = draw.sizes(2)
    return [
        case("base 100", draw.normal(time + 1, 2 * half), 100.0),
        case("one position", draw.normal(1, 4), 10_000.0),
        case("two numbers, float64", draw.normal(time, 2, dtype=torch.float64), 50.0),
    ]


def _shifted(draw: Draw) -> list[Case]:
    """The same query and the same key at every position: their scores may depend on the distance alone."""
    _, half = draw.sizes(2)
    time = draw.largest + 3
    query, key = draw.normal(1, 2 * half), draw.normal(1, 2 * half)
    calls = tuple((x.expand(time, -1).contiguous(), 10_000.0) for x in (query, key))
    return [Case(label="one query and one key at all positions", calls=calls)]


ROTATE = Exercise(
    name="self_attention.rotate",
    title="Turned by position",
    signature="rotate(x, base)",
    arguments=("x", "base"),
    returns=ROTATED,
    minutes=30,
    difficulty="hard",
    reference=_rotate,
    properties=(
        Property(name="lengths are kept", points=0.5, cases=_vectors, judge=law(lengths_are_kept), outputs=(0,)),
        Property(
            name="scores depend on the distance alone",
            points=1.5,
            cases=_shifted,
            judge=law(scores_depend_on_the_distance),
            outputs=(0,),
        ),
        Property(name="the numbers", points=1.5, cases=_vectors, judge=same_values(ROTATED), outputs=(0,)),
        Property(name="other bases, one position", points=1, cases=_bases, judge=same_values(ROTATED), outputs=(0,)),
        Property(name="x is left as it was", points=0.5, cases=_vectors, judge=law(left_as_it_was)),
    ),
    misconceptions=(
        Misconception(
            id="neighbours-as-pairs",
            sentence=(
                "Your pairs are neighbours, 2i and 2i + 1. That is the other layout. Here number i is paired with"
                " number i + d/2, as in SmolLM2; with the wrong one its weights read nonsense."
            ),
            implementation=_neighbours,
        ),
        Misconception(
            id="turned-backwards",
            sentence="You turn the other way round: the sine has the minus in the *first* half, −b sin.",
            implementation=lambda x, base: _turned(x, base, sign=-1),
        ),
        Misconception(
            id="minus-forgotten",
            sentence=(
                "The minus is missing: a cos + b sin and a sin + b cos. That is no rotation, and the vectors change"
                " their lengths."
            ),
            implementation=_no_minus,
        ),
        Misconception(
            id="counted-from-one",
            sentence="Your first position is 1: the first vector should stay as it is.",
            implementation=lambda x, base: _turned(x, base, first=1),
        ),
        Misconception(
            id="half-the-exponent",
            sentence="Your exponent is i/d. It is 2i/d, with i the number of the pair: the last ones turn slowly.",
            implementation=lambda x, base: _turned(x, base, step=1),
        ),
        Misconception(
            id="one-angle-for-all",
            sentence=(
                "All pairs turn by the same angle. Pair i turns by position / base^(2i/d): the first one fast, the"
                " last one slowly, like the hands of a clock."
            ),
            implementation=lambda x, base: _turned(x, 1.0),
        ),
        Misconception(
            id="new-a-for-b",
            sentence=(
                "The second half is computed from the new first half: once you have written over a, its old numbers are"
                " gone. Compute both from the old a and b."
            ),
            implementation=_new_a,
        ),
        Misconception(
            id="base-ignored",
            sentence="You always turn by 10,000. The base is an argument: SmolLM2's is 100,000.",
            implementation=lambda x, base: _turned(x, 10_000.0),
        ),
        Misconception(
            id="changes-its-input",
            sentence=(
                "The result is right, but x has changed: chunk and slices are views, and an assignment to x[...] writes"
                " into the caller's tensor. Put the halves together with torch.cat, or work on x.clone()."
            ),
            implementation=_in_place,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
