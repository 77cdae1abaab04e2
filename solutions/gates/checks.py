"""Assignment "gates": a leaky unit, the steps of UGRNN, GRU and LSTM, the LSTM's backward pass, a product of Jacobians.

The functions differ in form from `nlmcore.recurrent` and `nlmcore.diagnostics`, whose cells are modules with stacked
weights and whose Jacobians are PyTorch's: here every block is a separate matrix, the gates are returned as well, and
all derivatives are written out in NumPy.
"""

import functools

import torch
from torch import Tensor

from autograder.question.declare import exercises_in, holds, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.kinds import EQUAL
from autograder.question.sized import MAIN, ODD, at, cases
from autograder.question.special import at_points, experiment, formula, wrong_line
from autograder.question.specification import Case
from solutions.gates.laws import mixes, remembers, shows

ask = functools.partial(question, numpy=True)
ONE = at("one text, one unit", batch=1, hidden=1)


def blocks(draw: Draw, count: int, n_in: int, hidden: int) -> tuple[Tensor, Tensor, Tensor]:
    """W (count, n_in, hidden), U (count, hidden, hidden) and b (count, hidden)."""
    W, U = draw.normal(count, n_in, hidden) / n_in**0.5, draw.normal(count, hidden, hidden) / hidden**0.5
    return W, U, draw.normal(count, hidden)


# --- 1. one gate -----------------------------------------------------------------------------------------------


def leaking(draw: Draw, time: int, units: int) -> tuple[Tensor, ...]:
    return draw.normal(time, units), torch.sigmoid(draw.normal(time, units) + 0.5), draw.normal(units)


def closed_then_open(draw: Draw, time: int, units: int) -> tuple[Tensor, ...]:
    news, gates, h0 = leaking(draw, time, units)
    gates[1], gates[2] = 0.0, 1.0
    return news, gates, h0


LEAKY = ask(
    "gates.leaky",
    returns=("states", "left"),
    inputs=at("several units, each with its own gates", leaking),
    odd=[
        at("a closed gate, then a fully open one", closed_then_open, time=4),
        at("a single step, one unit", time=1, units=1),
    ],
    properties=[
        shapes(0.25),
        values("the states", 1.25, "states"),
        values("what is left of h0", 1, "left"),
        values("gates of 0 and 1, a single step", 0.5, ODD),
    ],
    mistakes="""
gate-the-other-way-round: You used the gate the other way round: g is the fraction that is *kept*, 1 − g the fraction
that is written. With g = 1 the state should not change.
^ gates = 1 - gates
or
- g * h + (1 - g) * r → (1 - g) * h + g * r
written-in-full: You added the new value in full. The unit keeps g of the old value and writes 1 − g of the new one: the
two fractions sum to 1, so the state cannot grow without bound.
- (1 - g) * r → r
start-ignored: You start from zeros, but the state starts at h0.
- h, states = h0, [] → h, states = np.zeros_like(h0), []
power-of-the-last-gate: You raised the gate at time t to the power t. That is right only if the gate is the same at all
times. Here it changes: multiply the gates one by one.
- np.cumprod(gates, axis=0) → gates ** np.arange(1, len(gates) + 1)[:, None]
last-gate-only: That is what a single step keeps. Every step since the first has kept its own fraction of h0: multiply
all gates so far.
- np.cumprod(gates, axis=0) → gates.copy()
from-the-end: Your products run from time t to the end. What is left of h0 *after* step t is the product of the gates
from the first to the one at t.
- np.cumprod(gates, axis=0) → gates[::-1].cumprod(0)[::-1]
state-not-carried: Every step of yours starts from h0, so no state is passed on. Each step must use the state that the
previous step returned.
- states.append(h) → states.append(g * h0 + (1 - g) * r)
one-tensor-for-all-times: All your states equal the final one: you changed one array in place, and the list holds it
many times. Create a new array at every step.
- np.stack(states) → np.stack([h] * len(states))
left-times-the-start: The second result should be a fraction, but you multiplied it by h0. Its first entry is the first
gate, whatever h0 is.
- np.cumprod(gates, axis=0) → np.cumprod(gates, axis=0) * h0
over-the-units: You multiplied across units. Every unit has its own gates: multiply over time, which is axis 0.
- axis=0 → axis=1
left-before-the-step: Your products stop one gate early: they say what is left *before* each step and start with 1.
Return what is left after each step, so the first entry is the first gate.
- np.cumprod(gates, axis=0) → np.concatenate([np.ones_like(gates[:1]), gates.cumprod(0)[:-1]])
divided-by-what-is-left: You divide by what is left. A closed gate leaves 0, and 0/0 is NaN. Go through the steps in a
loop.
- return np.stack(states), np.cumprod(gates, axis=0)
+ left = np.cumprod(gates, axis=0)
+ return left * (h0 + np.cumsum((1 - gates) * news / left, axis=0)), left
over-everything: Your running product goes through all units one after the other. Every unit has its own: multiply over
axis 0.
- np.cumprod(gates, axis=0) → np.cumprod(gates).reshape(gates.shape)
power-of-the-first-gate: You raised the first gate to the power t. Here the gates change: multiply them one by one.
- np.cumprod(gates, axis=0) → gates[0] ** np.arange(1, len(gates) + 1)[:, None]
start-included: Your states begin with h0. The first row is that after step 1.
- np.stack(states), np.cumprod(gates, axis=0)
+ np.stack([h0, *states]), np.concatenate([np.ones_like(gates[:1]), np.cumprod(gates, axis=0)])
or
- np.stack(states) → np.stack([h0, *states[:-1]])
gates-limited: You keep the gates away from 0 and 1. A closed gate keeps nothing, and an open one everything.
^ gates = np.clip(gates, 0.01, 0.99)
axes-squeezed: You squeezed the results: with a single step or a single unit, an axis is lost.
- np.stack(states), np.cumprod(gates, axis=0) → np.squeeze(np.stack(states)), np.squeeze(np.cumprod(gates, axis=0))
""",
)


