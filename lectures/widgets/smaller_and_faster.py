"""Widgets: a row of weights on its levels, what fewer bits cost two models, and the memory of training, counted."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from torch import Tensor

from lectures.show import Axis, Canvas, Live, Plot, bar_list_svg, choice, live, looks, said, slider, stops, tick
from lectures.show.svg import BLUE, ORANGE
from nlmcore.compression import quantise, rounded

__all__ = ["VECTORS_KEPT", "TrainingSize", "bytes_told", "cost_of_bits", "level_player", "levels_svg", "memory_counter"]


def levels_svg(weights: Tensor, bits: int, group: int, symmetric: bool = False, *, title: str = "") -> str:
    """Weights (time) as dots, the levels of each group as lines, and the error of each weight as an upright stroke."""
    kept = quantise(weights[None], bits, group, symmetric=symmetric)
    nearest = rounded(weights[None], bits, group, symmetric=symmetric)[0]
    low, top = (1 - 2 ** (bits - 1), 2 ** (bits - 1) - 1) if symmetric else (0, 2**bits - 1)
    error = float((nearest - weights).abs().max())
    reach = max(float(weights.abs().max()), float(nearest.abs().max())) * 1.06
    alt = f"{len(weights)} weights in groups of {group}, {top - low + 1} levels each; the largest error is {error:.4f}."
    canvas = Canvas(title, size=16)
    x = Axis(-1, len(weights), "weight, by its position in the row", ticks={}, grid=False)
    plot = Plot(canvas, x, Axis(-reach, reach, "value", grid=False), across=860, down=400)
    for g, (scale, minimum) in enumerate(zip(kept.scale[:, 0].tolist(), kept.minimum[:, 0].tolist(), strict=True)):
        ends = plot.across(g * group - 0.45), plot.across((g + 1) * group - 0.55)
        for q in range(low, top + 1) if top - low < 64 else (low, top):
            y = plot.down(scale * q + minimum)
            canvas.line((ends[0], y), (ends[1], y), "#8fb8d6", 1)
    for i, (weight, level) in enumerate(zip(weights.tolist(), nearest.tolist(), strict=True)):
        canvas.line(plot.at(i, weight), plot.at(i, level), ORANGE, 3)
        canvas.circle(*plot.at(i, weight), 3.6, BLUE)
    return canvas.svg(alt)


def level_player(rows: Mapping[str, Tensor]) -> Live:
    """A few weights of a matrix, rounded to b bits; name -> weights, each as many as any group divides."""

    def draw(row: str, bits: int, group: int, symmetric: bool) -> str:
        if symmetric and bits == 1:
            raise ValueError("a symmetric scale needs 2 bits: with 1 there is only the level 0")
        weights = rows[row]
        kept = quantise(weights[None], bits, group, symmetric=symmetric)
        error = (rounded(weights[None], bits, group, symmetric=symmetric)[0] - weights).norm() / weights.norm()
        cost = bits + (16 if symmetric else 32) / group
        steps = " and ".join(f"{scale:.4f}" for scale in kept.scale[:2, 0].tolist())
        words = (
            f"step {steps}{' …' if len(kept.scale) > 2 else ''}; relative error {error:.3f}; {cost:g} bits per weight"
        )
        return levels_svg(weights, bits, group, symmetric) + said(words)

    sizes = [g for g in (16, 32, 64) if all(len(of) % g == 0 for of in rows.values())]
    return live(
        draw,
        rows=[["row"], ["bits", "group", "symmetric"]],
        row=choice(rows, "weights"),
        bits=slider(4, 1, 8, 1, "bits b"),
        group=stops(sizes, 32, "weights that share a scale"),
        symmetric=tick("symmetric, no minimum"),
    )


FLOOR = 1e-4
"""Nats: what costs less is drawn here."""


def cost_of_bits(models: Mapping[str, Any]) -> Live:
    """Rise of the loss over bits per weight; models: as in the result `rounding`."""
    groups = {"a block of 32": "block", "a row": "row", "the whole matrix": "matrix"}

    def draw(group: str) -> str:
        canvas, told = Canvas("", size=16), []
        keys = looks(models, marks=("circle", "square"))
        powers = {10.0**k: f"{10.0**k:g}" for k in range(-4, 2)}
        y = Axis(FLOOR, 20, "rise of the loss, nats per token", powers, log=True)
        plot = Plot(canvas, Axis(8.4, 1.6, "bits b, without step and minimum"), y, across=760, down=400, keys=keys)
        for name, of in models.items():
            found = {int(key[-6]): row["rise"] for key, row in of["rows"].items() if _is(key, groups[group])}
            heights = [max(rise[0], FLOOR) for rise in found.values()]
            plot.line(list(found), heights, keys[name])
            for b, (_, low, high) in found.items():
                plot.stroke(b, max(low, FLOOR), max(high, FLOOR), keys[name])
            plot.marks(list(found), heights, keys[name])
            told.append(f"{name}: " + ", ".join(f"{b} bits {rise[0]:z.4f}" for b, rise in found.items()))
        return canvas.svg(f"Rise of the loss, one scale for {group}. {'; '.join(told)}.") + said("; ".join(told))

    return live(draw, group=choice(groups, "one scale for"))


def _is(setting: str, group: str) -> bool:
    """Whether a setting is plain rounding with this group: "row, 4 bits"."""
    return setting.startswith(group) and setting.count(",") == 1 and setting.endswith("bits")


class TrainingSize(NamedTuple):
    """What the memory of training depends on."""

    parameters: int
    layers: int
    width: int


BYTES: Mapping[str, tuple[tuple[int, int, int, int], int]] = {
    "32 bits": ((4, 0, 4, 8), 4),
    "bfloat16, weights also in 32 bits": ((2, 4, 2, 8), 2),
}
"""Per parameter: weights, their 32-bit copy, gradients, AdamW's two moments; then per activation."""
VECTORS_KEPT = 18
"""Vectors of width d that a layer keeps of each token for the backward pass; the lecture measures it."""


def memory_counter(sizes: Mapping[str, TrainingSize]) -> Live:
    """Bars for what training a model of each size keeps in memory."""

    def draw(model: str, tokens: int, precision: str, again: bool) -> str:
        size, (each, activation) = sizes[model], BYTES[precision]
        vectors = size.layers + VECTORS_KEPT if again else size.layers * VECTORS_KEPT
        kept = [n * size.parameters for n in each] + [activation * tokens * vectors * size.width]
        labels = ["weights", "their copy in 32 bits", "gradients", "AdamW's two moments", "activations"]
        told = [bytes_told(n) for n in kept]
        words = f"together {bytes_told(sum(kept))}; activations are {kept[-1] / sum(kept):.0%} of it"
        picture = bar_list_svg(
            kept, labels, says=told, highlight=[4], title=f"{model}, {tokens:,} tokens a step", width=760
        )
        return picture + said(words)

    return live(
        draw,
        rows=[["model"], ["tokens"], ["precision"], ["again"]],
        model=choice(sizes, "model"),
        tokens=stops([(f"{n:,}", n) for n in (256, 1_024, 8_192, 65_536)], 1_024, "tokens in a step", "480px"),
        precision=choice(BYTES, "precision"),
        again=tick("keep only each layer's input, and compute the rest again (checkpointing)"),
    )


def bytes_told(n: float) -> str:
    """Bytes in words."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if n >= size:
            return f"{n / size:.3g} {unit}"
    return f"{n:.0f} bytes"
