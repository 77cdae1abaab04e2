"""Several seeds of each contestant: means with their intervals, and how often few seeds mislead."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from lectures.show import Axis, Canvas, Live, Look, Plot, beside, lines_svg, live, looks, menu, said, slider
from lectures.show.svg import BLUE, ORANGE, label_width
from nlmcore.metrics import mean_interval
from nlmcore.metrics.significance import T_95


def means_svg(
    rows: Mapping[str, Sequence[float]],
    *,
    alt: str,
    low: float,
    high: float,
    x_title: str = "test loss, nats per character",
    title: str = "",
    level: float | None = None,
    width: float = 820,
    numbers: bool = True,
) -> str:
    """Per row a dot for each seed, their mean, and its 95 % interval as a bar. level: an upright line. numbers: the means
    are also written."""
    left, canvas = label_width(rows, 16), Canvas(title, size=16)
    names = {i + 0.5: "" for i in range(len(rows))}
    axes = Axis(low, high, x_title, grid=False), Axis(len(rows), 0, ticks=names)
    plot = Plot(canvas, *axes, left=left, across=width - left - 190, down=34 * len(rows) + 8, inner=True)
    if level is not None:
        canvas.line(plot.at(level, 0), plot.at(level, len(rows)), "#777777", 1.5, dashes="4 4")
    for y, (name, values) in zip(names, rows.items(), strict=True):
        mean, half = mean_interval(values)
        ends = np.clip([mean - half, mean + half], low, high)
        start, width_of_it = plot.across(ends[0]), max(plot.across(ends[1]) - plot.across(ends[0]), 2)
        canvas.rect(start, plot.down(y) - 11, width_of_it, 22, BLUE, opacity=0.25)
        if low <= mean <= high:
            canvas.rect(plot.across(mean) - 1.5, plot.down(y) - 11, 3, 22, BLUE)
        plot.marks([v for v in values if low <= v <= high], [y for v in values if low <= v <= high], Look(ORANGE), 4)
        canvas.text(plot.left - 8, plot.down(y) + 6, name, 16, "end")
        if numbers:
            canvas.text(plot.right + 10, plot.down(y) + 6, f"{mean:.3f} ± {half:.3f}", 16)
    return canvas.svg(alt)


Interval = Callable[[Sequence[float]], tuple[float, float]]
"""Losses, one per seed -> (mean, half the width of its interval)."""


def false_alarms(one: np.ndarray, other: np.ndarray) -> float:
    """Of many races (race, seed) between equals: the fraction in which their intervals show a difference."""
    n = one.shape[1]
    reach = T_95[n - 2] * np.hypot(one.std(axis=1, ddof=1), other.std(axis=1, ddof=1)) / math.sqrt(n)
    return float((abs(one.mean(axis=1) - other.mean(axis=1)) > reach).mean())


def seeds_playground(
    interval: Interval, losses: Mapping[str, Sequence[float]], *, most: int = 12, yours: Interval | None = None
) -> Live:
    """Two contestants, n seeds each, drawn from the many that were run: their intervals, and how often n seeds mislead.

    Against itself a contestant is split at random, so a difference that is shown is a false alarm.
    """
    names, most = list(losses), min(most, len(next(iter(losses.values()))) // 2)
    itself = f"{names[0]} against itself"
    pairs = {f"{a} against {b}": (a, b) for i, a in enumerate(names) for b in names[i + 1 :]} | {
        itself: (names[0], names[0])
    }

    @lru_cache(maxsize=64)
    def misled(pair: str) -> dict[str, np.ndarray]:
        """By n from 1 on, of 2,000 draws: how often n seeds say what is not so."""
        a, b = (np.asarray(losses[name]) for name in pairs[pair])
        draws, sizes = np.random.default_rng(0), range(1, most + 1)
        if pair == itself:
            mixed = a[draws.random((2000, len(a))).argsort(axis=1)]
            alarms = np.array([0.0, *(false_alarms(mixed[:, :n], mixed[:, n : 2 * n]) for n in sizes[1:])])
            return {"a false alarm": alarms, "at least one in 20 variants": 1 - (1 - alarms) ** 20}
        # with replacement, as fresh seeds would vary
        means = [(a[draws.integers(len(a), size=(2000, n))], b[draws.integers(len(b), size=(2000, n))]) for n in sizes]
        sign = np.sign(a.mean() - b.mean())
        wrong = [(np.sign(one.mean(axis=1) - other.mean(axis=1)) != sign).mean() for one, other in means]
        return {"the worse one has the better mean": np.array(wrong)}

    def draw(interval: Interval, pair: str, n: int, sample: int) -> str:
        draws, (one, other) = np.random.default_rng(sample), pairs[pair]
        first = draws.permutation(np.asarray(losses[one]))
        second = first[n:] if pair == itself else draws.permutation(np.asarray(losses[other]))
        title = [one, f"{other}, other seeds" if pair == itself else other]
        chosen = dict(zip(title, (first[:n], second[:n]), strict=True))
        everything = np.concatenate([np.asarray(values) for values in losses.values()])
        axes = (
            Axis(0, 3, ticks={1: title[0], 2: title[1]}),
            Axis(everything.min() - 0.02, everything.max() + 0.02, "test loss"),
        )
        canvas, keys = Canvas(f"{n} seeds each", size=16), looks(chosen, marks=("circle", "square"))
        plot = Plot(canvas, *axes, across=430, down=370)
        told = []
        for x, (name, values) in enumerate(chosen.items(), start=1):
            mean, reach = interval(values.tolist())
            plot.band([x - 0.3, x + 0.3], [mean - reach] * 2, [mean + reach] * 2, keys[name])
            plot.line([x - 0.3, x + 0.3], [mean, mean], keys[name])
            plot.marks([x] * n, values, keys[name], 5)
            told.append((float(mean), float(reach)))
        (a, half_a), (b, half_b) = told
        apart, reach = a - b, math.hypot(half_a, half_b)
        verdict = "a difference" if abs(apart) > reach else "no difference shown"
        words = f"{title[0]} − {title[1]}: {apart:+.4f} ± {reach:.4f}, {verdict}"
        often = misled(pair)
        said_of = "; ".join(
            f"{what}: {of[0]:.0%} of draws of one seed, {of[-1]:.0%} with {most}" for what, of in often.items()
        )
        lines = lines_svg(
            np.arange(1, most + 1), often, x_title="seeds each", y_title="fraction of draws",
            low=0, high=0.6, width=430, height=370, title=pair, alt=f"{pair}. {said_of}.",
        )  # fmt: skip
        return beside(canvas.svg(f"{pair}, {n} seeds each. {words}."), lines) + said(words)

    return live(
        draw,
        interval,
        yours=yours,
        rows=[["pair"], ["n", "sample"]],
        pair=menu(pairs, "race", "380px"),
        n=slider(2, 2, most, 1, "seeds each"),
        sample=slider(1, 1, 40, 1, "other seeds"),
    )
