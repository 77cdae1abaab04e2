"""Which differences are real: a pair of rows, all rows against one, and corrections for their number."""

from collections.abc import Callable, Mapping
from math import log10

import numpy as np

from lectures.show import Axis, Canvas, Live, Look, Plot, choice, live, menu, said, stops
from lectures.show.svg import BLUE, GREY, ORANGE, label_width, power_of_ten
from lectures.widgets.do_modifications_transfer.columns import Column, Comparison, interval, tested

_LEVEL = 0.05


def pair_playground(columns: Mapping[str, Column]) -> Live:
    """Two rows of a column: their runs or intervals, a test of their difference, and Holm's correction for all rows against
    the second."""
    rows = list(columns["final loss, theirs"].values)

    def draw(column: str, row: str, against: str) -> str:
        of = columns[column]
        if missing := [name for name in (row, against) if name not in of.samples]:
            raise ValueError(f"{missing[0]} has fewer than two runs in this column so far")
        if row == against:
            raise ValueError("choose two different rows")
        test = of.tests(against)[row]
        words = f"{row} − {against}: {test.difference:+z.3f} ± {test.half:.3f}, p = {p_written(test.p)}; corrected {p_written(test.corrected)}: "
        return pair_svg(of, (row, against), words + verdict(test)) + said(words + verdict(test))

    return live(
        draw,
        rows=[["column"], ["row", "against"]],
        column=choice(tested(columns), "column"),
        row=menu(["RMS Norm", *(name for name in rows if name != "RMS Norm")], "row", "400px"),
        against=menu(rows, "against", "400px"),
    )


def verdict(test: Comparison) -> str:
    """Whether a difference is real, in words."""
    if test.corrected < _LEVEL:
        return "a real difference"
    return "not after correction" if test.p < _LEVEL else "no difference shown"


def p_written(p: float) -> str:
    return f"{p:.2g}" if p >= 0.001 else power_of_ten(round(log10(max(p, 1e-99))))


def pair_svg(of: Column, rows: tuple[str, str], words: str) -> str:
    """Two rows with their means, 95 % intervals, and a dot per run if the runs are known."""
    ends = [mean + sign * half for mean, half in (interval(of.samples[row]) for row in rows) for sign in (-1, 1)]
    every = [*ends, *(value for row in rows for value in of.runs.get(row, ()))]
    room = max(max(every) - min(every), 1e-3) * 0.1
    canvas, left = Canvas(of.title, size=16), label_width(rows, 16)
    axes = Axis(min(every) - room, max(every) + room, of.unit), Axis(2, 0, ticks={}, grid=False)
    plot = Plot(canvas, *axes, left=left, across=720 - left, down=110, inner=True)
    for y, row in zip((0.5, 1.5), rows, strict=True):
        mean, half = interval(of.samples[row])
        start, end = plot.across(mean - half), plot.across(mean + half)
        canvas.rect(start, plot.down(y) - 12, max(end - start, 2), 24, BLUE, opacity=0.25)
        canvas.rect(plot.across(mean) - 1.5, plot.down(y) - 12, 3, 24, BLUE)
        plot.marks(of.runs.get(row, ()), [y] * len(of.runs.get(row, ())), Look(ORANGE), 5)
        canvas.text(plot.left - 8, plot.down(y) + 6, row, 16, "end")
    dots = "dots: runs; " if any(row in of.runs for row in rows) else ""
    canvas.notes([f"{dots}bars: 95 % intervals of the means, {of.samples[rows[0]].n} and {of.samples[rows[1]].n} runs"])
    told = "; ".join("{} {:.3f} ± {:.3f}".format(row, *interval(of.samples[row])) for row in rows)
    return canvas.svg(f"{of.title}: {told}. {words}.")


# --- all rows against vanilla ----------------------------------------------------------------------------------

Correct = Callable[[Mapping[str, float]], Mapping[str, float]]
"""row -> p, to row -> corrected p."""


def correction_playground(
    corrections: Mapping[str, Correct], columns: Mapping[str, Column], *, yours: Mapping[str, Correct] | None = None
) -> Live:
    """Every row against vanilla as a point: its p after a correction, and how many are left below a level."""

    def draw(corrections: Mapping[str, Correct], column: str, correction: str, level: float) -> str:
        tests = columns[column].tests()
        p = corrections[correction]({row: test.p for row, test in tests.items()})
        if set(p) != set(tests):
            raise ValueError(f"the correction must return a p for each of the {len(tests)} rows")
        better = [row for row, test in tests.items() if p[row] < level and test.difference < 0]
        worse = [row for row, test in tests.items() if p[row] < level and test.difference > 0]
        words = f"p < {level:g}, {correction}: {len(better)} of {len(tests)} rows are better than vanilla, {len(worse)} worse"
        named = f"better: {', '.join(better)}" if better and len(better) <= 12 else ""
        return p_values_svg(tests, p, level, column, words) + said(words) + (said(named) if named else "")

    return live(
        draw,
        corrections,
        yours=yours,
        rows=[["column"], ["correction", "level"]],
        column=choice(tested(columns), "column"),
        correction=choice(corrections, "correction"),
        level=stops([("0.1", 0.1), ("0.05", 0.05), ("0.01", 0.01), ("0.001", 0.001)], 0.05, "level", "260px"),
    )


