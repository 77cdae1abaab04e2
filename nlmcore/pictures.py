"""Two small pictures without any drawing library: curves, and a matrix of weights, as SVG.

    History.plot().save("losses.svg")
    attention_picture(tape["layers.0.attention"][0, 0], tokenizer.pieces(ids)).save("attention.svg")

Blue on white and dashes, not hues, tell things apart.
"""

import html
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from jaxtyping import Float
from torch import Tensor

from nlmcore.checks import checked

__all__ = ["Picture", "attention_picture", "curves"]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 560, 300, 56, 36
_DASHES = ("", "7 4", "2 3", "9 3 2 3")
_MOST = 600  # points of a curve; longer ones are averaged


class Picture(NamedTuple):
    """An SVG image."""

    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the file."""
        Path(path).expanduser().write_text(self.svg, encoding="utf-8")


def curves(lines: Mapping[str, Mapping[int, float]], x: str = "step", y: str = "loss") -> Picture:
    """Every line as {step: value}, on common axes; long ones as means of neighbours. Raises ValueError for no point."""
    shown = {name: _thinned(points) for name, points in lines.items() if points}
    values = [value for points in shown.values() for _, value in points if math.isfinite(value)]
    if not values:
        raise ValueError("lines must hold at least one finite number, got none")
    last = max(step for points in shown.values() for step, _ in points)
    low, high = min(values), max(values)
    high = high if high > low else low + 1.0
    across, up = _WIDTH - _LEFT - 12, _HEIGHT - _BOTTOM - 12

    def place(step: float | int, value: float) -> str:
        return f"{_LEFT + across * step / max(last, 1):.1f},{12 + up * (high - value) / (high - low):.1f}"

    parts = [f'<path d="M{_LEFT} 12V{12 + up}H{_LEFT + across}" fill="none" stroke="#666"/>']
    for i in range(5):
        value = low + (high - low) * i / 4
        at = place(0, value).split(",")[1]
        parts.append(f'<text x="{_LEFT - 6}" y="{at}" text-anchor="end" dominant-baseline="middle">{value:.3g}</text>')
    parts += [_text(_LEFT, _HEIGHT - 18, "0"), _text(_LEFT + across, _HEIGHT - 18, f"{last} {x}", "end")]
    for k, (name, points) in enumerate(shown.items()):
        dash = _DASHES[k % len(_DASHES)]
        line = " ".join(place(step, value) for step, value in points if math.isfinite(value))
        parts.append(f'<polyline points="{line}" fill="none" stroke="#08519c" stroke-dasharray="{dash}"/>')
        parts.append(_text(_LEFT + across, 26 + 18 * k, ("- - " if dash else "— ") + name, "end"))
    says = "; ".join(f"{name} from {points[0][1]:.3g} to {points[-1][1]:.3g}" for name, points in shown.items())
    return _picture(_WIDTH, _HEIGHT, f"{y} by {x}: {says}", parts)


@checked
def attention_picture(weights: Float[Tensor, "query key"], pieces: Sequence[str]) -> Picture:
    """Each row: how much one token attends to every token, darker for more. `pieces`: what each token stands for.

    Raises ValueError unless there is one piece per token.
    """
    if {len(pieces)} != set(weights.shape):
        raise ValueError(f"pieces must be as many as the weights, {tuple(weights.shape)}, got {len(pieces)}")
    names = [piece.replace("\n", "⏎").replace(" ", "·") for piece in pieces]
    left, cell = 12 + 9 * max(map(len, names)), 22
    parts = []
    for i, (name, row) in enumerate(zip(names, weights.tolist(), strict=True)):
        parts.append(_text(left - 6, left + cell * i + 15, name, "end"))
        parts.append(f'<text transform="translate({left + cell * i + 15},{left - 6}) rotate(-90)">{_safe(name)}</text>')
        for j, weight in enumerate(row):
            place = f'x="{left + cell * j}" y="{left + cell * i}" width="{cell}" height="{cell}"'
            label = f"<title>{_safe(name)} to {_safe(names[j])}: {weight:.2f}</title>"
            parts.append(f'<rect {place} fill="#08519c" fill-opacity="{weight:.3f}" stroke="#ddd">{label}</rect>')
    size = left + cell * len(names) + 12
    best = weights.argmax(dim=1).tolist()
    says = "; ".join(f"{name} mostly to {names[j]}" for name, j in zip(names, best, strict=True))
    return _picture(size, size, f"attention of each token (row) to each (column): {says}", parts)


def _thinned(points: Mapping[int, float]) -> list[tuple[float, float]]:
    pairs = sorted(points.items())
    n = -(-len(pairs) // _MOST)
    groups = [pairs[i : i + n] for i in range(0, len(pairs), n)]
    return [(sum(s for s, _ in group) / len(group), sum(v for _, v in group) / len(group)) for group in groups]


def _safe(text: str) -> str:
    return html.escape("".join(c if c.isprintable() else "·" for c in text))


def _text(x: float | int, y: float | int, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{_safe(text)}</text>'


def _picture(width: int, height: int, says: str, parts: Sequence[Any]) -> Picture:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img"'
    style = 'font-family="sans-serif" font-size="13" style="background:#fff"'
    return Picture(f'{head} aria-label="{_safe(says)}" {style}>{"".join(parts)}</svg>')
