"""Question 4: how far a plain network's gradient reaches, as a product of Jacobians."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.checks.gates.common import DIFFERENTIATES
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

NORMS = ("norms",)


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
    flat = hs.clone()
    flat[2] = 1.0
    return [
        case("one state, at its limits", flat, U),
        case("one unit", *_network(draw, 4, 1)),
        case("a single state", *_network(draw, 1, hidden)),
    ]


def _jacobians(hs: Tensor, U: Tensor) -> list[Tensor]:
    """∂h_j/∂h_{j-1} for every j but the first: row a, column b is ∂h_j[a]/∂h_{j-1}[b]."""
    return [(1 - h**2)[:, None] * U.T for h in hs[1:]]


def _norm(matrix: Tensor) -> Tensor:
    return torch.linalg.matrix_norm(matrix, ord=2)


def _products(jacobians: list[Tensor], like: Tensor, reverse: bool = False) -> list[Tensor]:
    """By distance 0, 1, …: the identity, J_T, J_T J_{T-1}, …"""
    product, found = torch.eye(len(like), dtype=like.dtype), []
    found.append(product)
    for J in reversed(jacobians):
        product = J @ product if reverse else product @ J
        found.append(product)
    return found


def _norms(hs: Tensor, U: Tensor) -> Tensor:
    return torch.stack([_norm(p) for p in _products(_jacobians(hs, U), U)])


def _other_order(hs: Tensor, U: Tensor) -> Tensor:
    return torch.stack([_norm(p) for p in _products(_jacobians(hs, U), U, reverse=True)])


def _no_slopes(hs: Tensor, U: Tensor) -> Tensor:
    return _norms(torch.zeros_like(hs), U)


def _wrong_time(hs: Tensor, U: Tensor) -> Tensor:
    return _norms(hs.roll(1, 0), U)


def _norms_multiplied(hs: Tensor, U: Tensor) -> Tensor:
    steps = [torch.ones((), dtype=U.dtype), *(_norm(J) for J in reversed(_jacobians(hs, U)))]
    return torch.stack(steps).cumprod(0)


def _entries(hs: Tensor, U: Tensor) -> Tensor:
    return torch.stack([p.norm() for p in _products(_jacobians(hs, U), U)])


def _entries_but_the_identity(hs: Tensor, U: Tensor) -> Tensor:
    return torch.cat([torch.ones(1, dtype=U.dtype), _entries(hs, U)[1:]])


def _eigenvalues(hs: Tensor, U: Tensor) -> Tensor:
    return torch.stack([torch.linalg.eigvals(p).abs().max() for p in _products(_jacobians(hs, U), U)])


def _by_time(hs: Tensor, U: Tensor) -> Tensor:
    return _norms(hs, U).flip(0)


def _each_for_itself(hs: Tensor, U: Tensor) -> Tensor:
    steps = [torch.ones((), dtype=U.dtype), *(_norm(J) for J in reversed(_jacobians(hs, U)))]
    return torch.stack(steps)


def _with_jacobian(jacobian: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """Right, but for the Jacobian of a step, which `jacobian` makes from the slopes and U."""

    def implementation(hs: Tensor, U: Tensor) -> Tensor:
        return torch.stack([_norm(p) for p in _products([jacobian(1 - h**2, U) for h in hs[1:]], U)])

    return implementation


def _from_the_first(hs: Tensor, U: Tensor) -> Tensor:
    return _norms(hs.flip(0), U)


def _one_too_far(hs: Tensor, U: Tensor) -> Tensor:
    return _norms(torch.cat([hs[:1], hs]), U)[1:]


JACOBIAN_NORMS = Exercise(
    name="gates.jacobian_norms",
    title="How far a gradient reaches without gates",
    signature="jacobian_norms(hs, U)",
    arguments=("hs", "U"),
    returns=NORMS,
    minutes=30,
    difficulty="hard",
    reference=_norms,
    properties=(
        Property(name="one number per state", points=0.25, cases=_further, judge=same_shapes(NORMS)),
        Property(name="one step back", points=1.25, cases=_one_back, judge=same_values(NORMS)),
        Property(name="several steps back", points=1.5, cases=_further, judge=same_values(NORMS)),
        Property(name="units at their limits, one unit, one state", points=1, cases=_odd, judge=same_values(NORMS)),
    ),
    misconceptions=(
        Misconception(
            id="no-slopes",
            sentence=(
                "Those are powers of U. The tanh of each step has a slope, 1 − h² of every unit, and it shrinks the"
                " Jacobian wherever a unit is not near 0."
            ),
            implementation=_no_slopes,
        ),
        Misconception(
            id="factors-in-the-other-order",
            sentence=(
                "The factors are multiplied in the other order. The change goes through the earliest step first, so"
                " its Jacobian stands on the far right: J_T … J_{t+1}. Matrices do not commute."
            ),
            implementation=_other_order,
        ),
        Misconception(
            id="slopes-of-the-state-before",
            sentence=(
                "The slopes are those of h_{j−1}. The tanh of step j made h_j, so its slopes are 1 − h_j²: those of the"
                " state that comes out."
            ),
            implementation=_wrong_time,
        ),
        Misconception(
            id="norms-multiplied",
            sentence=(
                "You multiplied the norms of the Jacobians. That is an upper bound: each step stretches another"
                " direction most. Multiply the matrices, then take the norm."
            ),
            implementation=_norms_multiplied,
        ),
        Misconception(
            id="norm-of-all-entries",
            sentence=(
                "Your norm is the root of the sum of all squared entries. Asked is how much the matrix can stretch a"
                " vector: its largest singular value. That of the identity is 1."
            ),
            implementation=_entries,
            also=(_entries_but_the_identity,),
        ),
        Misconception(
            id="eigenvalues",
            sentence=(
                "You took the largest eigenvalue. These matrices are not symmetric: a vector can be stretched by more"
                " than any eigenvalue says. It is the largest singular value."
            ),
            implementation=_eigenvalues,
        ),
        Misconception(
            id="by-time",
            sentence="Your numbers are in the order of time. Entry d is for distance d: the first one is 1.",
            implementation=_by_time,
        ),
        Misconception(
            id="single-steps",
            sentence="Those are the norms of single steps. Over a distance d it is the product of d Jacobians.",
            implementation=_each_for_itself,
        ),
        Misconception(
            id="tanh-twice",
            sentence="You took the tanh of hs once more. They came *out* of the tanh: the slope is 1 − h².",
            implementation=lambda hs, U: _norms(torch.tanh(hs), U),
        ),
        Misconception(
            id="u-not-transposed",
            sentence=(
                "Your Jacobians have U, and ∂h_j[a]/∂h_{j−1}[b] has Uᵀ: vectors are rows here, h U, so unit a reads"
                " unit b by U[b, a]."
            ),
            implementation=_with_jacobian(lambda slopes, U: slopes[:, None] * U),
        ),
        Misconception(
            id="slopes-on-the-columns",
            sentence=(
                "The slopes multiply the columns of Uᵀ: so broadcasting does it without `[:, None]`. diag on the left"
                " multiplies the *rows*: each unit has its slope after it has read."
            ),
            implementation=_with_jacobian(lambda slopes, U: slopes * U.T),
        ),
        Misconception(
            id="from-the-first-state",
            sentence=(
                "You go through the states from the first on. Distances are counted from the *last* state: begin with"
                " its Jacobian, J_T, and go back."
            ),
            implementation=_from_the_first,
        ),
        Misconception(
            id="one-factor-too-many",
            sentence=(
                "Every entry has one Jacobian too many. At distance 0 nothing is multiplied: the identity, norm 1; J_T"
                " comes in at distance 1."
            ),
            implementation=_one_too_far,
        ),
    ),
    closed=DIFFERENTIATES,
)
