"""A recurrent network read from left to right: a column of state numbers per word, filling as it reads."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.raster import diverging_rgb
from lectures.show.svg import FAINT, INK, label_width, svg, text

_CELL, _TALL, _GAP, _BAR = 58.0, 34.0, 34.0, 92.0


def states_svg(
    states: ArrayLike,
    words: Sequence[str],
    units: Sequence[str],
    chances: ArrayLike,
    outcomes: Sequence[str],
    *,
    read: int | None = None,
    title: str = "",
) -> str:
    """h_0, h_1, … as columns of coloured numbers between −1 and 1, words below, predictions above.

    states (time + 1, unit), the first row is h_0; chances (time, outcome), what is predicted after each word; read:
    how many words have been read (None: all); what comes later is empty.

    Raises ValueError for shapes that do not fit, or more words than there are.
    """
    h, p = np.asarray(states, dtype=float), np.asarray(chances, dtype=float)
    read = len(words) if read is None else read
    if h.shape != (len(words) + 1, len(units)) or p.shape != (len(words), len(outcomes)):
        raise ValueError(
            f"states must be (words + 1, units) = {(len(words) + 1, len(units))} and chances (words, outcomes) ="
            f" {(len(words), len(outcomes))}, got {h.shape} and {p.shape}"
        )
    if not 0 <= read <= len(words):
        raise ValueError(f"read must lie in [0, {len(words)}], got {read}")
    left, pitch = label_width(units, 16) + 14, max(_CELL + _GAP, label_width(words, 16) + 10)
    top = (30.0 if title else 6.0) + 24 * len(outcomes) + 40
    bottom = top + _TALL * len(units)
    body = [text(0, 20, title, 17, more='font-weight="bold"')] if title else []
    for k, unit in enumerate(units):
        body.append(text(left - 14, top + _TALL * (k + 0.5) + 6, unit, 16, "end"))
    for k, outcome in enumerate(outcomes):
        body.append(text(left - 14, top - 48 - 24 * (len(outcomes) - 1 - k), outcome, 16, "end"))
    colours = diverging_rgb(h)
    for t in range(len(words) + 1):
        x = left + pitch * t
        seen = t <= read
        for k in range(len(units)):
            y = top + _TALL * k
            dashes = "/>" if seen else ' stroke-dasharray="3 3"/>'
            rgb = "#{:02x}{:02x}{:02x}".format(*(int(c) for c in colours[t, k])) if seen else "#ffffff"
            body.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{_CELL}" height="{_TALL}" fill="{rgb}" stroke="#b8b8b8"' + dashes
            )
            if seen:
                ink = "#ffffff" if abs(h[t, k]) > 0.7 else "#000000"
                number = f"{h[t, k]:.2f}".replace("-", "\N{MINUS SIGN}")
                body.append(text(x + _CELL / 2, y + 23, number, 16, "middle", f'style="fill:{ink}"'))
        if t == read:
            frame = f'width="{_CELL + 6}" height="{_TALL * len(units) + 6}" fill="none" stroke="#D55E00"'
            body.append(f'<rect x="{x - 3:.1f}" y="{top - 3:.1f}" {frame} stroke-width="3"/>')
        label = "h₀" if t == 0 else words[t - 1]
        faint = "" if seen else f'style="fill:{FAINT}"'
        body.append(text(x + _CELL / 2, bottom + 52, label, 17, "middle", faint))
        if t:
            line = INK if seen else "#c8c8c8"
            body.append(_arrow(x - (pitch - _CELL) + 4, top + (bottom - top) / 2, x - 5, None, line))
            body.append(_arrow(x + _CELL / 2, bottom + 34, None, bottom + 5, line))
        if t and seen:
            body.append(_arrow(x + _CELL / 2, top - 5, None, top - 30, INK))
            best = int(p[t - 1].argmax())
            for k in range(len(outcomes)):
                y = top - 62 - 24 * (len(outcomes) - 1 - k)
                wide = (_CELL + 12) * float(p[t - 1, k])
                body.append(f'<rect x="{x - 6:.1f}" y="{y:.1f}" width="{wide:.1f}" height="19" fill="#E69F00"/>')
                weight = 'font-weight="bold"' if k == best else ""
                body.append(text(x - 2, y + 15, f"{p[t - 1, k]:.2f}", 15, "start", weight))
    width = left + pitch * len(words) + _CELL + 14
    return svg(width, bottom + 62, "".join(body), _said(h, words, units, p, outcomes, read))


def _said(h: np.ndarray, words: Sequence[str], units: Sequence[str], p: np.ndarray, outcomes: Sequence[str], t: int):
    numbers = ", ".join(f"{unit} {value:.2f}" for unit, value in zip(units, h[t], strict=True))
    if t == 0:
        return f"A recurrent network that has read nothing of “{' '.join(words)}”. Its state: {numbers}."
    best = int(p[t - 1].argmax())
    return (
        f"A recurrent network has read “{' '.join(words[:t])}”. Its state: {numbers}."
        f" It predicts {outcomes[best]} with probability {p[t - 1, best]:.2f}."
    )


def _arrow(x: float, y: float, to_x: float | None, to_y: float | None, colour: str) -> str:
    """An arrow to the right, to x = to_x, or upwards, to y = to_y."""
    if to_x is not None:
        head = f"M{to_x:.1f},{y:.1f} l-8,-5 v10 z"
        line = f'x1="{x:.1f}" x2="{to_x - 7:.1f}" y1="{y:.1f}" y2="{y:.1f}"'
    else:
        head = f"M{x:.1f},{to_y:.1f} l-5,8 h10 z"
        line = f'x1="{x:.1f}" x2="{x:.1f}" y1="{y:.1f}" y2="{(to_y or 0) + 7:.1f}"'
    return f'<line {line} stroke="{colour}" stroke-width="2"/><path d="{head}" fill="{colour}"/>'
