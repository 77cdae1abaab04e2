"""Rank collapse: how different the tokens still are after every layer, in random networks and in trained ones."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

import numpy as np
from torch import Tensor

from lectures.show import Live, bands_svg, choice, lines_svg, live, said, scientific, stops, tick

Residual = Callable[[Tensor], Tensor]
"""X (seed, time, d_model) -> how far the tokens are from being all the same, (seed)."""
Trace = Callable[[float, int, bool, bool, bool], Sequence[Tensor]]
"""(size of the first weights, heads, skips, networks, causal mask) -> X before the first layer and after every layer."""
Bound = Callable[[float, int], Sequence[Sequence[float]]]
"""(size, heads) -> by seed: log₁₀ of the bound on the residual, before the first layer and after every layer."""

_LOWEST = -24.0


def collapse_playground(
    residual: Residual,
    trace: Trace,
    bound: Bound,
    norm: Residual,
    *,
    sizes: Sequence[float],
    heads: Sequence[int] = (1, 2, 4),
    yours: Residual | None = None,
) -> Live:
    """The residual after every layer of random networks, the mean and range of several seeds, beside the bound.

    norm: the size of X, by which the residual may be divided.
    """
    traced = lru_cache(maxsize=256)(trace)

    @lru_cache(maxsize=256)
    def logs(residual: Residual, divided: bool, size: float, heads: int, *parts: bool) -> np.ndarray:
        values = [residual(x) / (norm(x) if divided else 1) for x in traced(size, heads, *parts)]
        return np.array([np.log10(np.maximum(v.numpy(), 10**_LOWEST)) for v in values]).T

    def draw(residual: Residual, size: float, heads: int, skips: bool, networks: bool, causal: bool, shown: str) -> str:
        divided, parts = shown != "residual", {"skips": skips, "networks": networks, "causal mask": causal}
        runs = {"attention only": logs(residual, divided, size, heads, False, False, False)}
        if any(parts.values()):
            name = " + ".join(["attention", *(part for part, there in parts.items() if there)])
            runs[name] = logs(residual, divided, size, heads, *parts.values())
        told = "; ".join(
            f"{name} {', '.join(_power(value) for value in of.mean(0)[1:4])} … {_power(of.mean(0)[-1])}"
            for name, of in runs.items()
        )
        if not divided:
            runs["bound for attention only"] = np.clip(np.array(bound(size, heads)), -99, 99)
            limit = ", ".join(_power(value) for value in runs["bound for attention only"].mean(0)[1:4])
            told += f"; bound {limit} …"
        layers = np.arange(runs["attention only"].shape[1])
        return bands_svg(
            layers, runs, x_title="layer", y_title=shown, low=-18, high=2 if divided else 8, powers=True, columns=2,
            alt=f"{shown}, first weights of size {size:g}, {heads} heads, after layers 1, 2, 3 and the last: {told}.",
            width=760, height=390,
        ) + said(f"after layers 1, 2, 3 … {len(layers) - 1}: {told}")  # fmt: skip

    return live(
        draw,
        residual,
        yours=yours,
        rows=[["size", "heads"], ["skips", "networks", "causal", "shown"]],
        size=stops(sizes, 1.0, "size of first weights", "360px"),
        heads=stops(heads, 1, "heads", "240px"),
        skips=tick("skips"),
        networks=tick("networks"),
        causal=tick("causal mask"),
        shown=choice(["residual", "residual ÷ size of X"], "shown"),
    )


def _power(log: float) -> str:
    """The number in words, as far as it can be told."""
    if log <= _LOWEST + 1 or log >= 98:
        return "0" if log < 0 else "above 10⁹⁸"
    return scientific(log)


def removal_explorer(
    residuals: Mapping[str, Mapping[str, Sequence[float]]], losses: Mapping[str, float], *, first: str = "as trained"
) -> Live:
    """Model -> what was removed -> the relative residual after every layer; losses: of one model, by what was removed."""
    removed = [name for name in next(iter(residuals.values())) if name != first]

    def draw(model: str, what: str) -> str:
        lines = {name: np.log10(np.maximum(residuals[model][name], 1e-8)) for name in (first, what)}
        told = "; ".join(f"{name} {residuals[model][name][-1]:.2g} after the last layer" for name in lines)
        words = f"{model}: {told}"
        if model == next(iter(residuals)):
            words += f". Loss per token: {first} {losses[first]:.1f}, {what} {losses[what]:.1f} nats"
        return lines_svg(
            np.arange(len(residuals[model][first])), lines, x_title="layer", y_title="residual ÷ size of X", low=-8,
            high=0.5, powers=True, alt=f"{words}.", width=720, height=350,
        ) + said(words)  # fmt: skip

    return live(
        draw,
        rows=[["model"], ["what"]],
        model=choice(residuals, "model"),
        what=choice(removed, "removed"),
    )
