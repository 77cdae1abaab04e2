"""Question 3b: the LSTM's step, backwards."""

import torch
from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case


def _passed(draw: Draw, batch: int, hidden: int) -> tuple[Tensor, ...]:
    """gates, c_before, d_h and d_c of a step that has been made."""
    i, f, o = (torch.sigmoid(draw.normal(batch, hidden)) for _ in range(3))
    g = torch.tanh(draw.normal(batch, hidden))
    before = draw.normal(batch, hidden)
    return torch.stack([i, f, g, o]), before, draw.normal(batch, hidden), draw.normal(batch, hidden)


def _steps(draw: Draw) -> list[Case]:
    return [case("a batch", *_passed(draw, *draw.sizes(2)))]


def _nothing_shown(draw: Draw) -> list[Case]:
    gates, before, d_h, d_c = _passed(draw, *draw.sizes(2))
    return [case("no gradient arrives through h", gates, before, torch.zeros_like(d_h), d_c)]


def _odd_steps(draw: Draw) -> list[Case]:
    (hidden,) = draw.sizes(1)
    gates, before, d_h, d_c = _passed(draw, 2, hidden)
    gates[1], gates[0] = 1.0, 0.0
    return [
        case("gates fully open and closed", gates, before * 3, d_h, d_c),
        case("one text, one unit", *_passed(draw, 1, 1)),
    ]


LSTM_BACKWARD = question(
    "gates.lstm_backward",
    minutes=35,
    difficulty="hard",
    returns=("d_i", "d_f", "d_g", "d_o", "d_c_before"),
    properties=[
        shapes(0.25, _steps),
        values("the memory's path only", 0.75, _nothing_shown, "d_c_before"),
        values("the output gate", 0.75, _steps, "d_o"),
        values("input gate, forget gate, candidate", 1.5, _steps, "d_i", "d_f", "d_g"),
        values("the memory, along both paths", 1, _steps, "d_c_before"),
        values("open and closed gates, one unit", 0.75, _odd_steps),
    ],
    numpy=True,
    mistakes="""
shown-road-forgotten: Your gradient of the memory is d_c, which comes from later steps only. The memory also produced h:
add d_h ⊙ o ⊙ (1 − tanh² c) before you continue.
- d_c + d_h * o * (1 - shown**2) → d_c

memory-road-forgotten: Your gradient of the memory contains only the part through h. The memory was also passed on to
the next step: add d_c. Along that path gradients survive.
- d_c + d_h → d_h

slope-of-the-last-tanh: From h back to c you left out the slope of the last tanh: h = o ⊙ tanh(c), so the slope is 1 −
tanh²(c). Here c is the *input* of the tanh.
- d_h * o * (1 - shown**2) → d_h * o

slope-of-the-memory: You took 1 − c² as the slope of the last tanh. It is 1 − tanh²(c): 1 minus the square of its
*output*, and c is its input.
- np.tanh(f * c_before + i * g) → f * c_before + i * g
or
- (1 - shown**2) → (1 - (f * c_before + i * g) ** 2)

output-gate-forgotten: The gradient that reaches the memory through h has passed the output gate. In h = o ⊙ tanh(c) the
factor tanh(c) gets the upstream gradient times the *other* factor, o.
- d_h * o * (1 - shown**2) → d_h * (1 - shown**2)

memory-road-through-the-tanh: You multiplied d_c by the slope of the tanh as well. It is the gradient of c itself, which
was passed on unchanged: only the gradient through h passes the tanh.
- d_c + d_h * o * (1 - shown**2) → (d_c + d_h * o) * (1 - shown**2)
or
- d_c + d_h * o * (1 - shown**2) → (d_c + d_h) * o * (1 - shown**2)

slopes-of-the-gates: Those are the gradients of the gates themselves. Return the gradients of the sums *before* the
sigmoids and the tanh: multiply by σ (1 − σ), and by 1 − g² for the candidate.
- g * i * (1 - i) → g
- c_before * f * (1 - f) → c_before
- i * (1 - g**2) → i
- shown * o * (1 - o) → shown

own-factors: In the product i ⊙ g you multiplied the upstream gradient of each factor by that factor itself. Multiply it
by the *other* one: i gets g, and g gets i.
- arriving * g * i * (1 - i) → arriving * i * i * (1 - i)
- arriving * i * (1 - g**2) → arriving * g * (1 - g**2)

new-memory-for-the-old: f was multiplied by the memory *before* the step; your d_f uses the one after it.
- arriving * c_before → arriving * (f * c_before + i * g)

old-memory-for-the-new: h is computed from the tanh of the *new* memory, but you use the old one. Compute the new one
first: f ⊙ c_before + i ⊙ g.
- np.tanh(f * c_before + i * g) → np.tanh(c_before)

tanh-forgotten-at-the-output: o was multiplied by tanh(c), not by c, so d_o gets the factor tanh(c).
- d_h * shown → d_h * (f * c_before + i * g)

output-gate-from-the-memory: You computed d_o from the gradient of the memory. But o acts after the memory, in h = o ⊙
tanh(c): it gets d_h, and nothing of d_c.
- d_h * shown → arriving * shown

sigmoid-slope-for-the-candidate: The candidate g is the output of a tanh: its slope is 1 − g², not g (1 − g).
- (1 - g**2) → g * (1 - g)

back-by-the-input-gate: The old memory was multiplied by f, so its gradient is multiplied by f as well. You used i.
- arriving * f → arriving * i

back-without-a-gate: You pass the whole gradient of the new memory back to the old one. The forward pass multiplied the
old memory by f: multiply the gradient by f as well.
- , arriving * f → , arriving
""",
)
