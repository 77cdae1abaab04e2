"""Question 2: the gated recurrent unit, reset after the product."""

import torch
from torch import Tensor

from autograder.checks.gates.common import REFERENCE_ITSELF, any_sizes, blocks, odd_sizes
from autograder.exercise.draw import Draw
from autograder.exercise.judges import law, same_shapes, same_values
from autograder.exercise.laws.gates import mixes
from autograder.exercise.specification import Case, Exercise, Misconception, Property

GRU = ("new", "r", "z", "n")
Four = tuple[Tensor, Tensor, Tensor, Tensor]


def _cell(draw: Draw, batch: int, n_in: int, hidden: int) -> Case:
    h = draw.normal(batch, hidden)
    arguments = (draw.normal(batch, n_in), h, *blocks(draw, 3, n_in, hidden), draw.normal(hidden))
    return Case(label="a batch", calls=(arguments,), known=(h,))


_cells, _odd = any_sizes(_cell), odd_sizes(_cell)


def _gates(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    r, z = (torch.sigmoid(x @ W[k] + h @ U[k] + b[k]) for k in (0, 1))
    return r, z


def _with(h: Tensor, r: Tensor, z: Tensor, n: Tensor) -> Four:
    return z * h + (1 - z) * n, r, z, n


def _gru(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    r, z = _gates(x, h, W, U, b)
    return _with(h, r, z, torch.tanh(x @ W[2] + b[2] + r * (h @ U[2] + d)))


def _other_way_round(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    _, r, z, n = _gru(x, h, W, U, b, d)
    return (1 - z) * h + z * n, r, z, n


def _reset_before(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    r, z = _gates(x, h, W, U, b)
    return _with(h, r, z, torch.tanh(x @ W[2] + b[2] + (r * h) @ U[2] + d))


def _everything_reset(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    r, z = _gates(x, h, W, U, b)
    return _with(h, r, z, torch.tanh(r * (x @ W[2] + b[2] + h @ U[2] + d)))


def _bias_outside(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    r, z = _gates(x, h, W, U, b)
    return _with(h, r, z, torch.tanh(x @ W[2] + b[2] + r * (h @ U[2]) + d))


def _input_reset(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    r, z = _gates(x, h, W, U, b)
    return _with(h, r, z, torch.tanh(b[2] + r * (x @ W[2] + h @ U[2] + d)))


def _both_biases_inside(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    r, z = _gates(x, h, W, U, b)
    return _with(h, r, z, torch.tanh(x @ W[2] + r * (h @ U[2] + b[2] + d)))


def _transposed(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    return _gru(x, h, W, U.transpose(1, 2), b, d)


def _told_otherwise(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    new, r, z, n = _gru(x, h, W, U, b, d)
    return new, z, r, n


def _sigmoid_candidate(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    r, z = _gates(x, h, W, U, b)
    return _with(h, r, z, torch.sigmoid(x @ W[2] + b[2] + r * (h @ U[2] + d)))


def _no_reset(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    r, z = _gates(x, h, W, U, b)
    return _with(h, r, z, torch.tanh(x @ W[2] + b[2] + h @ U[2] + d))


def _road_reset(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    _, r, z, n = _gru(x, h, W, U, b, d)
    return z * (r * h) + (1 - z) * n, r, z, n


def _z_resets(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    r, z = _gates(x, h, W, U, b)
    return _with(h, r, z, torch.tanh(x @ W[2] + b[2] + z * (h @ U[2] + d)))


def _order(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor, d: Tensor) -> Four:
    swap = torch.tensor([1, 0, 2])
    return _gru(x, h, W[swap], U[swap], b[swap], d)


GRU_STEP = Exercise(
    name="gates.gru_step",
    title="Two gates: the GRU",
    signature="gru_step(x, h, W, U, b, d)",
    arguments=("x", "h", "W", "U", "b", "d"),
    returns=GRU,
    minutes=25,
    difficulty="medium",
    reference=_gru,
    properties=(
        Property(name="the shapes are right", points=0.25, cases=_cells, judge=same_shapes(GRU)),
        Property(name="the two gates", points=1, cases=_cells, judge=same_values(GRU, [1, 2]), outputs=(1, 2)),
        Property(name="the candidate", points=1.25, cases=_cells, judge=same_values(GRU, [3]), outputs=(3,)),
        Property(name="mixed by your own gate", points=0.75, cases=_cells, judge=law(mixes(2, 3))),
        Property(
            name="the new state, odd sizes", points=0.75, cases=_odd, judge=same_values(GRU), outputs=(0, 1, 2, 3)
        ),
    ),
    misconceptions=(
        Misconception(
            id="z-the-other-way-round",
            sentence=(
                "z and 1 − z are exchanged. Here, as in Cho et al. (2014) and PyTorch, z is what is *kept*; some texts"
                " write it the other way. Each is a whole model, but not with the other's weights."
            ),
            implementation=_other_way_round,
        ),
        Misconception(
            id="reset-before-the-product",
            sentence=(
                "You reset h before it is multiplied with U: the form that Cho et al. printed. Here, as in PyTorch, the"
                " reset comes after: r ⊙ (h U + d). With one unit and no d they agree, with more they do not."
            ),
            implementation=_reset_before,
        ),
        Misconception(
            id="input-reset-too",
            sentence=(
                "The reset gate is on the input's part as well. It decides how much of the *past* the candidate sees;"
                " x W + b stays outside."
            ),
            implementation=_everything_reset,
            also=(_input_reset,),
        ),
        Misconception(
            id="bias-outside-the-reset",
            sentence=(
                "d is outside of the reset. It belongs to what comes from h, r ⊙ (h U + d); that is why it cannot be"
                " merged with b."
            ),
            implementation=_bias_outside,
        ),
        Misconception(
            id="both-biases-inside",
            sentence=(
                "b of the candidate is inside of the reset, with d. Inside is what comes from h, h U + d; b belongs to"
                " the input and stays outside."
            ),
            implementation=_both_biases_inside,
        ),
        Misconception(
            id="d-forgotten",
            sentence=(
                "The candidate does without d. It is a second bias, next to h U, inside of the reset: r ⊙ (h U + d)."
            ),
            implementation=lambda x, h, W, U, b, d: _gru(x, h, W, U, b, torch.zeros_like(d)),
        ),
        Misconception(
            id="no-reset",
            sentence="r is computed and never used: it multiplies what the candidate gets from h.",
            implementation=_no_reset,
        ),
        Misconception(
            id="road-reset",
            sentence=(
                "You reset h on the road along the top, in z ⊙ h. Nothing is reset there: r is for the candidate alone."
            ),
            implementation=_road_reset,
        ),
        Misconception(
            id="blocks-in-another-order",
            sentence="Your gates have changed places: the blocks come in the order r, z, n.",
            implementation=_order,
        ),
        Misconception(
            id="u-transposed",
            sentence=(
                "The blocks of U are transposed. Vectors are rows here, so the state stands to their left as it is:"
                " h U. (PyTorch's weight_hh is our U transposed.)"
            ),
            implementation=_transposed,
        ),
        Misconception(
            id="gates-exchanged",
            sentence="The new state is right; the gates come back in another order. Asked is new, r, z, n.",
            implementation=_told_otherwise,
        ),
        Misconception(
            id="sigmoid-candidate",
            sentence=(
                "Your candidate is a sigmoid and can only be positive. What is written may be negative: it is a tanh."
            ),
            implementation=_sigmoid_candidate,
        ),
        Misconception(
            id="reset-by-z",
            sentence="The candidate is reset by z, the gate of the mixture. What it sees of the past is r's affair.",
            implementation=_z_resets,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
