"""A filter that slides over a text: one output at a time, and the letters that a trained filter answers to."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import FAINT, INK, Pixels, svg, text

_CELL, _HIGH = 74.0, 44.0
_BLUE, _ORANGE, _PALE = "#0072B2", "#D55E00", "#eef4fa"


def convolution_svg(
    x: ArrayLike, w: ArrayLike, y: ArrayLike, labels: Sequence[str], *, start: int, at: int, title: str = ""
) -> str:
    """Output `at` of a filter w (k,) over inputs x (time,): the window begins at input `start`, which may lie before 0.

    y (output,) are all outputs; those up to `at` are shown. Inputs of the window that come after `at` are orange: an
    output that uses them has seen the future.

    Raises ValueError for shapes that do not fit.
    """
    inputs, weights, outputs = (np.asarray(a, dtype=float) for a in (x, w, y))
    if inputs.shape != (len(labels),) or weights.ndim != 1 or outputs.ndim != 1 or not 0 <= at < len(outputs):
        raise ValueError(
            "convolution_svg needs x (time,), w (k,), y (output,), a label per input and an output `at`, got"
            f" {inputs.shape}, {weights.shape}, {outputs.shape}, {len(labels)} labels and at={at}"
        )
    k = len(weights)
    left = _CELL * max(k - 1, 1) + 20  # room for the zeros in front
    rows = {"filter w": 60.0, "input x": 60.0 + _HIGH + 8, "output y": 60.0 + 2 * _HIGH + 92}
    body = [text(0, 20, title, 17, more='font-weight="bold"')]

    def box(j: Pixels, top: Pixels, words: str, fill: str, stroke: str, ink: str = INK, wide: Pixels = 1.5) -> None:
        body.append(
            f'<rect x="{left + j * _CELL + 3:.1f}" y="{top:.1f}" width="{_CELL - 6}" height="{_HIGH}" rx="5"'
            f' fill="{fill}" stroke="{stroke}" stroke-width="{wide}"/>'
        )
        body.append(text(left + (j + 0.5) * _CELL, top + 28, words, 17, "middle", f'style="fill:{ink}"'))

    terms, future = [], False
    window = range(start, start + k)
    for j, weight in zip(window, weights, strict=True):
        box(j, rows["filter w"], _number(weight), "#ffffff", _BLUE, _BLUE, 2.5)
        value = inputs[j] if 0 <= j < len(inputs) else 0.0
        terms.append(f"{_number(weight)}·{_number(value)}" if value >= 0 else f"{_number(weight)}·({_number(value)})")
        if not 0 <= j < len(inputs):
            box(j, rows["input x"], "0", "#ffffff", FAINT, FAINT)
        future |= j > at
    for j, (value, label) in enumerate(zip(inputs, labels, strict=True)):
        inside = j in window
        late = inside and j > at
        box(j, rows["input x"], _number(value), "#ffe3c7" if late else "#cfe5f5" if inside else _PALE, FAINT)
        body.append(text(left + (j + 0.5) * _CELL, rows["input x"] + _HIGH + 22, label, 16, "middle"))
        if j < len(outputs):
            shown = _number(outputs[j]) if j <= at else ""
            colour = _ORANGE if future else _BLUE
            box(j, rows["output y"], shown, "#ffffff", colour if j == at else FAINT, wide=3 if j == at else 1.5)
    for name, top in rows.items():
        body.append(text(0, top - 8, name, 15, more='font-style="italic"'))
    sum_line = f"y at “{labels[at] if at < len(labels) else at}” = {' + '.join(terms)} = {_number(outputs[at])}"
    below = rows["output y"] + _HIGH + 34
    body.append(text(0, below, sum_line, 17, more='font-weight="bold"'))
    verdict = "it has seen a word that comes later" if future else "it has seen nothing that comes later"
    body.append(text(0, below + 28, verdict, 17, more=f'style="fill:{"#B34700" if future else INK}"'))
    width = max(left + _CELL * max(len(inputs), start + k) + 10, len(sum_line) * 10.5)
    return svg(width, below + 44, "".join(body), f"{title}. {sum_line}; {verdict}.")


def fired_svg(
    letters: Sequence[str],
    responses: ArrayLike,
    *,
    width: int,
    title: str = "",
    notes: Sequence[str] = (),
    alt: str,
) -> str:
    """What one filter answers at every window of a text: a bar where each window begins, the strongest in orange.

    responses (place,): place i is the window of `width` letters that begins at letter i. The letters of the strongest
    window are framed. `notes` are lines below.

    Raises ValueError if responses and letters do not fit.
    """
    values = np.asarray(responses, dtype=float)
    if values.shape != (len(letters) - width + 1,) or not len(values):
        raise ValueError(
            f"{len(letters)} letters have {len(letters) - width + 1} windows of {width}, got {values.shape}"
        )
    cell = min(26.0, 860.0 / len(letters))
    tall, top = 110.0, 40.0
    base = top + tall
    reach = max(float(values.max()), 1e-9)
    best = int(values.argmax())
    body = [text(0, 20, title, 17, more='font-weight="bold"')]
    for i, value in enumerate(values):
        high = tall * max(value, 0.0) / reach
        fill = _ORANGE if i == best and value > 0 else _BLUE
        body.append(
            f'<rect x="{i * cell + 2:.1f}" y="{base - high:.1f}" width="{cell - 4:.1f}" height="{max(high, 1):.1f}"'
            f' fill="{fill}"/>'
        )
    for i, letter in enumerate(letters):
        framed = best <= i < best + width and values[best] > 0
        if framed:
            body.append(
                f'<rect x="{i * cell:.1f}" y="{base + 6}" width="{cell:.1f}" height="32" fill="#ffe3c7"'
                f' stroke="{_ORANGE}"/>'
            )
        shown = "␣" if letter == " " else letter
        body.append(text((i + 0.5) * cell, base + 29, shown, min(20.0, cell * 0.95), "middle"))
    body += [text(0, base + 70 + 26 * i, note, 17) for i, note in enumerate(notes)]
    wide = max(cell * len(letters), *(len(note) * 10.4 for note in [title, *notes]))
    return svg(wide, base + 56 + 26 * len(notes), "".join(body), alt)


def _number(value: float | np.floating) -> str:
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown.replace("-", "\N{MINUS SIGN}")
