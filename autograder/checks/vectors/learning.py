"""Questions 2a and 2b: the loss of one pair among noise, and its gradients by hand."""

import torch
from torch import Tensor

from autograder.checks.vectors.common import BY_HAND, REFERENCE_ITSELF
from autograder.draw import Draw
from autograder.judges import same_shapes, same_values
from autograder.specification import Case, Exercise, Misconception, Property, case

LOSS, GRADIENTS = ("loss",), ("d_centre", "d_context", "d_noise")
Three = tuple[Tensor, Tensor, Tensor]


def _vectors(draw: Draw, d: int, k: int, label: str, scale: float = 1.0) -> Case:
    return case(label, draw.normal(d) * scale, draw.normal(d) * scale, draw.normal(k, d) * scale)


def _usual(draw: Draw) -> list[Case]:
    d, k = draw.sizes(2)
    return [_vectors(draw, d, k, "several words of noise")]


def _one(draw: Draw) -> list[Case]:
    (d,) = draw.sizes(1)
    return [_vectors(draw, d, 1, "one word of noise"), _vectors(draw, 1, 3, "vectors of one number")]


def _long(draw: Draw) -> list[Case]:
    (d,) = draw.sizes(1)
    centre = draw.normal(d) * 20
    noise = torch.stack([centre, -centre, 0.7 * centre])  # of different lengths, so that no two mistakes look alike
    return [case("dot products in the hundreds", centre, -0.9 * centre, noise)]


def _loss(centre: Tensor, context: Tensor, noise: Tensor) -> Tensor:
    log_sigmoid = torch.nn.functional.logsigmoid
    return -log_sigmoid(context @ centre) - log_sigmoid(-(noise @ centre)).sum()


def _mean_over_noise(centre: Tensor, context: Tensor, noise: Tensor) -> Tensor:
    neighbour = _loss(centre, context, noise[:0])
    return neighbour + (_loss(centre, context, noise) - neighbour) / len(noise)


def _unstable(centre: Tensor, context: Tensor, noise: Tensor) -> Tensor:
    return -torch.sigmoid(context @ centre).log() - torch.sigmoid(-(noise @ centre)).log().sum()


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
        Property(name="several words of noise", points=2, cases=_usual, judge=same_values(LOSS)),
        Property(name="one word of noise, one number", points=1, cases=_one, judge=same_values(LOSS)),
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
                "Right, until the sigmoid is 0 in float32 and its logarithm −∞. `logsigmoid`, or −ln(1 + e^{−x})"
                " written with care, has no such limit."
            ),
            implementation=_unstable,
        ),
    ),
    closed=REFERENCE_ITSELF,
)


# --- by hand ----------------------------------------------------------------------------------------------


def _gradients(centre: Tensor, context: Tensor, noise: Tensor) -> Three:
    yes, no = torch.sigmoid(context @ centre) - 1, torch.sigmoid(noise @ centre)
    return yes * context + no @ noise, yes * centre, torch.outer(no, centre)


def _uphill(centre: Tensor, context: Tensor, noise: Tensor) -> Three:
    d_centre, d_context, d_noise = _gradients(centre, context, noise)
    return -d_centre, -d_context, -d_noise


def _centre_without_noise(centre: Tensor, context: Tensor, noise: Tensor) -> Three:
    _, d_context, d_noise = _gradients(centre, context, noise)
    return (torch.sigmoid(context @ centre) - 1) * context, d_context, d_noise


def _belief_for_error(centre: Tensor, context: Tensor, noise: Tensor) -> Three:
    _, _, d_noise = _gradients(centre, context, noise)
    yes = torch.sigmoid(context @ centre)
    return yes * context + torch.sigmoid(noise @ centre) @ noise, yes * centre, d_noise


def _noise_as_positive(centre: Tensor, context: Tensor, noise: Tensor) -> Three:
    yes, no = torch.sigmoid(context @ centre) - 1, torch.sigmoid(noise @ centre) - 1
    return yes * context + no @ noise, yes * centre, torch.outer(no, centre)


def _slope_of_sigmoid(centre: Tensor, context: Tensor, noise: Tensor) -> Three:
    p, q = torch.sigmoid(context @ centre), torch.sigmoid(noise @ centre)
    yes, no = -p * (1 - p), q * (1 - q)
    return yes * context + no @ noise, yes * centre, torch.outer(no, centre)


PAIR_GRADIENTS = Exercise(
    name="vectors.pair_gradients",
    title="Its gradients, by hand",
    signature="pair_gradients(centre, context, noise)",
    arguments=("centre", "context", "noise"),
    returns=GRADIENTS,
    minutes=25,
    difficulty="hard",
    reference=_gradients,
    properties=(
        Property(name="the shapes are right", points=0.5, cases=_usual, judge=same_shapes(GRADIENTS)),
        Property(name="the neighbour's", points=1, cases=_usual, judge=same_values(GRADIENTS, [1]), outputs=(1,)),
        Property(name="the noise's", points=1, cases=_usual, judge=same_values(GRADIENTS, [2]), outputs=(2,)),
        Property(name="the centre's", points=1.5, cases=_usual, judge=same_values(GRADIENTS, [0]), outputs=(0,)),
        Property(name="one word of noise, one number", points=1, cases=_one, judge=same_values(GRADIENTS)),
    ),
    misconceptions=(
        Misconception(
            id="sign",
            sentence=(
                "The error is the wrong way round, right − said: that points downhill. A gradient points where the loss"
                " *grows*; a step goes against it."
            ),
            implementation=_uphill,
        ),
        Misconception(
            id="centre-without-noise",
            sentence=(
                "The centre's gradient knows of its neighbour alone. The centre is in every one of the k + 1 dot"
                " products: add what comes from the noise."
            ),
            implementation=_centre_without_noise,
        ),
        Misconception(
            id="belief-for-error",
            sentence=(
                "For the neighbour you used σ where the error σ − 1 belongs. When the model is sure that it is one, σ"
                " = 1, nothing should be left to learn."
            ),
            implementation=_belief_for_error,
        ),
        Misconception(
            id="noise-as-neighbour",
            sentence=("The noise is treated like a neighbour: σ − 1. Its answer should be 0, so its error is σ − 0."),
            implementation=_noise_as_positive,
        ),
        Misconception(
            id="slope-of-the-sigmoid",
            sentence=(
                "You used σ (1 − σ), the slope of the sigmoid. The loss has a logarithm in front of it, and together"
                " the slope is simpler: σ minus what should have been."
            ),
            implementation=_slope_of_sigmoid,
        ),
    ),
    closed=BY_HAND,
)
