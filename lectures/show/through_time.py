"""Backpropagation through time as a triangle: how much each pair of times, loss at t and use at k, adds to dL/dU."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.raster import diverging_rgb
from lectures.show.svg import svg, text

_WIDE, _TALL = 92.0, 40.0


def contributions_svg(
    contributions: ArrayLike,
    *,
    states: Sequence[float | int],
    slopes: Sequence[float | int],
    cut: int | None = None,
    symbol: str = "u",
) -> str:
    """Row t, column k: the loss at time t, differentiated through the use of U at time k, for k ≤ t.

    contributions (time, time); states h_0 … h_T; slopes ∂h_j/∂h_{j−1} for j = 1 … T, shown on the chain below.
    cut: pairs with t − k ≥ cut are crossed out, and left out of the sum (None: none).

    Raises ValueError for shapes that do not fit.
    """
    c = np.asarray(contributions, dtype=float)
    n = len(slopes)
    if c.shape != (n, n) or len(states) != n + 1:
        raise ValueError(
            f"contributions must be (time, time) = {(n, n)} with {n + 1} states, got {c.shape} and {len(states)}"
        )
    left, top = 116.0, 64.0
    reach = float(np.abs(c).max()) or 1.0
    colours = diverging_rgb(c, reach)
    body = [text(left, 20, f"what each pair adds to dL/d{symbol}", 17, more='font-weight="bold"')]
    kept = 0.0
    for t in range(n):
        y = top + _TALL * t
        body.append(text(left - 10, y + 26, f"loss at {t + 1}", 16, "end"))
        body.append(text(left + _WIDE * (t + 0.5), top - 10, f"used at {t + 1}", 15, "middle"))
        for k in range(t + 1):
            x, out = left + _WIDE * k, cut is not None and t - k >= cut
            kept += 0.0 if out else float(c[t, k])
            rgb = "#e9e9e9" if out else "#{:02x}{:02x}{:02x}".format(*(int(v) for v in colours[t, k]))
            ink = "#6a6a6a" if out else "#ffffff" if abs(c[t, k]) > 0.7 * reach else "#000000"
            body.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{_WIDE}" height="{_TALL}" fill="{rgb}" stroke="#b8b8b8"/>'
            )
            number = _signed(c[t, k], 4)
            line = "text-decoration:line-through;" if out else ""
            body.append(text(x + _WIDE / 2, y + 26, number, 16, "middle", f'style="{line}fill:{ink}"'))
    whole = float(np.tril(c).sum())
    under = top + _TALL * n
    total = f"sum {_signed(kept, 4)}" + ("" if cut is None else f" of {_signed(whole, 4)}")
    body.append(text(left, under + 30, total, 18, more='font-weight="bold"'))
    chain = under + 78
    body.append(text(left - 34, chain + 6, "states h", 16, "end"))
    pitch = _WIDE
    for j, h in enumerate(states):
        x = left + pitch * j
        body.append(f'<circle cx="{x:.1f}" cy="{chain:.1f}" r="25" fill="#fff" stroke="#0072B2" stroke-width="2.5"/>')
        body.append(text(x, chain + 5, _signed(h, 2), 15, "middle"))
        if j:
            start, end = x - pitch + 27, x - 27
            body.append(
                f'<line x1="{start:.1f}" x2="{end - 6:.1f}" y1="{chain:.1f}" y2="{chain:.1f}" stroke="#B34700"'
                f' stroke-width="2"/><path d="M{end:.1f},{chain:.1f} l-8,-5 v10 z" fill="#B34700"/>'
            )
            slope = f"×{_signed(slopes[j - 1], 2)}"
            body.append(text((start + end) / 2, chain + 46, slope, 16, "middle", 'style="fill:#B34700"'))
    body.append(text(left - 4, chain + 46, "∂hⱼ/∂hⱼ₋₁", 15, "end", 'style="fill:#B34700"'))
    says = (
        f"Contributions of {n} times to the gradient of {symbol}; their sum is {kept:.4f}"
        + ("" if cut is None else f" when only pairs less than {cut} apart count, {whole:.4f} with all of them")
        + f". The derivative of a state by the one before is {', '.join(f'{s:.2f}' for s in slopes)}."
    )
    return svg(left + _WIDE * n + 40, chain + 62, "".join(body), says)


def _signed(value: float | int | np.floating, digits: int) -> str:
    """A number with a proper minus sign, and none before a zero."""
    return f"{float(value):z.{digits}f}".replace("-", "\N{MINUS SIGN}")