def ugrnn(draw: Draw, batch: int, n_in: int, hidden: int) -> Case:
    (W_R, W_G), (U_R, U_G), (b_R, b_G) = blocks(draw, 2, n_in, hidden)
    x, h = draw.normal(batch, n_in), draw.normal(batch, hidden)
    return Case(label="", calls=((x, h, W_R, U_R, b_R, W_G, U_G, b_G),), known=(h,))


UGRNN_STEP = ask(
    "gates.ugrnn_step",
    returns=("new", "G", "R"),
    inputs=ugrnn,
    odd=[ONE],
    properties=[
        shapes(0.25),
        values("the gate", 0.75, "G"),
        values("the candidate", 0.5, "R"),
        holds("mixed with your own gate", 0.5, MAIN, mixes(1, 2)),
        values("the new state", 0.5, "new"),
        values("everything, odd sizes", 0.5, ODD),
    ],
    mistakes="""
gate-the-other-way-round: Gate and candidate are right, but you mixed them the wrong way round: G is the fraction of h
that is *kept*, 1 − G the fraction of R that is written.
- G * h + (1 - G) * R → (1 - G) * h + G * R
candidate-in-full: You added R in full. Only 1 − G of it is written: what is kept and what is written sum to 1.
- (1 - G) * R → R
bias-subtracted: You subtracted the biases. The lecture's slide writes −B; most libraries, and this question, write + b.
With the wrong sign a gate that should start open starts closed.
^ b_R, b_G = -b_R, -b_G
or
^ b_G = -b_G
weights-exchanged: You computed the gate with the candidate's weights and the candidate with the gate's. The weights
with the index R belong to R.
^ W_R, U_R, b_R, W_G, U_G, b_G = W_G, U_G, b_G, W_R, U_R, b_R
tanh-gate: Your gate is a tanh, so it can be negative, and a negative fraction means nothing. Gates are sigmoids,
candidates are tanhs.
- sigmoid → np.tanh
sigmoid-candidate: Your candidate is a sigmoid, so it can only be positive. What is written may be negative: use a tanh.
- np.tanh → sigmoid
u-transposed: You transposed the matrices U. Vectors are rows here, so the state multiplies U from the left: h U.
(PyTorch's weight_hh is our U transposed.)
^ U_R, U_G = U_R.T, U_G.T
gate-and-candidate-exchanged: The new state is right. After it return first the gate, then the candidate: you return R
before G.
- , G, R → , R, G
gate-without-the-past: Your gate sees only the new word. Whether to keep the state also depends on the state: add h U_G
to the sum.
- x @ W_G + h @ U_G → x @ W_G
candidate-without-tanh: Your candidate has no tanh, so it can grow without bound.
- np.tanh(x @ W_R + h @ U_R + b_R) → x @ W_R + h @ U_R + b_R
candidate-sees-the-gated-state: Your candidate reads G ⊙ h. Here the gate only mixes: the candidate reads h.
- np.tanh(x @ W_R + h @ → np.tanh(x @ W_R + (G * h) @
mixed-before-the-tanh: You mixed h with the sum *before* its tanh. Take the tanh of the candidate, then mix.
- return G * h + (1 - G) * R → return np.tanh(G * h + (1 - G) * (x @ W_R + h @ U_R + b_R))
sigmoid-twice: You applied the sigmoid to the gate once more when you mixed. G is between 0 and 1 already.
- G * h + (1 - G) * R → sigmoid(G) * h + (1 - sigmoid(G)) * R
first-text-only: All texts of your batch see the state of the first one. Each has its own.
- x @ W_G + h @ → x @ W_G + h[:1] @
- x @ W_R + h @ → x @ W_R + h[:1] @
hard-sigmoid: Your gate is made of straight lines, 0.2 z + 0.5 between 0 and 1. Use the sigmoid.
- sigmoid(x @ W_G + h @ U_G + b_G) → np.clip(0.2 * (x @ W_G + h @ U_G + b_G) + 0.5, 0, 1)
""",
)

