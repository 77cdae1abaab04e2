"""A question before its answer: what a reader may say, when that is right, and text with mathematics as HTML."""

import html
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass(frozen=True)
class Kind:
    """What a reader may answer. `options` are the buttons; `told` is the right answer in words."""

    name: str
    answer: Any
    told: str
    is_right: Callable[[Any], bool]
    options: Sequence[str] = ()
    hint: str = ""
    bounds: tuple[float, float] | None = None
    """Between which numbers a guess is right, for a page without a kernel."""


def kind_of(choices: Any, order: Any, within: Any, factor: Any, unit: str, answer: Any) -> Kind:
    if choices is not None:
        return _choice(choices, answer, unit)
    if order is not None:
        return _order(order, list(answer))
    told = f"{number(answer)}{unit}"
    if factor is not None:
        hint = f"a number; a factor of {number(factor)} counts as right"
        low, high = sorted((answer / factor, answer * factor))
        return Kind(
            "number",
            answer,
            told,
            lambda g: g * answer > 0 and max(g / answer, answer / g) <= factor,
            hint=hint,
            bounds=(low, high),
        )
    hint = f"a number; ± {number(within)}{unit} counts as right" if within else "a number, exactly"
    bounds = answer - within, answer + within
    return Kind("number", answer, told, lambda guess: abs(guess - answer) <= within, hint=hint, bounds=bounds)


def _choice(choices: Any, answer: Any, unit: str) -> Kind:
    _plain(choices)
    right = answer
    if isinstance(choices, Mapping) and not isinstance(answer, str):
        ratio = answer > 0 and min(choices.values()) > 0
        scale = math.log if ratio else float
        right = min(choices, key=lambda name: abs(scale(choices[name]) - scale(answer)))
    if right not in choices:
        raise ValueError(f"the answer {right!r} is none of the choices {list(choices)}")
    measured = "" if isinstance(answer, str) or number(answer) in right else f" ({number(answer)}{unit})"
    return Kind("choice", right, f"{right}{measured}", lambda guess: guess == right, tuple(choices))


def _order(order: Any, answer: list[str]) -> Kind:
    _plain(order)
    if sorted(answer) != sorted(order):
        raise ValueError(f"the answer {answer} does not sort {list(order)}")
    hint = "press them in order; press one again to start over"
    return Kind("order", answer, ", ".join(answer), lambda guess: guess == answer, tuple(order), hint)


def _plain(options: Any) -> None:
    for option in options:
        if re.search(r"[$`]|\*\S", option):
            raise ValueError(
                f"an option is the words of a button, which shows no $mathematics$, `code` or *emphasis*: {option!r}"
            )


def marked(text: str) -> str:
    """Text with `code`, **bold** and *emphasis* as HTML; $mathematics$ is left to MathJax."""
    done = []
    for part in re.split(r"(\$[^$]+\$|`[^`]+`)", text):
        words = html.escape(part, quote=False)
        if part.startswith("`") and len(part) > 2:
            words = f"<code>{words[1:-1]}</code>"
        elif not part.startswith("$"):
            words = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", words)
            words = re.sub(r"\*(\S(?:.*?\S)?)\*", r"<em>\1</em>", words)
        done.append(words)
    return "".join(done)


def number(value: float) -> str:
    value = float(value)
    if value.is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.0f}" if 1000 <= abs(value) < 1e15 else f"{value:.3g}"


def read(typed: str) -> float:
    """A number as people type it: 0.25, 0,25, 2/3, 1,000, 40 %."""
    plain = re.sub(r"[\s%≈~]", "", typed)
    plain = plain.replace(",", "") if re.fullmatch(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?", plain) else plain.replace(",", ".")
    return float(Fraction(plain)) if "/" in plain and not plain.endswith("/0") else float(plain)
