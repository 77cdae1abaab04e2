"""Question 4: clipping by the norm of all gradients together."""

import torch
from torch import Tensor

from autograder.exercise.declare import judged, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged, same_values
from autograder.exercise.specification import Case, case
from solutions.recurrence.laws import follows_from_its_own_norm, left_alone

CLIP = ("norm", "clipped")


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
    n = draw.size()
    return [
        case("zeros", [torch.zeros(n, n), torch.zeros(n)], 1.0),
        case("a single array, float64", [draw.normal(n).double() * 5], 0.5),
        case("a slice of a larger array", [draw.strided(2, n), draw.normal(n)], 0.1),
    ]


CLIPPING = question(
    "recurrence.clip",
    minutes=15,
    difficulty="easy",
    returns=CLIP,
    properties=[
        shapes(0.25, _long),
        values("the norm", 0.75, _long, "norm"),
        judged("shortened to the limit, using your own norm", 0.75, _long, follows_from_its_own_norm),
        judged("gradients below the limit do not change", 0.5, _both, left_alone, "clipped"),
        judged(
            "the clipped gradients, the given ones unchanged", 0.5, _long, and_inputs_unchanged(same_values(CLIP, [1]))
        ),
        values("zeros, and a single array", 0.25, _odd),
    ],
    numpy=True,
    mistakes="""
each-entry: You clipped each entry, which changes the direction of the gradient. Divide all entries by the same number
instead.
- flat * (largest / norm) if norm > largest else flat → flat.clip(-largest, largest)

each-tensor-by-its-own-norm: You clipped each array by its own norm. The gradient is one long vector of all parameters:
use one norm and one factor, or its direction changes.
- flat * (largest / norm) if norm > largest else flat
+ np.concatenate([g.flatten() * min(1.0, largest / max(np.linalg.norm(g), 1e-30)) for g in gradients])

always-divided: You always scale to the limit, even if the norm is below it. That *lengthens* small gradients, and
gradient descent never converges.
- (largest / norm) if norm > largest else flat → largest / norm
or
- (largest / norm) if norm > largest else flat → largest / max(norm, 1e-12)

square-root-forgotten: Your norm is the sum of the squares. You left out the square root.
- np.sqrt((flat**2).sum()) → (flat**2).sum()

norms-added: You added the norms of the arrays. Lengths do not add up, but their squares do: take the root of the sum
of all squares.
- np.sqrt((flat**2).sum()) → sum(np.linalg.norm(g) for g in gradients)

root-of-the-mean: Your norm is the root of the *mean* of the squares. A length is the root of their sum: (3, 4) has the
length 5.
- .sum() → .mean()

in-place: The values are right, but you also changed the gradients that you were given, and the caller still uses them:
`g * factor` makes a new array, `g *= factor` does not.
- return norm, flat * (largest / norm) if norm > largest else flat
+ for g in gradients:
+     g *= largest / norm if norm > largest else 1.0
+ return norm, np.concatenate([g.flatten() for g in gradients])

norm-after-clipping: You return the norm of the clipped gradient. Return the norm before clipping: it reveals an
explosion.
- return norm, flat * (largest / norm) if norm > largest else flat
+ flat = flat * (largest / norm) if norm > largest else flat
+ return np.linalg.norm(flat), flat

shortened-to-one: You divided by the norm, so the clipped gradient has length 1. Its length should be `largest`.
- largest / norm → 1 / norm
""",
)
