"""Relative positions without a vector per pair: scores by distance slide to their keys, step by step."""

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor

from lectures.show import Stage, stages_svg
from lectures.show.live import Live, live, slider, swapped

Shift = Callable[[Tensor], Tensor]
"""Scores by distance (query, distance), the farthest first, -> by key (query, key): `relative_shift` of positions."""

_NOTHING = "·"


def shift_player(relative_shift: Shift, *, d_head: int = 16, seed: int = 0, yours: Shift | None = None) -> Live:
    """Skewing (Huang et al. 2018, section 3.4.1): Q Eᵀ has a column per distance, attention wants one per key.

    Every cell carries the distance that its number stands for; one query's numbers are framed and can be followed.
    The last table is what `relative_shift` gives. Random queries and vectors of distances, of width d_head.
    """
    generator = torch.Generator().manual_seed(seed)
    queries, vectors = torch.randn(2, 12, d_head, generator=generator) / d_head**0.25

    def draw(relative_shift: Shift, n: int, past: int, query: int) -> str:
        if query >= n:
            raise ValueError(f"there are the queries 0 to {n - 1}; got {query}")
        keys = past + n
        scores = queries[:n] @ vectors[:keys].flip(0).T  # (query, distance): the farthest first
        distance = torch.arange(keys - 1, -1, -1.0).repeat(n, 1)
        shifted, names = relative_shift(scores), relative_shift(distance)
        if shifted.shape != scores.shape:
            raise ValueError(
                f"what was shifted must have shape (query, key) = ({n}, {keys}), got {tuple(shifted.shape)}"
            )
        seen = torch.ones(n, keys, dtype=torch.bool).tril(past)
        wide = F.pad(scores, (1, 0), value=torch.nan), F.pad(distance, (1, 0), value=torch.nan)
        read_on = [table.flatten()[n:].unflatten(0, (n, keys)) for table in wide]
        place = torch.arange(n * (keys + 1))[n:].unflatten(0, (n, keys))  # where in the padded table each one stood
        follow = [(i, j) for i in range(n) for j in range(keys) if place[i, j] // (keys + 1) == query]
        follow = [(i, j) for i, j in follow if not torch.isnan(read_on[1][i, j])]
        stages = [
            Stage("Q Eᵀ: a column per distance", scores, _labels(distance), [(query, j) for j in range(keys)]),
            Stage("an empty column in front", wide[0], _labels(wide[1]), [(query, j + 1) for j in range(keys)]),
            Stage(f"the first {n} cells dropped, read on in rows of {keys}", read_on[0], _labels(read_on[1]), follow),
            Stage(
                "shifted: a column per key, the future masked",
                shifted.masked_fill(~seen, torch.nan),
                _labels(names.masked_fill(~seen, torch.nan)),
                [(query, j) for j in range(past + query + 1)],
            ),
        ]
        notes = [
            f"in each cell the distance; framed: query {query}, which stands at key {past + query}",
            f"{n * keys} scores are moved; a vector for every pair would be {n * keys} · {d_head} ="
            f" {n * keys * d_head:,} numbers",
        ]
        title = f"{n} queries, {keys} keys, {keys} distances"
        return stages_svg(stages, reach=3.0, title=title, notes=notes)

    return live(
        partial(draw, relative_shift),
        yours=swapped(draw, yours),
        n=slider(5, 1, 7, 1, "queries", "280px"),
        past=slider(0, 0, 4, 1, "keys before them", "300px"),
        query=slider(1, 0, 6, 1, "follow query", "300px"),
    )


def _labels(numbers: Tensor) -> list[list[str]]:
    return [[_NOTHING if cell != cell else f"{cell:g}" for cell in row] for row in numbers.tolist()]