# --- 2 and 3. GRU and LSTM -------------------------------------------------------------------------------------


def gru(draw: Draw, batch: int, n_in: int, hidden: int) -> Case:
    x, h = draw.normal(batch, n_in), draw.normal(batch, hidden)
    return Case(label="", calls=((x, h, *blocks(draw, 3, n_in, hidden), draw.normal(hidden)),), known=(h,))


GRU_STEP = ask(
    "gates.gru_step",
    returns=("new", "r", "z", "n"),
    inputs=gru,
    odd=[ONE],
    properties=[
        shapes(0.25),
        values("the two gates", 1, "r", "z"),
        values("the candidate", 1, "n"),
        holds("mixed with your own gate", 0.75, MAIN, mixes(2, 3)),
        values("the new state", 0.5, "new"),
        values("everything, odd sizes", 0.5, ODD),
    ],
    mistakes="""
z-the-other-way-round: You swapped z and 1 − z. Here, as in Cho et al. (2014) and PyTorch, z is the fraction that is
*kept*; some texts define it the other way round. Both are valid models, but their weights are not interchangeable.
- z * h + (1 - z) * n → (1 - z) * h + z * n
reset-before-the-product: You reset h before multiplying it by U: the form that Cho et al. printed. Here, as in PyTorch,
the reset comes after the product: r ⊙ (h U + d). The two agree with one unit and d = 0, but not with more units.
- r * (h @ U[2] + d) → (r * h) @ U[2] + d
or
- r * (h @ U[2] + d) → (r * h) @ U[2] + r * d
input-reset-too: You also applied the reset gate to the input term. It decides how much of the *past* the candidate
sees; x W + b stays outside.
- x @ W[2] + b[2] + r * (h @ U[2] + d) → r * (x @ W[2] + b[2] + h @ U[2] + d)
or
- x @ W[2] + b[2] + r * (h @ U[2] + d) → b[2] + r * (x @ W[2] + h @ U[2] + d)
bias-outside-the-reset: You added d outside the reset. It belongs to the term from h, r ⊙ (h U + d), which is why it
cannot be merged with b.
- r * (h @ U[2] + d) → r * (h @ U[2]) + d
both-biases-inside: You put the candidate's b inside the reset, next to d. Only the term from h, which is h U + d, is
reset; b belongs to the input and stays outside.
- x @ W[2] + b[2] + r * (h @ U[2] + d) → x @ W[2] + r * (h @ U[2] + b[2] + d)
d-forgotten: Your candidate does not use d. It is a second bias, added to h U inside the reset: r ⊙ (h U + d).
- h @ U[2] + d → h @ U[2]
no-reset: You compute r but never use it: it multiplies the candidate's term from h.
- r * (h @ U[2] + d) → h @ U[2] + d
road-reset: You reset h in z ⊙ h as well. r acts only inside the candidate, not on z ⊙ h.
- z * h + → z * (r * h) +
blocks-in-another-order: You swapped the two gates: the blocks come in the order r, z, n.
^ W, U, b = W[[1, 0, 2]], U[[1, 0, 2]], b[[1, 0, 2]]
u-transposed: You transposed the blocks of U. Vectors are rows here, so the state multiplies U from the left: h U.
(PyTorch's weight_hh is our U transposed.)
^ U = U.swapaxes(1, 2)
gates-exchanged: The new state is right, but you return the gates in a different order. Return new, r, z, n.
- , r, z, n → , z, r, n
or
- , r, z, n → , n, r, z
sigmoid-candidate: Your candidate is a sigmoid, so it can only be positive. What is written may be negative: use a tanh.
- np.tanh → sigmoid
reset-by-z: You reset the candidate's past by z, the gate that mixes. How much of the past the candidate sees is decided
by r.
- r * (h @ U[2] + d) → z * (h @ U[2] + d)
reset-the-other-way-round: You used the reset gate the other way round: r is the fraction of the past that the candidate
*sees*.
- r * (h → (1 - r) * (h
d-in-every-gate: You added d to the gates as well. It belongs to the candidate only.
- sigmoid(x @ W[0] + h @ U[0] + b[0]) → sigmoid(x @ W[0] + h @ U[0] + b[0] + d)
- sigmoid(x @ W[1] + h @ U[1] + b[1]) → sigmoid(x @ W[1] + h @ U[1] + b[1] + d)
candidate-without-tanh: Your candidate has no tanh, so it can grow without bound.
- np.tanh(x @ W[2] + b[2] + r * (h @ U[2] + d)) → x @ W[2] + b[2] + r * (h @ U[2] + d)
update-gate-reset: Your update gate sees the reset state. Both gates read h itself.
- h @ U[1] → (r * h) @ U[1]
""",
)


