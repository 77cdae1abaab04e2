"""Is a gradient right? Compare it with difference quotients, which need no calculus.

    ∂f/∂xᵢ ≈ (f(x + h eᵢ) − f(x − h eᵢ)) / 2h        the central difference; its error shrinks as h²

A large h errs by curvature, a small one by rounding; the cube root of the machine's precision, 1e-16^(1/3) ≈ 5e-6,
balances the two.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nlmcore.autodiff.value import Value
from nlmcore.checks import Positive, checked, described

STEP = 5e-6


@checked
def numerical_gradient(
    function: Callable[..., Any], point: Sequence[float | int], step: Positive = STEP
) -> tuple[float, ...]:
    """∂f/∂xᵢ at `point`, for every i, by central differences. `function` takes values and returns one."""
    gradient = []
    for i in range(len(point)):
        above, below = ([x + (h if i == j else 0) for j, x in enumerate(point)] for h in (step, -step))
        difference = float(function(*map(Value, above))) - float(function(*map(Value, below)))
        gradient.append(difference / (above[i] - below[i]))  # the step that was taken, after rounding
    return tuple(gradient)


@dataclass(frozen=True)
class GradientCheck:
    """Both gradients of a function at a point, by its graph and by difference quotients; and how far they are apart."""

    backward: tuple[float, ...]
    numerical: tuple[float, ...]

    @property
    def error(self) -> float:
        """The largest gap, relative to the gradient where that is larger than 1."""
        gaps = (abs(a - b) / max(1.0, abs(a), abs(b)) for a, b in zip(self.backward, self.numerical, strict=True))
        return max(gaps, default=0.0)


def check_gradient(
    function: Callable[..., Value], point: Sequence[float | int], step: Positive = STEP
) -> GradientCheck:
    """Differentiate `function` at `point` twice, through its graph and by difference quotients.

    The `.error` of a right gradient is below about 1e-8, except at a kink (relu at 0).
    """
    inputs = [Value(x) for x in point]
    result = function(*inputs)
    if not isinstance(result, Value):
        raise TypeError(f"function must return a Value, got {described(result)}")
    result.backward()
    return GradientCheck(tuple(x.grad for x in inputs), numerical_gradient(function, point, step))
