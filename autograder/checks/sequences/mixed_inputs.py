"""Question 2b: the inputs that are half truth, half own words."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

INPUTS = ("inputs",)


def _case(draw: Draw, batch: int, time: int, share: float, label: str) -> Case:
    """Ids that say where they come from: the truth is even, own words are odd."""
    truth, own = draw.integers(2, 40, batch, time) * 2, draw.integers(2, 40, batch, time) * 2 + 1
    coins = torch.rand(batch, time, generator=torch.Generator().manual_seed(draw.integer(0, 10**9)))
    coins[0, 0], coins[0, 1], coins[0, 2] = 0.98, 0.05, 0.95
    coins[-1, 0], coins[-1, 1], coins[-1, 2] = 0.02, 0.97, 0.03
    return case(label, truth, own, coins, share)


def _mixed(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    inputs = truth.clone()
    inputs[:, 1:] = torch.where(coins[:, 1:] < share, truth[:, 1:], own[:, :-1])
    return inputs


def _half(draw: Draw) -> list[Case]:
    return [_case(draw, 2, draw.largest + 2, 0.5, "a share of one half")]


def _mostly(draw: Draw) -> list[Case]:
    return [_case(draw, 3, draw.largest + 1, 0.8, "mostly the truth"), _case(draw, 2, 5, 0.2, "mostly own words")]


def _all_or_nothing(draw: Draw) -> list[Case]:
    return [_case(draw, 2, 4, 1.0, "share 1: the truth alone"), _case(draw, 2, 4, 0.0, "share 0: own words alone")]


def _per_sentence(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    return _mixed(truth, own, coins[:, 1:2].expand(coins.shape), share)


def _per_sentence_by_the_first(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    return _mixed(truth, own, coins[:, :1].expand(coins.shape), share)


def _reversed_coin(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    return _mixed(truth, own, 1 - coins, 1 - share)


def _coin_before(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    return _mixed(truth, own, coins.roll(1, 1), share)


def _one_half(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    return _mixed(truth, own, coins, 0.5)


def _first_too(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    before = torch.cat([own[:, :1], own[:, :-1]], 1)
    return torch.where(coins < share, truth, before)


def _first_rolled(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    return torch.where(coins < share, truth, own.roll(1, 1))


def _first_rolled_flat(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    return torch.where(coins < share, truth, own.roll(1))


def _own_of(own: Tensor, truth: Tensor, coins: Tensor, share: float) -> Tensor:
    """The own words at the same places, but for the first."""
    inputs = torch.where(coins < share, truth, own)
    inputs[:, 0] = truth[:, 0]
    return inputs


def _own_of_now(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    return _own_of(own, truth, coins, share)


def _own_of_the_future(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    return _own_of(own.roll(-1, 1), truth, coins, share)


MIXED_INPUTS = Exercise(
    name="sequences.mixed_inputs",
    title="Half truth, half own words",
    signature="mixed_inputs(truth, own, coins, share)",
    arguments=("truth", "own", "coins", "share"),
    returns=INPUTS,
    minutes=20,
    difficulty="medium",
    reference=_mixed,
    properties=(
        Property(name="one id per place", points=0.25, cases=_half, judge=same_shapes(INPUTS)),
        Property(name="each place by its own coin", points=2, cases=_half, judge=same_values(INPUTS)),
        Property(name="other shares", points=1, cases=_mostly, judge=same_values(INPUTS)),
        Property(
            name="the truth alone, own words alone", points=0.75, cases=_all_or_nothing, judge=same_values(INPUTS)
        ),
    ),
    misconceptions=(
        Misconception(
            id="one-coin-per-sentence",
            sentence=(
                "One coin decides for a whole sentence. Each *place* has its own (Bengio et al. 2015 found that it"
                " works better)."
            ),
            implementation=_per_sentence,
            also=(_per_sentence_by_the_first,),
        ),
        Misconception(
            id="coin-reversed",
            sentence="The coin is read the wrong way round: *below* the share means the truth.",
            implementation=_reversed_coin,
        ),
        Misconception(
            id="coin-of-the-place-before",
            sentence="You shifted the coins too. Shift `own` alone: the coin at place t decides what is read there.",
            implementation=_coin_before,
        ),
        Misconception(
            id="share-ignored",
            sentence="You compare the coins with one half, whatever `share` says.",
            implementation=_one_half,
        ),
        Misconception(
            id="first-place-too",
            sentence="You also replaced the first input. It is `bos`: nothing has been said yet that could be read.",
            implementation=_first_too,
            also=(_first_rolled, _first_rolled_flat),
        ),
        Misconception(
            id="own-word-of-the-same-step",
            sentence=(
                "At step t you feed the word that the model says *at* step t. It has not been said yet: read the one of"
                " the step before, `own[:, t − 1]`."
            ),
            implementation=_own_of_now,
        ),
        Misconception(
            id="own-word-of-the-next-step",
            sentence=(
                "You shifted `own` the wrong way: at step t you feed what the model says at step t + 1. Read the word"
                " of the step before, `own[:, t − 1]`."
            ),
            implementation=_own_of_the_future,
        ),
    ),
    closed=("nlmcore.training",),
)
