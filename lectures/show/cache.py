"""A key-value cache drawn: the keys and values that one head has kept, and what the newest word reads of them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.picture import COLOURS
from lectures.show.raster import image_svg
from lectures.show.svg import FAINT, svg, text

_LEFT, _WIDE, _TALL, _BARS = 78.0, 860.0, 84.0, 74.0
_NEW = COLOURS[1]


def cache_svg(
    words: Sequence[str],
    keys: ArrayLike,
    values: ArrayLike,
    weights: ArrayLike,
    *,
    capacity: int,
    new: int = 1,
    title: str = "",
    notes: Sequence[str] = (),
) -> str:
    """One column per word that was read and per place of the buffer that is still empty.

    keys, values (held, d_head): of the last `held` of the words; those before were forgotten by a sliding window, and
    their columns are crossed out. weights (seen,): how much the newest word reads of each of the last `seen` words,
    itself included; held ones before those are faded. `capacity` places are allocated. The last `new` columns were
    computed in this step and are framed.

    Raises ValueError for shapes that do not fit each other or the words.
    """
    K, V, alpha = (np.asarray(x, dtype=float) for x in (keys, values, weights))
    if K.ndim != 2 or K.shape != V.shape or len(K) > min(len(words), capacity):
        raise ValueError(
            "cache_svg needs keys and values (held, d_head), held at most the number of words and the capacity, got"
            f" {K.shape} and {V.shape} for {len(words)} words and a capacity of {capacity}"
        )
    held, seen = len(K), len(alpha)
    if alpha.ndim != 1 or not 1 <= seen <= len(words) or not 1 <= new <= len(words):
        raise ValueError(
            f"of {len(words)} words at least one is read and one is new, at most all, got weights {alpha.shape} and"
            f" new={new}"
        )
    first = len(words) - held
    cell = min(56.0, (_WIDE - _LEFT) / (first + capacity))
    top = 34 + max(map(len, words)) * 7.4 + _BARS
    rows = {"keys": (K, top + 24), "values": (V, top + 24 + _TALL + 14)}
    bottom = top + 24 + 2 * _TALL + 14

    def x(position: int) -> float:
        return _LEFT + cell * position

    body = [text(0, 20, title, 17, more='font-weight="bold"'), text(0, top - _BARS / 2 + 6, "reads", 16)]
    body.append(f'<line x1="{_LEFT}" x2="{x(first + capacity):.1f}" y1="{top}" y2="{top}" stroke="{FAINT}"/>')
    for i, word in enumerate(words):
        at, y = x(i) + cell * 0.62, top - _BARS - 8
        gone = 'opacity="0.5" text-decoration="line-through"' if i < first else ""
        body.append(text(at, y, word, 15, "start", f'transform="rotate(-48 {at:.1f} {y:.1f})" {gone}'))
    for j, weight in enumerate(alpha, start=len(words) - seen):
        tall = _BARS * max(float(weight), 0.0)
        body.append(
            f'<rect x="{x(j) + 3:.1f}" y="{top - tall:.1f}" width="{cell - 6:.1f}" height="{tall:.1f}"'
            f' fill="{COLOURS[0]}"><title>{weight:.3f}</title></rect>'
        )
    for name, (matrix, y) in rows.items():
        body.append(text(0, y + _TALL / 2 + 5, name, 16))
        for place in range(held, capacity):
            body.append(
                f'<rect x="{x(first + place) + 2:.1f}" y="{y}" width="{cell - 4:.1f}" height="{_TALL}" fill="none"'
                f' stroke="{FAINT}" stroke-dasharray="4 4"/>'
            )
        for i in range(first):
            cross = f"M{x(i) + 4:.1f},{y} l{cell - 8:.1f},{_TALL} M{x(i + 1) - 4:.1f},{y} l{8 - cell:.1f},{_TALL}"
            body.append(f'<path d="{cross}" stroke="#c8c8c8" stroke-width="2"/>')
        if held:
            reach = float(np.abs(matrix).max()) or 1.0
            body.append(image_svg(matrix.T, x(first), y, cell * held, _TALL, reach))
        if seen < held:
            fade = f'width="{cell * (held - seen):.1f}" height="{_TALL}" fill="#ffffff" opacity="0.7"'
            body.append(f'<rect x="{x(first):.1f}" y="{y}" {fade}/>')
    body.append(
        f'<rect x="{x(len(words) - new):.1f}" y="{top + 20}" width="{cell * new:.1f}" height="{bottom - top - 16:.1f}"'
        f' fill="none" stroke="{_NEW}" stroke-width="4"/>'
    )
    lines = [
        f"framed: computed in this step; {max(0, seen - new)} read as they were; {capacity - held} places empty",
        *notes,
    ]
    if seen < held:
        lines.insert(1, f"faded: {held - seen} held until the buffer is full, but outside of the window")
    if first:
        lines.insert(1, f"crossed out: {first} forgotten, no later word sees them")
    body += [text(0, bottom + 30 + 25 * i, line, 16) for i, line in enumerate(lines)]
    best = int(alpha.argmax())
    alt = (
        f"{title} Of {len(words)} words the keys and values of {held} are held in {capacity} places, {first} are"
        f" forgotten. {words[-1]!r} reads most from {words[len(words) - seen + best]!r} ({alpha[best]:.2f})."
        f" {' '.join(lines)}"
    )
    wide = max(x(first + capacity) + 60, *(9.2 * len(line) for line in (title, *lines)))
    return svg(wide, bottom + 18 + 25 * len(lines), "".join(body), alt)
