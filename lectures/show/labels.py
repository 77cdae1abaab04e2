"""What a recurrent network says of every word: marks put back, a verdict that grows with each word."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import FAINT, blue, ink_on, label_width, svg, text


def restored_svg(
    plain: Sequence[str], restored: Sequence[str], sure: ArrayLike, *, per_line: int = 9, note: str = ""
) -> str:
    """Every word as it came in, and above it as it goes out, on a blue as dark as the model is sure of its answer.

    Raises ValueError if the three differ in length, or there is no word.
    """
    chance = np.asarray(sure, dtype=float)
    if not len(plain) == len(restored) == len(chance) or not len(plain):
        raise ValueError(
            f"restored_svg needs one restored word and one number per word, and at least one word: got {len(plain)}"
            f" words, {len(restored)} restored and {chance.shape}"
        )
    wide = [
        max(label_width([word], 19), label_width([old], 15), 58.0) + 4
        for word, old in zip(restored, plain, strict=True)
    ]
    lines = [range(i, min(i + per_line, len(plain))) for i in range(0, len(plain), per_line)]
    body = []
    for row, line in enumerate(lines):
        x, y = 0.0, 8.0 + 92 * row
        for i in line:
            fill = blue(chance[i] * 0.62)
            body.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide[i] - 4:.1f}" height="36" rx="5" fill="{fill}"/>')
            body.append(
                text(
                    x + (wide[i] - 4) / 2, y + 25, restored[i], 19, "middle", f'style="fill:{ink_on(chance[i] * 0.62)}"'
                )
            )
            body.append(text(x + (wide[i] - 4) / 2, y + 56, plain[i], 15, "middle", 'style="fill:#595959"'))
            body.append(text(x + (wide[i] - 4) / 2, y + 76, f"{chance[i]:.2f}", 15, "middle"))
            x += wide[i]
    width, height = max(sum(wide[i] for i in line) for line in lines), 8.0 + 92 * len(lines)
    if note:
        body.append(text(0, height + 14, note, 16))
        width, height = max(width, len(note) * 8.8), height + 26
    return svg(width, height, "".join(body), f"Restored: {' '.join(restored)} {note}".strip())


def verdict_svg(
    words: Sequence[str],
    chances: ArrayLike,
    *,
    low: str,
    high: str,
    read: int | None = None,
    unknown: Sequence[bool] | None = None,
) -> str:
    """The probability of `high` (against `low`) after each word, as a line above the words, for the first `read`.

    unknown: words that the model has read as <unk>, written in grey and in italics.

    Raises ValueError for lengths that do not fit, or without a word.
    """
    p = np.asarray(chances, dtype=float)
    read = len(words) if read is None else read
    if p.shape != (len(words),) or not len(words) or not 1 <= read <= len(words):
        raise ValueError(
            f"verdict_svg needs one probability per word and read in [1, {len(words)}], got {p.shape} and read={read}"
        )
    grey = [False] * len(words) if unknown is None else list(unknown)
    left, top, tall = 96.0, 42.0, 190.0
    pitch = max(30.0, min(64.0, 900.0 / len(words)))
    base = top + tall
    right = left + pitch * len(words)

    def at(t: int) -> tuple[float, float]:
        return left + pitch * (t + 0.5), top + tall * (1 - p[t])

    body = []
    for level, name in ((1.0, high), (0.5, "0.5"), (0.0, low)):
        y = top + tall * (1 - level)
        body.append(f'<line x1="{left}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}" stroke="{FAINT}" stroke-width="0.8"/>')
        body.append(text(left - 8, y + 5, name, 16, "end"))
    points = [at(t) for t in range(read)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    body.append(f'<polyline points="{path}" fill="none" stroke="#0072B2" stroke-width="3"/>')
    for t, (x, y) in enumerate(points):
        radius = 7 if t == read - 1 else 4
        body.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{"#D55E00" if radius == 7 else "#0072B2"}"/>'
        )
    for t, word in enumerate(words):
        x = left + pitch * (t + 0.5)
        colour = "#b0b0b0" if t >= read else "#767676" if grey[t] else "#1a1a1a"
        style = "italic" if grey[t] else "normal"
        turn = f'transform="rotate(40 {x:.1f} {base + 22:.1f})" style="fill:{colour};font-style:{style}"'
        body.append(text(x, base + 22, word, 16, "start", turn))
    now = f"after {read} word{'s' if read > 1 else ''}: P({high}) = {p[read - 1]:.2f}"
    body.append(text(left, 22, now, 18, more='font-weight="bold"'))
    width = right + 0.75 * label_width(words, 16) + 10
    return svg(width, base + 40 + 0.7 * label_width(words, 16), "".join(body), f"“{' '.join(words[:read])}”, {now}.")
