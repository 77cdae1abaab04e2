"""Scores and the weights that softmax makes of them, as two rows of bars with their numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import FAINT, svg, text

_BAR, _SPACE, _TALL = 70.0, 22.0, 170.0


def softmax_svg(
    scores: ArrayLike, weights: ArrayLike, labels: Sequence[str], *, reach: float = 3.0, extra: str = ""
) -> str:
    """Two panels: scores (any real number, a bar up or down) and weights (between 0 and 1, summing to 1).

    The axis of the scores goes from −reach to reach and stays there, so that pictures can be compared; a
    longer bar is cut off and its number tells. `extra` is a line written below.

    Raises ValueError if lengths differ.
    """
    s, w = np.asarray(scores, dtype=float), np.asarray(weights, dtype=float)
    if s.ndim != 1 or s.shape != w.shape or len(labels) != len(s):
        raise ValueError(
            f"softmax_svg needs as many weights and labels as scores, got scores {s.shape}, weights {w.shape}"
            f" and {len(labels)} labels"
        )
    panel = len(s) * (_BAR + _SPACE)
    gap, top = 80.0, 64.0
    zero, base = top + _TALL / 2, top + _TALL
    body = [
        text(0, 20, f"scores e (axis: ±{reach:g})", 17, more='font-weight="bold"'),
        text(panel + gap, 20, "weights α = softmax(e)", 17, more='font-weight="bold"'),
        text(panel + gap / 2, zero + 12, "→", 34, "middle"),
        f'<line x1="0" x2="{panel}" y1="{zero:.1f}" y2="{zero:.1f}" stroke="{FAINT}"/>',
        f'<line x1="{panel + gap}" x2="{2 * panel + gap}" y1="{base}" y2="{base}" stroke="{FAINT}"/>',
    ]
    for i, label in enumerate(labels):
        x = i * (_BAR + _SPACE) + _SPACE / 2
        tall = min(abs(s[i]) / reach, 1.0) * _TALL / 2
        y = zero - tall if s[i] >= 0 else zero
        body.append(f'<rect x="{x}" y="{y:.1f}" width="{_BAR}" height="{max(tall, 1):.1f}" fill="#E69F00"/>')
        number_at = y - 6 if s[i] >= 0 else y + tall + 18
        body.append(text(x + _BAR / 2, number_at, _number(s[i]), 16, "middle"))
        x += panel + gap
        tall = w[i] * _TALL
        body.append(f'<rect x="{x}" y="{base - tall:.1f}" width="{_BAR}" height="{tall:.1f}" fill="#0072B2"/>')
        body.append(text(x + _BAR / 2, base - tall - 6, _number(w[i]), 16, "middle"))
        for shift in (0, -(panel + gap)):
            body.append(text(x + shift + _BAR / 2, base + 46, label, 16, "middle"))
    if extra:
        body.append(text(0, base + 80, extra, 17))
    says = "; ".join(f"{label}: score {a:.2f}, weight {b:.2f}" for label, a, b in zip(labels, s, w, strict=True))
    return svg(2 * panel + gap, base + (96 if extra else 58), "".join(body), f"Scores and softmax weights. {says}.")


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "\N{MINUS SIGN}")