def lstm(draw: Draw, batch: int, n_in: int, hidden: int) -> Case:
    x, h, c = draw.normal(batch, n_in), draw.normal(batch, hidden), draw.normal(batch, hidden) * 1.5
    return Case(label="", calls=((x, h, c, *blocks(draw, 4, n_in, hidden)),), known=(c,))


LSTM_STEP = ask(
    "gates.lstm_step",
    returns=("new_h", "new_c", "gates"),
    inputs=lstm,
    odd=[ONE],
    properties=[
        shapes(0.25),
        values("the gates", 1, "gates"),
        holds("the memory, from your own gates", 0.75, MAIN, remembers),
        holds("the output, from your own memory", 0.75, MAIN, shows),
        values("both states", 0.75, "new_h", "new_c"),
        values("everything, odd sizes", 0.5, ODD),
    ],
    mistakes="""
blocks-in-another-order: You read the blocks in the order i, g, f, o, which is TensorFlow's. Here, as in PyTorch, it is
i, f, g, o. The shapes are the same, but the model is not.
^ W, U, b = W[[0, 2, 1, 3]], U[[0, 2, 1, 3]], b[[0, 2, 1, 3]]
candidate-last: You read the blocks as i, f, o, g: the three gates first, as many texts write them. Here the order is i,
f, g, o: the third block is the candidate, the fourth the output gate.
^ W, U, b = W[[0, 1, 3, 2]], U[[0, 1, 3, 2]], b[[0, 1, 3, 2]]
or
^ W, U, b = W[[0, 1, 3, 2]], U[[0, 1, 3, 2]], b[[0, 1, 3, 2]]
- np.stack([i, f, g, o]) → np.stack([i, f, o, g])
forget-gate-first: You read the blocks with the forget gate first, the order in which an LSTM is usually explained. They
are stored with the input gate first: i, f, g, o.
^ W, U, b = W[[1, 0, 2, 3]], U[[1, 0, 2, 3]], b[[1, 0, 2, 3]]
or
^ W, U, b = W[[1, 0, 3, 2]], U[[1, 0, 3, 2]], b[[1, 0, 3, 2]]
gates-stacked-in-another-order: Both states are right, so your gates are too, but you stack them in a different order.
Return them as i, f, g, o, the order of the blocks.
- np.stack([i, f, g, o]) → np.stack([i, f, o, g])
or
- np.stack([i, f, g, o]) → np.stack([f, i, g, o])
or
- np.stack([i, f, g, o]) → np.stack([f, i, o, g])
sums-for-gates: As gates you return the sums *before* the sigmoids and the tanh. A gate lies between 0 and 1.
- np.stack([i, f, g, o]) → x @ W + h @ U + b[:, None]
no-last-tanh: You return o ⊙ c as h. The memory may have grown large; the tanh keeps the output bounded: o ⊙ tanh(c).
- np.tanh(c) → c
forget-the-other-way-round: You used the forget gate the other way round: despite its name, f is the fraction that is
*kept*, and you keep 1 − f.
- f * c → (1 - f) * c
input-gate-coupled: You let one gate do the work of two, as in a UGRNN, where kept and written fractions sum to 1. Here
f and i are independent: the cell may keep everything and still add to it.
- i * g → (1 - f) * g
or
- f * c → (1 - i) * c
input-and-forget-exchanged: You swapped i and f: f multiplies the old memory, i what is written.
- f * c + i * g → i * c + f * g
input-gate-unused: You compute i but never use it: it says how much of the candidate is written, i ⊙ g.
- i * g → g
u-transposed: You transposed the blocks of U. Vectors are rows here, so the state multiplies U from the left: h U.
(PyTorch's weight_hh is our U transposed.)
^ U = U.swapaxes(1, 2)
h-and-c-exchanged: You return the memory first and the output second. Both have the same shape, and the order is h, then
c.
- o * np.tanh(c), c → c, o * np.tanh(c)
old-memory-shown: You compute h from the memory *before* the step. Update c first, then compute h from it.
- c = f * c + i * g → old, c = c, f * c + i * g
- np.tanh(c) → np.tanh(old)
memory-in-the-gates: Your gates read c. They read h, the previous output; c is private.
^ h = c
sigmoid-candidate: Your candidate g is a sigmoid, so nothing could ever be subtracted from the memory. Use a tanh.
- np.tanh(g) → sigmoid(g)
one-added-to-the-forget-gate: You add 1 to the sum of the forget gate, as TensorFlow's cells do. Here b is the whole
bias.
- sigmoid(f) → sigmoid(f + 1)
input-gate-from-the-forget-gate: Your input gate is 1 − f. Here it has its own weights, the first blocks.
- c = f * c + i * g → i = 1 - f; c = f * c + i * g
batch-first: Your gates have the batch as their first axis. The shape is (4, batch, hidden).
- np.stack([i, f, g, o]) → np.stack([i, f, g, o], axis=1)
memory-squashed: You return tanh of the memory as the memory. c is passed on as it is; only the output shows its tanh.
- , c, np.stack → , np.tanh(c), np.stack
""",
)


