"""A signal through many layers, and its gradient back."""

from collections.abc import Callable, Sequence

import numpy as np

from lectures.show import Live, beside, choice, lines_svg, live, said, slider, tick


Signal = Callable[[float, str, bool], tuple[Sequence[float], Sequence[float]]]
"""(gain, activation, norm) -> the size of the signal after each layer, and of the gradient at each layer."""


def signal_playground(signal: Signal, activations: Sequence[str], *, yours: Signal | None = None) -> Live:
    """A slider for the gain of the initial weights: the signal's size layer by layer, and the gradient's."""

    def logs(values: Sequence[float]) -> np.ndarray:
        array = np.array([float(v) for v in values])
        return np.log10(np.where(np.isfinite(array) & (array > 0), array, np.nan))

    def draw(signal: Signal, gain: float, activation: str, norm: bool) -> str:
        forward, backward = signal(gain, activation, norm)
        title = f"gain {gain:.2f}, {activation}{', LayerNorm' if norm else ''}"
        panels = [
            lines_svg(
                np.arange(len(values)), {name: logs(values)}, title=title, x_title="layer", y_title="size", low=-24,
                high=24, powers=True, level=0, width=420, height=330,
                alt=f"Size of the {name}, {title}: {float(values[0]):.2g} at layer 0, {float(values[-1]):.2g} at"
                f" layer {len(values) - 1}.",
            )
            for name, values in {"signal, forward": forward, "gradient, backward": backward}.items()
        ]  # fmt: skip
        words = f"the signal is {float(forward[-1]):.2g} after {len(forward) - 1} layers;"
        return beside(*panels) + said(
            f"{words} the gradient at layer 0 is {float(backward[0]):.2g} times that at the top"
        )

    gains = slider(1.0, 0.1, 2.5, 0.01, "gain: standard deviation × √n", "380px")
    return live(
        draw, signal, yours=yours, rows=[["gain", "norm"], ["activation"]], gain=gains,
        activation=choice(activations, "activation"), norm=tick("LayerNorm"),
    )  # fmt: skip
