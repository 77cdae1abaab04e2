"""Attention drawn: lines from each token to what it reads, edges above a sentence, frames on a picture."""

import html
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import COLOURS, ORANGE, FLIPPED, Canvas, blue, flips, ink_on, label_width
from lectures.show.tables import check_labels, heatmap_svg

__all__ = ["Edge", "attention_html", "attention_lines_svg", "edges_svg", "scene_svg", "strongest_edges"]

_ROW, _GAP = 27.0, 150.0  # height of a token, and the width of the space that lines cross, in pixels
_BESIDE = 22.0, 110.0  # the same where a heatmap stands beside them
_SHOWN_FROM = 0.02  # fainter lines are left out


# --- lines beside a heatmap ----------------------------------------------------------------------


def attention_html(
    weights: ArrayLike,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    selected: int | None = None,
    title: str = "",
) -> str:
    """Lines and heatmap of one head: weights (query, key), a label for every token.

    `selected` puts one query forward; None shows all rows.

    Raises ValueError if labels and weights do not fit.
    """
    matrix, keys = _checked(weights, queries, keys, selected)
    says = _describe(matrix, queries, keys, selected)
    lines = attention_lines_svg(matrix, queries, keys, selected=selected, size=_BESIDE)
    alt = f"The same weights as a heatmap. {says}"
    grid = heatmap_svg(matrix, queries, keys, alt=alt, cell=_BESIDE[0], highlight=selected, numbers=False)
    heading = f'<div style="font-size:17px;font-weight:bold;color:#1a1a1a">{html.escape(title)}</div>' if title else ""
    return (
        '<div style="background:#fff;padding:8px"><div style="display:flex;flex-wrap:wrap;gap:12px;align-items:flex-end">'
        f'<div style="display:flex;flex-direction:column">{heading}{lines}</div>{grid}</div></div>'
    )


def attention_lines_svg(
    weights: ArrayLike,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    selected: int | None = None,
    size: tuple[float, float] = (_ROW, _GAP),
) -> str:
    """The lines alone, one drawing that can also be a file: weights (query, key); size: of a row and of the space between.

    They answer to the pointer by CSS alone: resting on a token of the left column shows its row and fades the others,
    with or without a running kernel.

    Raises ValueError if labels and weights do not fit, or `selected` is no row.
    """
    matrix, keys = _checked(weights, queries, keys, selected)
    left, right, (high, gap) = max(label_width(queries), 96.0), label_width(keys), size
    start, end, top = left + 4, left + gap, 30.0
    name = f"nlm-{zlib.crc32(repr((matrix.tolist(), queries, selected)).encode()):08x}"
    canvas = Canvas()
    canvas.add(_style(name, selected))
    canvas.text(left, 18, "this word …", 14, "end", fill_opacity=0.7)
    canvas.text(end + 8, 18, "… reads these", 14, fill_opacity=0.7)
    for j, key in enumerate(keys):
        canvas.text(end + 8, top + high * (j + 0.5) + 5, key)
    canvas.add('<g class="rows">')
    for i, query in enumerate(queries):
        y = top + high * (i + 0.5)
        shown = [(j, float(matrix[i, j])) for j in range(len(keys)) if matrix[i, j] >= _SHOWN_FROM]
        canvas.add(f'<g class="{"row on" if i == selected else "row"}">')
        for j, w in shown:
            faint = round(min(1.0, 0.15 + w), 2)
            there = (end, top + high * (j + 0.5))
            canvas.line(
                (start, y), there, "#08519c", round(0.5 + 7 * w, 2), stroke_opacity=faint, pointer_events="none"
            )
        canvas.add('<g class="keys" pointer-events="none">')
        for j, w in shown:
            y_key, fill = top + high * j, blue(w)
            ink: Any = {"fill": ink_on(fill)} | ({"class": FLIPPED} if flips(fill) else {})
            canvas.rect(end + 2, y_key + 2, right + 46, high - 4, fill, radius=4)
            canvas.text(end + 8, y_key + high / 2 + 5, keys[j], **ink)
            canvas.text(end + right + 42, y_key + high / 2 + 5, f"{w:.2f}", 13, "end", **ink)
        canvas.add("</g>")
        canvas.rect(0, y - high / 2, start, high, "transparent", says=query, style="cursor:pointer")
        canvas.add("</g>")
    canvas.add("</g>", end + right + 48)
    for i, query in enumerate(queries):
        y = top + high * (i + 0.5) + 5
        canvas.text(left, y, query, 15, "end", bold=i == selected, pointer_events="none")
    return canvas.svg(_describe(matrix, queries, keys, selected), more=f'class="{name}"')