def passed(draw: Draw, batch: int, hidden: int) -> tuple[Tensor, ...]:
    """gates, c_before, d_h and d_c of a step that has been made."""
    gates = torch.sigmoid(draw.normal(4, batch, hidden))
    gates[2] = torch.tanh(draw.normal(batch, hidden))
    return gates, *(draw.normal(batch, hidden) for _ in range(3))


def nothing_shown(draw: Draw, batch: int, hidden: int) -> tuple[Tensor, ...]:
    gates, before, d_h, d_c = passed(draw, batch, hidden)
    return gates, before, torch.zeros_like(d_h), d_c


def open_and_closed(draw: Draw, batch: int, hidden: int) -> tuple[Tensor, ...]:
    gates, before, d_h, d_c = passed(draw, batch, hidden)
    gates[1], gates[0] = 1.0, 0.0
    return gates, before * 3, d_h, d_c


LSTM_BACKWARD = ask(
    "gates.lstm_backward",
    returns=("d_i", "d_f", "d_g", "d_o", "d_c_before"),
    inputs=passed,
    odd=[at("gates fully open and closed", open_and_closed, batch=2), ONE],
    properties=[
        shapes(0.25),
        values("the memory's path only", 0.75, cases(nothing_shown, at("no gradient arrives through h")), "d_c_before"),
        values("the output gate", 0.75, "d_o"),
        values("input gate, forget gate, candidate", 1.5, "d_i", "d_f", "d_g"),
        values("the memory, along both paths", 1, "d_c_before"),
        values("open and closed gates, one unit", 0.75, ODD),
    ],
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
output-gate-gets-everything: Your d_o contains d_c. But o acts after the memory, in h = o ⊙ tanh(c): it gets d_h only.
- d_h * shown → (d_h + d_c) * shown
sigmoid-slope-of-the-last-tanh: With t = tanh(c), the slope of the last tanh is 1 − t². t (1 − t) is the sigmoid's.
- (1 - shown**2) → shown * (1 - shown)
tanh-twice: You applied tanh twice on the way to the slope. With t = tanh(c) the slope is 1 − t².
- (1 - shown**2) → (1 - np.tanh(shown) ** 2)
back-past-the-gate: You added d_c to the gradient of the old memory once more. The only way back leads through the
forget gate, and d_c is in the gradient of the new memory already.
- arriving * f → arriving * f + d_c
back-from-what-was-passed-on: The old memory gets only d_c ⊙ f from you. It gets the whole gradient of the new memory,
along both paths, times f.
- , arriving * f → , d_c * f
written-part-forgotten: Your c' is f ⊙ c_before, without what was written, i ⊙ g.
- f * c_before + i * g → f * c_before
candidate-and-output-exchanged: You return the gradients in the order i, f, o, g. The order is i, f, g, o.
- d_g, d_o, → d_o, d_g,
paths-averaged: You took the mean of the two paths. Gradients that meet are *added*.
- d_c + d_h * o * (1 - shown**2) → (d_c + d_h * o * (1 - shown**2)) / 2
gates-limited: You keep the gates away from 0 and 1. A closed gate passes nothing on.
- i, f, g, o = gates
+ i, f, g, o = *np.clip(gates[:2], 0.01, 0.99), gates[2], np.clip(gates[3], 0.01, 0.99)
""",
)

# --- 4 and 5. how far a gradient and a memory reach ------------------------------------------------------------


def network(draw: Draw, time: int, hidden: int) -> tuple[Tensor, ...]:
    return torch.tanh(draw.normal(time, hidden) * 0.7), draw.normal(hidden, hidden) * 1.6 / hidden**0.5


def saturated(draw: Draw, time: int, hidden: int) -> tuple[Tensor, ...]:
    hs, U = network(draw, time, hidden)
    hs[2] = 1.0
    return hs, U


JACOBIAN_NORMS = ask(
    "gates.jacobian_norms",
    returns=("norms",),
    inputs=at("several states", network, time=5),
    odd=[
        at("one saturated state", saturated, time=4),
        at("one unit", time=4, hidden=1),
        at("a single state", time=1),
        at(EQUAL, time=4, hidden=4),
    ],
    properties=[
        shapes(0.25, name="one number per state"),
        values("one step back", 1.25, cases(network, at("two states", time=2))),
        values("several steps back", 1.5),
        values("saturated units, one unit, one state", 1, ODD),
    ],
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
largest-column-sum: Your norm is the largest sum of sizes in a column or a row, not the largest singular value.
* ord=2 → ord=1
or
* ord=2 → ord=np.inf
largest-entry: Your norm is the largest entry. Return the largest singular value, `ord=2`.
* np.linalg.norm(product, ord=2) → np.abs(product).max()
not-squared: Your slope is 1 − |h|; the tanh's is 1 − h².
- h**2 → np.abs(h)
last-jacobian-for-all: You use the Jacobian of the final state at every step. Each step has its own slopes.
- ((1 - h**2) → ((1 - hs[-1] ** 2)
from-the-first-state-on: Your products begin at the first state and grow towards the end. A distance is counted back
from the *final* state: start with J_T.
- in hs[1:][::-1] → in hs[1:]
- product @ ((1 - h**2)[:, None] * U.T) → ((1 - h**2)[:, None] * U.T) @ product
""",
)

