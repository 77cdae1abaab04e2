"""Assignment "training": optimisers, a schedule, clipping, dropout, early stopping, and a loop that resumes exactly.

The functions differ in form from `nlmcore.training`, which trains modules in place with PyTorch's optimisers: here
weights, gradients and what an optimiser remembers are dictionaries of NumPy arrays, a step returns new ones, and a run
is a value with everything that continues it.
"""

import functools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.question.declare import exercises_in, holds, judged, question, values, ways
from autograder.question.draw import Draw
from autograder.question.judges import and_inputs_unchanged, same_values
from autograder.question.kinds import EQUAL
from autograder.question.outcome import arrays
from autograder.question.sized import ODD, at, several, these
from autograder.question.special import at_points, experiment, formula, on_the_page, other_seeds, wrong_line
from autograder.question.specification import Case, case
from nlmcore.corpora import load
from solutions.training.laws import (
    RUN,
    as_many_as_the_rate_says,
    both,
    decided_one_by_one,
    dropped_or_scaled,
    only_in_training,
    run_holds,
    shortens_what_is_too_long,
)

ask = functools.partial(question, numpy=True)
Weights = dict[str, Tensor]
Given = tuple[Any, ...]


def networks(draw: Draw, count: int, n_in: int, hidden: int, names: str = "Wb") -> list[Weights]:
    """As many dictionaries of normal numbers: a matrix W, a bias b, embeddings E, a kernel K."""
    shapes = {"W": (n_in, hidden), "b": (hidden,), "E": (2, hidden + 1), "K": (2, hidden, 2)}
    return [{name: draw.normal(*shapes[name]) for name in names} for _ in range(count)]


def without(entries: dict[str, Any], names: str) -> dict[str, Any]:
    return {name: entry for name, entry in entries.items() if name not in names}


def tenths(draw: Draw, low: int, high: int) -> float:
    return draw.integer(low, high) / 10


# --- 1. momentum and AdamW -------------------------------------------------------------------------------------


def momentum(draw: Draw, n_in: int, hidden: int, names: str = "Wb", absent: str = "", new: str = "") -> Given:
    """`absent`: what has no gradient. `new`: what has its first."""
    weights, gradients, velocity = networks(draw, 3, n_in, hidden, names)
    return weights, without(gradients, absent), without(velocity, new), tenths(draw, 2, 8), tenths(draw, 5, 9)


def one_slice(draw: Draw, units: int) -> Given:
    return *({"W": draw.strided(2, units)} for _ in range(3)), 0.5, 0.0


FIRST = at("the first step", new="Wb")
MOMENTUM = ask(
    "training.momentum_step",
    returns=("weights", "velocity"),
    inputs=at("a later step", momentum),
    odd=[at("one parameter, a slice of a larger array, β = 0", one_slice)],
    properties=[
        values("the weights after the first step", 0.5, FIRST, "weights"),
        values("the velocity after the first step", 0.25, FIRST, "velocity"),
        values("the velocity after a later step", 0.5, "velocity"),
        values("the weights after a later step", 0.5, "weights"),
        values("a parameter without a gradient", 0.25, at("no gradient for b", names="WbE", absent="b", new="E")),
        values("β = 0, one parameter, float64, slices", 0.5, ODD),
    ],
    mistakes="""
velocity-reset: Your velocity is 0 again at every step, so this is plain SGD. Begin with the velocity that you are
given, and return the new one.
- velocity.get(name, 0) → 0
velocity-not-used: You step along the gradient, so your velocity has no effect. Step along the velocity.
- rate * v → rate * g
averaged: Your velocity is an average: the gradient enters it times 1 − β. Adam's first average does that. Momentum
keeps a sum, so that a gradient that always points the same way gives ever longer steps.
- * velocity.get(name, 0) + g → * velocity.get(name, 0) + (1 - beta) * g
step-before-the-update: You step along the velocity that you were given, which does not contain this gradient yet. First
update the velocity, then step along the new one.
- weights[name] - rate * v → weights[name] - rate * velocity.get(name, np.zeros_like(g))
rate-in-the-velocity: Your velocity contains the learning rate. Then a change of the rate acts on old gradients only
after many steps. Here the velocity is a sum of gradients, and the rate multiplies it once, in the step.
- name, 0) + g → name, 0) + rate * g
- - rate * v → - v
uphill: You add the step, so the loss rises. Subtract it: the gradient points uphill.
- weights[name] - rate → weights[name] + rate
looks-ahead: That is Nesterov's momentum, which adds the gradient once more to the step. Here the step is the velocity,
nothing else.
- weights[name] - rate * v → weights[name] - rate * (g + beta * v)
coasting: A parameter without a gradient coasts along its old velocity in your function. It should stay where it is, and
its velocity too.
- gradients.items() → {**{name: 0 * v for name, v in velocity.items()}, **gradients}.items()
left-out: Your dictionaries contain only the parameters that had a gradient. The next step needs all of them: start from
copies, `dict(weights)` and `dict(velocity)`.
- dict(weights), dict(velocity) → {}, {}
only-weights-left-out: Your new weights contain only the parameters that had a gradient, so the network has lost the
others. Start from a copy, `dict(weights)`.
- dict(weights), dict(velocity) → {}, dict(velocity)
only-velocity-left-out: Your new velocity contains only the parameters that had a gradient, so what you knew of the
others is forgotten. Start from a copy, `dict(velocity)`.
- dict(weights), dict(velocity) → dict(weights), {}
in-place: The values are right, but you changed the dictionaries or arrays that you were given. `new = weights` is only
a second name, and `-=` writes into the caller's array.
- dict(weights), dict(velocity) → weights, velocity
or
- weights[name] - rate * v → np.subtract(weights[name], rate * v, out=weights[name])
or
- dict(weights), dict(velocity) → dict(weights), velocity
or
- dict(weights), dict(velocity) → weights, dict(velocity)
""",
)


def adam(
    draw: Draw, n_in: int, hidden: int, names: str = "Wb", absent: str = "", new: str = "", rest: Given = (0.0,)
) -> Given:
    """`rest`: decay, and perhaps the other numbers. The counters differ."""
    weights, gradients = networks(draw, 2, n_in, hidden, names)
    memory = {
        name: {"t": t + draw.integer(0, 2), "m": draw.normal(*w.shape) / 4, "v": draw.normal(*w.shape) ** 2 / 50 + 0.01}
        for t, (name, w) in enumerate(weights.items(), 1)
    }
    return weights, without(gradients, absent), without(memory, new), tenths(draw, 2, 8), *rest


