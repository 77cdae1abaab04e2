"""Question 1b: AdamW, for a whole network."""

import torch
from torch import Tensor

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.training.checks.common import Weights, matrix_and_bias, tensors, without


def remembered(draw: Draw, weights: Weights, least: int = 1) -> dict[str, dict[str, int | Tensor]]:
    """What an optimiser remembers after some steps, a different number for each parameter."""
    return {
        name: {
            "t": least + number + draw.integer(0, 2),
            "m": draw.normal(*w.shape, dtype=w.dtype) / 4,
            "v": draw.normal(*w.shape, dtype=w.dtype) ** 2 / 50 + 0.01,
        }
        for number, (name, w) in enumerate(weights.items())
    }


def _first(draw: Draw) -> list[Case]:
    shapes = matrix_and_bias(draw)
    rate = draw.integer(2, 8) / 10
    return [case("the first step, no decay", tensors(draw, shapes), tensors(draw, shapes), {}, rate, 0.0)]


def _later(draw: Draw) -> list[Case]:
    shapes = matrix_and_bias(draw)
    weights, gradients = tensors(draw, shapes), tensors(draw, shapes)
    return [case("a later step, no decay", weights, gradients, remembered(draw, weights), 0.5, 0.0)]


def _still(draw: Draw) -> list[Case]:
    """Adam's own step is 0, so that only the decay is seen."""
    shapes = [*matrix_and_bias(draw), ("E", [2, draw.size()]), ("K", [2, draw.size(), 2])]
    weights = tensors(draw, shapes)
    zeros = {name: torch.zeros_like(w) for name, w in weights.items()}
    return [case("decay, all gradients 0", weights, zeros, {}, draw.integer(2, 6) / 10, draw.integer(2, 6) / 10)]


def _together(draw: Draw) -> list[Case]:
    shapes = matrix_and_bias(draw)
    weights, gradients = tensors(draw, shapes), tensors(draw, shapes)
    return [case("step and decay, ε = 0.5", weights, gradients, remembered(draw, weights), 0.5, 0.4, 0.8, 0.95, 0.5)]


def _odd(draw: Draw) -> list[Case]:
    n = draw.size()
    shapes = [*matrix_and_bias(draw), ("E", [2, n])]
    weights, gradients = tensors(draw, shapes), tensors(draw, shapes)
    memory = remembered(draw, weights)
    late = {name: memory[name] for name in ("W", "E")}
    one, slope = ({"w": draw.normal(n, dtype=torch.float64)} for _ in range(2))
    return [
        case("a parameter without a gradient", weights, without(gradients, "E"), memory, 0.3, 0.5),
        case("a first gradient at a later step", weights, gradients, late, 0.3, 0.5),
        case("one parameter, float64", one, slope, remembered(draw, one), 0.3, 0.5, 0.7, 0.9),
        case("slices of larger arrays", {"W": draw.strided(2, n)}, {"W": draw.strided(2, n)}, {}, 0.2, 0.5),
    ]


ADAMW = question(
    "training.adamw_step",
    minutes=40,
    difficulty="hard",
    returns=("weights", "memory"),
    properties=[
        values("the weights after the first step", 0.75, _first, "weights"),
        values("the memory after a later step", 1, _later, "memory"),
        values("the weights after a later step", 1, _later, "weights"),
        values("which parameters decay, and how much", 1, _still, "weights"),
        values("step and decay, a large ε", 0.5, _together, "weights"),
        values("no gradient, a late one, one parameter, float64", 0.75, _odd),
    ],
    numpy=True,
    mistakes="""
no-correction: You left out the corrections. Both averages start at 0 and are too small at first: divide m by 1 − β₁ᵗ
and v by 1 − β₂ᵗ. Without them the first step is about three times too long.
- m / (1 - beta1**t), v / (1 - beta2**t) → m, v

steps-counted-from-zero: You correct with the number of the steps *before* this one. At the first step that is 0, and
1 − β⁰ = 0: a division by zero. Count first, then correct with t = 1 at the first step.
- m / (1 - beta1**t), v / (1 - beta2**t) → m / (1 - beta1 ** (t - 1)), v / (1 - beta2 ** (t - 1))

counter-stands-still: You return the same `"t"` that you were given. It counts this step too.
- kept[name] = {"t": t, → kept[name] = {"t": old["t"],

only-m-corrected: You corrected m, but not v. The average of the squares starts at 0 too, and 1 − β₂ᵗ is the smaller
of the two.
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

sum-for-average: Your first average is a sum: the gradient enters it in full. That is momentum; Adam takes 1 − β₁ of
the gradient, or its correction makes no sense.
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

only-two-axes-decay: Your function decays arrays with exactly two axes. Those with three or more, such as the kernels
of a convolution, decay as well.
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

left-out: Your dictionaries contain only the parameters that had a gradient. The next step needs all of them: start
from copies, `dict(weights)` and `dict(memory)`.
- dict(weights), dict(memory) → {}, {}

uphill: You add the step, so the loss rises. Subtract it.
- new[name] = w - rate → new[name] = w + rate

in-place: The values are right, but you changed the dictionaries or arrays that you were given. `old["t"] += 1`,
`m *= beta1` and `new = weights` write into the caller's. A saved run would change while you train on.
- dict(weights), dict(memory) → weights, memory
or
- kept[name] = {"t": t, "m": m, "v": v}
+ kept[name] = {"t": t, "m": m, "v": v}
+     if name in memory:
+         memory[name].update(t=t, m=m, v=v)
""",
)
