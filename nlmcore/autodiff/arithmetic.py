"""Arithmetic on floats for `value`: what is too large is infinite, what has no value raises with a reason."""

import math
from numbers import Real


def as_number(thing: object) -> float | None:
    """The plain number that this is, or None. True and False are no numbers here."""
    return float(thing) if isinstance(thing, Real) and not isinstance(thing, bool) else None


def exp(x: float) -> float:
    """eˣ, infinite from x = 710 on."""
    try:
        return math.exp(x)
    except OverflowError:
        return math.inf


def divide(a: float, b: float) -> float:
    """a / b. Raises ZeroDivisionError if b is 0."""
    if b == 0:
        raise ZeroDivisionError(f"cannot divide {a:g} by a value of 0")
    return a / b


def power(base: float, exponent: float, at_zero: float | None = None) -> float:
    """base ** exponent; `at_zero` is the result for 0 to a negative power.

    Raises ZeroDivisionError for that if `at_zero` is None, ValueError for a root of a negative number.
    """
    if base < 0 and not float(exponent).is_integer():
        raise ValueError(f"a negative base needs a whole exponent, got {base:g} ** {exponent:g}")
    if base == 0 and exponent < 0:
        if at_zero is None:
            raise ZeroDivisionError(f"0 has no negative power, got the exponent {exponent:g}")
        return at_zero
    try:
        return base**exponent
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 else math.inf