def p_values_svg(tests: Mapping[str, Comparison], p: Mapping[str, float], level: float, title: str, words: str) -> str:
    """Rows in the order of p: blue discs are better, orange squares worse; small grey dots are p before correction."""
    order = sorted(tests, key=lambda row: tests[row].p)
    floor = 1e-8
    canvas = Canvas(f"{title}: p of each row compared with vanilla", size=16)
    keys = {"better than vanilla": Look(BLUE, mark="circle", wide=0), "worse": Look(ORANGE, mark="square", wide=0)}
    keys["before correction"] = Look(GREY, mark="triangle", wide=0)
    y = Axis(floor, 1.5, "p", {10.0**-k: f"10{_RAISED[k]}" if k else "1" for k in range(0, 9, 2)}, log=True)
    x = Axis(0, len(order) + 1, "rows, from the smallest p", grid=False)
    plot = Plot(canvas, x, y, across=820, down=300, keys=keys, columns=3, padding=6)
    plot.level(level, "7 5", "#333")
    for at, row in enumerate(order, 1):
        before, after = (max(value, floor) for value in (tests[row].p, p[row]))
        if after > before * 1.05:
            plot.marks([at], [before], keys["before correction"], 3.5)
        plot.marks([at], [after], keys["better than vanilla" if tests[row].difference < 0 else "worse"], 5.5)
    told = ", ".join(f"{row} {p_written(p[row])}" for row in order)
    return canvas.svg(f"{title}. {words}. Corrected p: {told}. Values below {floor:g} are drawn there.")


_RAISED = {0: "⁰", 2: "⁻²", 4: "⁻⁴", 6: "⁻⁶", 8: "⁻⁸"}


def forest_playground(columns: Mapping[str, Column], column: str = "early loss, theirs") -> Live:
    """Every row less vanilla, with its interval, marked if the difference is left after correction."""

    def draw(column: str, order: str) -> str:
        tests = columns[column].tests()
        rows = list(tests) if order == _PRINTED else sorted(tests, key=lambda row: tests[row].difference)
        counts = {
            word: sum(direction(test) == word for test in tests.values()) for word in ("better", "worse", "unclear")
        }
        words = f"{column}, {len(tests)} rows compared with vanilla: " + ", ".join(
            f"{n} {word}" for word, n in counts.items()
        )
        return forest_svg({row: tests[row] for row in rows}, column, words) + said(words)

    return live(
        draw,
        rows=[["column"], ["order"]],
        column=choice(tested(columns), "column", column),
        order=choice(["by difference", _PRINTED], "order"),
    )


_PRINTED = "as printed"


def direction(test: Comparison) -> str:
    """Better or worse than vanilla after Holm's correction, or unclear."""
    return "unclear" if test.corrected >= _LEVEL else "better" if test.difference < 0 else "worse"


def forest_svg(tests: Mapping[str, Comparison], title: str, words: str) -> str:
    """Many rows in two halves next to each other; left of the line is better than vanilla. What leaves the frame is cut off."""
    looks = {
        "better": Look(BLUE, mark="circle", wide=0),
        "worse": Look(ORANGE, mark="square", wide=0),
        "unclear": Look(GREY, mark="ring", wide=0),
    }
    far = np.array([abs(test.difference) for test in tests.values()])
    reach = float(max(np.quantile(far, 0.85) * 1.4, 1e-3))
    half = (len(tests) + 1) // 2 if len(tests) > 12 else len(tests)
    canvas, left = Canvas(f"{title}, less vanilla's", size=16), 0.0
    names = {row: row.replace("Block sharing + ", "B. s. + ").replace("Synthesizer", "Synth.") for row in tests}
    wide = label_width(names.values(), 14) * 0.88
    for part in filter(None, (list(tests)[:half], list(tests)[half:])):
        axes = Axis(-reach, reach, grid=True), Axis(half, 0, ticks={}, grid=False)
        plot = Plot(
            canvas,
            *axes,
            left=left + wide,
            top=canvas.top,
            across=215 if half < len(tests) else 430,
            down=22 * half,
            inner=True,
        )
        canvas.line((plot.across(0), plot.top), (plot.across(0), plot.bottom), "#333", 1.5)
        for at, row in enumerate(part):
            test, y = tests[row], at + 0.5
            look = looks[direction(test)]
            ends = np.clip([test.difference - test.half, test.difference + test.half], -reach, reach)
            canvas.line((plot.across(ends[0]), plot.down(y)), (plot.across(ends[1]), plot.down(y)), look.colour, 2.5)
            beyond = abs(test.difference) > reach
            plot.marks([np.clip(test.difference, -reach, reach)], [y], look, 5)
            canvas.text(
                plot.left - 6,
                plot.down(y) + 5,
                names[row] + (f" {test.difference:+.2f} ".replace("-", "−") if beyond else ""),
                14,
                "end",
            )
        left += wide + 232
    below = canvas.bottom + 16
    for at, (word, look) in enumerate(looks.items()):
        canvas.mark(look.mark, 8 + 100 * at, below - 5, look.colour)
        canvas.text(20 + 100 * at, below, word, 15)
    told = "; ".join(
        f"{row} {test.difference:+z.3f} ± {test.half:.3f} {direction(test)}" for row, test in tests.items()
    )
    return canvas.svg(f"{words}. {told}.")
