"""Question 1c: the state after the last word."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

LAST = ("states",)


def _states(draw: Draw) -> list[Case]:
    """The first, the last, the longest and the shortest sentence have different lengths, and no row is full."""
    time, d = draw.sizes(2)
    return [case("several lengths", draw.normal(4, time + 3, d), torch.tensor([time, time + 2, 1, time + 1]))]


def _one_state(draw: Draw) -> list[Case]:
    time, d = draw.sizes(2)
    return [
        case("one sentence", draw.normal(1, time + 1, d), torch.tensor([time])),
        case("no padding, float64", draw.normal(2, time, d, dtype=torch.float64), torch.tensor([time, time])),
    ]


def _last(states: Tensor, lengths: Tensor) -> Tensor:
    return states[torch.arange(len(states)), lengths - 1]


def _real(states: Tensor, lengths: Tensor) -> Tensor:
    return (torch.arange(states.shape[1]) < lengths[:, None])[..., None]


def _mean(states: Tensor, lengths: Tensor) -> Tensor:
    return (states * _real(states, lengths)).sum(1) / lengths[:, None]


def _one_too_far(states: Tensor, lengths: Tensor) -> Tensor:
    return states[torch.arange(len(states)), lengths.clamp(max=states.shape[1] - 1)]


def _place_of_the_batch(states: Tensor, lengths: Tensor) -> Tensor:
    return states[:, min(len(states), states.shape[1]) - 1]


LAST_STATES = Exercise(
    name="sequences.last_states",
    title="The thought vector",
    signature="last_states(states, lengths)",
    arguments=("states", "lengths"),
    returns=LAST,
    minutes=10,
    difficulty="easy",
    reference=_last,
    properties=(
        Property(name="one vector per sentence", points=0.2, cases=_states, judge=same_shapes(LAST)),
        Property(name="sentences of several lengths", points=1.2, cases=_states, judge=same_values(LAST)),
        Property(name="one sentence, no padding", points=0.6, cases=_one_state, judge=same_values(LAST)),
    ),
    misconceptions=(
        Misconception(
            id="state-of-the-padding",
            sentence=(
                "You took the last column. For shorter sentences that is a state after *padding*, of which the"
                " sentence's own state is several steps away. Take the one at length − 1."
            ),
            implementation=lambda states, lengths: states[:, -1],
        ),
        Misconception(
            id="one-place-for-all",
            sentence=(
                "You took the state at one and the same place in every sentence. Each has its own length: row b wants"
                " the place `lengths[b]` − 1."
            ),
            implementation=lambda states, lengths: states[:, lengths.max() - 1],
            also=(
                lambda states, lengths: states[:, lengths[0] - 1],
                lambda states, lengths: states[:, lengths[-1] - 1],
                lambda states, lengths: states[:, lengths.min() - 1],
                _place_of_the_batch,
            ),
        ),
        Misconception(
            id="every-place-of-every-sentence",
            sentence=(
                "`states[:, lengths − 1]` takes *all* these places from *every* sentence, (batch, batch, d). To pair"
                " them, row 0 with the first place, row 1 with the second, both axes need an index."
            ),
            implementation=lambda states, lengths: states[:, lengths - 1],
        ),
        Misconception(
            id="one-too-far",
            sentence="You took the state at `lengths`, one past the last word: places begin at 0.",
            implementation=_one_too_far,
            also=(lambda states, lengths: states[torch.arange(len(states)), lengths],),
        ),
        Misconception(
            id="mean",
            sentence="That is the mean of the states. It is a reasonable summary, but asked is the last state alone.",
            implementation=_mean,
        ),
        Misconception(
            id="first",
            sentence="You took the first state: it has seen one word. The last one has seen them all.",
            implementation=lambda states, lengths: states[:, 0],
        ),
    ),
    closed=("nlmcore.seq2seq",),
)
