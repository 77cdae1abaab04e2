"""Widgets: shuffled words, and positions: sines, clock hands, rotations.

Each takes the functions that it demonstrates; `yours`, a student's own, is drawn next to it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from lectures.show import Axis, Canvas, Live, Look, Plot, choice, live, slider, stops, vectors_svg
from lectures.show.svg import BLUE, DARK_ORANGE, FAINT, ORANGE

__all__ = ["clock_playground", "positions_playground", "rotary_playground", "shuffle_playground"]

# --- orders --------------------------------------------------------------------------------------

Read = Callable[[Sequence[int]], Tensor]
"""Numbers of words -> one vector per word, (word, d)."""


def shuffle_playground(
    layers: Mapping[str, Read], words: Sequence[str], *, yours: Mapping[str, Read] | None = None
) -> Live:
    """The words of a sentence in every order, and the vectors that layers of attention compute for them.

    layers: name -> function from numbers of words, in some order, to one vector for each. Left the sentence as it
    is, right the shuffled one; the last row is the mean of the others, one vector for the sentence.
    """
    orders = list(permutations(range(len(words))))

    def draw(layers: Mapping[str, Read], layer: str, order: int) -> str:
        shuffled = orders[order]
        with torch.no_grad():
            plain, other = layers[layer](range(len(words))), layers[layer](shuffled)
        back = other[torch.tensor(shuffled).argsort()]
        moved, mean = (plain - back).abs().max().item(), (plain.mean(0) - other.mean(0)).abs().max().item()
        note = f"word for word, the values differ by at most {moved:.2f};"
        note += f"\nthe sentence's vector (the mean) differs by at most {mean:.2f}"
        panels = [
            (title, [*(words[i] for i in line), "mean"], torch.cat([vectors, vectors.mean(0, keepdim=True)]))
            for title, line, vectors in (("as written", range(len(words)), plain), ("shuffled", shuffled, other))
        ]
        alt = f"{layer}: {' '.join(words)}, and shuffled, {' '.join(words[i] for i in shuffled)}. {note}."
        return vectors_svg(panels, alt=alt, note=note)

    order = slider(len(orders) // 2 + 1, 0, len(orders) - 1, 1, "order of the words", "460px")
    return live(draw, layers, yours=yours, rows=[["layer"], ["order"]], layer=choice(layers), order=order)


# --- sines and cosines ---------------------------------------------------------------------------

Sinusoidal = Callable[..., Tensor]
"""(length, d_model, base) -> (length, d_model), like `nlmcore.positions.sinusoidal`."""


def positions_playground(
    sinusoidal: Sinusoidal, length: int = 50, *, d_model: int = 64, yours: Sinusoidal | None = None
) -> Live:
    """The table of `length` positions for any width and base, and one position compared with all others."""

    def draw(sinusoidal: Sinusoidal, d_model: int, base: int, position: int) -> str:
        table = sinusoidal(length, d_model, base)
        slowest = 2 * math.pi * base ** ((d_model - 2) / d_model)
        note = f"the fastest pair completes a turn every 6.3 positions, the slowest every {slowest:,.0f}"
        return table_svg(table, position, title=f"{length} positions, d_model {d_model}, base {base:,}", note=note)

    bases = [(f"{base:,}", base) for base in (10, 100, 1_000, 10_000, 100_000)]
    return live(
        draw,
        sinusoidal,
        yours=yours,
        d_model=slider(d_model, 4, 512, 4, "d_model"),
        base=stops(bases, 10_000, "base"),
        position=slider(10, 0, length - 1, 1, "compare position"),
    )


def table_svg(table: ArrayLike, selected: int, *, title: str = "", note: str = "") -> str:
    """A table of position vectors (position, d_model), and the dot products of one of them with all.

    Left the table, one row per position: blue −1, white 0, red 1. Right, at the same height, the dot product of
    every row with row `selected`, divided by its own.

    Raises ValueError if it is no matrix, or has no such row.
    """
    rows = np.asarray(table, dtype=float)
    if rows.ndim != 2 or not 0 <= selected < len(rows):
        raise ValueError(f"table_svg needs a matrix and one of its rows, got shape {rows.shape} and row {selected}")
    products = rows @ rows[selected]
    near = products / (products[selected] or 1.0)  # a row of zeros is like no other
    n, d = rows.shape
    canvas, tall, left, wide = Canvas(title, size=16), 7.0, 96.0, max(470.0, d)  # no column below a pixel
    x, y = Axis(-1.1, 1.1, ticks={0: "0", 1: "1"}), Axis(n, 0, ticks={})
    plot = Plot(canvas, x, y, left=left + wide + 34, top=60, across=260, down=tall * n, inner=True)
    canvas.image(rows, left, plot.top, wide, tall * n)
    canvas.text(left, plot.top - 8, f"column 0 … {d - 1}", 15)
    canvas.text(plot.across(0), plot.top - 8, f"dot product with position {selected}", 15, "middle")
    for position in sorted({0, n // 2, n - 1, selected}):
        if position == selected or abs(position - selected) * tall > 16:
            at = plot.down(position + 0.5) + 5
            canvas.text(left - 8, at, f"position {position}", 14, "end", bold=position == selected)
    canvas.rect(left - 2, plot.down(selected), wide + 4, tall, stroke="#000", wide=2)
    canvas.line(plot.at(0, 0), plot.at(0, n), FAINT)
    plot.line(near, np.arange(n) + 0.5, Look(ORANGE, wide=2.5))
    canvas.notes([note], 15)
    said = ", ".join(f"{i}: {near[i]:.2f}" for i in sorted({0, n // 4, n // 2, 3 * n // 4, n - 1}))
    alt = f"{title} Heatmap of {n} positions by {d} columns. {note} Dot products with position {selected}: {said}."
    return canvas.svg(alt)


def clock_playground(
    sinusoidal: Sinusoidal, d_model: int = 12, longest: int = 99, *, yours: Sinusoidal | None = None
) -> Live:
    """Each pair of a position vector is a clock hand; a shift rotates every hand by its own angle."""

    def draw(sinusoidal: Sinusoidal, position: int, shift: int) -> str:
        pairs = sinusoidal(longest + 20, d_model, 10_000).unflatten(-1, (-1, 2))
        title = f"position {position} (grey) and position {position + shift} (orange)"
        note = "below each clock: how far the hand rotates"
        return clocks_svg(pairs[position], pairs[position + shift], title=title, note=note)

    position, shift = slider(3, 0, longest, 1, "position"), slider(5, 0, 19, 1, "shift k")
    return live(draw, sinusoidal, yours=yours, position=position, shift=shift)


def clocks_svg(before: ArrayLike, after: ArrayLike, *, title: str = "", note: str = "") -> str:
    """One clock per pair (sine, cosine) of a position vector: the hand before (grey) and after a shift (orange).

    before, after: (pair, 2), each row a sine and its cosine. The angle between the hands is written below.

    Raises ValueError if the two are not of one such shape.
    """
    one, other = np.asarray(before, dtype=float), np.asarray(after, dtype=float)
    if one.shape != other.shape or one.ndim != 2 or one.shape[1] != 2:
        raise ValueError(f"clocks_svg needs two arrays (pair, 2), got {one.shape} and {other.shape}")
    canvas, radius, middle, said = Canvas(title, size=16), 46.0, 92.0, []
    for i, (old, new) in enumerate(zip(one, other, strict=True)):
        x = 60.0 + 116 * i
        angle = math.degrees(math.atan2(new[0], new[1]) - math.atan2(old[0], old[1])) % 360
        canvas.mark("circle", x, middle, "#f7f7f7", radius, stroke=FAINT, wide=1)
        for (sine, cosine), colour in ((old, FAINT), (new, ORANGE)):
            canvas.line((x, middle), (x + radius * sine, middle - radius * cosine), colour, 4)
        canvas.text(x, middle + radius + 22, f"pair {i}", 15, "middle")
        canvas.text(x, middle + radius + 42, f"+{angle:.1f}°", 15, "middle", bold=True)
        said.append(f"pair {i} rotated by {angle:.1f} degrees")
    canvas.notes([note], 15)
    return canvas.svg(f"{title} {note} {', '.join(said)}.")


# --- rotations -----------------------------------------------------------------------------------

Rotary = Callable[..., Tensor]
"""(x (batch, head, time, d_head), positions (time,), base) -> the same shape, like `nlmcore.positions.rotary`."""


def rotary_playground(
    rotary: Rotary,
    query: Tensor,
    key: Tensor,
    *,
    base: float | int = 36,
    longest: int = 15,
    yours: Rotary | None = None,
) -> Live:
    """Rotate a query and a key by their positions; the table of all scores is constant along its diagonals.

    query, key (d_head,), d_head even. Each pair is two neighbouring entries (the "interleaved" layout).

    Raises ValueError if query and key are not two vectors of one even width.
    """
    if query.ndim != 1 or query.shape != key.shape or len(query) % 2:
        raise ValueError(f"query and key must be vectors of one even width, got {query.shape} and {key.shape}")

    def draw(rotary: Rotary, m: int, n: int) -> str:
        positions = torch.arange(longest + 1)
        every = torch.stack([query, key]).unsqueeze(1).expand(2, len(positions), -1).unsqueeze(0)
        q, k = rotary(every, positions, base, layout="interleaved")[0]  # (position, d_head) each
        plain, turned = (tuple(v.unflatten(-1, (-1, 2)) for v in pair) for pair in ((query, key), (q[m], k[n])))
        title = f"q at position {m}, k at position {n}: distance {m - n}"
        return rotated_svg((plain[0], turned[0]), (plain[1], turned[1]), q @ k.T, (m, n), title=title)

    m, n = slider(6, 0, longest, 1, "position of q"), slider(4, 0, longest, 1, "position of k")
    return live(draw, rotary, yours=yours, m=m, n=n)


def rotated_svg(
    query: tuple[ArrayLike, ArrayLike],
    key: tuple[ArrayLike, ArrayLike],
    scores: ArrayLike,
    at: tuple[int, int],
    *,
    title: str = "",
) -> str:
    """Rotary positions: a query and a key before (dashed) and after the rotation, and their scores.

    query, key: (as it was, rotated), each (pair, 2), one plane per pair. scores (query position, key position), all
    of them; `at` says which is framed.

    Raises ValueError if the vectors are not of one shape (pair, 2), or `at` is no entry of scores.
    """
    vectors = [np.asarray(v, dtype=float) for v in (*query, *key)]
    grid = np.asarray(scores, dtype=float)
    if len({v.shape for v in vectors}) != 1 or vectors[0].ndim != 2 or vectors[0].shape[1] != 2:
        raise ValueError(f"rotated_svg needs vectors (pair, 2) of one shape, got {[v.shape for v in vectors]}")
    if grid.ndim != 2 or not (0 <= at[0] < grid.shape[0] and 0 <= at[1] < grid.shape[1]):
        raise ValueError(f"at={at} must be an entry of scores, which have shape {grid.shape}")
    longest = max(1e-9, *(float(np.linalg.norm(v, axis=-1).max()) for v in vectors)) / 0.86
    canvas, side, top = Canvas(title, size=16), 192.0, 62.0
    for pair in range(len(vectors[0])):
        axis = Axis(-longest, longest, ticks={0: ""})
        plot = Plot(canvas, axis, axis, left=4 + pair * (side + 18), top=top, across=side, down=side, inner=True)
        canvas.line(plot.at(0, -longest), plot.at(0, longest), "#ddd")
        canvas.text(plot.across(0), top - 8, f"pair {pair} of the entries", 15, "middle")
        for (plain, turned), colour, name in ((vectors[:2], ORANGE, "q"), (vectors[2:], BLUE, "k")):
            canvas.line(plot.at(0, 0), plot.at(*plain[pair]), colour, 4, dashes="5 4", opacity=0.6)
            canvas.line(plot.at(0, 0), plot.at(*turned[pair]), colour, 4)
            x, y = plot.at(*(1.16 * turned[pair]))
            canvas.text(
                x, y + 5, name, 16, "middle", fill=DARK_ORANGE if colour == ORANGE else colour, bold=True, halo=True
            )
    cell, left = side / len(grid), 74 + len(vectors[0]) * (side + 18)
    canvas.text(left, top - 8, "q · k; rows: position of q, columns: of k", 15)
    canvas.image(grid, left, top, cell * grid.shape[1], side, float(np.abs(grid).max()) or 1.0)
    for i in (0, len(grid) - 1):
        canvas.text(left - 6, top + cell * (i + 0.5) + 5, str(i), 14, "end")
        canvas.text(left + cell * (i + 0.5), top + side + 18, str(i), 14, "middle")
    canvas.rect(left + cell * at[1], top + cell * at[0], cell, cell, stroke="#000", wide=3)
    says = f"q at position {at[0]}, k at position {at[1]}: score {grid[at]:.3f}"
    canvas.text(4, top + side + 44, says, 16, bold=True)
    return canvas.svg(f"{title} {says}.")
