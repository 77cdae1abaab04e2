"""Question 2b: clipping by the norm of all gradients together."""

import torch

from autograder.exercise.declare import judged, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.training.checks.common import Weights, matrix_and_bias, tensors
from solutions.training.laws import shortens_what_is_too_long


def _norm(gradients: Weights) -> float:
    return float(torch.cat([g.flatten() for g in gradients.values()]).norm())


def _above(draw: Draw) -> list[Case]:
    gradients = tensors(draw, matrix_and_bias(draw))
    largest = max(float(g.norm()) for g in gradients.values())
    return [case("above the limit", gradients, largest * draw.integer(5, 8) / 10)]


def _below(draw: Draw) -> list[Case]:
    """The second is above the limit, so that whoever never clips has not answered."""
    short, long = (tensors(draw, matrix_and_bias(draw)) for _ in range(2))
    return [
        Case(
            label="one below its limit and one above",
            calls=((short, _norm(short) * draw.integer(12, 20) / 10), (long, _norm(long) / 3)),
        )
    ]


def _odd(draw: Draw) -> list[Case]:
    n = draw.size()
    return [
        case("zeros", {"W": torch.zeros(2, n), "b": torch.zeros(n)}, 1.0),
        case("no gradients", {}, 1.0),
        case("one parameter, float64", {"w": draw.normal(n).double() * 5}, 0.5),
        case("slices of larger arrays", {"W": draw.strided(2, n), "b": draw.normal(n)}, 0.1),
    ]


CLIPPING = question(
    "training.clip_gradients",
    minutes=15,
    difficulty="easy",
    returns=("clipped", "norm"),
    properties=[
        values("the norm", 0.5, _above, "norm"),
        values("gradients above the limit", 0.75, _above, "clipped"),
        judged("gradients below the limit stay as they are", 0.25, _below, shortens_what_is_too_long, "clipped"),
        values("zeros, none, one parameter, slices", 0.5, _odd),
    ],
    numpy=True,
    mistakes="""
each-tensor-by-itself: You clipped each array by its own norm, which changes the direction of the step. One norm of
all gradients together, one factor for all.
- return {name: g * factor for name, g in gradients.items()}, norm
+ own = {name: np.linalg.norm(g) for name, g in gradients.items()}
+ return {n: g * (max_norm / own[n] if own[n] > max_norm else 1.0) for n, g in gradients.items()}, norm

each-entry: You limited each entry by itself, which changes the direction of the step. Divide all entries by the same
number.
- g * factor for → g.clip(-max_norm, max_norm) for

always-scaled: You scale to the limit even if the norm is below it. That *lengthens* small gradients, so the steps
never become small near the bottom.
- if norm > max_norm else 1.0 → if norm > 0 else 1.0

norms-added: You added the norms of the arrays. Lengths do not add up, but their squares do: one root, of the sum of
all squares.
- math.sqrt(sum((g**2).sum() for g in gradients.values())) → sum(map(np.linalg.norm, gradients.values()))

root-forgotten: Your norm is the sum of the squares. Take its square root.
- math.sqrt(sum((g**2).sum() for g in gradients.values())) → sum((g**2).sum() for g in gradients.values())

shortened-to-one: Your clipped gradients have the length 1. It should be `max_norm`.
- max_norm / norm if → 1 / norm if

norm-after-clipping: You return the norm of the clipped gradients. Return the norm before, because it reveals an
explosion.
- for name, g in gradients.items()}, norm → for name, g in gradients.items()}, norm * factor

largest-entry: You measure the gradient by its largest entry. Its length is the root of the sum of all squares.
- math.sqrt(sum((g**2).sum() for g in gradients.values()))
+ max([0.0, *(np.abs(g).max() for g in gradients.values())])

in-place: The values are right, but you changed the gradients that you were given. `g * factor` makes a new array, `g
*= factor` does not.
- g * factor for → np.multiply(g, factor, out=g) for
""",
)