def _checked(
    weights: ArrayLike, queries: Sequence[str], keys: Sequence[str] | None, selected: int | None
) -> tuple[np.ndarray, Sequence[str]]:
    matrix, keys = np.asarray(weights, dtype=float), queries if keys is None else keys
    check_labels(matrix, queries, keys)
    if selected is not None and not 0 <= selected < len(queries):
        raise ValueError(f"selected must be a row in [0, {len(queries)}) or None, got {selected}")
    return matrix, keys


def _describe(matrix: np.ndarray, queries: Sequence[str], keys: Sequence[str], selected: int | None) -> str:
    """Where each token (or the selected one) looks first."""
    rows = range(len(queries)) if selected is None else [selected]
    firsts = [(i, int(matrix[i].argmax())) for i in rows]
    said = [f"{queries[i]} looks most at {keys[j]}, weight {matrix[i, j]:.2f}" for i, j in firsts]
    return f"Attention: {'; '.join(said)}."


def _style(name: str, selected: int | None) -> str:
    """Show the selected row and fade the others; while the pointer rests on a row, show that one instead."""
    rest = 0.05 if selected is not None else 0.75
    return (
        f"<style>.{name} .row{{opacity:{rest}}}.{name} .row.on{{opacity:1}}"
        f".{name} .rows:hover .row{{opacity:0.04}}.{name} .rows .row:hover{{opacity:1}}"
        f".{name} .keys{{opacity:0}}.{name} .row.on .keys,.{name} .row:hover .keys{{opacity:1}}"
        f".{name} .rows:hover .row.on:not(:hover) .keys{{opacity:0}}</style>"
    )


# --- edges above a sentence ----------------------------------------------------------------------


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
    pairs = [(int(i), int(j)) for i, j in np.argwhere(matrix >= at_least) if i not in skip and j not in skip]
    return [Edge(i, j, float(matrix[i, j]), f"{matrix[i, j]:.2f}") for i, j in pairs]


def edges_svg(
    words: Sequence[str], edges: Sequence[Edge], *, alt: str = "", title: str = "", notes: Sequence[str] = ()
) -> str:
    """Words in a row, one arc per edge, like a dependency parse: its arrow is at the word that is read.

    Thicker is more weight; a word that reads itself has a small loop. Near edges run low and far ones high, so that few
    of them cross. notes: one line per colour below the sentence. alt: by default all edges are listed.

    Raises ValueError for an edge between words that are not there.
    """
    for edge in edges:
        if not (0 <= edge.reads < len(words) and 0 <= edge.read < len(words)):
            raise ValueError(
                f"an edge goes from word {edge.reads} to word {edge.read}, but there are {len(words)} words"
            )
    widths = [max(len(word) * 10.0, 18.0) for word in words]
    left = np.cumsum([6.0, *(width + 14 for width in widths)])
    centre = [float(left[i]) + width / 2 for i, width in enumerate(widths)]
    level = _levels(edges)
    canvas = Canvas(title)
    base = canvas.top + 30 + 21 * max([1, *level])
    labels = []
    for edge, high in zip(edges, level, strict=True):
        colour, y = COLOURS[edge.colour % len(COLOURS)], base - 12 - 21 * high
        start, end = centre[edge.reads], centre[edge.read]
        labels.append(((start + end) / 2, y, edge.label))
        if edge.reads == edge.read:
            end += 7
            path = f"M{start - 7:.1f},{base} C{start - 16:.1f},{y:.1f} {start + 16:.1f},{y:.1f} {end:.1f},{base - 6}"
        else:
            towards = 1 if end > start else -1
            start, end, bend = start + 5 * towards, end - 5 * towards, 10 * towards
            path = (
                f"M{start:.1f},{base} C{start:.1f},{y:.1f} {start:.1f},{y:.1f} {start + bend:.1f},{y:.1f}"
                f" L{end - bend:.1f},{y:.1f} C{end:.1f},{y:.1f} {end:.1f},{y:.1f} {end:.1f},{base - 6}"
            )
        canvas.path(path, colour, round(0.8 + 3.4 * edge.weight, 2))
        canvas.polygon([(end, base + 1), (end - 5, base - 9), (end + 5, base - 9)], colour)
    for x, y, label in labels:
        if label:
            canvas.rect(x - 4.6 * len(label), y - 8, 9.2 * len(label), 16, "#fff")
            canvas.text(x, y + 5, label, 14, "middle")
    for x, word in zip(centre, words, strict=True):
        canvas.text(x, base + 20, word, 16, "middle")
    for line, note in enumerate(notes):
        y = base + 52 + 24 * line
        canvas.line((6, y - 5), (34, y - 5), COLOURS[line % len(COLOURS)], 4)
        canvas.text(42, y, note, 15)
    return canvas.svg(alt or _listed(words, edges, title), width=120)


