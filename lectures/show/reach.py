"""Which words can a prediction see? Layers above words, and every path that leads to one prediction."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.svg import FAINT, INK, blue, ink_on, svg, text

Place = tuple[int, int]
"""(row, time): row 0 are the words, the highest row is what the prediction is made from."""

_ROW, _WIDE = 62.0, 900.0


def reach_svg(
    words: Sequence[str],
    rows: Sequence[str],
    edges: Collection[tuple[Place, Place]],
    target: Place,
    strength: ArrayLike,
    *,
    title: str = "",
    notes: Sequence[str] = (),
) -> str:
    """All nodes and edges, those that lead to `target` in blue; below, each word in the tint of what was measured.

    rows: the name of every row but the words', from below; edges: (from, to). strength (time,): how much the
    prediction changes with each word, 0 where it does not; the largest is darkest.

    Raises ValueError if strength and words differ in number, or there is no row.
    """
    measured = np.asarray(strength, dtype=float)
    if measured.shape != (len(words),) or not rows:
        raise ValueError(
            f"reach_svg needs one strength per word and a row, got {measured.shape} for {len(words)} words"
        )
    lit = {target}
    below: dict[Place, list[Place]] = {}
    for source, end in edges:
        below.setdefault(end, []).append(source)
    stack = [target]
    while stack:
        for source in below.get(stack.pop(), []):
            if source not in lit:
                lit.add(source)
                stack.append(source)
    left = max(len(name) for name in rows) * 9.2 + 14
    cell = (_WIDE - left) / len(words)
    top = 44.0
    base = top + _ROW * len(rows)

    def at(place: Place) -> tuple[float, float]:
        return left + (place[1] + 0.5) * cell, base - _ROW * place[0] + 12

    body = [text(0, 20, title, 17, more='font-weight="bold"')]
    grey: list[str] = []
    bright: list[str] = []
    for source, end in edges:
        (x0, y0), (x1, y1) = at(source), at(end)
        if source[0] == 0:
            y0 -= 12
        path = f"M{x0:.1f},{y0:.1f} L{x1:.1f},{y1:.1f}"
        (bright if end in lit else grey).append(path)
    body.append(f'<path d="{" ".join(grey)}" stroke="#dcdcdc" stroke-width="1" fill="none"/>')
    thin = 'stroke-width="0.8" opacity="0.45"' if len(bright) > 120 else 'stroke-width="1.8"'
    body.append(f'<path d="{" ".join(bright)}" stroke="#0072B2" {thin} fill="none"/>')
    for row, name in enumerate(rows, start=1):
        body.append(text(0, at((row, 0))[1] + 5, name, 15))
        for time in range(len(words)):
            x, y = at((row, time))
            is_target = (row, time) == target
            fill = "#D55E00" if is_target else "#0072B2" if (row, time) in lit else "#ffffff"
            body.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{10 if is_target else 7}" fill="{fill}" stroke="{FAINT}"/>'
            )
    largest = max(float(measured.max()), 1e-30)
    size = min(15.0, cell / max(len(word) for word in words) * 1.62)
    for time, (word, value) in enumerate(zip(words, measured, strict=True)):
        # a root, so that small influences can be seen; what is exactly 0 stays white
        tint = 0.15 + 0.85 * (value / largest) ** 0.5 if value > 0 else 0.0
        x = left + time * cell
        body.append(
            f'<rect x="{x + 1:.1f}" y="{base}" width="{cell - 2:.1f}" height="34" fill="{blue(tint)}"'
            f' stroke="{FAINT}"/>'
        )
        body.append(text(x + cell / 2, base + 22, word, size, "middle", f'style="fill:{ink_on(tint)}"'))
    seen = [word for word, value in zip(words, measured, strict=True) if value > 0]
    drawn = sum(row == 0 for row, _ in lit)
    body += [text(0, base + 66 + 26 * i, note, 17, more=f'style="fill:{INK}"') for i, note in enumerate(notes)]
    says = f"{title}. The prediction after '{words[target[1]]}' can be reached from {drawn} words in the drawing;"
    says += f" measured by gradients it depends on {len(seen)}: {' '.join(seen)}. {' '.join(notes)}"
    return svg(_WIDE, base + 52 + 26 * len(notes), "".join(body), says)
