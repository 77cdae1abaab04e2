"""What the trainings behind our rows can see, and how a difference changes with their length."""

from collections.abc import Mapping, Sequence
from statistics import fmean

from lectures.show import Axis, Canvas, Live, Look, Plot, live, looks, menu, said, stops
from lectures.show.svg import BLUE, GREY, ORANGE, label_width


def checks_svg(known: Mapping[str, Sequence[float]], floor: float, title: str) -> str:
    """Runs whose place is known beforehand, on one logarithmic axis of the loss, and the floor that needs no source.

    known: what was trained -> a loss for each seed; the baseline first.
    """
    every = [value for values in known.values() for value in values]
    canvas, left = Canvas(title, size=16), label_width(known, 15)
    low, high = min(every) / 1.15, max(every) * 1.2
    ticks = {tick: f"{tick:g}" for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20) if low < tick < high}
    axes = Axis(low, high, "nats per token, held out", ticks, log=True), Axis(len(known), 0, ticks={}, grid=False)
    plot = Plot(canvas, *axes, left=left, across=790 - left, down=28 * len(known) + 62, padding=6)
    for tick in ticks:
        canvas.line((plot.across(tick), plot.top), (plot.across(tick), plot.bottom), "#e4e4e4")
    canvas.line((plot.across(floor), plot.top), (plot.across(floor), plot.bottom), ORANGE, 2, dashes="7 5")
    canvas.text(plot.across(floor) + 6, plot.down(0.5) + 5, f"best n-gram of the answers: {floor:.2f}", 15, halo=True)
    for at, (name, values) in enumerate(known.items()):
        y = at + 0.5
        canvas.text(plot.left - 8, plot.down(y) + 5, name, 15, "end", bold=at == 0)
        plot.marks(
            values, [y] * len(values), Look(BLUE if at == 0 else GREY, mark="circle" if at == 0 else "square"), 5
        )
        canvas.text(plot.across(max(values)) + 12, plot.down(y) + 5, f"{fmean(values):.3g}", 15, halo=True)
    told = "; ".join(f"{name} {', '.join(f'{value:.3g}' for value in values)}" for name, values in known.items())
    return canvas.svg(f"{title}. The best n-gram of the answers has {floor:.2f}. {told}.")


def lengths_playground(gaps: Mapping[str, Mapping[int, Sequence[float]]], losses: Mapping[int, float]) -> Live:
    """Each row less the baseline of the same seed, after trainings of several lengths.

    gaps: row -> steps -> a difference for each seed, in nats; losses: steps -> the baseline's mean loss.
    """

    def draw(row: str, longest: int) -> str:
        seen = {name: {steps: of[steps] for steps in of if steps <= longest} for name, of in gaps.items()}
        told = ", ".join(f"{fmean(of):+z.4f} nats after {steps:,} steps" for steps, of in seen[row].items())
        return lengths_svg(seen, losses, row, told) + said(f"{row} less vanilla: {told}")

    lengths = list(losses)
    return live(
        draw,
        rows=[["row", "longest"]],
        row=menu(gaps, "row", "340px"),
        longest=stops([(f"{steps:,} steps", steps) for steps in lengths], lengths[0], "trained for up to", "360px"),
    )


def lengths_svg(
    gaps: Mapping[str, Mapping[int, Sequence[float]]], losses: Mapping[int, float], row: str, told: str
) -> str:
    """Per cent of the baseline's loss against the length; the row in colour, a dot for each seed, the others grey."""
    canvas = Canvas("each row less vanilla, in % of vanilla's loss after as many steps", size=16)
    percent = {
        name: {steps: [100 * gap / losses[steps] for gap in of] for steps, of in by.items()}
        for name, by in gaps.items()
    }
    reach = 1.08 * max(abs(value) for by in percent.values() for of in by.values() for value in of)
    ends = min(losses) / 1.4, max(losses) * 1.4
    keys = looks([row], marks=("circle",)) | ({"other rows": Look(GREY)} if len(gaps) > 1 else {})
    plot = Plot(
        canvas,
        Axis(*ends, "steps of the whole training", {steps: f"{steps:,}" for steps in losses}, log=True),
        Axis(-reach, reach, "less vanilla's, %"),
        across=760,
        down=370,
        keys=keys,
    )
    plot.level(0, colour="#333")
    canvas.text(plot.right - 8, plot.top + 20, "worse than vanilla ↑", 15, "end")
    canvas.text(plot.right - 8, plot.bottom - 9, "better ↓", 15, "end")
    for name in [*(other for other in percent if other != row), row]:
        look = keys[row] if name == row else Look(GREY, wide=1.5)
        by = percent[name]
        plot.line(list(by), [fmean(of) for of in by.values()], look)
        for steps, of in by.items() if name == row else ():
            plot.marks([steps] * len(of), of, look, 5)
    return canvas.svg(f"{row} less vanilla: {told}.")
