"""One head of self-attention in slow motion: vectors as strips of colour, and the numbers that become weights.

q = x W^Q + b^Q, k = x W^K + b^K, v = x W^V + b^V;  e_j = q · k_j / √d;  α = softmax(e);  out = Σ_j α_j v_j
                                                            Vaswani et al. (2017), sections 3.2.1 and 3.2.2
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import AMBER, BLUE, DARK_ORANGE, GREY, INK, PALE, Canvas, number, said

__all__ = ["HEAD_STEPS", "Head", "head_html"]

HEAD_STEPS = ("x", "q", "k", "v", "scores", "÷ √d", "mask", "softmax", "sum")
"""What a picture shows after each step, in order."""

_EQUATIONS = (
    "x<sub>j</sub>: the vectors that enter the layer",
    "q<sub>j</sub> = x<sub>j</sub> W<sup>Q</sup> + b<sup>Q</sup>: what a token looks for",
    "k<sub>j</sub> = x<sub>j</sub> W<sup>K</sup> + b<sup>K</sup>: what it can be found by",
    "v<sub>j</sub> = x<sub>j</sub> W<sup>V</sup> + b<sup>V</sup>: what it passes on",
    "e<sub>j</sub> = q · k<sub>j</sub>: one score per token",
    "e<sub>j</sub> ← e<sub>j</sub> / √d: divided by the root of the width of q and k",
    "e<sub>j</sub> ← −∞ where the mask forbids it",
    "α<sub>j</sub> = exp e<sub>j</sub> / Σ<sub>j′</sub> exp e<sub>j′</sub>: weights that sum to 1",
    "output = Σ<sub>j</sub> α<sub>j</sub> v<sub>j</sub>: the weighted sum of the values",
)
_ROW, _HIGH, _TOP = 25.0, 18.0, 40.0
_STRIPS = {"x": (108.0, 92.0), "q": (220.0, 80.0), "k": (316.0, 80.0), "v": (412.0, 80.0), "αv": (816.0, 80.0)}
"""Where a column of strips begins, and how wide it is."""


@dataclass(frozen=True)
class Head:
    """What one head computes for a text, and which tokens may be read. All arrays have one row per token."""

    words: Sequence[str]
    x: np.ndarray
    """(time, d_model)"""
    q: np.ndarray
    """(time, d_head), like k and v"""
    k: np.ndarray
    v: np.ndarray
    allowed: np.ndarray
    """(query, key), True = may be read"""

    def __post_init__(self) -> None:
        n, shapes = len(self.words), {self.q.shape, self.k.shape, self.v.shape}
        if not n or len(self.x) != n or len(shapes) != 1 or self.q.shape[0] != n or self.allowed.shape != (n, n):
            raise ValueError(
                "a Head needs a row of x, q, k and v per word, q, k and v of one width, and a mask (word, word), got"
                f" {n} words, {self.x.shape}, {self.q.shape}, {self.k.shape}, {self.v.shape} and {self.allowed.shape}"
            )

    def scores(self, asks: int) -> np.ndarray:
        """q · k of the asking token with every token, (key,)."""
        return np.asarray(self.k @ self.q[asks])

    def weights(self, asks: int) -> np.ndarray:
        """softmax over the allowed tokens, (key,)."""
        e = np.where(self.allowed[asks], self.scores(asks) / math.sqrt(self.q.shape[1]), -np.inf)
        exp = np.exp(e - e.max())
        return np.asarray(exp / exp.sum())


def head_html(head: Head, asks: int, step: int, *, at: int = 0, title: str = "") -> str:
    """The equation of a step, everything computed up to it, and a line with the step's numbers.

    asks: the token whose output is computed. step: an index of HEAD_STEPS. at: the entry of the vectors that the line
    below reads out. Strips: blue negative, white 0, red positive; the pointer shows a strip's numbers. The words that
    the mask hides from the asking token are grey at every step.

    Raises ValueError if there is no such token, step or number.
    """
    n, d = head.q.shape
    entries = min(d, head.x.shape[1])
    if not (0 <= asks < n and 0 <= step < len(HEAD_STEPS) and 0 <= at < entries):
        raise ValueError(f"asks must be < {n}, step < {len(HEAD_STEPS)}, at < {entries}, got {asks}, {step} and {at}")
    canvas, raw, alpha = Canvas(), head.scores(asks), head.weights(asks)
    scaled = raw / math.sqrt(d)
    _strips(canvas, head, alpha, asks, step, at)
    columns = (
        (4, "q · k", 556.0, [number(e, 1) for e in raw]),
        (5, "÷ √d", 628.0, [number(e) for e in scaled]),
        (6, "mask", 690.0, [number(e) if may else "−∞" for e, may in zip(scaled, head.allowed[asks], strict=True)]),
    )
    for since, name, x, numbers in columns:
        _heading(canvas, x - 62, 66, name, since, step)
        for j, shown in enumerate(numbers if step >= since else []):
            canvas.text(x, _down(j) + 15, shown, 15, "end", fill=GREY if shown == "−∞" else INK)
    _heading(canvas, 704, 100, "α", 7, step)
    for j, weight in enumerate(alpha if step >= 7 else []):
        canvas.rect(704, _down(j), 58 * weight, _HIGH, BLUE)
        canvas.text(804, _down(j) + 15, number(weight), 15, "end")
    best = int(np.argmax(alpha))
    told = _told(head, asks, best, step, at)
    reads = ", ".join(f"{word} {w:.2f}" for word, w in zip(head.words, alpha, strict=True))
    seen = f" Weights of {head.words[asks]}: {reads}." if step >= 7 else ""
    alt = f"{title}, step {step + 1} of {len(HEAD_STEPS)}, {HEAD_STEPS[step]}. {told}{seen}"
    line = f'<p style="font-size:18px;margin:4px 0"><b>{_EQUATIONS[step]}</b></p>'
    return line + canvas.svg(alt, width=900) + said(told)


def _reach(rows: np.ndarray) -> float:
    """Full colour: all but the 2 % of the numbers that are largest, because a few dimensions dwarf the others."""
    return float(np.quantile(np.abs(rows), 0.98)) or 1.0


def _down(row: int) -> float:
    return _TOP + _ROW * row


def _heading(canvas: Canvas, x: float, wide: float, name: str, since: int, step: int) -> None:
    """The name of a column: framed while its step is the present one, grey before."""
    if since == step:
        canvas.rect(x - 2, 4, wide + 4, 26, "none", DARK_ORANGE, 2.5, radius=5)
    canvas.text(x + wide / 2, 23, name, 16, "middle", bold=since == step, fill=INK if step >= since else GREY)


def _strips(canvas: Canvas, head: Head, alpha: np.ndarray, asks: int, step: int, at: int) -> None:
    """Words, x, q, k, v, and the weighted values with their sum."""
    mixed = alpha[:, None] * head.v
    for j, word in enumerate(head.words):
        bold = j == asks
        fill = DARK_ORANGE if bold else INK if head.allowed[asks, j] else GREY
        canvas.text(98, _down(j) + 15, word, 15, "end", bold=bold, fill=fill)
    given = (("x", 0, head.x, 0), ("q", 1, head.q, 1), ("k", 2, head.k, 2), ("v", 3, head.v, 3), ("αv", 8, mixed, 3))
    for name, since, rows, scale in given:
        left, wide = _STRIPS[name]
        _heading(canvas, left, wide, {"αv": "α · v"}.get(name, name), since, step)
        reach = _reach(given[scale][2])
        for j, row in enumerate(rows):
            if step < since:
                canvas.rect(left, _down(j), wide, _HIGH, stroke=PALE)
                continue
            pale = name == "q" and step >= 4 and j != asks
            _strip(canvas, row, left, _down(j), wide, reach, f"{name} of {head.words[j]}", pale)
        if step >= since and name == "q":
            canvas.rect(left - 2, _down(asks) - 2, wide + 4, _HIGH + 4, stroke=DARK_ORANGE, wide=2.5)
        if step == 0 if name == "x" else step >= since:
            canvas.mark("triangle", left + wide * (at + 0.5) / rows.shape[1], 35, AMBER, 4, stroke=INK, wide=1)
    if step >= 8:
        left, wide = _STRIPS["αv"]
        y = _down(len(head.words)) + 8
        canvas.line((left, y - 7), (left + wide, y - 7), INK, 2)
        _strip(canvas, mixed.sum(0), left, y, wide, _reach(head.v), f"output for {head.words[asks]}")
        canvas.text(left - 12, y + 15, f"Σ = what “{head.words[asks]}” receives from this head", 15, "end", bold=True)


def _strip(
    canvas: Canvas, row: ArrayLike, x: float, y: float, wide: float, reach: float, name: str, pale: bool = False
) -> None:
    numbers = np.asarray(row, dtype=float)
    with canvas.pale(pale):
        canvas.image(numbers[None], x, y, wide, _HIGH, reach)
    shown = " ".join(number(v) for v in numbers[:64]) + (" …" if len(numbers) > 64 else "")
    canvas.rect(x, y, wide, _HIGH, says=f"{name}: {shown}", pointer_events="all")


def _told(head: Head, asks: int, best: int, step: int, at: int) -> str:
    """The step's numbers in a line: those of the asking token and of the one that it reads most."""
    one, other = f"“{head.words[asks]}”", f"“{head.words[best]}”"
    d, raw, alpha = head.q.shape[1], head.scores(asks), head.weights(asks)
    scaled = raw / math.sqrt(d)
    if step == 0:
        first = ", ".join(number(v) for v in head.x[asks, :6])
        return f"x of {one} has {head.x.shape[1]} entries: {first} … Entry {at} is {number(head.x[asks, at], 3)}"
    if step <= 3:
        name, rows = "qkv"[step - 1], (head.q, head.k, head.v)[step - 1]
        who, j = (one, asks) if step == 1 else (other, best)
        return f"{name} of {who} has {d} entries; entry {at} is {number(rows[j, at], 3)}"
    if step == 4:
        first = " + ".join(f"({number(head.q[asks, i])})({number(head.k[best, i])})" for i in range(3))
        return f"q of {one} · k of {other} = {first} + … = {number(raw[best])}"
    if step == 5:
        return f"{one} with {other}: {number(raw[best])} / √{d} = {number(raw[best])} / {math.sqrt(d):.2f} = {number(scaled[best])}"
    if step == 6:
        hidden = int((~head.allowed[asks]).sum())
        return f"{one} may read {len(alpha) - hidden} of {len(alpha)} tokens" + ("; the rest get −∞" if hidden else "")
    if step == 7:
        most = scaled[head.allowed[asks]]
        return (
            f"weight of {other} = exp {number(scaled[best])} / Σ = {math.exp(scaled[best]):.2f} / {np.exp(most).sum():.2f}"
            f" = {number(alpha[best])}"
        )
    order = np.argsort(-alpha, kind="stable")[:3]
    terms = " + ".join(f"{number(alpha[j])} · ({number(head.v[j, at], 3)})" for j in order)
    return f"entry {at} of the output = {terms} + … = {number(alpha @ head.v[:, at], 3)}"
