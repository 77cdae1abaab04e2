"""Hidden cards: which pattern of attention finds them, by distance or by the layers that the path takes."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

import numpy as np

from lectures.show import Live, bands_svg, bar_list_svg, choice, from_to, live, menu, said


def needle_explorer(result: Mapping[str, Any]) -> Live:
    """Two rows of `stored("needle")`, five seeds each: by distance (bands), or by the length of the path (bars)."""
    rows, layers, chance = result["rows"], result["layers"], 1 / result["ranks"]
    names = list(rows)

    def draw(first: str, second: str, by: str) -> str:
        chosen = dict.fromkeys((first, second))
        right = {name: 100 * np.array(rows[name]["right"]) for name in chosen}
        told = "; ".join(f"{name} {of.mean():.0f} % right ({from_to(of)} over the seeds)" for name, of in right.items())
        if by == "distance":
            points = result["bin"] * (np.arange(len(rows[first]["by_distance"][0])) + 0.5)
            return bands_svg(
                points, {name: 100 * np.array(rows[name]["by_distance"], dtype=float) for name in chosen}, low=0, high=100,
                level=100 * chance, x_title="distance of card and question, tokens", y_title="% right", width=760, height=330,
                alt=f"Right answers by distance, five seeds; the thin line is chance. {told}.", columns=2,
            ) + said(told)  # fmt: skip
        bars = {
            f"{name}: {_path(i, layers)}": means
            for name in chosen
            for i in range(layers + 1)
            if (means := _known([run[i] for run in rows[name]["by_layers"]]))
        }
        return bar_list_svg(
            [fmean(of) for of in bars.values()], list(bars), says=[f"{100 * fmean(of):.0f} % ({from_to(100 * np.array(of))})" for of in bars.values()],
            reach=1.0, title="right, by the fewest layers from the card to the question", width=960,
            note=f"chance: {chance:.1%}; in brackets the lowest and the highest seed",
        ) + said(told)  # fmt: skip

    return live(
        draw,
        rows=[["first", "second"], ["by"]],
        first=menu(names, "first", "380px"),
        second=_second(names),
        by=choice(["distance", "layers on the path"], "by"),
    )


def _second(names: list[str]) -> Any:
    made = menu(names, "second", "380px")
    made.value = names[1]
    return made


def _path(i: int, layers: int) -> str:
    return "no path" if i == layers else f"{i + 1} layer{'s' * (i > 0)}"


def _known(shares: list[float | None]) -> list[float]:
    return [share for share in shares if share is not None]
