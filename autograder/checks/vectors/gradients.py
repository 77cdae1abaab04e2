"""Question 2b: the gradients of that loss by hand."""

import torch
from torch import Tensor

from autograder.checks.vectors.common import BY_HAND, small_pairs, usual_pairs
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Exercise, Misconception, Property

GRADIENTS = ("d_centre", "d_context", "d_noise")
Three = tuple[Tensor, Tensor, Tensor]


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


def _own_vectors(centre: Tensor, context: Tensor, noise: Tensor) -> Three:
    yes, no = torch.sigmoid(context @ centre) - 1, torch.sigmoid(noise @ centre)
    return yes * context + no @ noise, yes * context, no[:, None] * noise


def _context_by_itself(centre: Tensor, context: Tensor, noise: Tensor) -> Three:
    d_centre, _, d_noise = _gradients(centre, context, noise)
    return d_centre, _own_vectors(centre, context, noise)[1], d_noise


def _noise_by_itself(centre: Tensor, context: Tensor, noise: Tensor) -> Three:
    d_centre, d_context, _ = _gradients(centre, context, noise)
    return d_centre, d_context, _own_vectors(centre, context, noise)[2]


def _context_first(centre: Tensor, context: Tensor, noise: Tensor) -> Three:
    d_centre, d_context, d_noise = _gradients(centre, context, noise)
    return d_context, d_centre, d_noise


def _in_the_order_of_the_equations(centre: Tensor, context: Tensor, noise: Tensor) -> Three:
    d_centre, d_context, d_noise = _gradients(centre, context, noise)
    return d_context, d_noise, d_centre


def _mean_noise(centre: Tensor, context: Tensor, noise: Tensor) -> Three:
    yes, no = torch.sigmoid(context @ centre) - 1, torch.sigmoid(noise @ centre) / len(noise)
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
        Property(name="the shapes are right", points=0.5, cases=usual_pairs, judge=same_shapes(GRADIENTS)),
        Property(name="the neighbour's", points=1, cases=usual_pairs, judge=same_values(GRADIENTS, [1]), outputs=(1,)),
        Property(name="the noise's", points=1, cases=usual_pairs, judge=same_values(GRADIENTS, [2]), outputs=(2,)),
        Property(name="the centre's", points=1.5, cases=usual_pairs, judge=same_values(GRADIENTS, [0]), outputs=(0,)),
        Property(name="one word of noise, one number", points=1, cases=small_pairs, judge=same_values(GRADIENTS)),
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
            id="own-vector",
            sentence=(
                "You multiplied the error by the vector's own numbers. The derivative of u · v with respect to u is v:"
                " context and noise move along the *centre*."
            ),
            implementation=_own_vectors,
            also=(_context_by_itself, _noise_by_itself),
        ),
        Misconception(
            id="in-another-order",
            sentence=(
                "The gradients look right, but come back in another order: first the centre's, then the context's, then"
                " the noise's, as the arguments are."
            ),
            implementation=_context_first,
            also=(_in_the_order_of_the_equations,),
        ),
        Misconception(
            id="mean-over-noise",
            sentence=(
                "You divided by the number of words of noise. The loss *adds* their terms: each has its whole error,"
                " and the centre gets the sum."
            ),
            implementation=_mean_noise,
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
