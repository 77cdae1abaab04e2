"""Question 2a: the loss of one pair among noise."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.checks.vectors.common import REFERENCE_ITSELF, small_pairs, unit, usual_pairs
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

LOSS = ("loss",)


def _long(draw: Draw) -> list[Case]:
    (d,) = draw.sizes(1)
    centre = 32 * unit(draw.normal(d))  # the exponentials are too large for float64 as well
    noise = torch.stack([1.1 * centre, -0.8 * centre, 0.7 * centre])  # no two mistakes look alike
    return [case("dot products of about a thousand", centre, -0.9 * centre, noise)]


def _loss(centre: Tensor, context: Tensor, noise: Tensor) -> Tensor:
    log_sigmoid = torch.nn.functional.logsigmoid
    return -log_sigmoid(context @ centre) - log_sigmoid(-(noise @ centre)).sum()


def _mean_over_noise(centre: Tensor, context: Tensor, noise: Tensor) -> Tensor:
    neighbour = _loss(centre, context, noise[:0])
    return neighbour + (_loss(centre, context, noise) - neighbour) / len(noise)


def _unstable(centre: Tensor, context: Tensor, noise: Tensor) -> Tensor:
    return -torch.sigmoid(context @ centre).log() - torch.sigmoid(-(noise @ centre)).log().sum()


def _with_a_grain(grain: float) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """Something small is added inside of the logarithm; a sigmoid that is cut off there gives the same numbers."""

    def loss(centre: Tensor, context: Tensor, noise: Tensor) -> Tensor:
        yes, no = torch.sigmoid(context @ centre), torch.sigmoid(-(noise @ centre))
        return -(yes + grain).log() - (no + grain).log().sum()

    return loss


def _softmax(centre: Tensor, context: Tensor, noise: Tensor) -> Tensor:
    return -torch.log_softmax(torch.cat([context[None], noise]) @ centre, 0)[0]


PAIR_LOSS = Exercise(
    name="vectors.pair_loss",
    title="One pair among noise",
    signature="pair_loss(centre, context, noise)",
    arguments=("centre", "context", "noise"),
    returns=LOSS,
    minutes=20,
    difficulty="medium",
    reference=_loss,
    properties=(
        Property(name="several words of noise", points=2, cases=usual_pairs, judge=same_values(LOSS)),
        Property(name="one word of noise, one number", points=1, cases=small_pairs, judge=same_values(LOSS)),
        Property(name="large dot products", points=1, cases=_long, judge=same_values(LOSS)),
    ),
    misconceptions=(
        Misconception(
            id="noise-not-negated",
            sentence=(
                "For the noise the sign is missing: there the model should say *no*, with probability σ(−n·v) = 1 −"
                " σ(n·v). As it is, noise is drawn near as if it were a neighbour."
            ),
            implementation=lambda centre, context, noise: _loss(centre, context, -noise),
        ),
        Misconception(
            id="mean-over-noise",
            sentence=(
                "You took the mean over the words of noise. They are added: each of them is one more question to which"
                " the answer is no."
            ),
            implementation=_mean_over_noise,
        ),
        Misconception(
            id="mean-of-all",
            sentence=(
                "You divided by the number of terms, k + 1 (`binary_cross_entropy_with_logits` does so by itself). The"
                " terms are added: `reduction='sum'`."
            ),
            implementation=lambda centre, context, noise: _loss(centre, context, noise) / (1 + len(noise)),
        ),
        Misconception(
            id="likelihood-for-loss",
            sentence=(
                "The sign is the wrong way round: a loss is *minus* the logarithm of a probability, and never below 0."
            ),
            implementation=lambda centre, context, noise: -_loss(centre, context, noise),
        ),
        Misconception(
            id="softmax",
            sentence=(
                "That is a softmax over the context and the noise: which one of these is it? Negative sampling asks k +"
                " 1 questions instead, each with a σ of its own: is this one a neighbour?"
            ),
            implementation=_softmax,
        ),
        Misconception(
            id="grain-in-the-logarithm",
            sentence=(
                "Something small inside the logarithm, or a σ that is cut off, keeps −∞ away, but then a sure mistake"
                " costs the same however sure it is. `logsigmoid` needs no such help."
            ),
            implementation=_with_a_grain(1e-7),
            also=tuple(_with_a_grain(10.0**-n) for n in (6, 8, 9, 10, 12, 15, 20)),
        ),
        Misconception(
            id="logarithm-forgotten",
            sentence="The logarithms are missing: −σ(…), not −ln σ(…). A sure mistake has to cost more than 1.",
            implementation=lambda centre, context, noise: (
                -torch.sigmoid(context @ centre) - torch.sigmoid(-(noise @ centre)).sum()
            ),
        ),
        Misconception(
            id="noise-forgotten",
            sentence=(
                "The noise plays no part. Without it the best vectors are all alike and very long: every dot product"
                " large."
            ),
            implementation=lambda centre, context, noise: _loss(centre, context, noise[:0]),
        ),
        Misconception(
            id="sigmoid-then-log",
            sentence=(
                "Right, until a sigmoid, or 1 − σ, is 0 in float32 and its logarithm −∞. `logsigmoid`, or −ln(1 +"
                " e^{−x}) written with care, has no such limit."
            ),
            implementation=_unstable,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
