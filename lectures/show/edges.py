"""Attention as edges above a sentence, drawn like a dependency parse: from the word that reads to the word it reads."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.picture import COLOURS
from lectures.show.svg import svg, text

_SIZE, _GAP, _STEP = 16.0, 14.0, 21.0


class Edge(NamedTuple):
    """One edge: word number `reads` looks at word number `read`, with so much weight."""

    reads: int
    read: int
    weight: float
    label: str = ""
    colour: int = 0
    """Which of the palette's colours; the same for the edges of one head."""


def strongest_edges(weights: ArrayLike, at_least: float | int = 0.25, skip: Sequence[int] = ()) -> list[Edge]:
    """The edges of weights (query, key) that have at least that weight, each labelled with it.

    skip: words whose edges, to and from them, are left out (marks like `[CLS]`).

    Raises ValueError if weights are no matrix.
    """
    matrix = np.asarray(weights, dtype=float)
    if matrix.ndim != 2:
        raise ValueError(f"strongest_edges needs weights (query, key), got shape {matrix.shape}")
    pairs = zip(*np.nonzero(matrix >= at_least), strict=True)
    kept = [(int(i), int(j)) for i, j in pairs if i not in skip and j not in skip]
    return [Edge(i, j, float(matrix[i, j]), f"{matrix[i, j]:.2f}") for i, j in kept]


def edges_svg(
    words: Sequence[str], edges: Sequence[Edge], *, alt: str = "", title: str = "", notes: Sequence[str] = ()
) -> str:
    """Words in a row, one arc per edge, its arrow at the word that is read; thicker is more weight.

    A word that reads itself has a small loop. Near edges run low and far ones high, so that few of them cross.
    notes: one line per colour below the sentence. alt: what is to be seen; by default all edges are listed.

    Raises ValueError for an edge between words that are not there.
    """
    for edge in edges:
        if not (0 <= edge.reads < len(words) and 0 <= edge.read < len(words)):
            raise ValueError(
                f"an edge goes from word {edge.reads} to word {edge.read}, but there are {len(words)} words"
            )
    widths = [max(len(word) * _SIZE * 0.62, 18.0) for word in words]
    left = np.cumsum([6.0, *(width + _GAP for width in widths)])
    centre = [left[i] + width / 2 for i, width in enumerate(widths)]
    level = _levels(edges)
    top = 30.0 if title else 6.0
    base = top + 30 + _STEP * max([1, *level])
    body = [text(4, 20, title, 17, more='font-weight="bold"')] if title else []
    body.append(_tips(sorted({edge.colour for edge in edges})))
    labels = []
    for edge, high in zip(edges, level, strict=True):
        colour, wide = COLOURS[edge.colour % len(COLOURS)], 0.8 + 3.4 * edge.weight
        y = base - 12 - _STEP * high
        start, end = centre[edge.reads], centre[edge.read]
        if edge.reads == edge.read:
            path, x = (
                f"M{start - 7:.1f},{base} C{start - 16:.1f},{y:.1f} {start + 16:.1f},{y:.1f} {end + 7:.1f},{base}",
                start,
            )
        else:
            towards = 1 if end > start else -1
            start, end, bend = start + 5 * towards, end - 5 * towards, 10 * towards
            path = (
                f"M{start:.1f},{base} C{start:.1f},{y:.1f} {start:.1f},{y:.1f} {start + bend:.1f},{y:.1f}"
                f" L{end - bend:.1f},{y:.1f} C{end:.1f},{y:.1f} {end:.1f},{y:.1f} {end:.1f},{base}"
            )
            x = (start + end) / 2
        body.append(
            f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{wide:.2f}"'
            f' marker-end="url(#nlm-edge-{edge.colour})"/>'
        )
        if edge.label:
            room = 9.2 * len(edge.label)
            labels.append(f'<rect x="{x - room / 2:.1f}" y="{y - 8:.1f}" width="{room:.1f}" height="16" fill="#fff"/>')
            labels.append(text(x, y + 5, edge.label, 14, "middle"))
    body += labels
    body += [text(x, base + 20, word, _SIZE, "middle") for x, word in zip(centre, words, strict=True)]
    for line, note in enumerate(notes):
        y = base + 52 + 24 * line
        body.append(
            f'<line x1="6" x2="34" y1="{y - 5}" y2="{y - 5}" stroke="{COLOURS[line % len(COLOURS)]}" stroke-width="4"/>'
        )
        body.append(text(42, y, note, 15))
    width = max(float(left[-1]), 10.4 * len(title) + 10, *(9.0 * len(note) + 50 for note in notes), 120.0)
    said = alt or describe_edges(words, edges, title)
    return svg(width, base + 30 + (24 * len(notes) + 8 if notes else 0), "".join(body), said)


def describe_edges(words: Sequence[str], edges: Sequence[Edge], title: str = "") -> str:
    """The edges in words, the heaviest first."""
    heaviest = sorted(edges, key=lambda edge: -edge.weight)[:12]
    listed = "; ".join(f"{words[e.reads]} reads {words[e.read]}, {e.label or f'{e.weight:.2f}'}" for e in heaviest)
    return f"{title + ': ' if title else ''}{len(edges)} edges. {listed}".strip() + "."


def _levels(edges: Sequence[Edge]) -> list[int]:
    """How high each edge runs: above every shorter edge that stands inside its stretch."""
    order = sorted(range(len(edges)), key=lambda i: abs(edges[i].reads - edges[i].read))
    level = [0] * len(edges)
    placed: list[tuple[int, int, int]] = []
    for i in order:
        low, high = sorted((edges[i].reads, edges[i].read))
        under = [
            at
            for a, b, at in placed
            if (a < high and low < b) or (a, b) == (low, high) or (a == b and low <= a <= high)
        ]
        level[i] = 1 + max(under, default=0)
        placed.append((low, high, level[i]))
    return level


def _tips(colours: Sequence[int]) -> str:
    """An arrow head of fixed size per colour."""
    tips = "".join(
        f'<marker id="nlm-edge-{c}" viewBox="0 0 10 10" refX="8" refY="5" markerWidth="10" markerHeight="10"'
        f' markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L10,5 L0,10 z"'
        f' fill="{COLOURS[c % len(COLOURS)]}"/></marker>'
        for c in colours
    )
    return f"<defs>{tips}</defs>"
