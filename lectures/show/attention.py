"""Attention of one head as lines from each token to what it reads, beside the same numbers as a heatmap.

The lines answer to the pointer by CSS alone: resting on a token of the left column shows its row and fades
the others, with or without a running kernel.
"""

import html
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import blue, check_labels, heatmap_svg, ink_on, label_width, svg, text

_ROW, _GAP = 27.0, 150.0  # height of a token, and the width of the space that lines cross, in pixels
_SHOWN_FROM = 0.02  # fainter lines are left out


def attention_html(
    weights: ArrayLike,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    selected: int | None = None,
    title: str = "",
) -> str:
    """Lines and heatmap of one head: weights (query, key), a label for every token.

    `selected` puts one query forward; None shows all rows at once.

    Raises ValueError if labels and weights do not fit.
    """
    matrix = np.asarray(weights, dtype=float)
    keys = queries if keys is None else keys
    check_labels(matrix, queries, keys)
    if selected is not None and not 0 <= selected < len(queries):
        raise ValueError(f"selected must be a row in [0, {len(queries)}) or None, got {selected}")
    says = describe(matrix, queries, keys, selected)
    lines = attention_lines_svg(matrix, queries, keys, selected=selected)
    grid = heatmap_svg(
        matrix,
        queries,
        keys,
        alt=f"The same weights as a heatmap. {says}",
        cell=_ROW,
        highlight=selected,
        numbers=False,
    )
    heading = f'<div style="font-size:17px;font-weight:bold;color:#1a1a1a">{html.escape(title)}</div>' if title else ""
    return (
        f'<div style="background:#fff;padding:8px">{heading}'
        f'<div style="display:flex;flex-wrap:wrap;gap:12px;align-items:flex-end">{lines}{grid}</div></div>'
    )


def describe(matrix: np.ndarray, queries: Sequence[str], keys: Sequence[str], selected: int | None) -> str:
    """What the picture says, in words: where each token (or the selected one) looks first."""
    rows = range(len(queries)) if selected is None else [selected]
    sentences = []
    for i in rows:
        j = int(matrix[i].argmax())
        sentences.append(f"{queries[i]} looks most at {keys[j]}, weight {matrix[i, j]:.2f}")
    return "Attention: " + "; ".join(sentences) + "."


def attention_lines_svg(
    weights: ArrayLike, queries: Sequence[str], keys: Sequence[str] | None = None, *, selected: int | None = None
) -> str:
    """The lines alone, one drawing that also stands as a file: weights (query, key).

    Raises ValueError if labels and weights do not fit, or `selected` is no row.
    """
    matrix = np.asarray(weights, dtype=float)
    keys = queries if keys is None else keys
    check_labels(matrix, queries, keys)
    if selected is not None and not 0 <= selected < len(queries):
        raise ValueError(f"selected must be a row in [0, {len(queries)}) or None, got {selected}")
    left, right = max(label_width(queries), 96.0), label_width(keys)
    start, end, top = left + 4, left + _GAP, 30.0
    height = top + _ROW * max(len(queries), len(keys)) + 6
    body = [
        text(left, 18, "this word …", 14, "end", 'fill-opacity="0.7"'),
        text(end + 8, 18, "… reads these", 14, "start", 'fill-opacity="0.7"'),
        *(text(end + 8, top + _ROW * (j + 0.5) + 5, key) for j, key in enumerate(keys)),
        '<g class="rows">',
    ]
    for i, query in enumerate(queries):
        y = top + _ROW * (i + 0.5)
        on = "row on" if i == selected else "row"
        body.append(f'<g class="{on}">')
        for j in range(len(keys)):
            w = matrix[i, j]
            if w >= _SHOWN_FROM:
                body.append(
                    f'<line x1="{start:.0f}" y1="{y:.1f}" x2="{end:.0f}" y2="{top + _ROW * (j + 0.5):.1f}"'
                    f' stroke="#08519c" stroke-width="{0.5 + 7 * w:.2f}" stroke-opacity="{min(1.0, 0.15 + w):.2f}"'
                    ' pointer-events="none"/>'
                )
        body.append('<g class="keys" pointer-events="none">')
        for j, key in enumerate(keys):
            w = matrix[i, j]
            if w >= _SHOWN_FROM:
                y_key = top + _ROW * j
                body.append(
                    f'<rect x="{end + 2:.0f}" y="{y_key + 2:.1f}" width="{right + 46:.0f}" height="{_ROW - 4}"'
                    f' rx="4" fill="{blue(w)}"/>'
                    + text(end + 8, y_key + _ROW / 2 + 5, key, more=f'style="fill:{ink_on(w)}"')
                    + text(end + right + 42, y_key + _ROW / 2 + 5, f"{w:.2f}", 13, "end", f'style="fill:{ink_on(w)}"')
                )
        body.append("</g>")
        body.append(
            f'<rect x="0" y="{y - _ROW / 2:.1f}" width="{start:.0f}" height="{_ROW}" fill="transparent"'
            f' style="cursor:pointer"><title>{html.escape(query)}</title></rect></g>'
        )
    body.append("</g>")
    for i, query in enumerate(queries):
        bold = 'font-weight="bold"' if i == selected else ""
        body.append(text(left, top + _ROW * (i + 0.5) + 5, query, 15, "end", f'{bold} pointer-events="none"'))
    style = _style(f"nlm-{zlib.crc32(repr((matrix.tolist(), queries, selected)).encode()):08x}", selected)
    says = describe(matrix, queries, keys, selected)
    return svg(end + right + 52, height, style.css + "".join(body), says, f'class="{style.name}"')


class _Style(NamedTuple):
    name: str
    css: str


def _style(name: str, selected: int | None) -> _Style:
    """Show the selected row and fade the others; while the pointer rests on a row, show that one instead."""
    rest = 0.05 if selected is not None else 0.75
    rules = [
        f".{name} .row{{opacity:{rest}}}.{name} .row.on{{opacity:1}}",
        f".{name} .rows:hover .row{{opacity:0.04}}.{name} .rows .row:hover{{opacity:1}}",
        f".{name} .keys{{opacity:0}}.{name} .row.on .keys,.{name} .row:hover .keys{{opacity:1}}",
        f".{name} .rows:hover .row.on:not(:hover) .keys{{opacity:0}}",
    ]
    return _Style(name, f"<style>{''.join(rules)}</style>")