def still(draw: Draw, n_in: int, hidden: int) -> Given:
    """Adam's own step is 0, so that only the decay is seen."""
    (weights,) = networks(draw, 1, n_in, hidden, "WbEK")
    return weights, {name: 0 * w for name, w in weights.items()}, {}, tenths(draw, 2, 6), tenths(draw, 2, 6)


ADAMW = ask(
    "training.adamw_step",
    returns=("weights", "memory"),
    inputs=at("a later step, no decay", adam),
    odd=[
        at("a parameter without a gradient", names="WbE", absent="E", rest=(0.5,)),
        at("a first gradient at a later step", names="WbE", new="b", rest=(0.5,)),
        at("one parameter", names="b", rest=(0.5, 0.7, 0.9)),
    ],
    properties=[
        values("the weights after the first step", 0.75, at("the first step, no decay", new="Wb"), "weights"),
        values("the memory after a later step", 1, "memory"),
        values("the weights after a later step", 1, "weights"),
        values("which parameters decay, and how much", 1, at("decay, all gradients 0", still), "weights"),
        values("step and decay, a large ε", 0.5, at("ε = 0.5", rest=(0.4, 0.8, 0.95, 0.5)), "weights"),
        values("no gradient, a late one, one parameter, float64", 0.75, ODD),
    ],
    mistakes="""
no-correction: You left out the corrections. Both averages start at 0 and are too small at first: divide m by 1 − β₁ᵗ
and v by 1 − β₂ᵗ. Without them the first step is about three times too long.
- m / (1 - beta1**t), v / (1 - beta2**t) → m, v
steps-counted-from-zero: You correct with the number of the steps *before* this one. At the first step that is 0, and 1
− β⁰ = 0: a division by zero. Count first, then correct with t = 1 at the first step.
- m / (1 - beta1**t), v / (1 - beta2**t) → m / (1 - beta1 ** (t - 1)), v / (1 - beta2 ** (t - 1))
counter-stands-still: You return the same `"t"` that you were given. It counts this step too.
- kept[name] = {"t": t, → kept[name] = {"t": old["t"],
only-m-corrected: You corrected m, but not v. The average of the squares starts at 0 too, and 1 − β₂ᵗ is the smaller of
the two.
- v / (1 - beta2**t) → v
only-v-corrected: You corrected v, but not m. The average of the gradients starts at 0 too.
- m / (1 - beta1**t) → m
corrected-ones-kept: You remember the corrected averages, so the next step corrects them again. Store m and v as they
are, and use the corrected ones for this step only.
- "m": m, "v": v} → "m": m / (1 - beta1**t), "v": v / (1 - beta2**t)}
epsilon-inside-the-root: Your ε is inside the root. There it acts like √ε outside, which is 0.0001 instead of
0.00000001, and stops parameters with small gradients. Take the root first, then add ε.
- np.sqrt(v_hat) + eps → np.sqrt(v_hat + eps)
root-forgotten: You divide by v, not by its square root. Then a gradient ten times as large gives a step a *tenth* as
long.
- np.sqrt(v_hat) → v_hat
squares-forgotten: Your second average is one of the gradients, not of their squares. It is negative for half of the
entries, and the root of that is NaN.
- * g**2 → * g
betas-swapped: You swapped β₁ and β₂. β₁ = 0.9 belongs to the gradients, β₂ = 0.999 to their squares.
^ beta1, beta2 = beta2, beta1
sum-for-average: Your first average is a sum: the gradient enters it in full. That is momentum; Adam takes 1 − β₁ of the
gradient, or its correction makes no sense.
- (1 - beta1) * g → g
decay-in-the-gradient: You added the decay to the gradient. Then Adam divides it by √v, and parameters with large
gradients hardly decay. *Decoupled* means that it only shrinks the weights: this is the W in AdamW.
- t = old["t"] + 1 → g, t = (g + decay * weights[name] if g.ndim > 1 else g), old["t"] + 1
- (1 - rate * decay) * w → w
or
- t = old["t"] + 1 → g, t = g + decay * weights[name], old["t"] + 1
- (1 - rate * decay) * w → w
decay-without-the-rate: Your weights shrink by the whole decay in every step. The factor is one minus the decay *times
the learning rate*, so that the schedule lowers both.
- (1 - rate * decay) → (1 - decay)
everything-decays: Your biases decay as well. Only arrays with two or more axes do.
- w.ndim > 1 → True
nothing-decays: Nothing decays in your function. Matrices shrink before Adam's step, by one minus rate times decay.
- w.ndim > 1 → False
only-two-axes-decay: Your function decays arrays with exactly two axes. Those with three or more, such as the kernels of
a convolution, decay as well.
- w.ndim > 1 → w.ndim == 2
decay-after-the-step: You shrink the weights after Adam's step, so the step shrinks as well. Shrink the old weights
first, then subtract the step.
- w = (1 - rate * decay) * w → w = (1 - rate * decay) * (w - rate * m_hat / (np.sqrt(v_hat) + eps))
- new[name] = w - rate * m_hat / (np.sqrt(v_hat) + eps)
+ new[name] = w if w.ndim > 1 else w - rate * m_hat / (np.sqrt(v_hat) + eps)
no-gradient-taken-for-zero: You treat a parameter without a gradient as if its gradient were 0, so its averages fade,
and it keeps moving and decaying. It should stay as it is, with all that you remember of it.
- gradients.items() → ((n, gradients.get(n, np.zeros_like(w))) for n, w in weights.items())
one-counter: You correct all parameters with one number of steps. A parameter that gets its first gradient late has
taken no step before, and its averages start at 0 then: each has its own `"t"`.
^ steps = 1 + max([0, *(entry["t"] for entry in memory.values())])
- old["t"] + 1 → steps
left-out: Your dictionaries contain only the parameters that had a gradient. The next step needs all of them: start from
copies, `dict(weights)` and `dict(memory)`.
- dict(weights), dict(memory) → {}, {}
uphill: You add the step, so the loss rises. Subtract it.
- new[name] = w - rate → new[name] = w + rate
in-place: The values are right, but you changed the dictionaries or arrays that you were given. `old["t"] += 1`, `m *=
beta1` and `new = weights` write into the caller's. A saved run would change while you train on.
- dict(weights), dict(memory) → weights, memory
or
- kept[name] = {"t": t, "m": m, "v": v}
+ kept[name] = {"t": t, "m": m, "v": v}
+     if name in memory:
+         memory[name].update(t=t, m=m, v=v)
""",
)

