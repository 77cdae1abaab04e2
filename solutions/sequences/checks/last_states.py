"""Question 1c: the state after the last word."""

import torch

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.sequences.checks.common import CLOSED


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


LAST_STATES = question(
    "sequences.last_states",
    minutes=10,
    difficulty="easy",
    returns=("states",),
    properties=[
        shapes(0.2, _states, "one vector per sentence"),
        values("sentences of several lengths", 1.2, _states),
        values("one sentence, no padding", 0.6, _one_state),
    ],
    closed=CLOSED,
    mistakes="""
state-of-the-padding: You took the last column. For shorter sentences that is a state after *padding*, several steps
after the sentence's own last state. Take the one at length − 1.
+ return states[:, -1]

one-place-for-all: You took the state at the same position in every sentence. Each sentence has its own length: for row
b take the position `lengths[b]` − 1.
+ return states[:, lengths.max() - 1]
or
+ return states[:, lengths[0] - 1]
or
+ return states[:, lengths[-1] - 1]
or
+ return states[:, lengths.min() - 1]
or
+ return states[:, min(len(states), states.shape[1]) - 1]

every-place-of-every-sentence: `states[:, lengths − 1]` takes *all* these positions from *every* sentence, (batch,
batch, d). To pair them, row 0 with the first position, row 1 with the second, both axes need an index.
- torch.arange(len(states)) → :

one-too-far: You took the state at `lengths`, one position after the last word: positions start at 0.
- lengths - 1 → lengths.clamp(max=states.shape[1] - 1)
or
- lengths - 1 → lengths

mean: That is the mean of the states. It is a reasonable summary, but return just the last state.
+ words = torch.arange(states.shape[1]) < lengths[:, None]
+ return (states * words[..., None]).sum(1) / lengths[:, None]

first: You took the first state, which has processed one word. The last one has processed them all.
+ return states[:, 0]
""",
)
