"""Question 2a: who may look how far."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.laws.attention import boolean_mask
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

MASK = ("mask",)


def _window(time: int, window: int) -> Tensor:
    position = torch.arange(time)
    back = position[:, None] - position[None, :]
    return (back >= 0) & (back < window)


def _back(time: int) -> Tensor:
    position = torch.arange(time)
    return position[:, None] - position[None, :]


def _short_windows(draw: Draw) -> list[Case]:
    return [case("a window of 2", draw.largest + 2, 2), case("a window of 3", draw.largest + 3, 3)]


def _other_windows(draw: Draw) -> list[Case]:
    return [
        case("a window of 1: oneself", draw.largest + 1, 1),
        case("a window longer than the text", draw.largest, draw.largest + 3),
        case("one position", 1, 2),
    ]


WINDOW_MASK = Exercise(
    name="self_attention.window_mask",
    title="Not ahead, and not too far back",
    signature="window_mask(time, window)",
    arguments=("time", "window"),
    returns=MASK,
    minutes=10,
    difficulty="easy",
    reference=_window,
    properties=(
        Property(name="a boolean mask", points=0.5, cases=_short_windows, judge=boolean_mask),
        Property(name="short windows", points=0.8, cases=_short_windows, judge=same_values(MASK)),
        Property(name="a window of one, and a long one", points=0.7, cases=_other_windows, judge=same_values(MASK)),
    ),
    misconceptions=(
        Misconception(
            id="one-too-far",
            sentence=("Your window is one word too long: a window of w holds the word itself and the w − 1 before it."),
            implementation=lambda time, window: (_back(time) >= 0) & (_back(time) <= window),
        ),
        Misconception(
            id="both-sides",
            sentence="Your window reaches into the future, too. Queries look back only: key ≤ query.",
            implementation=lambda time, window: _back(time).abs() < window,
        ),
        Misconception(
            id="true-means-hidden",
            sentence="Your mask is the wrong way round. True = may attend.",
            implementation=lambda time, window: ~_window(time, window),
        ),
        Misconception(
            id="rows-and-columns-exchanged",
            sentence="Rows and columns have changed places: a row is a query, and looks at keys to its left.",
            implementation=lambda time, window: _window(time, window).T,
        ),
        Misconception(
            id="window-ignored",
            sentence="The past is open without limit: the plain causal mask. Keys `window` or more back are hidden.",
            implementation=lambda time, window: _back(time) >= 0,
        ),
    ),
    closed=("nlmcore.attention",),
)
