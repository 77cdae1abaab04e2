"""What may come next, before and after a distribution was reshaped: two bars per word."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import FAINT, label_width, svg, text

_BEFORE, _AFTER, _ROW, _BAR = "#B8B8B8", "#0072B2", 31.0, 430.0


def next_word_svg(
    before: ArrayLike, after: ArrayLike, words: Sequence[str], *, prompt: str, rest: tuple[float, float] = (0.0, 0.0)
) -> str:
    """One row per word: a grey bar for its probability before, a blue one after; a word that fell out is crossed out.

    before, after: whole distributions, of which the first len(words) entries are drawn; `rest`: what all other words
    hold, before and after. The line below says how many words are left, what they held, and the entropies.

    Raises ValueError if the two do not have one length, or there are more words than entries.
    """
    p, q = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    if p.ndim != 1 or p.shape != q.shape or len(words) > len(p):
        raise ValueError(f"next_word_svg needs two distributions of one length, got {p.shape}, {q.shape}, {len(words)}")
    if not (np.isfinite(p).all() and np.isfinite(q).all()):
        raise ValueError("probabilities must be finite: take exp of log-probabilities, with exp(-inf) = 0")
    kept = q > 0
    labels = [*words, f"{len(p) - len(words):,} others"]
    shown = [*list(zip(p, q, strict=True))[: len(words)], rest]
    longest = max(0.3, *(max(pair) for pair in shown))
    left = label_width(labels, 16)
    body = [text(0, 20, f"“{prompt} …”", 17, more='font-weight="bold"')]
    top = 36.0
    for i, (label, (a, b)) in enumerate(zip(labels, shown, strict=True)):
        y = top + _ROW * i
        gone = b == 0
        style = 'style="fill:#5c5c5c;text-decoration:line-through"' if gone else ""
        body.append(text(left - 8, y + 19, label, 16, "end", style))
        for shift, value, colour in ((3.0, a, _BEFORE), (14.0, b, _AFTER)):
            long = max(_BAR * value / longest, 0.6)
            body.append(f'<rect x="{left:.1f}" y="{y + shift:.1f}" width="{long:.1f}" height="11" fill="{colour}"/>')
        at = left + _BAR * max(a, b) / longest + 8
        body.append(text(at, y + 19, f"{a:.3f} → " + ("out" if gone else f"{b:.3f}"), 15))
    bottom = top + _ROW * len(labels)
    body.append(f'<line x1="{left:.1f}" x2="{left:.1f}" y1="{top}" y2="{bottom}" stroke="{FAINT}"/>')
    (was, now) = (_entropy(p), _entropy(q))
    notes = (
        f"left: {int(kept.sum()):,} of {len(p):,} words; the model gave them {p[kept].sum():.3f} of the probability",
        f"entropy {was:.2f} → {now:.2f} nats: like {math.exp(was):,.1f} → {math.exp(now):,.1f} equally probable words",
    )
    for i, note in enumerate(notes):
        body.append(text(0, bottom + 26 + 25 * i, note, 16))
    says = "; ".join(f"{label} {a:.3f} to {b:.3f}" for label, (a, b) in zip(labels, shown, strict=True))
    alt = f"Next word after '{prompt}', probability before and after. {says}. {notes[0]}; {notes[1]}."
    return svg(max(left + _BAR + 150, 760), bottom + 62, "".join(body), alt)


def _entropy(p: np.ndarray) -> float:
    positive = p[p > 0]
    return float(-(positive * np.log(positive)).sum())
