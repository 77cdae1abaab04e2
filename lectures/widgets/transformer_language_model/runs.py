"""Stored runs of five seeds: a Transformer against an LSTM, and the changes of 2017 one at a time."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lectures.show import Live, bands_svg, choice, from_to, live, menu, said, stops


def race_explorer(result: Mapping[str, Any]) -> Live:
    """Training losses of both kinds at one size, against steps or against processor time; a band over five seeds.

    result: `stored("why_transformer")`.
    """

    def first(of: Mapping[str, Any]) -> Any:
        return next(iter(of.values()))

    by_parameters = {f"{of['parameters']:,}": width for width, of in first(result["sizes"]).items()}
    lengths = [(f"{10 * len(first(first(result[key]))['curve'][0]):,}", key) for key in ("sizes", "longer")]

    def draw(size: str, steps_in_all: str, against: str) -> str:
        seconds = {kind: by[size]["seconds_per_step"] for kind, by in result["sizes"].items()}
        rows = {kind: by[size] for kind, by in result[steps_in_all].items()}
        points = len(next(iter(rows.values()))["curve"][0])
        steps = 10 * np.arange(1, points + 1)
        if against == "steps":
            x, runs = steps, {kind: row["curve"] for kind, row in rows.items()}
        else:  # the curve of each at common times: until the faster one has ended
            end = min(seconds.values()) * steps[-1]
            x = np.linspace(end / points, end, points)
            runs = {
                kind: [np.interp(x, steps * seconds[kind], curve) for curve in row["curve"]]
                for kind, row in rows.items()
            }
        told = "; ".join(f"{kind} {from_to([run[-1] for run in of], '{:.2f}')}" for kind, of in runs.items())
        return bands_svg(
            x, runs, x_title=f"training {against}", y_title="training loss, nats per character", low=1.6, high=3.6,
            alt=f"Training loss against {against}, five seeds. At the right end: {told}.", width=760, height=370,
        ) + said(f"at the right end, lowest to highest seed: {told}")  # fmt: skip

    return live(
        draw,
        size=stops(by_parameters.items(), list(by_parameters.values())[-1], "parameters"),
        steps_in_all=choice(lengths, "steps"),
        against=choice(["steps", "seconds"], "against"),
    )


def removed_explorer(result: Mapping[str, Any]) -> Live:
    """The training curve of one row of `stored("changes_of_2017")` with that of the whole: bands over five seeds."""
    rows = result["rows"]
    whole = next(iter(rows))
    steps = 10 * np.arange(1, len(rows[whole]["curve"][0]) + 1)
    others = [name for name in rows if name != whole]

    def draw(row: str) -> str:
        runs = {whole: rows[whole]["curve"], row: rows[row]["curve"]}
        told = "; ".join(f"{name} {from_to(rows[name]['dev'], '{:.2f}')}" for name in runs)
        return bands_svg(
            steps, runs, x_title="step", y_title="training loss, nats per character", low=1.8, high=4.6, columns=2,
            alt=f"Training loss by step, five seeds. On dev plays at the end: {told}.", width=760, height=370,
        ) + said(f"dev plays at the end, lowest to highest seed: {told}")  # fmt: skip

    return live(draw, row=menu(others, "row", "420px"))
