"""Any column against any other."""

from collections.abc import Mapping, Sequence
from typing import Any

from nlmcore.metrics.significance import spearman
from lectures.show import Axis, Canvas, Live, Look, Plot, live, menu, said
from lectures.show.svg import BLUE, ORANGE
from lectures.widgets.do_modifications_transfer.columns import VANILLA, Column, interval


def scatter_playground(columns: Mapping[str, Column], x: str, y: str) -> Live:
    """Axes to choose; a row to find. Rows that one of the two columns lacks are left out."""
    rows = list(columns["final loss, theirs"].values)
    titles = [title for title, column in columns.items() if len(column.values) > 2]

    def menu_from(first: str, label: str) -> Any:
        return menu([first, *(title for title in titles if title != first)], label, "380px")

    def draw(x: str, y: str, find: str) -> str:
        if x == y:
            raise ValueError("choose two different columns")
        known = [row for row in rows if row in columns[x].values and row in columns[y].values]
        rho = float(spearman([columns[x].values[row] for row in known], [columns[y].values[row] for row in known]))
        words = f"{len(known)} rows, Spearman's ρ = {rho:+.2f}"
        found = f"; {find}: {columns[x].written(find)} and {columns[y].written(find)}" if find in known else ""
        return scatter_svg(columns[x], columns[y], known, find, words + found) + said(words + found)

    return live(
        draw,
        rows=[["x", "y"], ["find"]],
        x=menu_from(x, "across"),
        y=menu_from(y, "up"),
        find=menu(rows, "find", "400px"),
    )


def scatter_svg(x: Column, y: Column, rows: Sequence[str], find: str, words: str) -> str:
    """A disc per row; strokes are 95 % intervals; vanilla is a diamond, the row that is looked for is orange."""
    canvas = Canvas(f"{y.title} against {x.title}", size=16)
    plot = Plot(canvas, _axis(x, rows), _axis(y, rows), across=760, down=390, padding=10)
    order = sorted(rows, key=lambda row: (row == find, row == VANILLA))
    for row in order:
        look = (
            Look(ORANGE, mark="square")
            if row == find
            else Look("#000000" if row == VANILLA else BLUE, mark="diamond" if row == VANILLA else "circle")
        )
        at = x.values[row], y.values[row]
        if row in y.samples:
            half = interval(y.samples[row])[1]
            plot.stroke(at[0], max(at[1] - half, plot.y.low), min(at[1] + half, plot.y.high), look)
        if row in x.samples:
            half = interval(x.samples[row])[1]
            ends = max(at[0] - half, plot.x.low), min(at[0] + half, plot.x.high)
            canvas.line(
                (plot.across(ends[0]), plot.down(at[1])),
                (plot.across(ends[1]), plot.down(at[1])),
                look.colour,
                2,
                opacity=0.7,
            )
        plot.marks([at[0]], [at[1]], look, 6)
    for row in dict.fromkeys([VANILLA, find]):
        if row in rows:
            across, down = plot.across(x.values[row]), plot.down(y.values[row])
            end = across > (plot.left + plot.right) / 2
            canvas.text(
                across - 11 if end else across + 11,
                down + (20 if row == find else -9),
                row,
                15,
                "end" if end else "start",
                bold=True,
                halo=True,
            )
    return canvas.svg(f"{y.title} ({y.unit}) against {x.title} ({x.unit}): {words}.")


def _axis(column: Column, rows: Sequence[str]) -> Axis:
    values = [column.values[row] for row in rows]
    low, high = min(values), max(values)
    title = f"{column.title}, {column.unit}"
    if column.log:
        low, high = low / 1.15, max(high, low * 1.01) * 1.15
        ticks = {
            tick: f"{tick:g}"
            for power in range(-2, 9)
            for digit in (1, 2, 5)
            if low <= (tick := digit * 10.0**power) <= high
        }
        return Axis(low, high, title, ticks, log=True)
    room = 0.06 * max(high - low, 1e-3)
    return Axis(low - room, high + room, title)
