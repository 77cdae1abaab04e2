"""Charts that are redrawn at every key press: lines, bars, shares with their intervals, costs with their laws."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.plot import Axis, Look, Plot, legend_entry, looks
from lectures.show.svg import BLUE, DARK_ORANGE, FAINT, INK, MARKS, ORANGE, Canvas, Pixels, label_width

__all__ = ["Law", "bar_list_svg", "curve_svg", "intervals_svg", "laws_svg", "lines_svg", "share_panels_svg"]


def lines_svg(
    x: ArrayLike,
    lines: Mapping[str, ArrayLike],
    *,
    alt: str,
    x_title: str,
    y_title: str,
    low: float | int,
    high: float | int,
    powers: bool = False,
    title: str = "",
    level: float | int | None = None,
    width: Pixels = 560,
    height: Pixels = 380,
    columns: int = 2,
) -> str:
    """One line per entry; the axis goes from `low` to `high` and stays there, so that pictures can be compared.

    powers: y is a power of ten, and its ticks are written 10ⁿ. level: a thin line across. What leaves the frame is cut
    off; what is not finite is left out. The legend above the frame has `columns` entries per row.

    Raises ValueError if a line and x differ in length, high is not above low, or alt is empty.
    """
    across = np.asarray(x, dtype=float)
    if not high > low:
        raise ValueError(f"high must be above low, got low={low}, high={high}")
    for name, line in lines.items():
        if np.shape(line) != across.shape:
            raise ValueError(f"line {name!r} has shape {np.shape(line)}, x has {across.shape}")
    canvas = Canvas(title, size=16)
    start, end = float(across.min()), float(across.max())
    x_axis = Axis(start, end if end > start else start + 1, x_title, grid=False)
    y_axis = Axis(low, high, y_title, powers=powers)
    plot = Plot(canvas, x_axis, y_axis, across=width, down=height, keys=looks(lines), columns=columns)
    if level is not None:
        plot.level(level)
    for name, line in lines.items():
        plot.line(across, line, plot.keys[name])
    return canvas.svg(alt)


def curve_svg(
    losses: Sequence[float | int],
    validation: Mapping[int, float | int] | None = None,
    *,
    title: str = "loss",
    width: Pixels = 640,
) -> str:
    """losses[i] belongs to step i + 1; validation: step -> held-out loss, as diamonds. At most 600 points are drawn.

    Raises ValueError if there is no loss yet.
    """
    if not losses:
        raise ValueError("curve_svg needs at least one loss")
    held_out = dict(validation or {})
    steps = sorted({*range(1, len(losses) + 1, max(1, len(losses) // 600)), len(losses)})
    shown = [losses[step - 1] for step in steps]
    values = [*shown, *held_out.values()]
    low, high = min(values), max(values)
    last = max(len(losses), *held_out, 1)
    said = f"{title} after {len(losses)} steps: {losses[-1]:.3f}; it began at {losses[0]:.3f}."
    canvas = Canvas(title, size=16)
    if held_out:
        latest = max(held_out)
        said += f" Held out (diamonds), at step {latest}: {held_out[latest]:.3f}."
        canvas.text(width - 12, 20, f"◆ held out {held_out[latest]:.3f}", 15, "end", fill=DARK_ORANGE)
    y = Axis(low, high if high > low else low + 1.0, ticks={low: f"{low:.2f}", high: f"{high:.2f}"}, grid=False)
    x = Axis(0, last, ticks={last / 2: f"{last:,} steps"})
    plot = Plot(canvas, x, y, across=width, down=230, padding=8)
    plot.line(steps, shown, Look(wide=2))
    plot.marks(list(held_out), list(held_out.values()), Look(ORANGE, mark="diamond"))
    return canvas.svg(said)


class Law(NamedTuple):
    """cost = constant · n^exponent, drawn for n in [start, end]."""

    constant: float | int
    exponent: float | int
    start: float | int
    end: float | int


def laws_svg(
    costs: Mapping[str, Mapping[int, float | int]],
    laws: Mapping[str, Law],
    *,
    alt: str,
    x_title: str,
    y_title: str,
    ticks: Mapping[float | int, str],
    notes: Mapping[str, str] | None = None,
    title: str = "",
    width: Pixels = 720,
    height: Pixels = 470,
) -> str:
    """Measured costs, {name: {n: cost}}, as marks of one shape and colour each; a law as a line through them.

    Both axes are logarithmic: c · n^p is a straight line that rises by p decades in one. ticks: the values that are
    written at the left, and how; the frame reaches from the lowest to the highest of them and of the costs. notes are
    written behind the names above the frame.

    Raises ValueError for a cost or a length that is not above 0, a law without measured costs, or an empty alt.
    """
    for name, by in costs.items():
        if not by or min(*by, *by.values()) <= 0:
            raise ValueError(f"costs and lengths must be above 0, at least one, got {dict(by)!r:.60} for {name!r}")
    if strangers := laws.keys() - costs.keys():
        raise ValueError(f"laws must be of costs that were measured, got {sorted(strangers)}")
    lengths = [n for by in costs.values() for n in by]
    heights = [*ticks, *(cost for by in costs.values() for cost in by.values())]
    keys = {name: look._replace(wide=3 if name in laws else 0) for name, look in looks(costs, marks=MARKS[:4]).items()}
    labels = {name: " ".join(filter(None, [name, (notes or {}).get(name, "")])) for name in costs}
    canvas = Canvas(title)
    plot = Plot(
        canvas,
        Axis(min(lengths), max(max(lengths), min(lengths) + 1), x_title, log=True),
        Axis(min(heights), max(heights) * (1 if max(heights) > min(heights) else 2), y_title, ticks, log=True),
        across=width,
        down=height,
        keys={labels[name]: look for name, look in keys.items()},
        columns=1,
        padding=14,
    )
    for name, law in laws.items():
        ends = [law.start, law.end]
        plot.line(ends, [law.constant * n**law.exponent for n in ends], keys[name])
    for name, by in costs.items():
        plot.marks(list(by), list(by.values()), keys[name])
    return canvas.svg(alt)


Share = tuple[float | int, float | int, float | int]
"""(share, low, high), each between 0 and 1."""


def share_panels_svg(
    x: Sequence[float | int | str],
    panels: Mapping[str, Mapping[str, Sequence[Share]]],
    *,
    alt: str,
    x_title: str,
    y_title: str,
    levels: Mapping[str, float | int] | None = None,
    level_name: str = "",
    title: str = "",
    columns: int = 3,
) -> str:
    """{panel: {line: one (share, low, high) per x}}; lines of one name are drawn alike in every panel.

    A line is told by colour and by its mark, full or hollow; its interval is the upright stroke. the values of x are
    equally spaced. levels: a dashed line across a panel, which `level_name` explains above.

    Raises ValueError for no panels, a line whose length differs from that of x, a share outside its interval or
    [0, 1], or an empty alt.
    """
    names = list(dict.fromkeys(name for lines in panels.values() for name in lines))
    if not names or not x:
        raise ValueError("share_panels_svg needs at least one panel with a line, and one x")
    for panel, lines in panels.items():
        for name, shares in lines.items():
            if len(shares) != len(x):
                raise ValueError(f"line {name!r} of {panel!r} has {len(shares)} points, x has {len(x)}")
            if wrong := [s for s in shares if not 0 <= s[1] <= s[0] <= s[2] <= 1]:
                raise ValueError(f"a share must lie in its interval and in [0, 1], got {wrong[0]} in {panel!r}")
    keys = looks(names, marks=["circle", "ring"], wide=2)
    canvas, at = Canvas(title), 82.0
    dashed = {level_name: Look("#555", "7 5", wide=2)} if levels else {}
    for name, look in {**keys, **dashed}.items():
        legend_entry(canvas, at, canvas.top + 12, name, look)
        at += 60 + label_width([name])
    wide, high, first = 230.0, 190.0, canvas.top + 64
    percent = {share: f"{share:.0%}" for share in (0, 0.5, 1)}
    for k, (panel, lines) in enumerate(panels.items()):
        column, row = k % columns, k // columns
        left, top = 82 + column * (wide + 22), first + row * (high + 76)
        canvas.text(left + wide / 2, top - 9, panel, 16, "middle", bold=True)
        x_axis = Axis(-0.5, len(x) - 0.5, ticks={i: str(label) for i, label in enumerate(x)}, grid=False)
        y_axis = Axis(0, 1, ticks=percent if column == 0 else dict.fromkeys(percent, ""))
        plot = Plot(canvas, x_axis, y_axis, left=left, top=top, across=wide, down=high, inner=True)
        if levels and panel in levels:
            plot.level(levels[panel], "7 5", "#555")
        for name, shares in lines.items():
            shift = 5.0 * (names.index(name) - (len(names) - 1) / 2) * (len(x) / wide)  # side by side
            places = [i + shift for i in range(len(x))]
            plot.line(places, [share for share, _, _ in shares], keys[name])
            for place, (_, below, above) in zip(places, shares, strict=True):
                plot.stroke(place, below, above, keys[name])
            plot.marks(places, [share for share, _, _ in shares], keys[name], 5.5)
    middle = (first + canvas.bottom) / 2
    canvas.text((canvas.right + 82) / 2, canvas.bottom + 22, x_title, 16, "middle")
    canvas.text(15, middle, y_title, 16, "middle", turn=-90)
    return canvas.svg(alt)


def bar_list_svg(
    values: ArrayLike,
    labels: Sequence[str],
    *,
    alt: str = "",
    title: str = "",
    says: Sequence[str] | None = None,
    highlight: Sequence[int] = (),
    reach: float | int | None = None,
    note: str = "",
    width: Pixels = 640,
) -> str:
    """One horizontal bar per value, its label to the left and what it `says` (its value, by default) to the right.

    Highlighted bars are orange with bold words. The longest bar that fits is `reach` (the largest value, by default);
    a longer one is cut off, its number tells. `note`: lines below, separated by newlines. alt: by default the title, all
    labels with their words, and the note.

    Raises ValueError if lengths do not fit, or a value is negative or no number.
    """
    sizes = np.asarray(values, dtype=float)
    told = [f"{value:.3f}" for value in sizes.ravel()] if says is None else list(says)
    if sizes.shape != (len(labels),) or len(told) != len(labels):
        raise ValueError(
            f"bar_list_svg needs a value, a label and words per bar, got {sizes.shape}, {len(labels)} and {len(told)}"
        )
    if not np.isfinite(sizes).all() or (sizes < 0).any():
        raise ValueError(f"values must be finite and at least 0, got {sizes.tolist()}")
    longest = float(reach if reach is not None else (sizes.max(initial=0) or 1.0))
    left = label_width(labels, 16) + 10
    room = max(float(width) - left - label_width(told, 16) - 8, 60.0)
    canvas = Canvas(title, size=16)
    for i, (size, label, words) in enumerate(zip(sizes, labels, told, strict=True)):
        y, chosen, long = canvas.top + 30 * i, i in highlight, room * min(size / longest, 1.0)
        canvas.text(left - 8, y + 20, label, 16, "end", bold=chosen)
        canvas.rect(left, y + 5, max(long, 0.5), 20, ORANGE if chosen else BLUE)
        canvas.text(left + long + 8, y + 20, words, 16, bold=chosen)
    canvas.line((left, canvas.top), (left, canvas.top + 30 * len(labels)), FAINT)
    canvas.notes(note.splitlines(), gap=0)
    listed = ", ".join(f"{label} {words}" for label, words in zip(labels, told, strict=True))
    return canvas.svg(alt or f"{title}: {listed}. {' '.join(note.splitlines())}".strip())


Bounds = tuple[float | None, float | None, float | None, float | None]
"""Lower bound, upper bound, bits from probabilities, share of first guesses that were right; None: not known."""


def intervals_svg(rows: Mapping[str, Bounds], *, alt: str, note: str = "") -> str:
    """Bits per character: for each name a bar between its bounds, and a diamond where its probabilities put it."""
    canvas = Canvas()
    draw_intervals(canvas, rows, 0.0)
    canvas.notes(note.splitlines())
    return canvas.svg(alt)


def draw_intervals(canvas: Canvas, rows: Mapping[str, Bounds], top: float) -> None:
    left, room = label_width(rows, 16), 400.0
    reach = max(5.0, *(value for row in rows.values() for value in row[:3] if value is not None))
    canvas.text(left, top + 18, "bits per character: bar = Shannon's bounds", 16, bold=True)
    canvas.mark("diamond", left + 446, top + 12, "#000")
    canvas.text(left + 460, top + 18, "= from probabilities", 16, bold=True)
    names = {i + 0.5: name for i, name in enumerate(rows)}
    x, y = (
        Axis(0, reach, ticks={tick: str(tick) for tick in range(math.floor(reach) + 1)}),
        Axis(len(rows), 0, ticks={}),
    )
    plot = Plot(canvas, x, y, left=left, top=top + 32, across=room, down=28 * len(rows) + 4, inner=True)
    for tick in range(1, math.floor(reach) + 1):
        canvas.line((plot.across(tick), plot.top), (plot.across(tick), plot.bottom), "#dddddd")
    for (place, name), (low, high, bits, first) in zip(names.items(), rows.values(), strict=True):
        middle = plot.down(place)
        canvas.text(left - 8, middle + 6, name, 16, "end", bold=bits is None and place < 1)
        if low is not None and high is not None:
            start, end = plot.across(max(low, 0)), plot.across(max(high, 0))
            colour = ORANGE if bits is None else BLUE
            canvas.rect(start, middle - 8, max(end - start, 2), 16, colour, opacity=0.8)
        if bits is not None:
            canvas.mark("diamond", plot.across(bits), middle, "#000")
        words = f"{bits:.2f}" if bits is not None else f"{low:.2f} to {high:.2f}"
        words += "" if first is None else f" · first guess right {first:.0%}"
        canvas.text(left + room + 12, middle + 6, words, 16, fill=INK)
