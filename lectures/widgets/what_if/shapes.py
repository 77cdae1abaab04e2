"""Stored trainings of deep and of wide models."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lectures.show import Axis, Canvas, Live, Plot, bands_svg, choice, from_to, live, looks, menu, said
from lectures.show.svg import MARKS
from nlmcore.metrics import mean_interval


def deep_explorer(result: Mapping[str, Any]) -> Live:
    """`stored("very_deep")`: training curves, or how far one step moves the output; a band over the seeds."""
    runs, moved = result["runs"], result["moved"]
    views = {"one step, by depth": moved} | {f"training, {depth} layers": runs[depth] for depth in runs}
    views[result["longer_is"]] = result["longer"]
    sets = {"the three rules": list(moved)[:3], "DeepNorm and its halves": list(moved)[2:]}

    def draw(view: str, rules: str) -> str:
        names = sets[rules]
        if view == "one step, by depth":
            x = np.log10([float(depth) for depth in next(iter(moved.values()))])
            steps = {rule: np.log10(list(moved[rule].values())).T for rule in names}
            told = "; ".join(
                f"{rule} {10 ** np.log10(of).mean(-1)[0]:.2g} to {10 ** np.log10(of).mean(-1)[-1]:.2g}"
                for rule, of in ((rule, list(moved[rule].values())) for rule in names)
            )
            ends = [v for of in moved.values() for by in of.values() for v in by]
            return bands_svg(
                x, steps, x_title="log₁₀ of the number of layers", y_title="change of the logits ÷ step",
                low=float(np.floor(np.log10(min(ends)))), high=float(np.ceil(np.log10(max(ends)))), powers=True,
                alt=f"Change of the logits in one step, fewest to most layers: {told}.", width=760, height=370,
            ) + said(f"one step, fewest to most layers: {told}")  # fmt: skip
        rows = {rule: views[view][rule] for rule in names if rule in views[view]}
        told = "; ".join(f"{rule} {from_to(of['dev'], '{:.2f}')}" for rule, of in rows.items())
        curves = {rule: of["curve"] for rule, of in rows.items() if all(of["curve"])}
        points = max(len(of[0]) for of in curves.values())
        return bands_svg(
            10 * np.arange(1, points + 1), curves, x_title="step", y_title="training loss, nats per character", low=2.2,
            high=4.8, level=result["guess"], alt=f"{view}: on dev plays at the end {told}.", width=760, height=370,
        ) + said(f"dev plays at the end, lowest to highest seed: {told}")  # fmt: skip

    return live(
        draw,
        rows=[["view"], ["rules"]],
        view=menu(views, "picture", "380px"),
        rules=choice(sets, "rules"),
    )


_COSTS = {"parameters": "parameters, thousand", "multiply_adds": "multiply-adds of a text, million"}


def costs_explorer(rows: Mapping[str, Mapping[str, Any]], groups: Mapping[str, Sequence[str]]) -> Live:
    """Mean loss and its interval against parameters or multiply-adds.

    rows: row -> its "parameters", "multiply_adds", and its "losses" on test, one for each seed.
    """
    losses = [loss for of in rows.values() for loss in of["losses"]]
    low, high = min(losses) - 0.02, max(losses) + 0.02

    def draw(group: str, cost: str) -> str:
        unit = 1e3 if cost == "parameters" else 1e6
        shown = {row: rows[row] for row in groups[group]}
        most = max(of[cost] for of in rows.values()) / unit
        canvas, keys = Canvas("", size=16), looks(shown, marks=MARKS, wide=0)
        axes = Axis(0, 1.06 * most, _COSTS[cost]), Axis(low, high, "nats per character, a new play")
        plot = Plot(canvas, *axes, across=760, down=390, keys=keys, columns=2)
        told = []
        for row, of in shown.items():
            mean, half = mean_interval(of["losses"])
            at = of[cost] / unit
            plot.stroke(at, mean - half, mean + half, keys[row])
            plot.marks([at], [mean], keys[row], 7)
            told.append(f"{row} {mean:.3f} ± {half:.3f}")
        words = "; ".join(told)
        return canvas.svg(f"Loss against {_COSTS[cost]}: {words}.") + said(words)

    return live(
        draw,
        rows=[["group"], ["cost"]],
        group=menu(groups, "rows", "420px"),
        cost=choice([("parameters", "parameters"), ("multiply-adds", "multiply_adds")], "against"),
    )
