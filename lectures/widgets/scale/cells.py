"""The stored ladder as points: sizes by lengths, means over seeds; budgets, races and exponents read off them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from nlmcore.scaling import Law

EIGHTHS = 8
"""Parts of a run after which the stored curves have a loss."""


class Point(NamedTuple):
    """One size and one length of training; `runs` are the losses of its seeds."""

    width: int
    N: int
    D: int
    runs: tuple[float, ...]
    curve: tuple[float, ...] = ()
    """Loss on dev plays at eighths of the run, mean over seeds."""
    whole: int = 0
    """All parameters, embeddings included."""

    @property
    def loss(self) -> float:
        return float(np.mean(self.runs))

    @property
    def compute(self) -> float:
        return 6.0 * self.N * self.D


def points(runs: Iterable[Mapping[str, Any]], variant: str = "ladder") -> list[Point]:
    """The runs of one variant, `stored("ladder")["runs"]`, by size and then by length."""
    cells: dict[tuple[int, int], list[Mapping[str, Any]]] = {}
    for run in runs:
        if run["variant"] == variant:
            cells.setdefault((run["N"], run["D"]), []).append(run)
    found = []
    for (n, d), of in sorted(cells.items()):
        curve = np.mean([run["curve"] for run in of], axis=0).tolist()
        found.append(Point(of[0]["width"], n, d, tuple(run["loss"] for run in of), tuple(curve), of[0]["parameters"]))
    return found


def by_size(ladder: Iterable[Point]) -> dict[int, list[Point]]:
    """N -> its points, the shortest training first."""
    found: dict[int, list[Point]] = {}
    for point in sorted(ladder, key=lambda p: (p.N, p.D)):
        found.setdefault(point.N, []).append(point)
    return found


def exponent(law: Law) -> Any:
    """a of N* ∝ Cᵃ."""
    return law.beta / (law.alpha + law.beta)


def affordable(ladder: Iterable[Point], budget: float) -> list[Point]:
    """For each size the longest training within a budget of operations."""
    within = {n: [p for p in of if p.compute <= budget * 1.0001] for n, of in by_size(ladder).items()}
    return [of[-1] for of in within.values() if of]


def at_compute(of: Sequence[Point], compute: Any) -> Any:
    """Loss of one size at so many operations, straight between its points over log C; NaN outside of them."""
    x, y = np.log([p.compute for p in of]), [p.loss for p in of]
    return np.interp(np.log(compute), x, y, left=np.nan, right=np.nan)


def crossing(small: Sequence[Point], large: Sequence[Point]) -> float:
    """Operations from which on the large model has the lower loss; NaN if that does not happen where both are known."""
    grid = np.geomspace(large[0].compute, min(small[-1].compute, large[-1].compute), 400)
    ahead = at_compute(large, grid) < at_compute(small, grid)
    return float(grid[len(ahead) - int(np.argmin(ahead[::-1]))]) if ahead[-1] and not ahead[0] else float("nan")


def best_size(ladder: Iterable[Point], compute: float) -> float:
    """N of lowest loss at a budget: the minimum of a parabola over log N through the best size and its neighbours; NaN
    if the best is the smallest or largest size that is known there."""
    found = [(n, float(at_compute(of, compute))) for n, of in by_size(ladder).items()]
    known = [(np.log(n), loss) for n, loss in found if np.isfinite(loss)]
    lowest = min(range(len(known)), key=lambda i: known[i][1], default=0)
    if not 0 < lowest < len(known) - 1:
        return float("nan")
    x, y = np.array(known[lowest - 1 : lowest + 2]).T
    curve, slope, _ = np.polyfit(x, y, 2)
    return float(np.exp(-slope / (2 * curve)))


def slope_of_best(ladder: Sequence[Point], budgets: Sequence[float], samples: int = 200) -> tuple[float, float, float]:
    """(low, estimate, high): a of N* ∝ Cᵃ through the minima at several budgets; the seeds are resampled."""

    def slope(points: Sequence[Point]) -> float:
        best = np.array([best_size(points, budget) for budget in budgets])
        seen = np.isfinite(best)
        return float(np.polyfit(np.log(np.asarray(budgets)[seen]), np.log(best[seen]), 1)[0])

    generator = np.random.default_rng(0)
    drawn = [
        slope([p._replace(runs=tuple(generator.choice(p.runs, len(p.runs)))) for p in ladder]) for _ in range(samples)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), slope(ladder), float(high)


def halfway(ladder: Sequence[Point], own: bool) -> list[Point]:
    """The loss on dev plays after an eighth, a quarter, a half and all of the longest length: of runs whose cosine ends
    there (own), or of the longest run in the middle of its cosine."""
    found = []
    for of in by_size(ladder).values():
        longest = of[-1]
        for point in of:
            at = EIGHTHS * point.D // longest.D
            if at:
                found.append(point._replace(runs=((point.curve[-1] if own else longest.curve[at - 1]),)))
    return found
