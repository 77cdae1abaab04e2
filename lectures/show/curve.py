"""A curve that grows while a model trains, cheap enough to be redrawn many times a second."""

from collections.abc import Mapping, Sequence

from lectures.show.svg import FAINT, svg, text

_WIDE, _HIGH, _LEFT, _TOP = 640.0, 260.0, 62.0, 34.0


def curve_svg(
    losses: Sequence[float | int], validation: Mapping[int, float | int] | None = None, *, title: str = "loss"
) -> str:
    """losses[i] belongs to step i + 1; validation: step -> held-out loss, as diamonds. At most 600 points are drawn.

    Raises ValueError if there is no loss yet.
    """
    if not losses:
        raise ValueError("curve_svg needs at least one loss")
    held_out = dict(validation or {})
    every = max(1, len(losses) // 600)
    points = [(i + 1, losses[i]) for i in range(0, len(losses), every)]
    if points[-1][0] != len(losses):
        points.append((len(losses), losses[-1]))
    values = [y for _, y in points] + list(held_out.values())
    low, high = min(values), max(values)
    span = (high - low) or 1.0
    steps = max(len(losses), max(held_out, default=1))

    def at(step: int, loss: float | int) -> tuple[float, float]:
        return _LEFT + (_WIDE - _LEFT - 20) * step / steps, _TOP + (_HIGH - _TOP - 40) * (high - loss) / span

    base = _HIGH - 40
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(step, loss) for step, loss in points))
    body = [
        text(_LEFT, 20, title, 16, more='font-weight="bold"'),
        f'<line x1="{_LEFT}" x2="{_WIDE - 20}" y1="{base}" y2="{base}" stroke="{FAINT}"/>',
        f'<line x1="{_LEFT}" x2="{_LEFT}" y1="{_TOP}" y2="{base}" stroke="{FAINT}"/>',
        text(_LEFT - 6, _TOP + 6, f"{high:.2f}", 14, "end"),
        text(_LEFT - 6, base, f"{low:.2f}", 14, "end"),
        text(_WIDE - 20, base + 24, f"step {steps:,}", 14, "end"),
        f'<polyline points="{line}" fill="none" stroke="#0072B2" stroke-width="2"/>',
    ]
    for step, loss in held_out.items():
        x, y = at(step, loss)
        body.append(f'<path d="M{x:.1f},{y - 7:.1f} l7,7 l-7,7 l-7,-7 z" fill="#D55E00" stroke="#fff"/>')
    said = f"{title} after {len(losses)} steps: {losses[-1]:.3f}; it began at {losses[0]:.3f}."
    if held_out:
        step = max(held_out)
        said += f" Held out (diamonds), at step {step}: {held_out[step]:.3f}."
        body.append(text(_WIDE - 20, 20, f"◆ held out {held_out[step]:.3f}", 15, "end", 'style="fill:#B34700"'))
    return svg(_WIDE, _HIGH, "".join(body), said)
