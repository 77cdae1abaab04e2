"""Positions to turn: the table of sines and cosines, its clock hands, and queries and keys that are rotated.

Each is handed the function that it demonstrates; `yours`, the student's own, is drawn beside it.
"""

import math
from collections.abc import Callable
from functools import partial

import ipywidgets
import torch
from torch import Tensor

from lectures.show import clocks_svg, table_svg, turned_svg
from lectures.show.live import Live, live, slider, swapped

Sinusoidal = Callable[..., Tensor]
"""(length, d_model, base) -> (length, d_model), like `nlmcore.positions.sinusoidal`."""
Rotary = Callable[..., Tensor]
"""(x (batch, head, time, d_head), positions (time,), base) -> the same shape, like `nlmcore.positions.rotary`."""


def positions_playground(sinusoidal: Sinusoidal, length: int = 50, *, yours: Sinusoidal | None = None) -> Live:
    """The table of `length` positions for any width and base, and one position compared with all others."""

    def draw(sinusoidal: Sinusoidal, d_model: int, base: int, position: int) -> str:
        table = sinusoidal(length, d_model, base)
        slowest = 2 * math.pi * base ** ((d_model - 2) / d_model)
        note = f"the fastest pair comes round every 6.3 positions, the slowest every {slowest:,.0f}"
        return table_svg(table, position, title=f"{length} positions, d_model {d_model}, base {base:,}", note=note)

    return live(
        partial(draw, sinusoidal),
        yours=swapped(draw, yours),
        d_model=slider(64, 4, 128, 4, "d_model"),
        base=ipywidgets.SelectionSlider(
            options=[(f"{base:,}", base) for base in (10, 100, 1_000, 10_000, 100_000)],
            value=10_000,
            description="base",
            layout=ipywidgets.Layout(width="340px"),
        ),
        position=slider(10, 0, length - 1, 1, "compare position", "340px"),
    )


def clock_playground(
    sinusoidal: Sinusoidal, d_model: int = 12, longest: int = 99, *, yours: Sinusoidal | None = None
) -> Live:
    """Each pair of a position vector is a clock hand; a shift turns every hand by an angle of its own."""

    def draw(sinusoidal: Sinusoidal, position: int, shift: int) -> str:
        pairs = sinusoidal(longest + 20, d_model, 10_000).unflatten(-1, (-1, 2))
        title = f"position {position} (grey) and position {position + shift} (orange)"
        note = "below each clock: how far the hand has turned"
        return clocks_svg(pairs[position], pairs[position + shift], title=title, note=note)

    return live(
        partial(draw, sinusoidal),
        yours=swapped(draw, yours),
        position=slider(3, 0, longest, 1, "position"),
        shift=slider(5, 0, 19, 1, "shift k"),
    )


def rotary_playground(
    rotary: Rotary,
    query: Tensor,
    key: Tensor,
    *,
    base: float | int = 36,
    longest: int = 15,
    yours: Rotary | None = None,
) -> Live:
    """Turn a query and a key by their positions; the table of all scores is constant along its diagonals.

    query, key (d_head,), d_head even. The pairs of numbers are neighbours (the "interleaved" layout).

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
        return turned_svg((plain[0], turned[0]), (plain[1], turned[1]), q @ k.T, (m, n), title=title)

    return live(
        partial(draw, rotary),
        yours=swapped(draw, yours),
        m=slider(6, 0, longest, 1, "position of q"),
        n=slider(4, 0, longest, 1, "position of k"),
    )
