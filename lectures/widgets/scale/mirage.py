"""Sums written by models of nine sizes: one set of answers under several metrics."""

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from lectures.show import Axis, Canvas, Live, Look, Plot, choice, live, said, stops
from lectures.show.svg import BLUE, GREY, ORANGE
from lectures.widgets.scale.budget import axis, count

METRICS = ("exact match", "digits right", "edit distance", "loss")


def measured(run: Mapping[str, Any], metric: str) -> float:
    return float(
        run[{"exact match": "exact", "digits right": "digits", "edit distance": "edits", "loss": "loss"}[metric]]
    )


def metric_playground(runs: Sequence[Mapping[str, Any]], length: int) -> Live:
    """A dot per run, a line through the means. Exact match also as p^L of the digits right; for other lengths of the
    answer than the measured one only that is drawn."""
    sizes = sorted({run["N"] for run in runs})

    def draw(metric: str, longer: int) -> str:
        p = {n: [run["digits"] for run in runs if run["N"] == n] for n in sizes}
        law = {
            "exact match": lambda share: share**longer,
            "edit distance": lambda share: longer * (1 - share),
        }.get(metric)
        canvas = Canvas("", size=16)
        top = {"edit distance": longer * 0.6, "loss": 1.5}.get(metric, 1.04)
        titles = {"loss": "nats per digit", "edit distance": "edit distance to the sum"}
        keys = {"mean of the runs": Look(BLUE, mark="circle")} if longer == length or law is None else {}
        if law:
            name = "pᴸ of each run, mean" if metric == "exact match" else "L (1 − p) of each run, mean"
            keys[name] = Look(ORANGE, "7 5", mark="diamond")
        plot = Plot(canvas, axis(sizes, "parameters N"), Axis(-0.03 * top, top, titles.get(metric, metric)),
                    across=720, down=370, keys=keys, columns=2)  # fmt: skip
        words = []
        if longer == length or law is None:
            for n in sizes:
                of = [measured(run, metric) for run in runs if run["N"] == n]
                plot.marks([n] * len(of), of, Look("#56B4E9", mark="circle"), 4)
            means = [fmean(measured(run, metric) for run in runs if run["N"] == n) for n in sizes]
            plot.line(sizes, means, keys["mean of the runs"])
            plot.marks(sizes, means, keys["mean of the runs"], 6)
            words.append(f"{metric} of {length} digits, mean per size: " + ", ".join(f"{m:.2f}" for m in means))
        if law:
            by_law = [fmean(law(share) for share in p[n]) for n in sizes]
            plot.line(sizes, by_law, list(keys.values())[-1])
            plot.marks(sizes, by_law, list(keys.values())[-1], 5)
            words.append(f"computed from the digits, L = {longer}: " + ", ".join(f"{m:.2f}" for m in by_law))
        return canvas.svg(f"{'; '.join(words)}. Sizes: {', '.join(count(n) for n in sizes)}.") + said("; ".join(words))

    return live(
        draw,
        rows=[["metric", "longer"]],
        metric=choice(METRICS),
        longer=stops([2, 4, 8, 16, 32], length, "digits of the answer, L", "380px"),
    )


def seeds_svg(runs: Sequence[Mapping[str, Any]], width: int) -> str:
    """The seeds of one size: loss across, exact match up, among all runs."""
    canvas = Canvas(f"{len(runs)} runs; the orange ones have width {width}", size=16)
    plot = Plot(canvas, Axis(0, 1.45, "loss, nats per digit"), Axis(-0.04, 1.05, "exact match"), across=600, down=330)
    at = np.linspace(0, 1.45, 2)
    plot.line(at, at * 0, Look(GREY, wide=1))
    for chosen, look in ((False, Look(BLUE, mark="circle")), (True, Look(ORANGE, mark="square"))):
        of = [run for run in runs if (run["width"] == width) == chosen]
        plot.marks([run["loss"] for run in of], [run["exact"] for run in of], look, 7 if chosen else 5)
    told = ", ".join(f"loss {r['loss']:.2f}, {r['exact']:.0%}" for r in runs if r["width"] == width)
    return canvas.svg(f"Exact match against loss of {len(runs)} runs. Width {width}: {told}.")