points = at_points(b=(-1.0, 5.0), T=(2, 60))
HALF_LIFE = ask(
    "gates.half_life",
    returns=("steps", "bias"),
    properties=[
        formula("the half-life of a bias", 1, points, "steps"),
        formula("the bias of a half-life", 1, points, "bias"),
    ],
    mistakes="""
negative-half-life: Your half-life is negative. ln ½ and ln σ(b) are both negative, so their quotient is not.
- math.log(2) / math.log(1 + math.exp(-b)) → -math.log(2) / math.log(1 + math.exp(-b))
gate-inverted: You used 1 − σ(b), what is forgotten in a step. σ(b) is what is left.
- math.exp(-b) → math.exp(b)
- -math.log(2 ** (1 / T) - 1) → math.log(2 ** (1 / T) - 1)
time-constant: That is the time after which 1/e is left. Half is left after ln 2 times as long.
- math.log(2) / math.log(1 → 1 / math.log(1
sign-of-the-bias: Your bias has the wrong sign: a long half-life needs a large bias.
- -math.log(2 ** (1 / T) - 1) → math.log(2 ** (1 / T) - 1)
gate-for-bias: Your second result is the gate, 2 to the power −1/T. Which bias gives this gate?
- -math.log(2 ** (1 / T) - 1) → 2 ** (-1 / T)
logarithm-of-the-gate: Your second result is the logarithm of the gate. The inverse of σ is ln(g / (1 − g)).
- -math.log(2 ** (1 / T) - 1) → -math.log(2) / T
logarithm-of-the-time: ln(T − 1) is the bias with which a gate of 1 − 1/T begins (Tallec and Ollivier 2018): then about
1/e is left after T steps, not half.
- -math.log(2 ** (1 / T) - 1) → math.log(T - 1)
steps-from-what-is-lost: You divided one half by what a step loses, 1 − σ(b). That would be right if every step lost
the same amount; it loses the same *part* of what is left.
- math.log(2) / math.log(1 + math.exp(-b)) → 0.5 * (1 + math.exp(b))
long-memories-only: Your formulas are good for long memories only, where 1 − σ(b) is almost e^(−b). Solve exactly.
- math.log(2) / math.log(1 + math.exp(-b)) → math.log(2) * math.exp(b)
- -math.log(2 ** (1 / T) - 1) → math.log(T / math.log(2))
rounded-up: You rounded the half-life up. It need not be an integer.
- math.log(2) / math.log(1 + math.exp(-b)) → math.ceil(math.log(2) / math.log(1 + math.exp(-b)))
half-divided-by-the-time: You divided one half by T. σ(b)^T = ½: take the T-th root.
- -math.log(2 ** (1 / T) - 1) → -math.log(2 * T - 1)
loss-shared-by-the-steps: You let every step lose ½/T. Each step loses the same *part* of what is left: σ(b)^T = ½.
- -math.log(2 ** (1 / T) - 1) → math.log(2 * T - 1)
half-divided-by-the-gate: You divided one half by the gate. The gate is multiplied T times: take logarithms.
- math.log(2) / math.log(1 + math.exp(-b)) → 0.5 * (1 + math.exp(-b))
""",
)

