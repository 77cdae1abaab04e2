"""A recurrent network unrolled over time: boxes of states, arrows of weights; in layers, and in both directions."""

from collections.abc import Sequence

from lectures.show.svg import label_width, svg, text

_BOX, _TALL, _ROW = 54.0, 40.0, 92.0
_FORWARD, _BACKWARD, _OUTPUT = "#0072B2", "#B34700", "#E69F00"


def unrolled_svg(
    inputs: Sequence[str],
    outputs: Sequence[str | None],
    *,
    alt: str,
    layers: int = 1,
    both: bool = False,
    weights: bool = True,
    title: str = "",
) -> str:
    """One column per input, read from left to right; outputs stand above, None where there is none.

    both: each layer has a second row of states that reads from right to left. weights: write U, W and V at the first
    arrows of their kind.

    Raises ValueError if there is not one output (or None) per input, or no layer.
    """
    if len(inputs) != len(outputs) or not inputs:
        raise ValueError(f"unrolled_svg needs one output or None per input, got {len(inputs)} and {len(outputs)}")
    if layers < 1:
        raise ValueError(f"layers must be at least 1, got {layers}")
    said = [word for word in outputs if word is not None]
    pitch = max(_BOX + 42, label_width(inputs, 17) + 6, label_width(said, 16) + 6)
    left, top = 40.0, 34.0 if title else 8.0
    rows = 2 * layers if both else layers
    first = top + 40 + _ROW * 0.75 + (rows - 1) * _ROW  # the lowest row of states
    body = [text(0, 20, title, 17, more='font-weight="bold"')] if title else []
    for t, word in enumerate(inputs):
        x = left + pitch * (t + 0.5)
        body.append(text(x, first + _ROW, word, 17, "middle"))
        for row in range(rows):
            y, backward = first - _ROW * row, both and row % 2 == 1
            colour, name = (_BACKWARD, "h′") if backward else (_FORWARD, "h")
            body.append(_box(x, y, colour, f"{name}{_subscript(t + 1)}"))
            if row == 0:
                body.append(_arrow(x, y + _ROW - 18, x, y + _TALL / 2 + 3))
            else:
                shift = 16 if both else 0
                body.append(_arrow(x + shift, y + _ROW - _TALL / 2 - 2, x + shift, y + _TALL / 2 + 3))
            if t and not backward:
                body.append(_arrow(x - pitch + _BOX / 2 + 2, y, x - _BOX / 2 - 3, y))
            if t and backward:
                body.append(_arrow(x - _BOX / 2 - 2, y, x - pitch + _BOX / 2 + 3, y))
        above = first - _ROW * (rows - 1)
        if outputs[t] is not None:
            body.append(_arrow(x, above - _TALL / 2 - 2, x, above - _ROW * 0.75 + 14))
            wide = max(_BOX, label_width([str(outputs[t])], 16))
            body.append(
                f'<rect x="{x - wide / 2:.1f}" y="{above - _ROW * 0.75 - 18:.1f}" width="{wide:.1f}" height="30" rx="6"'
                f' fill="{_OUTPUT}"/>'
            )
            body.append(text(x, above - _ROW * 0.75 + 3, str(outputs[t]), 16, "middle"))
    if weights:
        x = left + pitch * 0.5
        body.append(text(x + 9, first + _ROW / 2 + 4, "W", 18, more='font-style="italic"'))
        if len(inputs) > 1:
            body.append(text(x + pitch / 2, first - 10, "U", 18, "middle", 'font-style="italic"'))
        k = next((t for t, word in enumerate(outputs) if word is not None), None)
        if k is not None:
            above = first - _ROW * (rows - 1)
            body.append(text(x + pitch * k + 9, above - _ROW * 0.75 + 36, "V", 18, more='font-style="italic"'))
    return svg(left * 2 + pitch * len(inputs), first + _ROW + 14, "".join(body), alt)


def _subscript(number: int) -> str:
    return "".join(chr(0x2080 + int(digit)) for digit in str(number))


def _box(x: float, y: float, colour: str, words: str) -> str:
    white = 'style="fill:#ffffff"'
    return (
        f'<rect x="{x - _BOX / 2:.1f}" y="{y - _TALL / 2:.1f}" width="{_BOX}" height="{_TALL}" rx="7" fill="{colour}"/>'
        + text(x, y + 6, words, 18, "middle", white)
    )


def _arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    """A straight arrow, level or upright."""
    if x == to_x:
        step = 8 if to_y < y else -8
        head = f"M{to_x:.1f},{to_y:.1f} l-5,{step} h10 z"
        end_x, end_y = to_x, to_y + step
    else:
        step = -8 if to_x > x else 8
        head = f"M{to_x:.1f},{to_y:.1f} l{step},-5 v10 z"
        end_x, end_y = to_x + step, to_y
    return (
        f'<line x1="{x:.1f}" y1="{y:.1f}" x2="{end_x:.1f}" y2="{end_y:.1f}" stroke="#555555" stroke-width="2"/>'
        f'<path d="{head}" fill="#555555"/>'
    )
