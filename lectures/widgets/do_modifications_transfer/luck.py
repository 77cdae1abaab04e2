"""Chance at work: rows that are all equal, and a column of right and wrong answers."""

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np

from nlmcore.metrics.significance import spearman
from lectures.show import Axis, Canvas, Live, Look, Plot, beside, choice, live, looks, said, slider, stops
from lectures.show.svg import BLUE, FAINT, ORANGE
from lectures.widgets.do_modifications_transfer.columns import Column

Play = Callable[[int, int, int], np.ndarray]
"""(rows, seeds, games) -> how many rows "beat" the baseline in each game, all of them being equal."""
_GAMES = 400


def luck_playground(
    play: Play, table: Callable[[int, int, int], tuple[np.ndarray, np.ndarray]], *, yours: Play | None = None
) -> Live:
    """Rows without any difference, again and again.

    play: see `Play`. table: (rows, seeds, which) -> runs (row, seed), the baseline first, and whether each other row
    "beats" it: one table, to look at.
    """
    cached = lru_cache(maxsize=256)(lambda play, tried, seeds: np.asarray(play(tried, seeds, _GAMES)))

    def draw(play: Play, tried: int, seeds: int, which: int) -> str:
        wins = cached(play, tried, seeds)
        if wins.shape != (_GAMES,):
            raise ValueError(f"play must return {_GAMES} counts, got shape {wins.shape}")
        runs, beats = table(tried, seeds, which)
        one = f"{int(beats.sum())} of {tried} rows “beat” vanilla in this table"
        many = f"at least one does in {(wins > 0).mean():.0%} of {_GAMES} tables, {wins.mean():.1f} rows on average"
        return beside(game_svg(runs, beats, one), wins_svg(wins, many)) + said(f"{one}; {many}")

    return live(
        draw,
        play,
        yours=yours,
        rows=[["tried", "seeds", "which"]],
        tried=stops([1, 5, 10, 20, 51], 51, "rows", "260px"),
        seeds=stops([2, 3, 5, 10], 5, "runs each", "260px"),
        which=slider(1, 1, 40, 1, "another table", "300px"),
    )


def game_svg(runs: np.ndarray, beats: np.ndarray, words: str) -> str:
    """Every run as a dot, every mean as a stroke; the winners are orange. The baseline is at the left."""
    canvas, means = Canvas("one table: all rows are equal", size=16), runs.mean(1)
    plot = Plot(
        canvas,
        Axis(-1, len(runs), "rows, the baseline first", ticks={}, grid=False),
        Axis(runs.min() - 0.002, runs.max() + 0.002, "loss"),
        across=520,
        down=300,
    )
    plot.level(means[0], "7 5", "#333")
    wide = min(0.42, 6 / len(runs) * 3)
    for at, (values, mean) in enumerate(zip(runs, means, strict=True)):
        won = at > 0 and bool(beats[at - 1])
        look = Look(ORANGE if won or not at else BLUE, wide=5 if won or not at else 3)
        plot.marks([at] * len(values), values, Look(FAINT if not won else ORANGE), 2.5)
        plot.line([at - wide, at + wide], [mean, mean], look if at else Look("#000000", wide=5))
    return canvas.svg(
        f"{words}. The baseline's mean is {means[0]:.4f}; the lowest mean of another row is {np.min(means[1:]):.4f}."
    )


def wins_svg(wins: np.ndarray, words: str) -> str:
    """In how many tables 0, 1, 2, … rows win."""
    most = 12
    counts = [int((wins == k).sum()) for k in range(most)] + [int((wins >= most).sum())]
    canvas = Canvas("many tables: how many rows win", size=16)
    labels = {k: str(k) if k < most else f"{most}+" for k in range(most + 1) if k % 2 == 0}
    plot = Plot(
        canvas,
        Axis(-0.6, most + 0.6, "rows that “beat” vanilla", labels, grid=False),
        Axis(0, _GAMES, "tables"),
        across=350,
        down=300,
    )
    for k, count in enumerate(counts):
        plot.bar(k, count, 20, BLUE if k == 0 else ORANGE)
    told = ", ".join(f"{k}{'+' * (k == most)} in {count}" for k, count in enumerate(counts) if count)
    return canvas.svg(f"{words}. Rows that win: {told} tables.")


def noise_playground(columns: Mapping[str, Column], questions: int, *, near: float = 0.05) -> Live:
    """A downstream column against the final loss: all rows, or those near vanilla; as printed, or by chance.

    By chance every row answers each of `questions` questions rightly with one probability, the column's mean.
    """
    loss = columns["final loss, theirs"].values
    baseline = next(iter(loss.values()))
    sets = {
        "all rows": list(loss),
        f"within {near:g} of vanilla's loss": [r for r in loss if abs(loss[r] - baseline) <= near],
    }

    def draw(column: str, which: str, chance: int) -> str:
        rows = sets[which]
        values = np.array([columns[column].values[row] for row in rows])
        source = f"by chance, draw {chance}" if chance else "as printed"
        if chance and column != "WebQ, theirs":
            raise ValueError("how many questions a column has is known of WebQ only")
        if chance:
            values = 100 * np.random.default_rng(chance).binomial(questions, values.mean() / 100, len(rows)) / questions
        x = [loss[row] for row in rows]
        rho = -float(spearman(x, values))
        words = f"{column}, {which} ({len(rows)}), {source}: deviation {values.std(ddof=1):.2f}, ρ with a low final loss {rho:+.2f}"
        return loss_svg(dict(zip(rows, zip(x, values.tolist(), strict=True), strict=True)), column, words) + said(words)

    return live(
        draw,
        rows=[["column"], ["which", "chance"]],
        column=choice(["WebQ, theirs", "SuperGLUE, theirs", "XSum, theirs", "EnDe, theirs"], "column"),
        which=choice(sets, "rows"),
        chance=stops([("as printed", 0), *((f"by chance {k}", k) for k in range(1, 31))], 0, "values", "380px"),
    )


def loss_svg(points: Mapping[str, tuple[float, float]], title: str, words: str) -> str:
    x, y = zip(*points.values(), strict=True)
    room = 0.08 * max(max(y) - min(y), 1)
    canvas = Canvas(title, size=16)
    plot = Plot(
        canvas,
        Axis(min(x) - 0.02, max(x) + 0.02, "final loss, theirs", grid=False),
        Axis(min(y) - room, max(y) + room, "points"),
        across=640,
        down=300,
    )
    first = next(iter(points))
    rest = {row: at for row, at in points.items() if row != first}
    keys = looks(["rows", first], marks=("circle", "diamond"))
    plot.marks([at[0] for at in rest.values()], [at[1] for at in rest.values()], keys["rows"], 5)
    plot.marks([points[first][0]], [points[first][1]], keys[first], 8)
    canvas.text(
        plot.across(points[first][0]) + 12, plot.down(points[first][1]) + 5, "vanilla", 15, halo=True, bold=True
    )
    return canvas.svg(
        f"{words}. The lowest value is {min(y):.2f}, the highest {max(y):.2f}; vanilla has {points[first][1]:.2f}."
    )
