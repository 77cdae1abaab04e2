"""Any column against any other, and each row's own learning rate."""

from collections.abc import Mapping, Sequence
from typing import Any

from nlmcore.metrics.significance import spearman
from lectures.show import Axis, Canvas, Live, Look, Plot, live, looks, menu, said
from lectures.show.svg import BLUE, GREY, ORANGE
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


def rates_playground(rows: Mapping[str, Mapping[str, Any]]) -> Live:
    """Final loss of the first seed by learning rate, vanilla's beside it; rows: `stored("modifications")["rows"]`."""
    names = [name for name in rows if name != VANILLA]
    known = sorted(names, key=lambda name: -len(rows[name]["rates"]))

    def draw(row: str) -> str:
        lines = {name: by_rate(rows[name]) for name in (VANILLA, row)}
        words = "; ".join(f"{name}: {_best(of)}" for name, of in lines.items())
        return rates_svg(lines, words) + said(words)

    return live(draw, row=menu(known, "row", "420px"))


def by_rate(row: Mapping[str, Any]) -> dict[float, float]:
    """learning rate -> final loss of the first seed, as far as measured; the lowest rate first."""
    return {float(rate): loss for rate, loss in sorted(row["rates"].items(), key=lambda item: float(item[0]))}


def _best(of: Mapping[float, float]) -> str:
    if not of:
        return "no finite loss"
    best = min(of, key=of.__getitem__)
    return f"best rate {best:g} of {len(of)} tried, loss {of[best]:.3f}"


def rates_svg(lines: Mapping[str, Mapping[float, float]], words: str) -> str:
    canvas = Canvas("final loss of the first seed by learning rate", size=16)
    rates = sorted({rate for of in lines.values() for rate in of})
    losses = [loss for of in lines.values() for loss in of.values()]
    if not losses:
        raise ValueError("no training of these rows is finished yet")
    ends = (rates[0] / 1.3, rates[-1] * 1.3)
    keys = looks(lines, marks=("diamond", "circle"))
    keys[VANILLA] = keys[VANILLA]._replace(colour=GREY)
    plot = Plot(
        canvas,
        Axis(*ends, "learning rate", {rate: f"{rate:g}" for rate in rates}, log=True),
        Axis(min(losses) - 0.03, max(losses) + 0.03, "nats per token"),
        across=640,
        down=330,
        keys=keys,
        columns=2,
    )
    for name, of in lines.items():
        plot.line(list(of), list(of.values()), keys[name])
        plot.marks(list(of), list(of.values()), keys[name], 7)
    told = "; ".join(
        f"{name} " + ", ".join(f"{loss:.3f} at {rate:g}" for rate, loss in of.items()) for name, of in lines.items()
    )
    return canvas.svg(f"{words}. {told}.")
