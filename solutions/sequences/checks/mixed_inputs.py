"""Question 2b: inputs that are partly the reference, partly the model's own output."""

import torch

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.sequences.checks.common import CLOSED


def _case(draw: Draw, batch: int, time: int, share: float, label: str) -> Case:
    """Ids that say where they come from: the reference is even, the model's own output is odd."""
    truth, own = draw.integers(2, 40, batch, time) * 2, draw.integers(2, 40, batch, time) * 2 + 1
    coins = torch.rand(batch, time, generator=torch.Generator().manual_seed(draw.integer(0, 10**9)))
    coins[0, 0], coins[0, 1], coins[0, 2] = 0.98, 0.05, 0.95
    coins[-1, 0], coins[-1, 1], coins[-1, 2] = 0.02, 0.97, 0.03
    coins[0, -1] = share  # not below it
    return case(label, truth, own, coins, share)


def _half(draw: Draw) -> list[Case]:
    return [_case(draw, 2, draw.largest + 2, 0.5, "a fraction of one half")]


def _mostly(draw: Draw) -> list[Case]:
    return [
        _case(draw, 3, draw.largest + 1, 0.8, "mostly the reference"),
        _case(draw, 2, 5, 0.2, "mostly its own output"),
        _case(draw, 4, 4, 0.5, EQUAL),
    ]


def _all_or_nothing(draw: Draw) -> list[Case]:
    return [
        _case(draw, 2, 4, 1.0, "fraction 1: only the reference"),
        _case(draw, 2, 4, 0.0, "fraction 0: only its own output"),
    ]


MIXED_INPUTS = question(
    "sequences.mixed_inputs",
    minutes=20,
    difficulty="medium",
    returns=("inputs",),
    properties=[
        shapes(0.25, _half, "one id per position"),
        values("each position by its own coin", 2, _half),
        values("other fractions", 1, _mostly),
        values("only the reference, only its own output", 0.75, _all_or_nothing),
    ],
    closed=CLOSED,
    mistakes="""
one-coin-per-sentence: You use one coin for a whole sentence. Each *position* has its own (Bengio et al. 2015 found that
it works better).
- coins[:, 1:] → coins[:, 1:2]
or
- coins[:, 1:] → coins[:, :1]

coin-reversed: You read the coin the wrong way round: *below* the fraction means the reference.
- < share → > share

coin-of-the-place-before: You shifted the coins as well. Shift only `own`: the coin at position t decides what is the
input there.
- coins[:, 1:] → coins[:, :-1]

share-ignored: You compare the coins with one half, whatever `share` is.
- < share → < 0.5

first-place-too: You also replaced the first input. It is `bos`: the model has no output yet that could be used.
+ return torch.where(coins < share, truth, torch.cat([own[:, :1], own[:, :-1]], 1))
or
+ return torch.where(coins < share, truth, own.roll(1, 1))
or
+ return torch.where(coins < share, truth, own.roll(1))

own-word-of-the-same-step: At step t your input is the word that the model predicts *at* step t. It does not exist yet:
use the one of the previous step, `own[:, t − 1]`.
- own[:, :-1] → own[:, 1:]

own-word-of-the-next-step: You shifted `own` the wrong way: at step t your input is what the model predicts at step t +
1. Use the word of the previous step, `own[:, t − 1]`.
- own[:, :-1] → own.roll(-1, 1)[:, 1:]
""",
)