_points = at_points(
    g=(0.5, 3.0), beta=(0.5, 0.95), q=(0.1, 0.45), beta1=(0.6, 0.95), beta2=(0.96, 0.999), t=(2, 30)
)  # fmt: skip
SAME = ask(
    "training.same_gradient",
    returns=("velocity", "steps", "uncorrected"),
    properties=[
        formula("the velocity", 0.5, _points, "velocity"),
        formula("the number of steps", 0.75, _points, "steps"),
        formula("Adam's uncorrected step", 0.75, _points, "uncorrected"),
    ],
    mistakes="""
limit-for-sum: Your velocity is the value that it approaches after many steps. After t steps the sum has t terms, and
the part βᵗ of the limit is still missing.
- g * (1 - beta**t) → g
average-for-sum: Your velocity is an average that approaches g. Momentum's sum approaches g / (1 − β).
- g * (1 - beta**t) / (1 - beta) → g * (1 - beta**t)
one-term-too-many: Your geometric sum has one term too many. After t steps the powers of β go from 0 to t − 1.
- 1 - beta**t → 1 - beta ** (t + 1)
missing-for-reached: You solved βᵗ = q. The velocity has reached the fraction q when the fraction 1 − q is still
missing.
- math.log(1 - q) → math.log(q)
fraction-upside-down: Your number of steps is upside down: t ln β = ln (1 − q), so divide by ln β.
- math.log(1 - q) / math.log(beta) → math.log(beta) / math.log(1 - q)
velocity-not-relative: You asked when the velocity reaches q itself. It should reach the fraction q of the value that it
approaches, which is g / (1 − β).
- math.log(1 - q) / → math.log(abs(1 - q * (1 - beta) / g)) /
root-forgotten: Adam divides by the *root* of the second average.
- math.sqrt(1 - beta2**t) → (1 - beta2**t)
correction-for-step: That is the factor by which the corrections change the step. Without them the step is one divided
by that.
- (1 - beta1**t) / math.sqrt(1 - beta2**t) → math.sqrt(1 - beta2**t) / (1 - beta1**t)
first-step-only: Your third formula is right for the first step only. The averages of step t contain t gradients, so the
powers of β₁ and β₂ are needed.
- (1 - beta1**t) / math.sqrt(1 - beta2**t) → (1 - beta1) / math.sqrt(1 - beta2)
gradient-not-cancelled: Your third formula contains g. The first average is proportional to g and so is the root of the
second, so g cancels.
- (1 - beta1**t) / math → g * (1 - beta1**t) / math
""",
)

# --- 2. schedule and clipping ----------------------------------------------------------------------------------


def planned(draw: Draw, steps: Callable[[int, int], list[int]], flat: bool = False) -> Case:
    """Some steps of a plan, chosen by its total and its warm-up. `flat`: without a warm-up, and floor 0."""
    warmup, fall, floor = draw.integer(4, 9), draw.integer(5, 12), tenths(draw, 1, 4)
    plan = (fall, 0, 0.0) if flat else (warmup + fall, warmup, floor)
    return several(*((step, *plan) for step in steps(*plan[:2])))


