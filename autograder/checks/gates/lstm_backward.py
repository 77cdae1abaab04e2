"""Question 3b: the LSTM's step, backwards."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.checks.gates.common import DIFFERENTIATES
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

BACK = ("d_i", "d_f", "d_g", "d_o", "d_c_before")
Five = tuple[Tensor, Tensor, Tensor, Tensor, Tensor]


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


def _own_factors(gates: Tensor, c_before: Tensor, d_h: Tensor, d_c: Tensor) -> Five:
    _, d_f, _, d_o, d_before = _backward(gates, c_before, d_h, d_c)
    i, _, g, _ = gates
    whole = _to_memory(gates, _memory(gates, c_before), d_h, d_c)
    return whole * i * i * (1 - i), d_f, whole * g * (1 - g**2), d_o, d_before


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
        Property(
            name="open and shut gates, one unit",
            points=0.75,
            cases=_odd_steps,
            judge=same_values(BACK),
            outputs=(0, 1, 2, 3, 4),
        ),
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
            id="own-factors",
            sentence=(
                "At the product i ⊙ g each factor gets what comes times itself. It gets it times the *other*: i gets g,"
                " and g gets i."
            ),
            implementation=_own_factors,
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
