"""Question 1c: the gradient of RMSNorm, derived on paper."""

import torch

from autograder.exercise.declare import question
from autograder.exercise.draw import Draw
from autograder.exercise.special import formula
from autograder.exercise.specification import Case, case


def _points(draw: Draw) -> list[Case]:
    def vectors(d: int, eps: float) -> Case:
        x, upstream = (draw.normal(d, dtype=torch.float64) for _ in range(2))
        return case(f"{d} entries, ε = {eps:g}", x, upstream, eps)

    usual = [vectors(d, eps) for d, eps in ((2, 0.01), (3, 0.5), (draw.largest + 2, 1.0))]
    x, upstream, _ = vectors(3, 0.0).calls[0]
    return [*usual, case("entries around 10⁻⁹, where a small step is a large one", x * 1e-9, upstream * 1e-9, 1e-20)]


RMS_NORM_BACKWARD = question(
    "transformer.rms_norm_backward",
    minutes=20,
    difficulty="hard",
    returns=("slope", "gradient"),
    properties=[
        formula("the slope of r", 1, _points, "slope"),
        formula("the gradient", 2, _points, "gradient"),
    ],
    numpy=True,
    mistakes="""
root-is-constant: Your gradient treats r as a constant. But r contains every entry of x, so a change of one entry
changes all entries of y.
- upstream / r - (upstream @ x) / r**2 * slope → upstream / r

mean-forgotten: Your slope is x / r, the derivative of the root of the *sum* of squares. The mean divides by d, and so
does its derivative.
- x / (len(x) * r) → x / r

root-forgotten: Your slope is that of the mean square. r is its root, and the chain rule adds the factor 1 / (2 r).
- x / (len(x) * r) → 2 * x / len(x)

half-forgotten: Your slope is twice too large: the derivative of a root has a ½, which cancels the 2 from the square.
- x / (len(x) * r) → 2 * x / (len(x) * r)

plus-for-minus: The second term of your gradient has the wrong sign. A larger r makes every entry of y smaller.
- upstream / r - → upstream / r +

one-r-too-few: Your second term is divided by r once. The derivative of 1 / r is −1 / r².
- / r**2 → / r

own-entry-only: In your second term each entry of x concerns only its own entry of y. Through r it concerns all of them,
so the term contains a sum over all entries: upstream · x.
- (upstream @ x) → (upstream * x)

eps-forgotten: Your r contains no ε. It is in the root, so it is in the derivative as well.
- (x**2).mean() + eps → (x**2).mean()
""",
)
