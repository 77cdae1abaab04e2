"""The widgets of the lecture `memory_without_attention`: one small matrix, chunks, a table of overwriting, bytes held."""

import math
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lectures.show import Axis, Canvas, Live, Look, Plot, bar_list_svg, choice, from_to, live, menu, said, slider, stops
from lectures.show.svg import BLUE, DARK_ORANGE, GREY, INK, diverging

__all__ = ["bytes_explorer", "chunk_costs", "chunk_explorer", "matrix_playground", "overwriting_explorer"]

Update = Callable[[Tensor, Tensor, Tensor, float, float], Tensor]
"""(S, k, v, a, b) -> the next S: keys and values of two numbers each, written with w = 1."""


def matrix_playground(
    update: Update, values: Sequence[Sequence[float | int]], *, writes: int = 2, yours: Update | None = None
) -> Live:
    """A matrix of 2 × 2 after up to three writes: a first key, a second key at an angle to it, and the first key again.

    values: the three that are written. Left the matrix, right what was written under each key last (a ring) and what
    is read there (full).
    """

    def draw(update: Update, writes: int, angle: int, erase: float, keep: float) -> str:
        turned = math.radians(angle)
        keys = {"A": torch.tensor([1.0, 0.0]), "B": torch.tensor([math.cos(turned), math.sin(turned)])}
        S = torch.zeros(2, 2)
        last: dict[str, Tensor] = {}
        for key, value in list(zip("ABA", values, strict=True))[:writes]:
            last[key] = torch.tensor(value, dtype=torch.float32)
            S = torch.as_tensor(update(S, keys[key], last[key], keep, erase))
            if S.shape != (2, 2):
                raise ValueError(f"the update must return a matrix (2, 2), got {tuple(S.shape)}")
        read = {key: keys[key] @ S for key in last}
        told = "; ".join(f"{key}: last written {_pair(last[key])}, read {_pair(read[key])}" for key in last)
        return _matrix_svg(S, last, read, told) + said(told or "nothing is written yet")

    return live(
        draw,
        update,
        yours=yours,
        rows=[["writes", "angle"], ["erase", "keep"]],
        writes=slider(writes, 0, 3, 1, "writes", "260px"),
        angle=slider(90, 0, 180, 15, "angle of B to A", "340px"),
        erase=slider(0.0, 0.0, 1.0, 0.25, "erase b", "300px"),
        keep=slider(1.0, 0.5, 1.0, 0.1, "keep a", "300px"),
    )


def _pair(vector: Tensor) -> str:
    return f"({', '.join(_short(float(x)) for x in vector)})"


def _short(x: float) -> str:
    """Two decimals, without zeros at the end."""
    return f"{round(x, 2) + 0.0:g}".replace("-", "−")


def _matrix_svg(S: Tensor, last: Mapping[str, Tensor], read: Mapping[str, Tensor], told: str) -> str:
    canvas = Canvas()
    canvas.text(40, 24, "S", 18, bold=True)
    for (i, j), value in np.ndenumerate(S.numpy()):
        x, y = 40 + 84 * j, 44 + 84 * i
        canvas.box(x, y, 80, 80, _short(float(value)), diverging(float(value), 6.0), INK, size=20)
    plot = Plot(
        canvas,
        Axis(-4, 8, "first dimension of the value"),
        Axis(-4, 8, "second dimension"),
        left=300,
        top=10,
        across=430,
        down=380,
        keys={"A, last written": Look(BLUE, mark="ring"), "A, read": Look(BLUE, mark="circle"),
              "B, last written": Look(DARK_ORANGE, mark="ring"), "B, read": Look(DARK_ORANGE, mark="square")},
    )  # fmt: skip
    for key, colour, mark in (("A", BLUE, "circle"), ("B", DARK_ORANGE, "square")):
        if key in last:
            (x, y), (x_read, y_read) = last[key].tolist(), read[key].tolist()
            plot.line([x, x_read], [y, y_read], Look(colour, "4 4", wide=2))
            plot.marks([x], [y], Look(colour, mark="ring"), 10)
            plot.marks([x_read], [y_read], Look(colour, mark=mark), 8)
    return canvas.svg(f"The matrix S and what is read from it. {told or 'Nothing is written yet'}.")