# --- 6. the wrong line of a friend's LSTM with peepholes -------------------------------------------------------


def peephole(draw: Draw, batch: int, n_in: int, hidden: int) -> tuple[Tensor, ...]:
    W, U, b = blocks(draw, 4, n_in, hidden)
    x, h, c = draw.normal(batch, n_in), draw.normal(batch, hidden), draw.normal(batch, hidden)
    return x, h, c, W, U, draw.normal(3, hidden), b


PEEPHOLE_STEP = ask(
    "gates.peephole_step",
    returns=("h", "c"),
    inputs=peephole,
    odd=[at("one text", batch=1), at("one unit", batch=3, hidden=1)],
    properties=[values("a batch", 1), values("one text, and one unit", 1, ODD)],
    planted="- P[2] * new → P[2] * c",
    mistakes="""
results-swapped: You returned the two results in the wrong order: first the new h, then the new c.
- return o * shown, new → return new, o * shown
old-memory-shown: Your output shows the old memory. The output gate decides how much of the new one to show.
- np.tanh(new) → np.tanh(c)
shown-seen: Your output gate sees tanh of the new memory. The peephole looks at the memory itself.
- P[2] * new → P[2] * shown
forget-sees-the-state: Your forget gate sees h through its peephole. It should see the memory c; h comes in through U.
- P[1] * c → P[1] * h
peepholes-swapped: You swapped the peepholes of the forget gate and of the output gate. Their order is i, f, o.
- P[1] * c → P[2] * c
- P[2] * new → P[1] * new
peephole-forgotten: Your output gate sees no memory at all. It should see the new one.
- o + P[2] * new → o
tanh-forgotten: You show the memory without tanh. It may grow beyond 1; the output of an LSTM does not.
- np.tanh(new) → new
""",
)

