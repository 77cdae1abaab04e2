"""Equal operations: the race of two sizes, the best size of a budget, and the exponent of its growth."""

from collections.abc import Mapping, Sequence

import numpy as np

from lectures.show import Axis, Canvas, Live, Look, Plot, live, looks, said, stops
from lectures.show.svg import BLUE, ORANGE, label_width
from lectures.widgets.scale.budget import axis, count, short, written
from lectures.widgets.scale.cells import Point, at_compute, best_size, by_size, crossing

_LOSS = {tick: f"{tick:.1f}" for tick in (1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0)}


def race_playground(ladder: Sequence[Point]) -> Live:
    """Two sizes on one axis of operations: the small one starts ahead; where does the large one overtake it?"""
    every = by_size(ladder)
    sizes = [(short(n), n) for n in every]

    def draw(small: int, large: int) -> str:
        if small >= large:
            raise ValueError("choose a second size that is larger than the first")
        racers = {count(n): every[n] for n in (small, large)}
        cross = crossing(*racers.values())
        words = f"{count(small)} against {count(large)} parameters: "
        if np.isnan(cross):
            words += "the large one does not overtake where both were trained"
        else:
            loss = float(at_compute(every[large], cross))
            words += f"the large one overtakes at {written(cross)} operations, at a loss of {loss:.2f}"
        canvas, keys = Canvas("", size=16), looks(racers, marks=("circle", "square"))
        across = axis([p.compute for p in ladder], "operations C = 6 N D")
        plot = Plot(
            canvas, across, Axis(1.6, 3.2, "nats per character", _LOSS, log=True), across=720, down=380, keys=keys
        )
        for p in ladder:
            plot.marks([p.compute], [p.loss], Look("#c4c4c4"), 3.5)
        for name, of in racers.items():
            plot.line([p.compute for p in of], [p.loss for p in of], keys[name])
            plot.marks([p.compute for p in of], [p.loss for p in of], keys[name], 6)
        if np.isfinite(cross):
            canvas.line((plot.across(cross), plot.top), (plot.across(cross), plot.bottom), "#555555", 2, dashes="7 5")
        return canvas.svg(f"{words}. Grey: the other runs of the ladder.") + said(words)

    return live(
        draw,
        rows=[["small", "large"]],
        small=stops(sizes, sizes[0][1], "small, parameters", "380px"),
        large=stops(sizes, sizes[3][1], "large, parameters", "380px"),
    )


def equal_compute_playground(ladder: Sequence[Point], budgets: Sequence[float]) -> Live:
    """Loss against size at one budget, a parabola's minimum, and where the minima of all budgets lie."""
    minima = {budget: best_size(ladder, budget) for budget in budgets}

    def draw(budget: float) -> str:
        canvas, every = Canvas("", size=16), by_size(ladder)
        shown = {b: [(n, float(at_compute(of, b))) for n, of in every.items()] for b in budgets}
        shown = {b: [(n, loss) for n, loss in of if np.isfinite(loss)] for b, of in shown.items()}
        plot = Plot(
            canvas,
            axis([p.N for p in ladder], "parameters N"),
            Axis(1.6, 3.2, "nats per character", _LOSS, log=True),
            across=720,
            down=380,
        )
        for b, of in shown.items():
            look = Look(ORANGE, wide=4) if b == budget else Look("#a8a8a8", wide=2)
            plot.line([n for n, _ in of], [loss for _, loss in of], look)
            plot.marks([n for n, _ in of], [loss for _, loss in of], look, 5 if b == budget else 3)
        best = minima[budget]
        if np.isfinite(best):
            canvas.line((plot.across(best), plot.top), (plot.across(best), plot.bottom), "#555555", 2, dashes="7 5")
            words = (
                f"{written(budget)} operations: best with {count(best)} parameters and {count(budget / 6 / best)}"
                f" characters, {budget / 6 / best**2:.0f} characters per parameter"
            )
        else:
            words = f"{written(budget)} operations: the best of our sizes is at the edge, so the minimum is not known"
        told = ", ".join(f"{loss:.2f} with {count(n)}" for n, loss in shown[budget])
        return canvas.svg(f"Loss at equal operations, a line per budget: {told}. {words}.") + said(words)

    return live(
        draw,
        budget=stops([(written(b), b) for b in budgets], budgets[len(budgets) // 2], "operations", "420px"),
    )


def exponents_svg(rows: Mapping[str, tuple[float, float, float]], published: Mapping[str, float]) -> str:
    """(low, estimate, high) of a in N* ∝ Cᵃ per row; upright lines for published values."""
    canvas, left = Canvas("exponent a of N* ∝ Cᵃ, with 95 % intervals", size=16), label_width(rows, 15)
    x = Axis(0, 1.05, "a", {k / 10: f"{k / 10:.1f}" for k in range(0, 11, 2)})
    plot = Plot(
        canvas,
        x,
        Axis(len(rows), 0, ticks={}, grid=False),
        left=left,
        top=62,
        across=430,
        down=27 * len(rows),
        inner=True,
    )
    for side, (name, value) in zip(("end", "start"), published.items(), strict=True):
        canvas.line((plot.across(value), plot.top), (plot.across(value), plot.bottom), "#555555", 2, dashes="7 5")
        canvas.text(plot.across(value), plot.top - 6, name, 15, side)
    for at, (name, (low, estimate, high)) in enumerate(rows.items()):
        y = plot.down(at + 0.5)
        canvas.text(plot.left - 8, y + 5, name, 15, "end")
        if high - low > 1:
            canvas.text(plot.left + 8, y + 5, "no law: larger models are not better", 15)
            continue
        ends = (plot.across(max(low, 0)), y), (plot.across(min(high, 1.05)), y)
        canvas.line(*ends, BLUE if at else "#000000", 3)
        plot.marks([estimate], [at + 0.5], Look(BLUE if at else "#000000", mark="diamond" if not at else "circle"), 6)
    told = "; ".join(f"{name} {mid:.2f} ({low:.2f} to {high:.2f})" for name, (low, mid, high) in rows.items())
    return canvas.svg(f"Exponent a: {told}. Published: {', '.join(f'{n} {v:.2f}' for n, v in published.items())}.")