def chunk_explorer(length: int, sizes: Sequence[int], d_head: int) -> Live:
    """Which pairs of positions are compared when a text is read in chunks, and what that costs one head.

    Blue pairs are scored as in attention; the grey rest reaches a position through the matrix before its chunk.
    """
    position = np.arange(length)
    past = position[:, None] >= position

    def draw(chunk: int) -> str:
        near = past & (position[:, None] // chunk == position // chunk)
        scores, matrix = chunk_costs(length, chunk, d_head)
        passes = -(-length // chunk)
        words = (
            f"chunks of {chunk}: {passes} step{'s' * (passes > 1)} one after another;"
            f" {scores + matrix:,} multiply-adds, {scores:,} of them between positions of one chunk"
        )
        canvas = Canvas(f"{length} positions, chunks of {chunk}")
        canvas.image(np.where(near, -1.0, np.where(past, np.nan, 0.0)), 10, canvas.top + 6, 330, 330)
        canvas.notes(["a row reads the blue columns directly, the grey ones through the matrix S"])
        return canvas.svg(f"Pairs of positions. {words}.") + said(words)

    return live(draw, chunk=choice([(f"{size}", size) for size in sizes], "in a chunk"))


def chunk_costs(length: int, chunk: int, d_head: int) -> tuple[int, int]:
    """Multiply-adds of one head: for scores and their sums within chunks; for reading S and writing into it."""
    return 2 * length * chunk * d_head, 2 * length * d_head**2


def overwriting_explorer(result: Mapping[str, Any]) -> Live:
    """`stored("overwriting")`: what each memory answers, for keys written once or twice."""
    counts, rows = result["keys"], result["rows"]
    colours = {"right": BLUE, "the old value": DARK_ORANGE, "another value": GREY}

    def draw(m: int, asked: str) -> str:
        canvas, left, room = Canvas(f"{m} keys, asked for a key that was written {asked}"), 250.0, 440.0
        at, told, top = counts.index(m), [], canvas.top + 40
        for i, (name, colour) in enumerate(colours.items()):
            canvas.rect(left + 150 * i, canvas.top + 4, 16, 16, colour)
            canvas.text(left + 150 * i + 22, canvas.top + 18, name, 15)
        for i, (row, of) in enumerate(rows.items()):
            seeds = 100 * np.array(of[asked])[:, at]
            right = float(seeds.mean())
            old = 100 * fmean(run[at] for run in of["old"]) if asked == "twice" else 0.0
            x, y = left, top + 36 * i
            canvas.text(left - 8, y + 17, row, 16, "end")
            for share, colour in zip((right, old, 100 - right - old), colours.values(), strict=True):
                canvas.rect(x, y, room * max(share, 0.0) / 100, 24, colour)
                x += room * max(share, 0.0) / 100
            told.append(
                f"{row} {right:.0f} % right ({from_to(seeds)})" + (f", {old:.0f} % old" if asked == "twice" else "")
            )
            canvas.text(left + room + 10, y + 17, f"{right:.0f} %", 16)
        canvas.notes(["means over the seeds; the figure at the right is the share of right answers"])
        return canvas.svg(f"{m} keys, asked for a key written {asked}: {'; '.join(told)}.") + said("; ".join(told))

    return live(
        draw,
        rows=[["m", "asked"]],
        m=stops([(f"{m}", m) for m in counts], 16, "keys in the text"),
        asked=choice(["twice", "once"], "written"),
    )


Sizes = tuple[int, int, int, int, int]
"""Layers, heads of queries, heads of keys and values, d_head, values of a latent vector per token and layer."""


def held_values(sizes: Sizes, n: int, window: int) -> dict[str, int]:
    """How many values each memory holds of one text of n tokens."""
    layers, heads, shared, d_head, latent = sizes
    return {
        "a key and a value per head": 2 * layers * heads * d_head * n,
        f"{shared} shared heads": 2 * layers * shared * d_head * n,
        f"{shared} shared heads, window of {window:,}": 2 * layers * shared * d_head * min(n, window),
        f"latent vector of {latent}": layers * latent * n,
        "one matrix per head": layers * heads * d_head**2,
    }


def bytes_explorer(
    models: Mapping[str, Sizes], lengths: Sequence[int], window: int = 4096, bytes_each: int = 2
) -> Live:
    """How many bytes each memory takes for one text, in half precision."""

    def draw(model: str, n: int) -> str:
        rows = {name: bytes_each * count for name, count in held_values(models[model], n, window).items()}
        told = [f"{size / 1e9:.2f} GB" if size >= 1e9 else f"{size / 1e6:.2f} MB" for size in rows.values()]
        title = f"{model}, a text of {n:,} tokens"
        spoken = f"{title}: " + ", ".join(f"{name} {size}" for name, size in zip(rows, told, strict=True))
        return bar_list_svg(
            list(rows.values()), list(rows), says=told, title=title, width=860, alt=f"{spoken}."
        ) + said(f"{title}: {told[0]} with a key and a value per head, {told[-1]} with one matrix per head")

    return live(
        draw,
        rows=[["model"], ["n"]],
        model=menu(models, "model", "420px"),
        n=stops([(f"{n:,}", n) for n in lengths], lengths[0], "tokens"),
    )