def _listed(words: Sequence[str], edges: Sequence[Edge], title: str) -> str:
    """The edges in words, the heaviest first."""
    heaviest = sorted(edges, key=lambda edge: -edge.weight)[:12]
    listed = "; ".join(f"{words[e.reads]} reads {words[e.read]}, {e.label or f'{e.weight:.2f}'}" for e in heaviest)
    return f"{title + ': ' if title else ''}{len(edges)} edges. {listed}".strip() + "."


def _levels(edges: Sequence[Edge]) -> list[int]:
    """How high each edge runs: above every shorter edge within its span."""
    level = [0] * len(edges)
    placed: list[tuple[int, int, int]] = []
    for i in sorted(range(len(edges)), key=lambda i: abs(edges[i].reads - edges[i].read)):
        low, high = sorted((edges[i].reads, edges[i].read))
        under = [
            at
            for a, b, at in placed
            if (a < high and low < b) or (a, b) == (low, high) or (a == b and low <= a <= high)
        ]
        level[i] = 1 + max(under, default=0)
        placed.append((low, high, level[i]))
    return level


# --- where a captioner looks ---------------------------------------------------------------------


def scene_svg(
    image: ArrayLike, looks: Sequence[tuple[str, ArrayLike]], *, title: str = "the picture", note: str = ""
) -> str:
    """image (height, width), 0 white and 1 dark; looks: (word, weights (row, column) over the parts of a grid).

    Left the picture alone, then once for each word: the thicker a part's frame, the more weight it has; weights of
    0.05 and more are written in.

    Raises ValueError if the image or some weights are no matrices.
    """
    ink, side = np.asarray(image, dtype=float), 204.0
    maps = [(word, np.asarray(weights, dtype=float)) for word, weights in looks]
    if ink.ndim != 2 or any(weights.ndim != 2 for _, weights in maps):
        raise ValueError(f"image and weights must be matrices, got {ink.shape} and {[w.shape for _, w in maps]}")
    canvas, said = Canvas(), []
    for panel, (word, weights) in enumerate([(title, np.zeros((1, 1))), *maps]):
        x = 4 + panel * (side + 30)
        canvas.text(x, 20, word, 16, bold=True)
        canvas.image(-ink, x, 34, side, side)
        high, wide = side / len(weights), side / weights.shape[1]
        for (i, j), weight in np.ndenumerate(weights):
            if weight >= 0.05:
                left, up, thick = x + wide * j, 34 + high * i, round(1 + 5 * weight, 1)
                canvas.rect(left + thick / 2, up + thick / 2, wide - thick, high - thick, stroke=ORANGE, wide=thick)
                canvas.text(left + 8, up + 20, f"{weight:.2f}", 14, bold=True, halo=True)
        if panel:
            row, column = np.unravel_index(int(np.argmax(weights)), weights.shape)
            most = f"most weight, {weights[row, column]:.2f}, on row {row + 1}, column {column + 1}"
            said.append(f"{word}: {most}")
    canvas.notes([note], gap=6)
    return canvas.svg(f"{title}. {'; '.join(said)}. {note}")
