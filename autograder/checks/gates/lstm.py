"""Questions 3a and 3b: the LSTM's step, and the same step backwards."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.checks.gates.common import DIFFERENTIATES, REFERENCE_ITSELF, blocks
from autograder.draw import Draw
from autograder.judges import law, same_shapes, same_values
from autograder.laws.gates import remembers, shows
from autograder.specification import Case, Exercise, Misconception, Property, case

LSTM, BACK = ("new_h", "new_c", "gates"), ("d_i", "d_f", "d_g", "d_o", "d_c_before")
Three = tuple[Tensor, Tensor, Tensor]
Five = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


def _cell(draw: Draw, batch: int, n_in: int, hidden: int) -> Case:
    c = draw.normal(batch, hidden) * 1.5
    arguments = (draw.normal(batch, n_in), draw.normal(batch, hidden), c, *blocks(draw, 4, n_in, hidden))
    return Case(label="a batch", calls=(arguments,), known=(c,))


def _cells(draw: Draw) -> list[Case]:
    batch, n_in, hidden = draw.sizes(3)
    return [_cell(draw, batch, n_in, hidden)]


def _odd(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    square, small = _cell(draw, 2, n, n), _cell(draw, 1, n, 1)
    return [
        case("as many units as inputs, float64", *(t.double() for t in square.calls[0])),
        case("one text, one unit", *small.calls[0]),
    ]


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
        Property(name="both states, odd sizes", points=0.75, cases=_odd, judge=same_values(LSTM)),
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


# --- backwards --------------------------------------------------------------------------------------------


def _passed(draw: Draw, batch: int, hidden: int) -> tuple[Tensor, ...]:
    """gates, c_before, d_h and d_c of a step that has been made."""
    squashed = [torch.sigmoid(draw.normal(batch, hidden)) for _ in range(3)]
    i, f, o = squashed
    g = torch.tanh(draw.normal(batch, hidden))
    before = draw.normal(batch, hidden)
    gates = torch.stack([i, f, g, o])
    return gates, before, draw.normal(batch, hidden), draw.normal(batch, hidden)


def _steps(draw: Draw) -> list[Case]:
    batch, hidden = draw.sizes(2)
    return [case("a batch", *_passed(draw, batch, hidden))]


def _nothing_shown(draw: Draw) -> list[Case]:
    batch, hidden = draw.sizes(2)
    gates, before, d_h, d_c = _passed(draw, batch, hidden)
    return [case("nothing comes back by h", gates, before, torch.zeros_like(d_h), d_c)]


def _odd_steps(draw: Draw) -> list[Case]:
    (hidden,) = draw.sizes(1)
    gates, before, d_h, d_c = _passed(draw, 2, hidden)
    gates[1], gates[0] = 1.0, 0.0
    return [
        case("gates wide open and shut", gates, before * 3, d_h, d_c),
        case("one text, one unit", *_passed(draw, 1, 1)),
    ]


def _memory(gates: Tensor, c_before: Tensor) -> Tensor:
    i, f, g, _ = gates
    return f * c_before + i * g


def _to_memory(gates: Tensor, c: Tensor, d_h: Tensor, d_c: Tensor) -> Tensor:
    """The whole gradient of the new memory: its own, and by what is shown."""
    return d_c + d_h * gates[3] * (1 - c.tanh() ** 2)


def _from_memory(gates: Tensor, c_before: Tensor, c: Tensor, d_h: Tensor, whole: Tensor) -> Five:
    i, f, g, o = gates
    return (
        whole * g * i * (1 - i),
        whole * c_before * f * (1 - f),
        whole * i * (1 - g**2),
        d_h * c.tanh() * o * (1 - o),
        whole * f,
    )


def _backward(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
    c = _memory(gates, c_before)
    return _from_memory(gates, c_before, c, d_h, _to_memory(gates, c, d_h, d_c))


def _with_whole(whole: Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]) -> Callable[..., Five]:
    """Right, but for the gradient of the new memory, which `whole` makes from o, tanh(c), d_h and d_c."""

    def implementation(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
        c = _memory(gates, c_before)
        return _from_memory(gates, c_before, c, d_h, whole(gates[3], c.tanh(), d_h, d_c))

    return implementation


def _slopes_skipped(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
    i, f, g, _ = gates
    c = _memory(gates, c_before)
    whole = _to_memory(gates, c, d_h, d_c)
    return whole * g, whole * c_before, whole * i, d_h * c.tanh(), whole * f


def _new_memory_for_old(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
    c = _memory(gates, c_before)
    return _from_memory(gates, c, c, d_h, _to_memory(gates, c, d_h, d_c))


def _old_memory_for_new(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
    return _from_memory(gates, c_before, c_before, d_h, _to_memory(gates, c_before, d_h, d_c))


def _slope_of_c(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
    """1 − c², in the place of 1 − tanh² c."""
    c = _memory(gates, c_before)
    return _from_memory(gates, c_before, c, d_h, d_c + d_h * gates[3] * (1 - c**2))


def _never_squashed(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
    d_i, d_f, d_g, _, d_before = _slope_of_c(gates, c_before, d_h, d_c)
    return d_i, d_f, d_g, _tanh_forgotten(gates, c_before, d_h, d_c)[3], d_before


def _tanh_forgotten(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
    d_i, d_f, d_g, _, d_before = _backward(gates, c_before, d_h, d_c)
    o = gates[3]
    return d_i, d_f, d_g, d_h * _memory(gates, c_before) * o * (1 - o), d_before


def _output_from_memory(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
    d_i, d_f, d_g, _, d_before = _backward(gates, c_before, d_h, d_c)
    o, c = gates[3], _memory(gates, c_before)
    return d_i, d_f, d_g, _to_memory(gates, c, d_h, d_c) * c.tanh() * o * (1 - o), d_before


def _all_sigmoid(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
    d_i, d_f, _, d_o, d_before = _backward(gates, c_before, d_h, d_c)
    i, _, g, _ = gates
    return d_i, d_f, _to_memory(gates, _memory(gates, c_before), d_h, d_c) * i * g * (1 - g), d_o, d_before


def _by_the_input_gate(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
    d_i, d_f, d_g, d_o, _ = _backward(gates, c_before, d_h, d_c)
    return d_i, d_f, d_g, d_o, _to_memory(gates, _memory(gates, c_before), d_h, d_c) * gates[0]


def _not_through_forget(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
    d_i, d_f, d_g, d_o, _ = _backward(gates, c_before, d_h, d_c)
    return d_i, d_f, d_g, d_o, _to_memory(gates, _memory(gates, c_before), d_h, d_c)


LSTM_BACKWARD = Exercise(
    name="gates.lstm_backward",
    title="The LSTM, backwards",
    signature="lstm_backward(gates, c_before, d_h, d_c)",
    arguments=("gates", "c_before", "d_h", "d_c"),
    returns=BACK,
    minutes=35,
    difficulty="hard",
    reference=_backward,
    properties=(
        Property(name="the shapes are right", points=0.25, cases=_steps, judge=same_shapes(BACK)),
        Property(
            name="the memory's road alone",
            points=0.75,
            cases=_nothing_shown,
            judge=same_values(BACK, [4]),
            outputs=(4,),
        ),
        Property(name="the output gate", points=0.75, cases=_steps, judge=same_values(BACK, [3]), outputs=(3,)),
        Property(
            name="input gate, forget gate, candidate",
            points=1.5,
            cases=_steps,
            judge=same_values(BACK, [0, 1, 2]),
            outputs=(0, 1, 2),
        ),
        Property(name="the memory, by both roads", points=1, cases=_steps, judge=same_values(BACK, [4]), outputs=(4,)),
        Property(name="open and shut gates, one unit", points=0.75, cases=_odd_steps, judge=same_values(BACK)),
    ),
    misconceptions=(
        Misconception(
            id="shown-road-forgotten",
            sentence=(
                "To the memory you let back only what comes from later times, d_c. The memory was also shown: add what"
                " comes by h, d_h ⊙ o ⊙ (1 − tanh² c), before you go on."
            ),
            implementation=_with_whole(lambda o, shown, d_h, d_c: d_c),
        ),
        Misconception(
            id="memory-road-forgotten",
            sentence=(
                "To the memory you let back only what comes by h. It was also handed on to the next step: add d_c. That"
                " is the road on which gradients survive."
            ),
            implementation=_with_whole(lambda o, shown, d_h, d_c: d_h * o * (1 - shown**2)),
        ),
        Misconception(
            id="slope-of-the-last-tanh",
            sentence=(
                "From h back to c the slope of the last tanh is missing: h = o ⊙ tanh(c), so it is 1 − tanh²(c). Here"
                " c is what goes *in*."
            ),
            implementation=_with_whole(lambda o, shown, d_h, d_c: d_c + d_h * o),
        ),
        Misconception(
            id="slope-of-the-memory",
            sentence=(
                "Your slope of the last tanh is 1 − c². It is 1 − tanh²(c): 1 minus the square of what comes *out*, and"
                " c is what goes in."
            ),
            implementation=_never_squashed,
            also=(_slope_of_c,),
        ),
        Misconception(
            id="output-gate-forgotten",
            sentence=(
                "What comes by h to the memory has gone past the output gate. h = o ⊙ tanh(c): tanh(c) gets what comes"
                " times the *other* factor, o."
            ),
            implementation=_with_whole(lambda o, shown, d_h, d_c: d_c + d_h * (1 - shown**2)),
        ),
        Misconception(
            id="memory-road-through-the-tanh",
            sentence=(
                "d_c went through the slope of the tanh, too. It is with respect to c itself, which was handed on as it"
                " is: only what comes by h has the tanh on its way."
            ),
            implementation=_with_whole(lambda o, shown, d_h, d_c: (d_c + d_h * o) * (1 - shown**2)),
            also=(_with_whole(lambda o, shown, d_h, d_c: (d_c + d_h) * o * (1 - shown**2)),),
        ),
        Misconception(
            id="slopes-of-the-gates",
            sentence=(
                "Those are the gradients of the gates themselves. Asked are those of the sums *before* the squashing:"
                " multiply by σ (1 − σ), and by 1 − g² for the candidate."
            ),
            implementation=_slopes_skipped,
        ),
        Misconception(
            id="new-memory-for-the-old",
            sentence="f was multiplied with the memory *before* the step; your d_f takes the one after it.",
            implementation=_new_memory_for_old,
        ),
        Misconception(
            id="old-memory-for-the-new",
            sentence=(
                "What was shown is tanh of the *new* memory, and you take the old one. Make the new one first,"
                " f ⊙ c_before + i ⊙ g."
            ),
            implementation=_old_memory_for_new,
        ),
        Misconception(
            id="tanh-forgotten-at-the-output",
            sentence="o was multiplied with tanh(c), not with c: that is the factor that d_o gets.",
            implementation=_tanh_forgotten,
        ),
        Misconception(
            id="output-gate-from-the-memory",
            sentence=(
                "Your d_o is made from what arrives at the memory. o stands after the memory, in h = o ⊙ tanh(c): what"
                " arrives there is d_h, and nothing of d_c."
            ),
            implementation=_output_from_memory,
        ),
        Misconception(
            id="sigmoid-slope-for-the-candidate",
            sentence="The candidate g came out of a tanh: its slope is 1 − g², not g (1 − g).",
            implementation=_all_sigmoid,
        ),
        Misconception(
            id="back-by-the-input-gate",
            sentence="The old memory came in through f, and its gradient goes back through f. You used i.",
            implementation=_by_the_input_gate,
        ),
        Misconception(
            id="back-without-a-gate",
            sentence=(
                "The old memory gets all that arrived at the new one. Forward, f let only a part of it through: back,"
                " the gradient goes through f as well."
            ),
            implementation=_not_through_forget,
        ),
    ),
    closed=DIFFERENTIATES,
)
