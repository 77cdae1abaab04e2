"""Learning rates: every optimiser at every rate, and the rate over one training."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lectures.show import Axis, Canvas, Live, Look, Plot, beside, choice, lines_svg, live, looks, said, slider
from nlmcore.metrics import mean_interval


DECADES = {0.0001: "10⁻⁴", 0.001: "10⁻³", 0.01: "10⁻²", 0.1: "0.1", 1: "1", 10: "10"}


def sweep_explorer(result: Mapping[str, Any]) -> Live:
    """Every optimiser at every rate: the test loss with its interval; of the chosen one, the dev loss of each seed."""
    by, guess = result["by"], result["guess"]
    rates = {name: list(one["rates"]) for name, one in by.items()}

    def draw(name: str, place: int) -> str:
        rate = rates[name][min(place, len(rates[name]) - 1)]
        canvas, keys = Canvas("test loss by learning rate", size=16), looks(by, marks=("circle", "square", "triangle"))
        axes = Axis(1e-4, 10, "learning rate", DECADES, log=True, grid=False), Axis(2.0, 5.0, "nats per character")
        plot = Plot(canvas, *axes, across=520, down=390, keys=keys)
        plot.level(guess, "4 4")
        for title, one in by.items():
            found = {float(r): row["test"] for r, row in one["rates"].items() if None not in row["test"]}
            middle, half = np.array([mean_interval(values) for values in found.values()]).T
            for x, m, h in zip(found, middle, half, strict=True):
                if m - h < axes[1].high:
                    plot.stroke(x, max(m - h, 2.0), min(m + h, axes[1].high), keys[title])
            plot.line(list(found), middle, keys[title])
            inside = middle < axes[1].high
            plot.marks(np.array(list(found))[inside], middle[inside], keys[title], 5)
        plot.line([float(rate)] * 2, [2.0, 5.0], Look("#777777", "2 4", wide=2))
        row = by[name]["rates"][rate]
        whole = [curve for curve in row["curve"]["dev"] if len(curve) == len(max(row["curve"]["dev"], key=len))]
        steps = np.linspace(0, result["steps"], len(whole[0]))
        seeds = {f"seed {i}": curve for i, curve in enumerate(whole)}
        curves = lines_svg(
            steps, seeds, x_title="step", y_title="dev loss", low=2, high=5, width=400, height=390, columns=3,
            title=f"{name}, rate {rate}", alt=f"Dev loss of {name} at a rate of {rate}, one line per seed.",
        )  # fmt: skip
        lost = sum(value is None for value in row["test"])
        words = f"{lost} of {len(row['test'])} seeds diverged"
        if not lost:
            mean, half = mean_interval(row["test"])
            words = f"test {mean:.3f} ± {half:.3f} nats per character"
        alt = f"Test loss against learning rate for {', '.join(by)}. {name} at {rate}: {words}."
        return beside(canvas.svg(alt), curves) + said(f"{name}, rate {rate}: {words}")

    longest = max(map(len, rates.values()))
    place = slider(0, 0, longest - 1, 1, "its rate, from small to large", "420px")
    return live(draw, name=choice(by, "optimiser"), place=place)


Schedule = Callable[[int, int, int, float], float]
"""(step, total, warmup, floor) -> the factor of the learning rate."""


def schedule_playground(schedule: Schedule, *, total: int = 1000, yours: Schedule | None = None) -> Live:
    """A learning rate's factor over a training, with sliders for the warm-up and for where the cosine ends."""
    steps = np.arange(1, total + 1)

    def draw(schedule: Schedule, warmup: int, floor: float) -> str:
        factors = np.array([float(schedule(int(step), total, warmup, floor)) for step in steps])
        marks = {step: factors[step - 1] for step in (1, total // 2, total)}
        words = ", ".join(f"{factor:.3f} at step {step}" for step, factor in marks.items())
        return lines_svg(
            steps, {"factor of the learning rate": factors}, x_title="step", y_title="factor", low=0, high=1.1,
            width=760, height=330, alt=f"Warm-up {warmup} steps, floor {floor:g}: {words}.",
        ) + said(f"factor {words}; its mean is {factors.mean():.3f}")  # fmt: skip

    return live(
        draw,
        schedule,
        yours=yours,
        warmup=slider(0, 0, total // 2, 10, "steps of warm-up", "380px"),
        floor=slider(0.0, 0.0, 1.0, 0.05, "floor", "300px"),
    )