END = these(
    at("the end, and after it", lambda draw: planned(draw, lambda t, w: [t - 1, t, t + 1, 2 * t - w])),
    at("no warm-up, floor 0", lambda draw: planned(draw, lambda t, w: [1, t // 2, t], flat=True)),
)
SCHEDULE = ask(
    "training.schedule",
    returns=("factor",),
    properties=[
        values("the warm-up", 0.5, at("", lambda draw: planned(draw, lambda t, w: [1, 2, w - 1]))),
        values("the fall", 1, at("", lambda draw: planned(draw, lambda t, w: [w + 2, (w + t) // 2, t - 2]))),
        values("where they meet", 0.5, at("", lambda draw: planned(draw, lambda t, w: [w, w + 1]))),
        values("the end, and no warm-up", 1, END),
    ],
    mistakes="""
warm-up-from-zero: Your warm-up counts from 0, so the whole first step is wasted at rate 0, and step `warmup` is not at
1. Steps count from 1.
- return step / warmup → return (step - 1) / warmup
- warmup > step → warmup >= step
or
- return step / warmup → return (step - 1) / warmup
warm-up-too-long: Your warm-up ends one step late: step `warmup` should have the factor 1.
- return step / warmup → return step / (warmup + 1)
- warmup > step → warmup >= step
warm-up-from-the-floor: Your warm-up starts at the floor. It starts near 0: the floor is only where the fall ends.
- return step / warmup → return floor + (1 - floor) * step / warmup
no-warm-up: There is no warm-up in your schedule. Before step `warmup` the factor grows in proportion to the step.
- if warmup > step:
-     return step / warmup →
- (step - warmup) → max(0, step - warmup)
cosine-from-step-zero: Your cosine starts at step 0, so at the end of the warm-up the factor jumps down. It falls from 1
at step `warmup` to the floor at step `total`: measure the fraction between these two.
- (step - warmup) / (total - warmup) → step / total
denominator-total: Your fraction of the fall divides by `total`, so at step `total` it is not 1 yet and the floor is
never reached. The fall takes `total − warmup` steps.
- / (total - warmup)) → / total)
one-step-late: Your fall starts one step too late. At step `warmup` the factor is 1, and the step after that is already
below it.
- (step - warmup) / (total - warmup) → max(0, step - warmup - 1) / (total - warmup)
or
- (step - warmup) / (total - warmup) → max(0, step - warmup - 1) / (total - warmup - 1)
rises-again: After `total` your factor rises again, because a cosine does. Stop the fraction at 1.
- min(1.0, (step - warmup) / (total - warmup)) → (step - warmup) / (total - warmup)
whole-wave: Your cosine runs through a whole wave: down and up again. Half a wave, the angles from 0 to π, only falls.
- math.pi * fallen → 2 * math.pi * fallen
quarter-wave: Your cosine falls over a quarter of a wave, so its end is steep. Half a wave, the angles from 0 to π, is
flat at both ends.
- (1 + math.cos(math.pi * fallen)) / 2 → math.cos(math.pi * fallen / 2)
floor-on-top: You added the floor to a curve that falls from 1 to 0, so the factor starts above 1. Between 1 and the
floor there is only 1 − floor to fall.
- floor + (1 - floor) * → floor +
floor-as-a-limit: You cut the curve off at the floor: it falls towards 0, meets the floor early and stays there. The
whole curve should be squeezed between 1 and the floor.
- floor + (1 - floor) * (1 + math.cos(math.pi * fallen)) / 2 → max(floor, (1 + math.cos(math.pi * fallen)) / 2)
floor-ignored: Your factor falls to 0. It should end at `floor`.
- floor + (1 - floor) * →
line: Your factor falls along a straight line. Half a cosine is flat at both ends and steep in the middle.
- (1 + math.cos(math.pi * fallen)) / 2 → (1 - fallen)
cosine-not-halved: 1 + cos goes from 2 to 0. Halve it, or the factor starts at nearly 2.
-  / 2 →
""",
)


def above(draw: Draw, n_in: int, hidden: int) -> Given:
    (gradients,) = networks(draw, 1, n_in, hidden)
    return gradients, max(float(g.norm()) for g in gradients.values()) * tenths(draw, 5, 8)


def below(draw: Draw, n_in: int, hidden: int) -> Case:
    """The second is above the limit, so that whoever never clips has not answered."""
    short, long = networks(draw, 2, n_in, hidden)
    norms = [float(torch.cat([g.flatten() for g in gradients.values()]).norm()) for gradients in (short, long)]
    return several((short, norms[0] * tenths(draw, 12, 20)), (long, norms[1] / 3))


BELOW = at("one below its limit and one above", below)
CLIPPING = ask(
    "training.clip_gradients",
    returns=("clipped", "norm"),
    inputs=at("above the limit", above),
    odd=[
        at("zeros", lambda draw, n: ({"W": torch.zeros(2, n), "b": torch.zeros(n)}, 1.0)),
        at("no gradients", lambda draw: ({}, 1.0)),
        at("one parameter, a slice of a larger array", lambda draw, n: ({"W": draw.strided(2, n)}, 0.1)),
    ],
    properties=[
        values("the norm", 0.5, "norm"),
        values("gradients above the limit", 0.75, "clipped"),
        judged("gradients below the limit stay as they are", 0.25, BELOW, shortens_what_is_too_long, "clipped"),
        values("zeros, none, one parameter, slices", 0.5, ODD),
    ],
    mistakes="""
each-tensor-by-itself: You clipped each array by its own norm, which changes the direction of the step. One norm of all
gradients together, one factor for all.
- return {name: g * factor for name, g in gradients.items()}, norm
+ own = {name: np.linalg.norm(g) for name, g in gradients.items()}
+ return {n: g * (max_norm / own[n] if own[n] > max_norm else 1.0) for n, g in gradients.items()}, norm
each-entry: You limited each entry by itself, which changes the direction of the step. Divide all entries by the same
number.
- g * factor for → g.clip(-max_norm, max_norm) for
always-scaled: You scale to the limit even if the norm is below it. That *lengthens* small gradients, so the steps never
become small near the bottom.
- if norm > max_norm else 1.0 → if norm > 0 else 1.0
norms-added: You added the norms of the arrays. Lengths do not add up, but their squares do: one root, of the sum of all
squares.
- math.sqrt(sum((g**2).sum() for g in gradients.values())) → sum(map(np.linalg.norm, gradients.values()))
root-forgotten: Your norm is the sum of the squares. Take its square root.
- math.sqrt(sum((g**2).sum() for g in gradients.values())) → sum((g**2).sum() for g in gradients.values())
shortened-to-one: Your clipped gradients have the length 1. It should be `max_norm`.
- max_norm / norm if → 1 / norm if
norm-after-clipping: You return the norm of the clipped gradients. Return the norm before, because it reveals an
explosion.
- for name, g in gradients.items()}, norm → for name, g in gradients.items()}, norm * factor
largest-entry: You measure the gradient by its largest entry. Its length is the root of the sum of all squares.
- math.sqrt(sum((g**2).sum() for g in gradients.values())) → max([0.0, *(np.abs(g).max() for g in gradients.values())])
in-place: The values are right, but you changed the gradients that you were given. `g * factor` makes a new array, `g *=
factor` does not.
- g * factor for → np.multiply(g, factor, out=g) for
""",
)

# --- 3 and 4. dropout and early stopping -----------------------------------------------------------------------


def no_zeros(draw: Draw, *shape: int) -> Tensor:
    x = draw.normal(*shape)
    return torch.where(x < 0, x - 0.5, x + 0.5)


def kept(draw: Draw, units: int) -> Given:
    return no_zeros(draw, 2, units), 0.0, True, draw.integer(0, 10**6)


def evaluated(draw: Draw, batch: int, units: int) -> Case:
    x, seed = no_zeros(draw, batch, units, 3), draw.integer(0, 10**6)
    return several((x, tenths(draw, 4, 6), False, seed), (x, 0.9, True, seed), known=(x,))


def many(draw: Draw) -> Case:
    """Twice the same seed, and five others."""
    x, seed = no_zeros(draw, 30, 40), draw.integer(0, 10**6)
    rate = tenths(draw, 1, 3) + 0.5 * draw.integer(0, 1)
    calls = tuple((x, rate, True, seed + more) for more in (0, 0, 1, 2, 3, 4, 5))
    return several(*calls, known=(x, torch.tensor(rate)))


EVALUATED, MANY = at("evaluation, and then training", evaluated), at("a thousand entries", many)
MASKS = """
- np.random.default_rng(seed).random(x.shape) >= rate → {}
- x * keep / (1 - rate) → x * keep
"""
"""Other ways to sample the same mask, which drop other entries."""

DROPOUT = ask(
    "training.dropout",
    returns=("y",),
    inputs=kept,
    odd=[
        at("rate 0"),
        at("zeros, float64", lambda draw, n: (torch.zeros(n).double(), 0.5, True, draw.integer(0, 10**6))),
        at("evaluation of a slice", lambda draw, n: (draw.strided(2, n), 0.5, False, draw.integer(0, 10**6))),
        at("one number, evaluation", lambda draw: (draw.normal(1)[0], 0.3, False, draw.integer(0, 10**6))),
    ],
    properties=[
        judged("evaluation changes nothing, training does", 0.75, EVALUATED, only_in_training),
        holds("each entry is 0 or scaled", 1, MANY, dropped_or_scaled),
        holds("as many zeros as the rate says", 0.5, MANY, as_many_as_the_rate_says),
        holds("each entry by itself, each seed anew", 0.5, MANY, decided_one_by_one),
        values("rate 0, zeros, slices, one number", 0.25, ODD),
    ],
    mistakes="""
dropped-at-evaluation: You drop entries at evaluation as well, so the network's answers depend on chance. With
`training=False` return what you were given.
- if not training: → if False:
scaled-at-evaluation: That is the original dropout, which scales by 1 − rate at evaluation. *Inverted* dropout scales in
training, so that evaluation needs nothing.
- x.copy() → x * (1 - rate)
- x * keep / (1 - rate) → x * keep
scaled-twice: You scale in training *and* at evaluation. Once is enough: in training.
- x.copy() → x * (1 - rate)
the-other-way-round: You drop at evaluation and not in training.
- if not training → if training
not-scaled: The remaining entries are not scaled, so in training the layer's output is smaller than at evaluation.
Divide the survivors by the probability to survive.
- x * keep / (1 - rate) → x * keep
"""
    + ways(
        MASKS,
        "np.random.default_rng(seed).random(x.shape) < 1 - rate",
        "np.random.RandomState(seed).random_sample(x.shape) > rate",
    )
    + """
multiplied: You multiplied the survivors by 1 − rate. They should become larger, to make up for those that are dropped:
divide.
- / (1 - rate) → * (1 - rate)
divided-by-the-rate: You divided by the rate, which is the probability to be dropped. Divide by the probability to
survive.
- / (1 - rate) → / max(rate, 1e-9)
rate-survives: You keep an entry with the probability `rate` instead of dropping it with that probability.
- >= rate → < rate
global-generator: You seeded or used NumPy's global generator, on which all other random numbers of the notebook depend.
Sample from a generator of your own: `np.random.default_rng(seed)`.
- keep = np.random.default_rng(seed).random(x.shape)
+ np.random.seed(seed)
+ keep = np.random.random(x.shape)
or
^ np.random.seed(seed)
- np.random.default_rng(seed) → np.random
one-mask-for-all-examples: You dropped the same entries of every example. Each entry of each example is decided by
itself: sample a number for every entry of `x`.
- random(x.shape) → random(x.shape[-1:])
whole-examples: You dropped whole examples. Each entry is decided by itself: sample a number for every entry of `x`.
- random(x.shape) → random((*x.shape[:-1], 1) if x.ndim else ())
in-place: The values are right, but you wrote the zeros into the array that you were given: `x[~keep] = 0` and `x *=
keep` do that.
- x * keep / (1 - rate) → np.divide(np.multiply(x, keep, out=x), 1 - rate, out=x)
""",
)


def falling(draw: Draw, count: int, end: float = 1.0) -> list[float]:
    """Losses that all differ, from high to low, each above `end`: after a best of that size none of them is a new best,
    and none is worse than the previous."""
    steps = [draw.integer(1, 9) / 8 for _ in range(count)]
    return [end + sum(steps[i:]) for i in range(count)]


def over(draw: Draw) -> list[Case]:
    """The patience is used up just now, or was long ago: up to the best the training goes on, and then it ends."""
    down, patience = falling(draw, draw.integer(2, 4)), draw.integer(2, 3)
    ends = {
        "worse and worse": [down[-1] + i / 4 for i in range(1, patience + 1)],
        "better again, but not the best": falling(draw, patience, down[-1]),
        "more evaluations than patience": falling(draw, patience + 2, down[-1]),
    }
    return [Case(label=label, calls=((down, patience), ([*down, *up], patience))) for label, up in ends.items()]


def going_on(draw: Draw) -> list[Case]:
    down, patience = falling(draw, draw.integer(4, 6)), draw.integer(3, 4)
    setback = [down[0] + 1, down[0] + 2]
    on = [down[0], *falling(draw, patience, down[0]), *down[1:]]
    return [
        case("a new best at the end", [down[0], *setback, *down[1:]], patience),
        case("one evaluation short of the patience", [*down, *falling(draw, patience - 1, down[-1])], patience),
        case("a setback now and then", [loss for best in down for loss in (best + 2, best)], 3),
        case("a new best although the patience was used up before", on, patience),
        case("two setbacks with a new best between them", [*down[:2], *setback, *down[2:], *setback], 3),
    ]


def ties(draw: Draw) -> list[Case]:
    level = draw.integer(1, 9) / 4
    return [
        case("all losses equal", [level] * 4, 3),
        case("ties with the best", [level + 1, level, level + 1, level], 2),
        case("a single loss", [level], 1),
        case("patience 1", [level, level + 1], 1),
    ]


EARLY_STOPPING = ask(
    "training.early_stopping",
    returns=("best", "stop"),
    properties=[
        values("which is the best", 0.5, over, "best"),
        values("losses that end the training", 0.75, over, "stop"),
        values("losses that do not", 0.75, going_on),
        values("ties, a single loss", 0.5, ties),
    ],
    mistakes="""
compared-with-the-previous: You compare each loss with the previous one, so a run that creeps back towards its best
counts as progress. Count the evaluations since the *best*.
- len(losses) - 1 - best >= patience
+ all(a <= b for a, b in zip(losses[-patience - 1 : -1], losses[-patience:])) and len(losses) > patience
or
- len(losses) - 1 - best >= patience
+ all(a < b for a, b in zip(losses[-patience - 1 : -1], losses[-patience:])) and len(losses) > patience
one-too-late: You stop one evaluation too late: `patience` evaluations without a new best are enough.
- >= patience → > patience
one-too-early: You stop one evaluation too early: with a patience of 2, two evaluations without a new best are needed.
- len(losses) - 1 - best → len(losses) - best
last-of-the-ties: Of equal losses you took the last as the best. A loss that only equals the best is no progress, so the
first counts.
- losses.index(min(losses)) → len(losses) - 1 - losses[::-1].index(min(losses))
last-is-best: You return the last index as the best. The best is the one with the lowest loss, and its weights are the
ones to keep.
- return best, → return len(losses) - 1,
loss-for-index: You return the lowest loss itself. Return its index.
- return best, → return min(losses),
ended-before: You stopped at the first moment when the patience was used up. The question is whether to stop *now*: the
losses after that moment count as well, and one of them may be the best.
- best = losses.index(min(losses))
+ for n in range(1, len(losses) + 1):
+         best = losses.index(min(losses[:n]))
+         if n - 1 - best >= patience:
+             return best, True
stopped-for-ever: Your best is that of all losses, but you stop if the patience was ever used up, even before that best.
Count the evaluations since the best.
- len(losses) - 1 - best >= patience
+ any(n - losses.index(min(losses[: n + 1])) >= patience for n in range(len(losses)))
never-forgiven: You count all evaluations that brought no new best, over the whole run. A new best starts the count
again.
- len(losses) - 1 - best >= patience → sum(losses[i] >= min(losses[:i]) for i in range(1, len(losses))) >= patience
largest-for-best: You looked for the largest number. The best loss is the lowest.
- min(losses) → max(losses)
first-as-reference: You compare with the first loss. Any later loss may be the best so far: compare with that one.
- len(losses) - 1 - best >= patience → len(losses) > patience and min(losses[-patience:]) >= losses[0]
""",
)

# --- 5 and 6. a minibatch in pieces, and the loop, which can be interrupted anywhere ---------------------------

Run = dict[str, Any]
PLAIN = {
    **{"rate": 0.1, "total": 100, "warmup": 0, "floor": 1.0, "max_norm": 1e6, "decay": 0.0, "dropout": 0.0},
    **{"batch": 4, "every": 100, "patience": 9},
}
FULL = {
    **{"rate": 0.2, "total": 8, "warmup": 3, "floor": 0.1, "max_norm": 0.2, "decay": 0.6, "dropout": 0.4},
    **{"batch": 5, "every": 2, "patience": 9},
}


def small_task(draw: Draw) -> tuple[Run, Tensor, Tensor]:
    """A run of a tiny network that has not taken any step, and its texts: two tokens to read, one to predict."""
    vocab, hidden = draw.integer(4, 6), draw.integer(3, 4)
    shapes = {"E": (vocab, 2), "W": (4, hidden), "b": (hidden,), "V": (hidden, vocab), "c": (vocab,)}
    weights = {name: draw.normal(*shape, dtype=torch.float64) / 2 for name, shape in shapes.items()}
    run = {"step": 0, "weights": weights, "memory": {}, "key": draw.integer(1, 10**6), "dev": [], "best": weights}
    return run, draw.integers(0, vocab - 1, 12, 3), draw.integers(0, vocab - 1, 5, 3)


def pieces(draw: Draw, windows: int = 0, size: int = 0) -> Given:
    """In any case the last piece is shorter than the others."""
    run, texts, _ = small_task(draw)
    size = size or draw.integer(3, 4)
    return run["weights"], texts[: windows or 2 * size + draw.integer(1, size - 1)], size


ONE_LEFT = these(at("all but one window, and one", windows=12, size=11), at(EQUAL, windows=3, size=2))
IN_PIECES = ask(
    "training.in_pieces",
    returns=("loss", "gradients"),
    inputs=at("a shorter piece at the end", pieces),
    properties=[
        values("the loss", 0.75, "loss"),
        values("the gradients", 0.75, "gradients"),
        values("a piece of one window", 0.5, ONE_LEFT),
    ],
    planted="- len(piece) / len(windows) → 1 / math.ceil(len(windows) / size)",
    mistakes="""
sum-of-means: You add up the means of the pieces, so more pieces give a larger loss. Each piece should count by the
fraction of the windows that it holds.
- share = len(piece) / len(windows) → share = 1.0
size-for-length: You weigh each piece by `size`, but the last piece is shorter. Count its own windows.
- share = len(piece) / → share = size /
fraction-of-a-piece: You weigh each piece by how full it is. The weights should add up to 1: divide by the number of all
windows.
- len(piece) / len(windows) → len(piece) / size
divided-by-all: You divide each mean by the number of all windows. A mean of k windows stands for k of them: multiply by
k as well.
- len(piece) / len(windows) → 1 / len(windows)
rounded-down: You count only the full pieces, so the weights add up to more than 1. The shorter piece counts as well.
- len(piece) / len(windows) → 1 / (len(windows) // size)
""",
)

WRONG_LINE = wrong_line(
    "training.wrong_line",
    IN_PIECES,
    points=1,
    mistakes="""
range-suspected: Line {for start in} is right: the starts are 0, size, 2 · size and so on, and the last piece is not
left out.
slice-suspected: Line {piece = windows} is right: a slice that goes beyond the end stops at the end, so the last piece
is just shorter.
loss-suspected: Line {loss, found} is right: without dropout the network gives each window the same loss in whatever
piece it is. But note what is returned: a mean over the piece.
sum-suspected: Line {total = total} is right: a mean over all windows is a weighted sum of the means of the pieces. Are
the weights right?
gradients-suspected: Line {gradients[name] =} is right: the gradient of a weighted sum is such a sum, too. Are the
weights right?
start-suspected: Line {np.zeros_like} is right: sums start at 0, and each gradient has the shape of its parameter.
""",
)


def trained(run: Run, plan: dict[str, float], windows: Tensor, dev: Tensor, steps: int) -> tuple[list[float], Run]:
    """The losses, and the run afterwards with tensors again."""

    def tensors(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: tensors(entry) for key, entry in value.items()}
        return torch.from_numpy(value) if isinstance(value, np.ndarray) else value

    losses, after = TRAIN.reference(*arrays([run, plan, windows, dev, steps]))
    return losses, tensors(after)


def lengths(run: Run) -> tuple[Tensor, ...]:
    """How many numbers each part of a run is, in the order of `RUN`."""

    def count(value: Any) -> int:
        if isinstance(value, dict):
            return sum(map(count, value.values()))
        return value.numel() if isinstance(value, Tensor) else len(value) if isinstance(value, list) else 1

    return (torch.tensor([count(run[key]) for key in RUN]),)


Wanted = Callable[[list[float], list[float]], bool]


def searched(draw: Draw, plan: dict[str, float], saved: int, steps: int, wanted: Wanted) -> Case:
    """The steps of a run after the `saved` ones, whose losses, and all of whose development losses, are as wanted."""
    while True:
        run, windows, dev = small_task(draw)
        if saved:
            _, run = trained(run, plan, windows, dev, saved)
        losses, after = trained(run, plan, windows, dev, steps)
        if wanted(losses, after["dev"]):
            return case("", run, plan, windows, dev, steps, known=lengths(after))


def best(draw: Draw) -> Case:
    """Of five evaluations one of the first two is the best; the fourth is better than the third, and than the last."""
    plan = {**PLAIN, "rate": 0.6, "every": 2, "dropout": 0.3}
    return searched(draw, plan, 0, 10, lambda losses, dev: min(dev[:2]) < dev[3] < min(dev[2], dev[4]))


def stops(draw: Draw) -> Case:
    """The patience is used up after some of the steps, and not at the first occasion."""
    plan = {**PLAIN, "rate": 0.5, "every": 2, "patience": 2}
    return searched(draw, plan, 0, 14, lambda losses, dev: 6 <= len(losses) < 14)


def resumed(draw: Draw) -> Case:
    """Saved between two evaluations; the best weights are those of the first part, and it gets worse and worse."""
    plan = {**FULL, "rate": 0.7, "max_norm": 0.5}
    return searched(draw, plan, 3, 4, lambda losses, dev: dev[0] < dev[1] < dev[2])


def impatient(draw: Draw) -> Case:
    """Saved after the first of two evaluations that bring nothing better: the second one ends the run."""
    run, plan, windows, dev, steps = stops(draw).calls[0]
    losses, _ = trained(run, plan, windows, dev, steps)
    _, saved = trained(run, plan, windows, dev, len(losses) - 1)
    _, after = trained(saved, plan, windows, dev, 5)
    return case("", saved, plan, windows, dev, 5, known=lengths(after))


def started(draw: Draw, plan: str = "plain", windows: int = 12, steps: int = 4) -> Given:
    run, texts, dev = small_task(draw)
    return run, FULL if plan == "full" else PLAIN, texts[:windows], dev[:windows], steps


EVERYTHING, STOPS = at("a run with everything", plan="full", steps=7), at("patience used up", stops)
RESUMED = these(at("resumed after step 3", resumed), at("resumed when the patience is nearly used up", impatient))
LOSSES, KEPT = same_values(("losses", "run"), [0]), run_holds(["best", "dev"])
STOPPED, SAVED = both(LOSSES, run_holds(["step"])), and_inputs_unchanged(both(LOSSES, run_holds(RUN)))
TRAIN = ask(
    "training.train",
    returns=("losses", "run"),
    inputs=started,
    properties=[
        values("the losses of a plain run", 2, these(at("a plain run"), at(EQUAL, windows=3, steps=2)), "losses"),
        values("the losses of a run with everything", 2, EVERYTHING, "losses"),
        judged("development losses and best weights", 2, at("the best in the middle", best), KEPT, "run"),
        judged("early stopping, and the step at which it ended", 1, STOPS, STOPPED),
        values("the losses of a resumed run", 2, RESUMED, "losses"),
        judged("all that a resumed run saves, the old one unchanged", 1, RESUMED, SAVED),
    ],
    mistakes="""
moments-lost: After the interruption your optimiser begins with an empty memory. The losses after it differ from those
of an uninterrupted run from the second one on: start from `run["memory"]`.
- run["memory"], run["best"] → {}, run["best"]
schedule-restarted: Your schedule counts the steps of this call, so a resumed run warms up again. The number of the step
continues from `run["step"]`.
- schedule(step, → schedule(len(losses) + 1,
step-forgotten: You count the steps from 1 in every call, so a resumed run warms up and is evaluated at the wrong steps.
Continue from `run["step"]`.
- run["step"], list → 0, list
or
- run["step"], list → 0, list
- "step": step → "step": run["step"] + step
asked-for-steps-saved: You save the number of the steps that you were asked for, but early stopping ended the run before
that, so a resumed run would jump ahead in the schedule. Save the number of the last step that was taken.
- "step": step → "step": run["step"] + steps
batches-repeated: The run that you return holds the key from *before* your steps: a resumed run gets the same
minibatches again. Save the key that the last `sample` returned.
- "key": key → "key": run["key"]
generator-restarted: Your first key is not the saved one, so a resumed run gets different minibatches. Start from
`run["key"]`.
- key, step, dev_losses, losses = run["key"], → key, step, dev_losses, losses = 0,
or
- key, step, dev_losses, losses = run["key"], → key, step, dev_losses, losses = run["step"],
other-generator-saved: Your steps are right, but as the key you save a different number, perhaps the seed of the
dropout. `sample` returns the next key last.
- "key": key → "key": seed
or
- "key": key → "key": step
last-for-best: Your best weights are those after the last evaluation, whatever its loss was. Keep them only if the loss
is the lowest so far. (If your steps change arrays in place, `best = weights` is only a second name: keep a copy.)
- if lowest == len(dev_losses) - 1: → if True:
or
- "best": best} → "best": weights}
better-than-the-previous: You keep the weights whenever an evaluation is better than the previous one. The best are
those with the lowest loss of *all* evaluations.
- if lowest == len(dev_losses) - 1: → if dev_losses[-1] < min(dev_losses[-2:-1], default=math.inf):
best-restarted: After the interruption your best weights are those that you resumed with, although the saved ones were
better. Start from `run["best"]`.
- run["memory"], run["best"] → run["memory"], run["weights"]
best-never-kept: Your best weights are still those that you were given. Replace them when an evaluation brings the
lowest loss so far.
- best = weights → pass
resumed-from-the-best: You resume from the best weights. The memory and the schedule belong to the *latest* ones:
continue from `run["weights"]`.
- = run["weights"], run["memory"] → = run["best"], run["memory"]
losses-of-dev-forgotten: Your run forgets the development losses from before the interruption, so early stopping starts
its count again, and a worse loss can pass for the best.
- list(run["dev"]) → []
evaluated-with-dropout: You evaluate with dropout on. Development losses are then too high and depend on chance:
`training=False`.
- plan["dropout"], False, 0 → plan["dropout"], True, seed
or
- plan["dropout"], False, 0 → plan["dropout"], True, 0
trained-without-dropout: You train without dropout. In the steps, `training` is `True` and the rate is
`plan["dropout"]`.
- plan["dropout"], True, seed → plan["dropout"], False, seed
or
- plan["dropout"], True, seed → 0.0, True, seed
one-dropout-seed: Your dropout drops the same units at every step. `sample` gives you a new seed with each minibatch.
- plan["dropout"], True, seed → plan["dropout"], True, 0
evaluated-one-step-late: You evaluate after step 1, and then every `every` steps. The number of the step should be a
multiple of `plan["every"]`.
- if step % plan["every"] → if (step - 1) % plan["every"]
evaluated-before-the-step: You evaluate the weights from before the step. First take the step, then evaluate.
- dev_losses.append(float(loss_and_gradients(weights, dev → dev_losses.append(float(loss_and_gradients(old, dev
- weights, memory = adamw_step
+ old = weights
+     weights, memory = adamw_step
not-clipped: Your step uses the gradients from before clipping.
- adamw_step(weights, clipped → adamw_step(weights, gradients
not-decayed: Your steps do not decay the weights: AdamW needs `plan["decay"]`.
- plan["decay"] → 0.0
rate-not-scheduled: Your learning rate is the same at every step. Multiply `plan["rate"]` by the schedule's factor.
-  * schedule(step, plan["total"], plan["warmup"], plan["floor"]) →
factor-for-rate: Your learning rate is the schedule's factor, which is 1 at its largest. Multiply it by `plan["rate"]`.
- plan["rate"] * schedule → schedule
schedule-one-behind: Your schedule is one step behind: the first step of a run has the number 1, not 0.
- schedule(step, → schedule(step - 1,
same-batch: Your minibatch is the same at every step. Sample a new one each time.
-     batch, seed, key = sample(windows, plan["batch"], key) →     pass
- while len(losses) < steps:
+ batch, seed, key = sample(windows, plan["batch"], key)
+ while len(losses) < steps:
patience-restarted: Your early stopping counts only the evaluations of this call, so an interruption makes it patient
again. Give it all development losses, including those in `run["dev"]`.
- over = early_stopping(dev_losses, plan["patience"])
+ _ = early_stopping(dev_losses, plan["patience"])
+         over = early_stopping(dev_losses[len(run["dev"]) :], plan["patience"])[1]
never-stops-early: You take all the steps, although the patience is used up. Leave the loop as soon as `early_stopping`
says so.
- if over: → if False:
loss-after-the-step: Your losses are those of the minibatches *after* the step. Record the loss from which the gradients
came.
- losses.append(float(loss)) → losses.append(float(loss_and_gradients(weights, batch, plan["dropout"], True, seed)[0]))
saved-run-changed: You changed the run that you were given: you appended to its list of development losses, wrote into
the dictionary or changed its arrays in place. A saved run must be good for a second resume: work on copies.
- list(run["dev"]) → run["dev"]
""",
)

# --- 7. dropout or early stopping, after 30 windows ------------------------------------------------------------


@functools.cache
def ids(play: int) -> Tensor:
    """Letters as 1 to 26 and everything else as 0, as `letters` of the page has them."""
    text = re.sub("[^a-z]+", " ", load("shakespeare").texts("train")[play].lower())
    return torch.tensor([max(0, ord(character) - 96) for character in text])


def windows_of(play: int, start: int) -> list[Tensor]:
    """To train on, to develop with and to test on."""
    parts = ((start, 300), (start + 2_000, 150), (start + 4_000, 150))
    return [ids(play)[first : first + count + 3].unfold(0, 4, 1).contiguous() for first, count in parts]


def elsewhere(draw: Draw, most: int = 300, seeds: int = 2) -> tuple[Any, ...]:
    parts = windows_of(draw.integer(1, 20), draw.integer(0, 8_000))
    return *(part[:most] for part in parts), other_seeds(draw, seeds)


WHICH_REMEDY = experiment(
    "training.which_remedy",
    table="losses",
    points=(0.25, 2.25, 2.5),
    page=on_the_page("the five seeds of the page", *windows_of(0, 0), [0, 1, 2, 3, 4]),
    fresh=at("other windows and seeds", elsewhere),
    more=at(EQUAL, elsewhere, most=4, seeds=1),
    claims=["1 < 2", "2 < 1, 3 < 2", "2 < 1, 2 ~ 3", "2 < 1, 2 < 3"],
    numpy=True,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- begin(windows, seed) → begin(windows, seeds[0])
measured-on-dev: You measured the loss on `dev`, by which the best weights were chosen. It flatters them: measure on
`test`.
* test, 0.0, False, 0 → dev, 0.0, False, 0
measured-on-the-thirty: You measured the loss on the 30 windows that the network was trained on. There is no overfitting
to be seen there: measure on `test`.
* test, 0.0, False, 0 → few, 0.0, False, 0
trained-on-all: You trained on all windows, so there is hardly any overfitting. Train on the 30 that `begin` returns.
- few, dev, 20 → windows, dev, 40
latest-for-best: Your last two columns are those of the latest weights again. Early stopping means the weights in
`run["best"]`.
- run["best"] → run["weights"]
measured-with-dropout: You measured with dropout on. At evaluation it is off.
* test, 0.0, False, 0 → test, rate, True, seed
columns-in-another-order: Your columns are in a different order. First the latest weights without and with dropout, then
the best ones without and with dropout.
- losses.append(latest + best) → losses.append([latest[0], best[0], latest[1], best[1]])
best-seed-picked: You return the lowest loss over all seeds, in every row. A remedy that may choose its seed looks
better than it is: keep the number of every seed.
- conclusion = 2 → losses = np.broadcast_to(np.min(losses, axis=0), (len(seeds), 4)); conclusion = 2
dropout-believed: Dropout lowers the loss of the latest weights, but compare it with the third column: the best weights
without dropout are far below.
- conclusion = 2 → conclusion = 1
difference-overlooked: Compare the last two columns seed by seed. The difference is smaller than the others, but it has
the same sign in every row.
- conclusion = 2 → conclusion = 3
against-the-numbers: Your own numbers say the opposite: with dropout the best weights have the lower loss, for every
seed.
- conclusion = 2 → conclusion = 4
""",
)

EXERCISES = exercises_in(__name__)
