"""Power laws: one variable at a time, then both; fitted on some runs, tested on others."""

from collections.abc import Mapping, Sequence

import numpy as np

from lectures.show import Axis, Canvas, Live, Look, Plot, choice, live, looks, said, stops, tick
from lectures.show.svg import BLUE, GREY, MARKS, ORANGE
from lectures.widgets.scale.budget import axis, count, short
from lectures.widgets.scale.cells import Point, by_size
from nlmcore.scaling import Fit

_TITLES = {"parameters": "parameters N", "characters": "characters D", "operations": "operations C = 6 N D"}


def law_playground(series: Mapping[str, Sequence[tuple[float, float]]], fits: Mapping[str, Mapping[str, Fit]]) -> Live:
    """series: "parameters", "characters" or "operations" -> (value, loss); fits: the same -> form -> fit of its points."""

    def draw(against: str, form: str, straight: bool, far: int) -> str:
        points, fit = series[against], fits[against][form]
        x, y = np.array([a for a, _ in points]), np.array([b for _, b in points])
        end = x.max() * far
        low, high, at = fit.law.loss(end), float(y.max()) * 1.04, np.geomspace(x.min(), end, 120)
        low = min(low, float(y.min())) * 0.96
        across = axis([x.min(), end], _TITLES[against])
        if not straight:
            across = Axis(0, end * 1.03, _TITLES[against], {end / 2: short(end / 2), end: short(end)})
        canvas = Canvas("", size=16)
        ticks = {tick: f"{tick:.1f}" for tick in np.arange(0.8, 4, 0.2) if low <= tick <= high}
        up = Axis(low, high, "nats per character", ticks, log=straight)
        plot = Plot(canvas, across, up, across=720, down=380)
        plot.line(at, fit.law.loss(at), Look(ORANGE))
        plot.marks(x, y, Look(BLUE), 6)
        slope, floor = fit.interval(lambda law: law.alpha), f", irreducible loss {fit.law.E:.2f}" if fit.law.E else ""
        ends = f"{slope[1]:.3f} ({slope[0]:.3f} to {slope[2]:.3f})"
        worst = float(np.abs(fit.law.loss(x) / y - 1).max())
        words = f"{form}: exponent {ends}{floor}; largest error {worst:.1%}; {far} times beyond the largest: {fit.law.loss(end):.2f}"
        told = ", ".join(f"{loss:.2f} at {count(value)}" for value, loss in points)
        return canvas.svg(f"Loss against {_TITLES[against]}: {told}. {words}.") + said(words)

    return live(
        draw,
        rows=[["against", "form"], ["straight", "far"]],
        against=choice(series),
        form=choice(next(iter(fits.values()))),
        straight=tick("both axes logarithmic", True),
        far=stops([1, 10, 100], 1, "times beyond the largest", "330px"),
    )


def forecast_playground(ladder: Sequence[Point], held_out: Point, fits: Mapping[str, Mapping[int, Fit]]) -> Live:
    """fits: form -> largest size that it was fitted on -> fit. The larger sizes and the held-out run are predicted."""
    sizes = list(next(iter(fits.values())))
    every = by_size([*ladder, held_out])

    def draw(form: str, largest: int) -> str:
        fit = fits[form][largest]
        low, told, high = fit.predict(float(held_out.N), float(held_out.D))
        verdict = "inside" if low <= held_out.loss <= high else "outside"
        words = (
            f"fitted on {sum(n <= largest for n in by_size(ladder))} sizes up to {count(largest)}: the held-out run"
            f" should have {told:.3f} ({low:.3f} to {high:.3f}); it has {held_out.loss:.3f}, {verdict} the interval"
        )
        canvas, keys = Canvas("", size=16), {}
        shown = {n: of for n, of in every.items()}
        keys = {
            f"{short(n)}": look for n, look in zip(shown, looks(map(str, shown), marks=MARKS).values(), strict=True)
        }
        up = Axis(1.5, 3.4, "nats per character", {t: f"{t:.1f}" for t in (1.6, 1.8, 2.0, 2.4, 2.8, 3.2)}, log=True)
        plot = Plot(
            canvas, axis([p.D for p in ladder], _TITLES["characters"]), up, across=760, down=430, keys=keys, columns=5
        )
        at = np.geomspace(min(p.D for p in ladder), max(p.D for p in ladder), 60)
        for (n, of), look in zip(shown.items(), keys.values(), strict=True):
            plot.line(at, fit.law.loss(float(n), at), look._replace(wide=2, dashes="" if n <= largest else "7 5"))
            plot.marks([p.D for p in of], [p.loss for p in of], look if n <= largest else Look(GREY, mark=look.mark), 5)
        plot.stroke(held_out.D, low, high, Look("#000000"))
        plot.marks([held_out.D], [held_out.loss], Look("#000000", mark="diamond"), 8)
        return canvas.svg(f"Loss against text, a line per size. {words}.") + said(words)

    return live(
        draw,
        rows=[["form", "largest"]],
        form=choice(fits),
        largest=stops([(short(n), n) for n in sizes], sizes[-1], "fitted on sizes up to", "420px"),
    )
