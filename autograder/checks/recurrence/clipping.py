"""Question 4: clipping by the norm of all gradients together."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged, same_shapes, same_values
from autograder.exercise.laws.recurrence import follows_from_its_own_norm, left_alone
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

CLIP = ("norm", "clipped")
Two = tuple[Tensor, Tensor]


def _gradients(draw: Draw) -> list[Tensor]:
    n_in, hidden = draw.sizes(2)
    return [draw.normal(n_in, hidden), draw.normal(hidden, hidden) * 2, draw.normal(hidden)]


def _flat(gradients: list[Tensor]) -> Tensor:
    return torch.cat([g.flatten() for g in gradients])


def _long(draw: Draw) -> list[Case]:
    gradients = _gradients(draw)
    limit = float(_flat(gradients).abs().max()) * draw.integer(3, 7) / 10  # so single entries are above it, too
    return [Case(label="above the limit", calls=((gradients, limit),), known=(_flat(gradients), torch.tensor(limit)))]


def _both(draw: Draw) -> list[Case]:
    short, long = _gradients(draw), _gradients(draw)
    return [
        Case(
            label="one below its limit and one above",
            calls=((short, float(_flat(short).norm()) * 1.5), (long, float(_flat(long).abs().max()) / 2)),
            known=(_flat(short), _flat(long)),  # the limit of the second is below single entries, too
        )
    ]


def _odd(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    return [
        case("zeros", [torch.zeros(n, n), torch.zeros(n)], 1.0),
        case("a single tensor, float64", [draw.normal(n).double() * 5], 0.5),
        case("a slice of something larger", [draw.strided(2, n), draw.normal(n)], 0.1),
    ]


def _by(norm: Tensor, gradients: list[Tensor], largest: float) -> Two:
    return norm, _flat(gradients) * (largest / norm if norm > largest else 1.0)


def _clip(gradients: list[Tensor], largest: float) -> Two:
    return _by(_flat(gradients).norm(), gradients, largest)


def _each_entry(gradients: list[Tensor], largest: float) -> Two:
    return _flat(gradients).norm(), _flat(gradients).clamp(-largest, largest)


def _each_tensor(gradients: list[Tensor], largest: float) -> Two:
    return _flat(gradients).norm(), torch.cat([_by(g.norm(), [g], largest)[1] for g in gradients])


def _always(gradients: list[Tensor], largest: float) -> Two:
    norm = _flat(gradients).norm()
    return norm, _flat(gradients) * largest / norm


def _always_but_safe(gradients: list[Tensor], largest: float) -> Two:
    norm = _flat(gradients).norm()
    return norm, _flat(gradients) * largest / norm.clamp(min=1e-12)


def _root_of_the_mean(gradients: list[Tensor], largest: float) -> Two:
    return _by(_flat(gradients).square().mean().sqrt(), gradients, largest)


def _in_place(gradients: list[Tensor], largest: float) -> Two:
    norm = _flat(gradients).norm()
    for gradient in gradients:
        gradient.mul_(largest / norm if norm > largest else 1.0)
    return norm, _flat(gradients)


def _norm_after(gradients: list[Tensor], largest: float) -> Two:
    clipped = _clip(gradients, largest)[1]
    return clipped.norm(), clipped


def _to_length_one(gradients: list[Tensor], largest: float) -> Two:
    norm = _flat(gradients).norm()
    return norm, _flat(gradients) / (norm if norm > largest else 1.0)


CLIPPING = Exercise(
    name="recurrence.clip",
    title="Clipping",
    signature="clip(gradients, largest)",
    arguments=("gradients", "largest"),
    returns=CLIP,
    minutes=15,
    difficulty="easy",
    reference=_clip,
    properties=(
        Property(name="the shapes are right", points=0.25, cases=_long, judge=same_shapes(CLIP)),
        Property(name="the norm", points=0.75, cases=_long, judge=same_values(CLIP, [0]), outputs=(0,)),
        Property(
            name="shortened to the limit, by your own norm", points=0.75, cases=_long, judge=follows_from_its_own_norm
        ),
        Property(name="what is below the limit is left alone", points=0.5, cases=_both, judge=left_alone, outputs=(1,)),
        Property(
            name="the clipped gradients, the given ones kept",
            points=0.5,
            cases=_long,
            judge=and_inputs_unchanged(same_values(CLIP, [1])),
        ),
        Property(name="zeros, and a single tensor", points=0.25, cases=_odd, judge=same_values(CLIP)),
    ),
    misconceptions=(
        Misconception(
            id="each-entry",
            sentence=(
                "You clipped each entry. That turns the gradient into another direction; divide all of it by the same"
                " number instead."
            ),
            implementation=_each_entry,
        ),
        Misconception(
            id="each-tensor-by-its-own-norm",
            sentence=(
                "Each tensor is shortened by its own norm. The gradient is one long vector of all parameters: one norm,"
                " one factor, or its direction changes."
            ),
            implementation=_each_tensor,
        ),
        Misconception(
            id="always-divided",
            sentence=(
                "You always scale to the limit, also where the norm is below it. That *lengthens* small gradients, and"
                " the descent never settles."
            ),
            implementation=_always,
            also=(_always_but_safe,),
        ),
        Misconception(
            id="square-root-forgotten",
            sentence="Your norm is the sum of the squares. Its square root is missing.",
            implementation=lambda gradients, largest: _by(_flat(gradients).square().sum(), gradients, largest),
        ),
        Misconception(
            id="norms-added",
            sentence=(
                "You added up the norms of the tensors. Lengths do not add, their squares do: the root of the sum of"
                " all squares."
            ),
            implementation=lambda gradients, largest: _by(
                torch.stack([g.norm() for g in gradients]).sum(), gradients, largest
            ),
        ),
        Misconception(
            id="root-of-the-mean",
            sentence=(
                "Your norm is the root of the *mean* of the squares. A length is the root of their sum: (3, 4) has the"
                " length 5."
            ),
            implementation=_root_of_the_mean,
        ),
        Misconception(
            id="in-place",
            sentence=(
                "The numbers are right, and the given gradients are shortened, too. Whoever called still has them:"
                " `g * factor` makes a new tensor, `g *= factor` and `mul_` do not."
            ),
            implementation=_in_place,
        ),
        Misconception(
            id="norm-after-clipping",
            sentence=(
                "The norm that you return is that of the clipped gradient. Asked is the one before: it is what one"
                " watches to see an explosion."
            ),
            implementation=_norm_after,
        ),
        Misconception(
            id="shortened-to-one",
            sentence="You divided by the norm, so the clipped gradient has length 1. Its length should be `largest`.",
            implementation=_to_length_one,
        ),
    ),
    closed=("nlmcore.training", "torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_"),
)
