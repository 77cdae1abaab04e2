"""Words as points in the plane, by groups, with arrows between some of them; labels keep out of each other's way."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import Pixels, svg, text

_WIDE, _HIGH, _EDGE, _LETTER = 760.0, 470.0, 56.0, 9.6
_COLOURS = ("#0072B2", "#B34700", "#00704F", "#9A4C7C", "#000000")
_HALO = "paint-order:stroke;stroke:#fff;stroke-width:4px"


def word_map_svg(
    points: ArrayLike,
    words: Sequence[str],
    groups: Sequence[int],
    *,
    alt: str,
    arrows: Sequence[tuple[int, int]] = (),
    title: str = "",
    note: str = "",
) -> str:
    """points (word, 2), both axes in one scale; a colour and a shape of its own per group; arrows from word to word.

    Raises ValueError if there is not one point and one group per word.
    """
    where = np.asarray(points, dtype=float)
    if where.shape != (len(words), 2) or len(groups) != len(words):
        raise ValueError(
            f"word_map_svg needs a point and a group per word, got points {where.shape}, {len(words)} words and"
            f" {len(groups)} groups"
        )
    top = 34.0 if title else 6.0
    middle = (where.max(0) + where.min(0)) / 2 if len(where) else np.zeros(2)
    span = np.maximum(np.ptp(where, axis=0), 1e-9) if len(where) else np.ones(2)
    scale = min((_WIDE - 2.6 * _EDGE) / span[0], (_HIGH - _EDGE) / span[1])
    at = np.array([_WIDE / 2, top + _HIGH / 2]) + (where - middle) * scale * np.array([1.0, -1.0])
    parts = [text(0, 20, title, 17, more='font-weight="bold"')] if title else []
    parts.append(
        '<defs><marker id="nlm-word-tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7"'
        ' orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="#777"/></marker></defs>'
    )
    for i, j in arrows:
        (x, y), (u, v) = at[i], at[j]
        long = max(float(np.hypot(u - x, v - y)), 1.0)
        u, v = u - 9 * (u - x) / long, v - 9 * (v - y) / long
        parts.append(
            f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{u:.1f}" y2="{v:.1f}" stroke="#777" stroke-width="2"'
            ' marker-end="url(#nlm-word-tip)"/>'
        )
    parts += [_shape(x, y, group) for (x, y), group in zip(at.tolist(), groups, strict=True)]
    taken = [(x - 7, y - 7, x + 7, y + 7) for x, y in at.tolist()]
    for (x, y), word, group in zip(at.tolist(), words, groups, strict=True):
        left, base = _place(x, y, len(word) * _LETTER, taken)
        style = f'style="fill:{_COLOURS[group % len(_COLOURS)]};{_HALO}"'
        parts.append(text(left, base, word, 16, more=style))
    bottom = top + _HIGH
    if note:
        bottom += 26
        parts.append(text(0, bottom - 6, note, 16))
    return svg(max(_WIDE, 8.8 * len(note)), bottom + 4, "".join(parts), alt)


def _place(x: float, y: float, wide: float, taken: list[tuple[float, float, float, float]]) -> tuple[float, float]:
    """Where the label begins: right, left, above or below, further up or down; the first that covers least."""
    tries = [(x + 10, y + 5), (x - 10 - wide, y + 5), (x - wide / 2, y - 12), (x - wide / 2, y + 23)]
    tries += [(x + 8, y - 13), (x + 8, y + 23), (x - 8 - wide, y - 13), (x - 8 - wide, y + 23)]
    tries += [(x + 10, y - 28), (x + 10, y + 38), (x - 10 - wide, y - 28), (x - 10 - wide, y + 38)]

    def covered(place: tuple[float, float]) -> float:
        left, base = place
        right, high, low = left + wide, base - 14, base + 4
        total = 0.0
        for a, b, c, d in taken:
            total += max(0.0, min(right, c) - max(left, a)) * max(0.0, min(low, d) - max(high, b))
        return total + 1e4 * (left < 0 or right > _WIDE)

    left, base = min(tries, key=covered)
    taken.append((left, base - 14, left + wide, base + 4))
    return left, base


def _shape(x: Pixels, y: Pixels, group: int) -> str:
    colour = _COLOURS[group % len(_COLOURS)]
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colour}"/>',
        f'<path d="M{x:.1f},{y - 8:.1f} l8,14 h-16 z" fill="{colour}"/>',
        f'<rect x="{x - 5.5:.1f}" y="{y - 5.5:.1f}" width="11" height="11" fill="{colour}"/>',
        f'<path d="M{x:.1f},{y - 8:.1f} l8,8 l-8,8 l-8,-8 z" fill="{colour}"/>',
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="#fff" stroke="{colour}" stroke-width="3"/>',
    )[group % 5]
