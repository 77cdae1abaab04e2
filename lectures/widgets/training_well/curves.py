"""Losses by step: remedies for overfitting, and trainings with one fault each."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from lectures.show import Live, bands_svg, beside, choice, lines_svg, live, menu, said
from nlmcore.metrics import mean_interval


def remedies_explorer(result: Mapping[str, Any]) -> Live:
    """Training and dev loss of every remedy at every strength, as bands over all seeds, with the untreated dev loss."""
    options = {
        f"{remedy} {strength}".strip(): curves
        for remedy, strengths in result["curves"].items()
        for strength, curves in strengths.items()
    }
    untreated = options["nothing"]["dev"]

    def draw(remedy: str) -> str:
        curves = options[remedy]
        runs = {"training": curves["train"], "dev": curves["dev"], "dev, no remedy": untreated}
        ends = {part: mean_interval([seed[-1] for seed in seeds]) for part, seeds in curves.items()}
        words = ", ".join(f"{part} {mean:.2f} ± {half:.2f}" for part, (mean, half) in ends.items())
        return bands_svg(
            result["points"], runs, x_title="step", y_title="nats per character", low=0, high=7, width=820, height=390,
            title=remedy, alt=f"Loss by step, {remedy}. At the end {words}.",
        ) + said(f"{remedy}, at the end: {words}")  # fmt: skip

    return live(draw, remedy=menu(options, "remedy", "380px"))


def patients(charts: Mapping[str, tuple[Sequence[float], Sequence[float]]], guess: float) -> Live:
    """Trainings with one fault each: the loss and the gradient's norm by step. charts: name -> (losses, norms)."""

    def draw(patient: str) -> str:
        losses, norms = (np.asarray(values, dtype=float) for values in charts[patient])
        steps = np.arange(1, len(losses) + 1)
        told = f"loss {losses[0]:.2f} at the first step, {losses[-10:].mean():.2f} over the last ten"
        loss = lines_svg(
            steps, {"loss": losses}, x_title="step", y_title="nats per character", low=0, high=8, level=guess,
            width=440, height=330, title=patient, alt=f"{patient}: {told}; the thin line marks guessing, {guess:.2f}.",
        )  # fmt: skip
        size = lines_svg(
            steps, {"gradient norm": np.log10(np.maximum(norms, 1e-12))}, x_title="step", y_title="norm", low=-6,
            high=4, powers=True, width=440, height=330, title="gradient",
            alt=f"Gradient norm of {patient}: {norms[0]:.2g} at the first step, {norms[-1]:.2g} at the last.",
        )  # fmt: skip
        return beside(loss, size) + said(f"{patient}: {told}; guessing gives {guess:.2f}")

    return live(draw, patient=choice(charts, "patient"))
