"""Question 4: how far a plain network's gradient reaches, as a product of Jacobians."""

import torch
from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case


def _network(draw: Draw, time: int, hidden: int) -> tuple[Tensor, Tensor]:
    return torch.tanh(draw.normal(time, hidden) * 0.7), draw.normal(hidden, hidden) * 1.6 / hidden**0.5


def _one_back(draw: Draw) -> list[Case]:
    (hidden,) = draw.sizes(1)
    return [case("two states", *_network(draw, 2, hidden + 1))]


def _further(draw: Draw) -> list[Case]:
    (hidden,) = draw.sizes(1)
    return [case("several states", *_network(draw, draw.integer(4, 5), hidden + 1))]


def _odd(draw: Draw) -> list[Case]:
    (hidden,) = draw.sizes(1)
    hs, U = _network(draw, 4, hidden)
    hs[2] = 1.0
    return [
        case("one saturated state", hs, U),
        case("one unit", *_network(draw, 4, 1)),
        case("a single state", *_network(draw, 1, hidden)),
        case(EQUAL, *_network(draw, hidden, hidden)),
    ]


JACOBIAN_NORMS = question(
    "gates.jacobian_norms",
    minutes=30,
    difficulty="hard",
    returns=("norms",),
    properties=[
        shapes(0.25, _further, "one number per state"),
        values("one step back", 1.25, _one_back),
        values("several steps back", 1.5, _further),
        values("saturated units, one unit, one state", 1, _odd),
    ],
    numpy=True,
    mistakes="""
no-slopes: Those are powers of U. The tanh of each step has the slope 1 − h² for every unit; it shrinks the Jacobian
wherever a unit is not near 0.
- ((1 - h**2)[:, None] * U.T) → U.T

factors-in-the-other-order: You multiplied the factors in the other order. The change passes through the earliest step
first, so its Jacobian is on the far right: J_T … J_{t+1}. Matrices do not commute.
- product @ ((1 - h**2)[:, None] * U.T) → ((1 - h**2)[:, None] * U.T) @ product

slopes-of-the-state-before: You used the slopes of h_{j−1}. The tanh of step j returned h_j, so its slopes are 1 − h_j²:
use the state after the step.
^ hs = np.roll(hs, 1, axis=0)

norms-multiplied: You multiplied the norms of the Jacobians. That is only an upper bound, because each step stretches a
different direction most. Multiply the matrices, then take the norm.
+ norms = [1.0]
+ for h in hs[1:][::-1]:
+     norms.append(norms[-1] * np.linalg.norm((1 - h**2)[:, None] * U.T, ord=2))
+ return np.array(norms)

norm-of-all-entries: Your norm is the square root of the sum of all squared entries. Return how much the matrix can
stretch a vector: its largest singular value. For the identity that is 1.
* , ord=2 →
or
- norms.append(np.linalg.norm(product, ord=2)) → norms.append(np.linalg.norm(product))

eigenvalues: You took the largest eigenvalue. These matrices are not symmetric: they can stretch a vector by more than
any eigenvalue. Take the largest singular value.
* np.linalg.norm(product, ord=2) → np.abs(np.linalg.eigvals(product)).max()

by-time: Your results are in the order of time. Entry d is for distance d, so the first one is 1.
- np.array(norms) → np.array(norms)[::-1]

single-steps: Those are the norms of single steps. For a distance d take the norm of the product of d Jacobians.
- product @ (( → ((

tanh-twice: You applied tanh to hs again. The states are already *outputs* of the tanh: the slope is 1 − h².
^ hs = np.tanh(hs)

u-not-transposed: Your Jacobians contain U, but ∂h_j[a]/∂h_{j−1}[b] contains Uᵀ: vectors are rows here, h U, so U[b, a]
is the weight from unit b to unit a.
- U.T → U

slopes-on-the-columns: You multiplied the columns of Uᵀ by the slopes, which is what broadcasting does without `[:,
None]`. diag on the left multiplies the *rows*: each unit's slope applies after its sum.
- [:, None] →

from-the-first-state: You go through the states from the first one. Distances are counted from the *final* state: start
with its Jacobian, J_T, and go back.
^ hs = hs[::-1]

one-factor-too-many: Every entry of yours has one Jacobian too many. At distance 0 nothing is multiplied: the identity,
norm 1. J_T enters at distance 1.
- norms = [np.linalg.norm(product, ord=2)] → norms = []
- hs[1:] → hs
""",
)
