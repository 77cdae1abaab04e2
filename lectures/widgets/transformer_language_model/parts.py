"""The parts of a block: a norm, the sizes of a model, and where the norm is in a deep stack."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lectures.show import Live, bar_list_svg, beside, choice, lines_svg, live, menu, said, slider, stops

Norm = Callable[[Tensor], Tensor]
"""x (..., feature) -> the normalised x, without gain and bias."""


def norm_playground(norms: Mapping[str, Norm], x: Sequence[float], *, yours: Mapping[str, Norm] | None = None) -> Live:
    """A vector is multiplied and shifted; below is what the norm makes of it.

    norms: by name. Raises ValueError, in the picture's place, for a norm that changes the shape.
    """
    given = torch.tensor(x)

    def draw(norms: Mapping[str, Norm], norm: str, times: float, plus: float) -> str:
        before = times * given + plus
        after = torch.as_tensor(norms[norm](before)).detach()
        if after.shape != before.shape:
            raise ValueError(f"{norm} must return {tuple(before.shape)} values, got {tuple(after.shape)}")
        at = np.arange(1, len(after) + 1)
        mean, size = after.mean().item(), after.square().mean().sqrt().item()
        pictures = [
            lines_svg(
                at, {name: values.numpy()}, x_title="feature", y_title="value", low=-reach, high=reach, level=0, width=400,
                height=300, title=name, alt=f"{name}: {_listed(values)}.",
            )
            for name, values, reach in (("x", before, 25), (f"{norm}(x)", after, 3))
        ]  # fmt: skip
        return beside(*pictures) + said(f"{norm}(x): mean {mean:+.2f}, root mean square {size:.2f}; {_listed(after)}")

    return live(
        draw,
        norms,
        yours=yours,
        rows=[["norm"], ["times", "plus"]],
        norm=choice(norms, "norm"),
        times=slider(1.0, 0.25, 10.0, 0.25, "multiply x by"),
        plus=slider(0.0, -5.0, 5.0, 0.5, "and add"),
    )


def _listed(values: Tensor) -> str:
    return ", ".join(f"{value:.2f}" for value in values.tolist())


Count = Callable[[int, int, int, int], tuple[Mapping[str, float], Mapping[str, float]]]
"""(d_model, layers, vocab_size, n) -> parameters by part, and multiply-adds per token by part in a text of n."""


def size_playground(
    count: Count, models: Mapping[str, tuple[int, int, int, int]], *, yours: Count | None = None
) -> Live:
    """How many parameters each part has, and how many multiply-adds a token costs; models: name -> sizes to start from.

    The sliders change one size at a time, as powers of two times the model's own.
    """
    times = {"÷ 4": 0.25, "÷ 2": 0.5, "its own": 1.0, "× 2": 2.0, "× 4": 4.0}

    def draw(count: Count, model: str, width: float, depth: float, length: float) -> str:
        d_model, layers, vocab_size, n = models[model]
        sizes = max(1, round(d_model * width)), max(1, round(layers * depth)), vocab_size, max(1, round(n * length))
        parameters, products = count(*sizes)
        title = f"width {sizes[0]:,}, {sizes[1]} layers, a text of {sizes[3]:,} tokens"
        charts = [
            bar_list_svg(
                list(of.values()), list(of), says=[_in_words(value) for value in of.values()], title=name, width=470
            )
            for name, of in (("parameters", parameters), ("multiply-adds per token", products))
        ]
        words = f"{title}: {_in_words(sum(parameters.values()))} parameters,"
        return beside(*charts) + said(f"{words} {_in_words(sum(products.values()))} multiply-adds per token")

    return live(
        draw,
        count,
        yours=yours,
        rows=[["model"], ["width", "depth", "length"]],
        model=menu(models, "model", "420px"),
        width=stops(times.items(), 1.0, "width", "280px"),
        depth=stops(times.items(), 1.0, "layers", "280px"),
        length=stops(times.items(), 1.0, "length of text", "300px"),
    )


def _in_words(value: float) -> str:
    for unit, name in ((1e9, " billion"), (1e6, " million"), (1e3, " thousand")):
        if value >= unit:
            return f"{value / unit:.3g}{name}"
    return f"{value:.0f}"


Depth = Callable[[str, int], tuple[Sequence[float], Sequence[float]]]
"""(norm position, layers) -> the size of the pathway after every layer, and of the gradient at every layer's matrix."""


def depth_playground(measure: Depth, positions: Sequence[str], depths: Sequence[int]) -> Live:
    """A slider of depth: how large the pathway is after each layer, and the gradient of each layer's last matrix.

    All are measured when the playground is made: moving a slider only draws.
    """
    measured: dict[Any, Any] = {(norm, depth): measure(norm, depth) for norm in positions for depth in depths}
    logs = {key: [np.log10(np.maximum(values, 1e-9)) for values in both] for key, both in measured.items()}
    ends = [
        (np.floor(min(both[i].min() for both in logs.values())), np.ceil(max(both[i].max() for both in logs.values())))
        for i in (0, 1)
    ]

    @lru_cache(maxsize=64)
    def draw(depth: int) -> str:
        pictures = []
        for i, (title, name) in enumerate((("size of the pathway", "size"), ("gradient of each layer", "norm"))):
            lines = {norm: logs[norm, depth][i] for norm in positions}
            told = "; ".join(
                f"{norm} {10 ** line[0]:.2g} at the first layer, {10 ** line[-1]:.2g} at the last"
                for norm, line in lines.items()
            )
            low, high = float(ends[i][0]), float(max(ends[i][1], ends[i][0] + 1))
            pictures.append(
                lines_svg(
                    np.arange(1, depth + 1),
                    lines,
                    x_title="layer",
                    y_title=name,
                    low=low,
                    high=high,
                    powers=True,
                    width=430,
                    height=330,
                    title=title,
                    alt=f"{title}, {depth} layers: {told}.",
                )
            )
        ratios = ", ".join(
            f"{norm} {measured[norm, depth][1][0] / measured[norm, depth][1][-1]:.2g}" for norm in positions
        )
        return beside(*pictures) + said(f"{depth} layers: gradient at the first layer ÷ at the last: {ratios}")

    return live(draw, play="depth", depth=stops(depths, depths[len(depths) // 2], "layers"))
