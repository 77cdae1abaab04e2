"""Questions 2a and 2b: how often the truth is fed, and the inputs that are half truth, half own words."""

import math

import torch
from torch import Tensor

from autograder.draw import Draw
from autograder.judges import same_shapes, same_values
from autograder.specification import Case, Exercise, Misconception, Property, case

SHARE, INPUTS = ("share",), ("inputs",)
TRAINING = ("nlmcore.training",)


def teacher_share(step: int, kind: str, k: float) -> float:
    if kind == "linear":
        return max(0.0, 1.0 - k * step)
    if kind == "exponential":
        return k**step
    return k / (k + math.exp(step / k))


def _linear(draw: Draw) -> list[Case]:
    step = draw.integer(3, 9)
    return [case("linear", step, "linear", 0.06), case("linear, long after", 40 + step, "linear", 0.05)]


def _exponential(draw: Draw) -> list[Case]:
    return [case("exponential", draw.integer(2, 9), "exponential", 0.8)]


def _sigmoid(draw: Draw) -> list[Case]:
    return [case("inverse sigmoid", draw.integer(5, 30), "inverse sigmoid", 6.0 + draw.integer(0, 3))]


def _at_first(draw: Draw) -> list[Case]:
    return [case(f"{kind}, step 0", 0, kind, k) for kind, k in (("linear", 0.1), ("exponential", 0.9))]


def _unclipped(step: int, kind: str, k: float) -> float:
    return 1.0 - k * step if kind == "linear" else teacher_share(step, kind, k)


def _times(step: int, kind: str, k: float) -> float:
    return k / (k + math.exp(min(step * k, 300))) if kind == "inverse sigmoid" else teacher_share(step, kind, k)


def _e_to_the(step: int, kind: str, k: float) -> float:
    return math.exp(-k * step) if kind == "exponential" else teacher_share(step, kind, k)


TEACHER_SHARE = Exercise(
    name="sequences.teacher_share",
    title="How often the truth",
    signature="teacher_share(step, kind, k)",
    arguments=("step", "kind", "k"),
    returns=SHARE,
    minutes=10,
    difficulty="easy",
    reference=teacher_share,
    properties=(
        Property(name="linear", points=0.5, cases=_linear, judge=same_values(SHARE)),
        Property(name="exponential", points=0.5, cases=_exponential, judge=same_values(SHARE)),
        Property(name="inverse sigmoid", points=0.75, cases=_sigmoid, judge=same_values(SHARE)),
        Property(name="in the beginning: always the truth", points=0.25, cases=_at_first, judge=same_values(SHARE)),
    ),
    misconceptions=(
        Misconception(
            id="reversed",
            sentence=(
                "Yours grows. The model begins with the truth, share 1, and is weaned from it: the share falls with the"
                " step."
            ),
            implementation=lambda step, kind, k: 1.0 - teacher_share(step, kind, k),
        ),
        Misconception(
            id="below-zero",
            sentence="Your linear share falls below 0. It stays at 0 once it is there.",
            implementation=_unclipped,
        ),
        Misconception(
            id="step-times-k",
            sentence=(
                "In the inverse sigmoid you multiplied the step by k. It is divided: e^(step / k), so that a larger k"
                " means a *later* fall."
            ),
            implementation=_times,
        ),
        Misconception(
            id="e-to-the-minus-k",
            sentence="Your exponential is e^(−k·step). Here k itself, below 1, is raised to the step: k ** step.",
            implementation=_e_to_the,
        ),
    ),
    closed=TRAINING,
)


# --- half truth, half own words ---------------------------------------------------------------------------


def _case(draw: Draw, batch: int, time: int, share: float, label: str) -> Case:
    """Ids that say where they come from: the truth is even, own words are odd."""
    truth, own = draw.integers(2, 40, batch, time) * 2, draw.integers(2, 40, batch, time) * 2 + 1
    coins = torch.rand(batch, time, generator=torch.Generator().manual_seed(draw.integer(0, 10**9)))
    coins[0, 1], coins[0, 2] = 0.05, 0.95
    coins[-1, 1], coins[-1, 2] = 0.97, 0.03
    return case(label, truth, own, coins, share)


def mixed(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
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
    return mixed(truth, own, coins[:, 1:2].expand(coins.shape), share)


def _first_too(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    before = torch.cat([own[:, :1], own[:, :-1]], 1)
    return torch.where(coins < share, truth, before)


def _own_of_now(truth: Tensor, own: Tensor, coins: Tensor, share: float) -> Tensor:
    inputs = torch.where(coins < share, truth, own)
    inputs[:, 0] = truth[:, 0]
    return inputs


MIXED_INPUTS = Exercise(
    name="sequences.mixed_inputs",
    title="Half truth, half own words",
    signature="mixed_inputs(truth, own, coins, share)",
    arguments=("truth", "own", "coins", "share"),
    returns=INPUTS,
    minutes=20,
    difficulty="medium",
    reference=mixed,
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
        ),
        Misconception(
            id="coin-reversed",
            sentence="The coin is read the wrong way round: *below* the share means the truth.",
            implementation=lambda truth, own, coins, share: mixed(truth, own, 1 - coins, 1 - share),
        ),
        Misconception(
            id="first-place-too",
            sentence="You also replaced the first input. It is `bos`: nothing has been said yet that could be read.",
            implementation=_first_too,
        ),
        Misconception(
            id="own-word-of-the-same-step",
            sentence=(
                "At step t you feed the word that the model says *at* step t. It has not been said yet: read the one of"
                " the step before, `own[:, t − 1]`."
            ),
            implementation=_own_of_now,
        ),
    ),
    closed=TRAINING,
)
