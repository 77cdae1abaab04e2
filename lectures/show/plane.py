"""Attention in the plane: a query and keys as arrows, weights as disks, the context where they balance."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import FAINT, Pixels, svg, text

_WIDE, _HIGH, _UNIT = 560.0, 400.0, 100.0  # pixels of the picture, and of a vector of length 1
_HALO = 'style="paint-order:stroke;stroke:#fff;stroke-width:5px"'


def plane_svg(
    query: ArrayLike, keys: ArrayLike, weights: ArrayLike, context: ArrayLike, labels: Sequence[str], *, title: str = ""
) -> str:
    """query (2,), keys (key, 2), weights (key,), context (2,): the values are the keys themselves.

    A disk's area is its weight. Raises ValueError if shapes do not fit.
    """
    q, k, w, c = (np.asarray(a, dtype=float) for a in (query, keys, weights, context))
    if q.shape != (2,) or c.shape != (2,) or k.shape != (len(labels), 2) or w.shape != (len(labels),):
        raise ValueError(
            "plane_svg needs query (2,), keys (key, 2), weights (key,), context (2,) and a label per key, got"
            f" {q.shape}, {k.shape}, {w.shape}, {c.shape} and {len(labels)} labels"
        )
    top = 56.0

    def at(v: np.ndarray) -> tuple[float, float]:
        return _WIDE / 2 + _UNIT * v[0], top + _HIGH / 2 - _UNIT * v[1]

    cx, cy = at(np.zeros(2))
    body = [
        text(4, 19, title, 16, more='font-weight="bold"'),
        '<line x1="6" x2="34" y1="41" y2="41" stroke="#D55E00" stroke-width="4" marker-end="url(#nlm-tip)"/>',
        text(42, 46, "query", 15),
        '<circle cx="120" cy="41" r="9" fill="#0072B2" opacity="0.75"/>'
        + text(136, 46, "keys (= values), area = weight", 15),
        _diamond(394, 41) + text(410, 46, "context", 15),
        '<defs><marker id="nlm-tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="6" markerHeight="6"'
        ' orient="auto-start-reverse"><path d="M0,0 L10,5 L0,10 z" fill="#D55E00"/></marker></defs>',
        f'<line x1="0" x2="{_WIDE}" y1="{cy}" y2="{cy}" stroke="#ddd"/>',
        f'<line x1="{cx}" x2="{cx}" y1="{top}" y2="{top + _HIGH}" stroke="#ddd"/>',
    ]
    for key, weight in zip(k, w, strict=True):
        x, y = at(key)
        body.append(f'<line x1="{cx}" y1="{cy}" x2="{x:.1f}" y2="{y:.1f}" stroke="{FAINT}" stroke-width="1.5"/>')
        body.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{3 + 30 * np.sqrt(weight):.1f}" fill="#0072B2" opacity="0.75"/>'
        )
    x, y = at(q)
    tip = 'marker-end="url(#nlm-tip)"' if np.linalg.norm(q) > 0.05 else 'stroke-linecap="round"'
    body.append(f'<line x1="{cx}" y1="{cy}" x2="{x:.1f}" y2="{y:.1f}" stroke="#D55E00" stroke-width="4" {tip}/>')
    x, y = at(c)
    body.append(_diamond(x, y))
    for key, weight, label in zip(k, w, labels, strict=True):  # last, with a white halo: readable over the arrow
        x, y = at(key)
        away = 1 if key[0] >= 0 else -1
        anchor, x = ("start" if away > 0 else "end"), x + away * (8 + 30 * np.sqrt(weight))
        body.append(text(x, y - 4, label, 15, anchor, f'font-weight="bold" {_HALO}'))
        body.append(text(x, y + 14, f"{weight:.2f}", 14, anchor, _HALO))
    spoken = ", ".join(f"{label} {weight:.2f}" for label, weight in zip(labels, w, strict=True))
    says = f"{title} Query at ({q[0]:.2f}, {q[1]:.2f}); weights: {spoken}; context at ({c[0]:.2f}, {c[1]:.2f})."
    return svg(_WIDE, _HIGH + top, "".join(body), says)


def _diamond(x: Pixels, y: Pixels) -> str:
    corners = f"M{x:.1f},{y - 9:.1f} l9,9 l-9,9 l-9,-9 z"
    return f'<path d="{corners}" fill="#009E73" stroke="#fff" stroke-width="1.5"/>'
