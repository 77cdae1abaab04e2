"""Question 3a: the LSTM's step."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.checks.gates.common import REFERENCE_ITSELF, any_sizes, blocks, odd_sizes
from autograder.exercise.draw import Draw
from autograder.exercise.judges import law, same_shapes, same_values
from autograder.exercise.laws.gates import remembers, shows
from autograder.exercise.specification import Case, Exercise, Misconception, Property

LSTM = ("new_h", "new_c", "gates")
Three = tuple[Tensor, Tensor, Tensor]


def _cell(draw: Draw, batch: int, n_in: int, hidden: int) -> Case:
    c = draw.normal(batch, hidden) * 1.5
    arguments = (draw.normal(batch, n_in), draw.normal(batch, hidden), c, *blocks(draw, 4, n_in, hidden))
    return Case(label="a batch", calls=(arguments,), known=(c,))


_cells, _odd = any_sizes(_cell), odd_sizes(_cell)


def _gates(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Tensor:
    i, f, g, o = (x @ W[k] + h @ U[k] + b[k] for k in range(4))
    return torch.stack([i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()])


def _lstm(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    gates = _gates(x, h, W, U, b)
    i, f, g, o = gates
    new = f * c + i * g
    return o * new.tanh(), new, gates


def _permuted(*order: int) -> Callable[..., Three]:
    def implementation(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
        swap = torch.tensor(order)
        return _lstm(x, h, c, W[swap], U[swap], b[swap])

    return implementation


def _stacked_otherwise(*order: int) -> Callable[..., Three]:
    def implementation(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
        new_h, new_c, gates = _lstm(x, h, c, W, U, b)
        return new_h, new_c, gates[torch.tensor(order)]

    return implementation


def _sums(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    new_h, new_c, _ = _lstm(x, h, c, W, U, b)
    return new_h, new_c, x @ W + h @ U + b[:, None]


def _no_tanh(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    _, new, gates = _lstm(x, h, c, W, U, b)
    return gates[3] * new, new, gates


def _forget_inverted(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    gates = _gates(x, h, W, U, b)
    i, f, g, o = gates
    new = (1 - f) * c + i * g
    return o * new.tanh(), new, gates


def _coupled(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    gates = _gates(x, h, W, U, b)
    _, f, g, o = gates
    new = f * c + (1 - f) * g
    return o * new.tanh(), new, gates


def _coupled_by_input(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    gates = _gates(x, h, W, U, b)
    i, _, g, o = gates
    new = (1 - i) * c + i * g
    return o * new.tanh(), new, gates


def _no_input_gate(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    gates = _gates(x, h, W, U, b)
    _, f, g, o = gates
    new = f * c + g
    return o * new.tanh(), new, gates


def _transposed(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    return _lstm(x, h, c, W, U.transpose(1, 2), b)


def _input_for_forget(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    gates = _gates(x, h, W, U, b)
    i, f, g, o = gates
    new = i * c + f * g
    return o * new.tanh(), new, gates


def _states_exchanged(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    new_h, new_c, gates = _lstm(x, h, c, W, U, b)
    return new_c, new_h, gates


def _old_memory_shown(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    _, new, gates = _lstm(x, h, c, W, U, b)
    return gates[3] * c.tanh(), new, gates


def _memory_in_the_gates(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    gates = _gates(x, c, W, U, b)
    i, f, g, o = gates
    new = f * c + i * g
    return o * new.tanh(), new, gates


def _sigmoid_candidate(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Three:
    i, f, _, o = _gates(x, h, W, U, b)
    g = torch.sigmoid(x @ W[2] + h @ U[2] + b[2])
    new = f * c + i * g
    return o * new.tanh(), new, torch.stack([i, f, g, o])


LSTM_STEP = Exercise(
    name="gates.lstm_step",
    title="Three gates and two states: the LSTM",
    signature="lstm_step(x, h, c, W, U, b)",
    arguments=("x", "h", "c", "W", "U", "b"),
    returns=LSTM,
    minutes=25,
    difficulty="medium",
    reference=_lstm,
    properties=(
        Property(name="the shapes are right", points=0.25, cases=_cells, judge=same_shapes(LSTM)),
        Property(name="the gates", points=1.25, cases=_cells, judge=same_values(LSTM, [2]), outputs=(2,)),
        Property(name="the memory, by your own gates", points=1, cases=_cells, judge=law(remembers)),
        Property(name="what is shown, by your own memory", points=0.75, cases=_cells, judge=law(shows)),
        Property(name="both states, odd sizes", points=0.75, cases=_odd, judge=same_values(LSTM), outputs=(0, 1, 2)),
    ),
    misconceptions=(
        Misconception(
            id="blocks-in-another-order",
            sentence=(
                "Your blocks come in the order i, g, f, o, TensorFlow's. Here it is i, f, g, o, as in PyTorch. The"
                " shapes are equal, the model is not."
            ),
            implementation=_permuted(0, 2, 1, 3),
        ),
        Misconception(
            id="candidate-last",
            sentence=(
                "You read the blocks as i, f, o, g: the three gates first, as many texts write them. Here it is"
                " i, f, g, o: the third is the candidate, the fourth the output gate."
            ),
            implementation=_permuted(0, 1, 3, 2),
        ),
        Misconception(
            id="forget-gate-first",
            sentence=(
                "You read the blocks with the forget gate first, the order in which an LSTM is usually told. They are"
                " stored with the input gate first: i, f, g, o."
            ),
            implementation=_permuted(1, 0, 2, 3),
            also=(_permuted(1, 0, 3, 2),),
        ),
        Misconception(
            id="gates-stacked-in-another-order",
            sentence=(
                "Both states are right, so you know your gates; the stack in which they come back is in another order."
                " Asked is i, f, g, o, as the blocks are."
            ),
            implementation=_stacked_otherwise(0, 1, 3, 2),
            also=(_stacked_otherwise(1, 0, 2, 3), _stacked_otherwise(1, 0, 3, 2)),
        ),
        Misconception(
            id="sums-for-gates",
            sentence="What comes back as gates are the sums *before* the squashing. A gate lies between 0 and 1.",
            implementation=_sums,
        ),
        Misconception(
            id="no-last-tanh",
            sentence=(
                "You show o ⊙ c. The memory may have counted far; the tanh keeps what is shown bounded: o ⊙ tanh(c)."
            ),
            implementation=_no_tanh,
        ),
        Misconception(
            id="forget-the-other-way-round",
            sentence="The forget gate's name is upside down: f is how much is *kept*. You keep 1 − f.",
            implementation=_forget_inverted,
        ),
        Misconception(
            id="input-gate-coupled",
            sentence=(
                "One gate does the work of two, as in a UGRNN: what is kept and what is written make 1. Here f keeps"
                " and i writes, each for itself: the cell may keep everything and still add to it."
            ),
            implementation=_coupled,
            also=(_coupled_by_input,),
        ),
        Misconception(
            id="input-and-forget-exchanged",
            sentence="i and f have changed places: f is for the old memory, i for what is written.",
            implementation=_input_for_forget,
        ),
        Misconception(
            id="input-gate-unused",
            sentence="i is computed and never used: it says how much of the candidate is written, i ⊙ g.",
            implementation=_no_input_gate,
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
            id="h-and-c-exchanged",
            sentence="You return the memory first and what is shown second. Both have one shape; it is h, then c.",
            implementation=_states_exchanged,
        ),
        Misconception(
            id="old-memory-shown",
            sentence="What you show is made from the memory *before* the step. Update c first, then show it.",
            implementation=_old_memory_shown,
        ),
        Misconception(
            id="memory-in-the-gates",
            sentence="The gates read c. They read h, what was shown; c is private.",
            implementation=_memory_in_the_gates,
        ),
        Misconception(
            id="sigmoid-candidate",
            sentence="Your candidate g is a sigmoid: nothing could ever be subtracted from the memory. It is a tanh.",
            implementation=_sigmoid_candidate,
        ),
    ),
    closed=REFERENCE_ITSELF,
)
