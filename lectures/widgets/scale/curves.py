"""One cosine or many, and LSTMs against Transformers: curves of stored runs."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from lectures.show import Axis, Canvas, Live, Plot, choice, live, looks, said, stops
from lectures.widgets.scale.budget import axis, count, short
from lectures.widgets.scale.cells import EIGHTHS, Point, by_size

_LOSS = {tick: f"{tick:.1f}" for tick in (1.6, 1.8, 2.0, 2.2, 2.4, 2.6, 2.8, 3.0, 3.2)}


class Ends(NamedTuple):
    """Two ways to a loss after D characters, of one size; on dev plays."""

    inside: list[tuple[float, float]]
    """(D, loss) at eighths of the longest run, in the middle of its cosine."""
    own: list[tuple[float, float]]
    """(D, loss) at the end of runs whose cosine ends there."""


def ends(of: Sequence[Point]) -> Ends:
    """of: the points of one size."""
    longest = of[-1]
    inside = [(longest.D * (k + 1) / EIGHTHS, loss) for k, loss in enumerate(longest.curve)]
    return Ends(inside, [(float(p.D), p.curve[-1]) for p in of if p.D * EIGHTHS >= longest.D])


def steepness(points: Sequence[tuple[float, float]]) -> list[float]:
    """−d ln L / d ln D between neighbours: constant for a power law, 0 where the curve is flat."""
    (x, y) = np.log(np.array(points)).T
    return (-np.diff(y) / np.diff(x)).tolist()


def cosine_playground(ladder: Sequence[Point]) -> Live:
    """The longest run of a size in the middle of its cosine, and the ends of shorter runs with their own."""
    every = by_size(ladder)

    def draw(size: int, show: str) -> str:
        found = ends(every[size])
        lines = {"inside the longest run": found.inside, "ends of runs with their own cosine": found.own}
        canvas, keys = Canvas("", size=16), looks(lines, marks=("circle", "diamond"))
        if show == "loss":
            values = [loss for of in lines.values() for _, loss in of]
            low, high = min(values) * 0.98, max(values) * 1.02
            ticks = {t / 20: f"{t / 20:.2f}" for t in range(30, 60) if low <= t / 20 <= high}
            up = Axis(low, high, "nats per character, dev plays", ticks, log=True)
        else:
            up = Axis(-0.01, 0.2, "steepness −Δ ln L / Δ ln D", {0.0: "0", 0.05: "0.05", 0.1: "0.10", 0.15: "0.15"})
        longest = found.inside[-1][0]
        at = {longest * k / EIGHTHS: f"{k}/8" for k in (1, 2, 4, 8)}
        plot = Plot(canvas, Axis(longest / 9.5, longest * 1.1, "share of the longest run", at, log=True), up,
                    across=720, down=380, keys=keys, columns=1)  # fmt: skip
        for name, of in lines.items():
            x, y = [d for d, _ in of], [loss for _, loss in of]
            if show != "loss":
                x, y = [float(np.sqrt(a * b)) for a, b in pairwise(x)], steepness(of)
            plot.line(x, y, keys[name])
            plot.marks(x, y, keys[name], 6)
        inside, own = (steepness(of) for of in found)
        words = (
            f"{count(size)} parameters. Steepness inside one run: {inside[0]:.3f} at first, at most {max(inside[1:]):.3f} later,"
            f" {inside[-1]:.3f} in the last eighth; between ends of runs: {', '.join(f'{s:.3f}' for s in own)}"
        )
        return canvas.svg(words) + said(words)

    return live(
        draw,
        rows=[["size", "show"]],
        size=stops([(short(n), n) for n in every], list(every)[-1], "parameters", "420px"),
        show=choice(["loss", "steepness"]),
    )


def architectures_playground(transformers: Sequence[Point], lstms: Sequence[Point]) -> Live:
    """LSTMs and Transformers of equal parameters, by text or by parameters; strokes from the lowest to the highest seed."""
    kinds = {"Transformer": [p for p in transformers if p.width in {q.width for q in lstms}], "LSTM": list(lstms)}
    widths = sorted({p.width for p in lstms})
    lengths = sorted({p.D for p in lstms})
    wholes = {p.width: p.whole for p in kinds["Transformer"]}

    def draw(against: str, which: int) -> str:
        canvas, keys = Canvas("", size=16), looks(kinds, marks=("circle", "square"))
        if against == "text":
            fixed = widths[which % len(widths)]
            lines = {name: [(p.D, p) for p in of if p.width == fixed] for name, of in kinds.items()}
            title, told = "characters read", f"about {count(wholes[fixed])} parameters"
        else:
            fixed = lengths[-1 - which % len(lengths)]
            lines = {name: [(p.whole, p) for p in of if fixed == p.D] for name, of in kinds.items()}
            title, told = "parameters, embeddings included", f"{count(fixed)} characters"
        across = axis([x for of in lines.values() for x, _ in of], title)
        plot = Plot(
            canvas, across, Axis(1.6, 3.4, "nats per character", _LOSS, log=True), across=720, down=380, keys=keys
        )
        for name, of in lines.items():
            for x, p in of:
                plot.stroke(x, min(p.runs), max(p.runs), keys[name])
            plot.line([x for x, _ in of], [p.loss for _, p in of], keys[name])
            plot.marks([x for x, _ in of], [p.loss for _, p in of], keys[name], 6)
        first, last = ([of[at][1].loss for of in lines.values()] for at in (0, -1))
        words = (
            f"{told}: LSTM minus Transformer {first[1] - first[0]:+.2f} nats at the left end, {last[1] - last[0]:+.2f} at the right"
        ).replace("-", "−")
        return canvas.svg(f"Loss against {title}. {words}.") + said(words)

    return live(
        draw,
        rows=[["against", "which"]],
        against=choice([("loss by text", "text"), ("loss by parameters", "parameters")]),
        which=stops(
            [(str(k + 1), k) for k in range(max(len(widths), len(lengths)))], len(widths) - 1, "size or length", "330px"
        ),
    )
