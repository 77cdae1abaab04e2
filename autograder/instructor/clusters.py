"""Written answers in groups of alike ones, the most different first: the order in which a person reads them.

Spherical k-means on vectors from which the mean of the class is subtracted, since what all answers to a question have
in common says nothing about their differences. It begins with points that are far from each other (Gonzalez 1985,
farthest-first) and moves one answer at a time (Hartigan 1975), because in a small group an answer is a large part of
its own centre, and so never leaves it when all are moved together. Memory grows with the class, not with its square.

One answer of each group, the nearest to its centre, comes first, again farthest-first: whoever marks five has seen the
range. Then come the others, group by group.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

MOST = 12  # groups; of n different answers at most the root of n
PASSES = 10


class Place(NamedTuple):
    """Where an answer comes. `of` groups there are."""

    round: int  # 0: the first of its group; otherwise 1
    group: int
    rank: int
    of: int


def places(vectors: Mapping[str, Any]) -> dict[str, Place]:
    """By text; none if there are too few to be grouped. The same for the same texts, whatever their order."""
    texts = sorted(vectors)
    many = min(MOST, math.isqrt(len(texts)))
    if many < 2:
        return {}
    rows = np.stack([vectors[text] for text in texts]).astype(np.float64)
    rows = _unit(rows - rows.mean(axis=0))
    group = divided(rows, many)
    used = np.unique(group)
    centres = _unit(np.stack([rows[group == one].sum(axis=0) for one in used]))
    near = rows @ centres.T
    first = [int(np.argmax(np.where(group == one, near[:, at], -2))) for at, one in enumerate(used)]
    size = [int((group == one).sum()) for one in used]
    found = {}
    for number, at in enumerate(farthest(rows[first], len(used), int(np.argmax(size)))):
        inside = np.flatnonzero(group == used[at])
        for rank, row in enumerate(inside[np.argsort(-near[inside, at], kind="stable")]):
            found[texts[row]] = Place(int(rank > 0), number, rank, len(used))
    return found


def farthest(rows: Any, many: int, first: int) -> list[int]:
    """Rows, each as far as possible from all before it."""
    chosen, near = [first], rows @ rows[first]
    while len(chosen) < many:
        near[chosen] = np.inf
        chosen.append(int(near.argmin()))
        near = np.maximum(near, rows @ rows[chosen[-1]])
    return chosen


def divided(rows: Any, many: int) -> Any:
    """The group of each unit row. The sum of the groups' cosines to their centres is the length of their sums."""
    begun = farthest(rows, many, int((rows @ rows.sum(axis=0)).argmax()))
    group = (rows @ rows[begun].T).argmax(axis=1)
    sums = np.stack([rows[group == one].sum(axis=0) for one in range(many)])
    squares = (sums**2).sum(axis=1)
    for _ in range(PASSES):
        before = group.copy()
        for at, row in enumerate(rows):
            old, dots, own = group[at], sums @ row, row @ row
            gain = np.sqrt(np.maximum(squares + 2 * dots + own, 0)) - np.sqrt(squares)
            gain[old] = math.sqrt(squares[old]) - math.sqrt(max(squares[old] - 2 * dots[old] + own, 0))
            new = int(gain.argmax())
            if gain[new] > gain[old] + 1e-9:
                group[at] = new
                sums[old] -= row
                sums[new] += row
                squares[[old, new]] = (sums[[old, new]] ** 2).sum(axis=1)
        if (group == before).all():
            break
    return group


def _unit(rows: Any) -> Any:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
