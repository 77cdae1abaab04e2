"""Question 1b: the cell with one gate."""

import torch
from torch import Tensor

from autograder.checks.gates.common import REFERENCE_ITSELF, blocks
from autograder.exercise.draw import Draw
from autograder.exercise.judges import law, same_shapes, same_values
from autograder.exercise.laws.gates import mixes
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

UGRNN = ("new", "G", "R")
Two = tuple[Tensor, Tensor]
Three = tuple[Tensor, Tensor, Tensor]


def _cell(draw: Draw, batch: int, n_in: int, hidden: int) -> Case:
    (W_R, W_G), (U_R, U_G), (b_R, b_G) = blocks(draw, 2, n_in, hidden)
    h = draw.normal(batch, hidden)
    arguments = (draw.normal(batch, n_in), h, W_R, U_R, b_R, W_G, U_G, b_G)
    return Case(label="a batch", calls=(arguments,), known=(h,))


def _cells(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [_cell(draw, batch, n_in, hidden)]


def _odd_cells(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    square, small = _cell(draw, 2, n, n), _cell(draw, 1, n, 1)
    return [
        case("as many units as inputs, float64", *(t.double() for t in square.calls[0])),
        case("one text, one unit", *small.calls[0]),
    ]


def _parts(x: Tensor, h: Tensor, W_R: Tensor, U_R: Tensor, b_R: Tensor, *gate: Tensor) -> Two:
    W_G, U_G, b_G = gate
    return torch.sigmoid(x @ W_G + h @ U_G + b_G), torch.tanh(x @ W_R + h @ U_R + b_R)


def _ugrnn(x: Tensor, h: Tensor, *weights: Tensor) -> Three:
    G, R = _parts(x, h, *weights)
    return G * h + (1 - G) * R, G, R


def _other_way_round(x: Tensor, h: Tensor, *weights: Tensor) -> Three:
    G, R = _parts(x, h, *weights)
    return (1 - G) * h + G * R, G, R


def _residual(x: Tensor, h: Tensor, *weights: Tensor) -> Three:
    G, R = _parts(x, h, *weights)
    return G * h + R, G, R


def _minus_b(x: Tensor, h: Tensor, W_R: Tensor, U_R: Tensor, b_R: Tensor, *gate: Tensor) -> Three:
    W_G, U_G, b_G = gate
    return _ugrnn(x, h, W_R, U_R, -b_R, W_G, U_G, -b_G)


def _exchanged(x: Tensor, h: Tensor, W_R: Tensor, U_R: Tensor, b_R: Tensor, *gate: Tensor) -> Three:
    return _ugrnn(x, h, *gate, W_R, U_R, b_R)


def _tanh_gate(x: Tensor, h: Tensor, *weights: Tensor) -> Three:
    _, R = _parts(x, h, *weights)
    W_G, U_G, b_G = weights[3:]
    G = torch.tanh(x @ W_G + h @ U_G + b_G)
    return G * h + (1 - G) * R, G, R


def _sigmoid_candidate(x: Tensor, h: Tensor, *weights: Tensor) -> Three:
    G, _ = _parts(x, h, *weights)
    W_R, U_R, b_R = weights[:3]
    R = torch.sigmoid(x @ W_R + h @ U_R + b_R)
    return G * h + (1 - G) * R, G, R


def _transposed(x: Tensor, h: Tensor, W_R: Tensor, U_R: Tensor, b_R: Tensor, *gate: Tensor) -> Three:
    W_G, U_G, b_G = gate
    return _ugrnn(x, h, W_R, U_R.T, b_R, W_G, U_G.T, b_G)


def _told_otherwise(x: Tensor, h: Tensor, *weights: Tensor) -> Three:
    new, G, R = _ugrnn(x, h, *weights)
    return new, R, G


def _gate_without_the_past(x: Tensor, h: Tensor, W_R: Tensor, U_R: Tensor, b_R: Tensor, *gate: Tensor) -> Three:
    W_G, U_G, b_G = gate
    return _ugrnn(x, h, W_R, U_R, b_R, W_G, torch.zeros_like(U_G), b_G)


UGRNN_STEP = Exercise(
    name="gates.ugrnn_step",
    title="One gate: the UGRNN",
    signature="ugrnn_step(x, h, W_R, U_R, b_R, W_G, U_G, b_G)",
    arguments=("x", "h", "W_R", "U_R", "b_R", "W_G", "U_G", "b_G"),
    returns=UGRNN,
    minutes=20,
    difficulty="easy",
    reference=_ugrnn,
    properties=(
        Property(name="the shapes are right", points=0.25, cases=_cells, judge=same_shapes(UGRNN)),
        Property(name="the gate", points=0.75, cases=_cells, judge=same_values(UGRNN, [1]), outputs=(1,)),
        Property(name="the candidate", points=0.75, cases=_cells, judge=same_values(UGRNN, [2]), outputs=(2,)),
        Property(name="mixed by your own gate", points=0.75, cases=_cells, judge=law(mixes(1, 2))),
        Property(
            name="the new state, odd sizes", points=0.5, cases=_odd_cells, judge=same_values(UGRNN), outputs=(0, 1, 2)
        ),
    ),
    misconceptions=(
        Misconception(
            id="gate-the-other-way-round",
            sentence=(
                "Gate and candidate are right, and mixed the wrong way round: G is what is *kept* of h, 1 − G what is"
                " written of R."
            ),
            implementation=_other_way_round,
        ),
        Misconception(
            id="candidate-in-full",
            sentence="You add R in full. Only 1 − G of it is written: kept and written share the place.",
            implementation=_residual,
        ),
        Misconception(
            id="bias-subtracted",
            sentence=(
                "The biases are subtracted. The lecture's slide writes −B, most programs (and this question) + b. With"
                " the wrong sign a gate that should start open starts shut."
            ),
            implementation=_minus_b,
        ),
        Misconception(
            id="weights-exchanged",
            sentence="The gate is made with the candidate's weights and the candidate with the gate's. R is for R.",
            implementation=_exchanged,
        ),
        Misconception(
            id="tanh-gate",
            sentence=(
                "Your gate is a tanh and may be below 0: a share below 0 means nothing. Gates are sigmoids, candidates"
                " tanhs."
            ),
            implementation=_tanh_gate,
        ),
        Misconception(
            id="sigmoid-candidate",
            sentence=(
                "Your candidate is a sigmoid and can only be positive. What is written may be negative: it is a tanh."
            ),
            implementation=_sigmoid_candidate,
        ),
        Misconception(
            id="u-transposed",
            sentence=(
                "The U are transposed. Vectors are rows here, so the state stands to their left as it is: h U."
                " (PyTorch's weight_hh is our U transposed.)"
            ),
            implementation=_transposed,
        ),
        Misconception(
            id="gate-and-candidate-exchanged",
            sentence="The new state is right; after it comes the gate, and then the candidate. You return R before G.",
            implementation=_told_otherwise,
        ),
        Misconception(
            id="gate-without-the-past",
            sentence=(
                "Your gate reads only the new word. Whether to keep the state depends on the state, too: h U_G belongs"
                " to the sum."
            ),
            implementation=_gate_without_the_past,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
