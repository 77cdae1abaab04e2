"""Scores and the weights that softmax makes of them, as two rows of bars with their numbers."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from nlmcore.show.figures.svg import FAINT, svg, text

_BAR, _SPACE, _TALL = 74.0, 26.0, 120.0


def softmax_svg(scores: ArrayLike, weights: ArrayLike, labels: Sequence[str], *, extra: str = "") -> str:
    """Two panels: scores (any real number, a bar up or down) and weights (between 0 and 1, summing to 1).

    `extra` is a line written below, for a worked sum. Raises ValueError if lengths differ.
    """
    s, w = np.asarray(scores, dtype=float), np.asarray(weights, dtype=float)
    if s.ndim != 1 or s.shape != w.shape or len(labels) != len(s):
        raise ValueError(
            f"softmax_svg needs as many weights and labels as scores, got scores {s.shape}, weights {w.shape}"
            f" and {len(labels)} labels"
        )
    panel = len(s) * (_BAR + _SPACE)
    gap, top = 90.0, 46.0
    reach = max(2.0, float(np.abs(s).max()))
    body = [
        text(0, 20, "scores s", 17, more='font-weight="bold"'),
        text(panel + gap, 20, "weights α = softmax(s)", 17, more='font-weight="bold"'),
        text(panel + gap / 2 - 14, top + _TALL / 2 + 20, "→", 34, "middle"),
    ]
    zero = top + _TALL * max(float(s.max()), 0.0) / reach if s.min() >= 0 else top + _TALL / 2
    up = zero - top
    body.append(f'<line x1="0" x2="{panel}" y1="{zero:.1f}" y2="{zero:.1f}" stroke="{FAINT}"/>')
    base = top + _TALL
    body.append(f'<line x1="{panel + gap}" x2="{2 * panel + gap}" y1="{base}" y2="{base}" stroke="{FAINT}"/>')
    for i, label in enumerate(labels):
        x = i * (_BAR + _SPACE) + _SPACE / 2
        tall = abs(s[i]) / reach * up
        y = zero - tall if s[i] >= 0 else zero
        body.append(f'<rect x="{x}" y="{y:.1f}" width="{_BAR}" height="{max(tall, 1):.1f}" fill="#E69F00"/>')
        number_at = y - 6 if s[i] >= 0 else y + tall + 18
        body.append(text(x + _BAR / 2, number_at, f"{s[i]:.2f}", 16, "middle"))
        x += panel + gap
        tall = w[i] * (_TALL - 14)
        body.append(f'<rect x="{x}" y="{base - tall:.1f}" width="{_BAR}" height="{tall:.1f}" fill="#0072B2"/>')
        body.append(text(x + _BAR / 2, base - tall - 6, f"{w[i]:.2f}", 16, "middle"))
        for shift in (0, -(panel + gap)):
            body.append(text(x + shift + _BAR / 2, base + 44, label, 15, "middle"))
    if extra:
        body.append(text(0, base + 76, extra, 16))
    says = "; ".join(f"{label}: score {a:.2f}, weight {b:.2f}" for label, a, b in zip(labels, s, w, strict=True))
    return svg(2 * panel + gap, base + (90 if extra else 56), "".join(body), f"Scores and softmax weights. {says}.")