WRONG_LINE = wrong_line(
    "gates.wrong_line",
    PEEPHOLE_STEP,
    mistakes="""
input-gate-suspected: Line {P[0]} is right: the input gate sees the old memory.
forget-gate-suspected: Line {P[1]} is right: the forget gate sees the old memory, which it is about to forget.
memory-suspected: Line {new = } is right: it keeps a part of the old memory and writes a part of the candidate.
sums-suspected: Line {x @ W} is right: the four sums of 3a, one block each.
shown-suspected: Line {shown = } is right: it is tanh of the new memory, and the next line does not need it.
""",
)

# --- 7. with and without gates, over several seeds -------------------------------------------------------------

REACH = experiment(
    "gates.reach",
    table="norms",
    points=(0.5, 4.5, 3),
    claims=["0 < 1, 2 < 3", "1 < 0, 3 < 2", "1 < 0, 2 < 3", "1 < 0, 2 ~ 3"],
    numpy=True,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- beginning(seed) → beginning(seeds[0])
first-step-counted: You multiplied the gates from the first step on. They lead to the first state; a distance of 5
begins after it.
- forget[1 : d + 1] → forget[:d]
input-gate-taken: You multiplied the input gates. The memory is multiplied by the forget gates, the second block.
- forget.append(gates[1]) → forget.append(gates[0])
mean-over-units: You took the mean over the units. The norm of a diagonal matrix is its largest entry.
- .prod(0).max() → .prod(0).mean()
another-block: Your plain network uses the block of another gate. Take the third block, that of the candidate g.
* [2] → [0]
seeds-averaged: You return the mean over the seeds in every row. Then nobody can see whether the seeds agree.
- conclusion = 3 → norms = np.broadcast_to(np.mean(norms, axis=0), (len(seeds), 4)); conclusion = 3
gates-always-win: At distance 5 your own numbers say the opposite: for every seed the plain network's norm is larger. A
gate is below 1, and an orthogonal matrix shrinks nothing.
- conclusion = 3 → conclusion = 1
short-distance-for-all: At distance 30 your own numbers say the opposite: for every seed the LSTM's norm is larger.
- conclusion = 3 → conclusion = 2
undecided-although-all-agree: At distance 30 your own numbers decide it: the LSTM's norm is larger for every seed, and
chance does not explain that.
- conclusion = 3 → conclusion = 4
weakest-unit-taken: You took the smallest product. The norm of a diagonal matrix is its largest entry.
- .prod(0).max() → .prod(0).min()
length-for-norm: You took the length of the vector of products. The norm of a diagonal matrix is its largest entry.
- forget[1 : d + 1].prod(0).max() → np.linalg.norm(forget[1 : d + 1].prod(0))
gates-from-the-end: You multiplied the gates of the last steps. The question asks for those of the second step and
after it.
- forget[1 : d + 1] → forget[-d:]
distance-off-by-one: Your entries of `jacobian_norms` are off by one: entry d is for distance d.
- by_distance[d] → by_distance[d - 1]
columns-by-network: Your columns are in a different order: (5, plain), (5, LSTM), (30, plain), (30, LSTM).
- for pair in row for norm in pair → for pair in zip(*row) for norm in pair
bias-alone: You raised σ(2) to a power. The gates also see the text and the state: run your `lstm_step`.
- forget[1 : d + 1].prod(0).max() → sigmoid(2.0) ** d
""",
)

EXERCISES = exercises_in(__name__)
