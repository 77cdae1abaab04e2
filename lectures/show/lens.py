"""What a model would say at every depth: a grid of guesses, one row per layer, one column per word that was read."""

import html
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.picture import COLOURS
from lectures.show.svg import blue, ink_on, label_width, svg, text

_HIGH, _TOP = 27.0, 66.0


def lens_svg(
    words: Sequence[str],
    depths: Sequence[str],
    guesses: Sequence[Sequence[str]],
    chances: ArrayLike,
    *,
    selected: int,
    title: str = "",
    note: str = "",
) -> str:
    """guesses, chances (depth, word): the likeliest next word and its probability, the darker the surer.

    The words that were read stand below, the deepest row on top. Column `selected` is framed. A cell tells its
    probability when the pointer rests on it; what is longer than the cell is cut off and told there, too.

    Raises ValueError if there is not one guess and one chance per depth and word, or no such column.
    """
    p = np.asarray(chances, dtype=float)
    shape = (len(depths), len(words))
    if p.shape != shape or len(guesses) != shape[0] or any(len(row) != shape[1] for row in guesses):
        raise ValueError(
            f"lens_svg needs a guess and a chance for each of {shape[0]} depths and {shape[1]} words, got chances"
            f" {p.shape} and rows of {sorted({len(row) for row in guesses})} guesses"
        )
    if not p.size or not 0 <= selected < len(words):
        raise ValueError(f"selected={selected} is none of {len(words)} columns of {len(depths)} depths")
    left = label_width(depths)
    wide = max(46.0, min(104.0, (960 - left) / len(words)))
    base = _TOP + _HIGH * len(depths)
    room = int(wide / 9.6)  # letters of size 15
    body = [text(0, 20, title, 17, more='font-weight="bold"'), text(left, _TOP - 12, "what would come next:", 15)]
    for i, depth in enumerate(depths):
        y = base - _HIGH * (i + 1)
        body.append(text(left - 7, y + 19, depth, 15, "end"))
        for j, guess in enumerate(guesses[i]):
            x = left + wide * j
            cut = guess if len(guess) <= room else guess[: room - 1] + "…"
            says = html.escape(f"{depth}, after {words[j]!r}: {guess!r} with {p[i, j]:.2f}")
            body.append(
                f'<rect x="{x:.1f}" y="{y:.1f}" width="{wide:.1f}" height="{_HIGH}" fill="{blue(p[i, j])}"'
                f' stroke="#d0d0d0" stroke-width="0.6"><title>{says}</title></rect>'
            )
            ink = f'style="fill:{ink_on(p[i, j])}" pointer-events="none"'
            body.append(text(x + wide / 2, y + 19, cut, 15, "middle", ink))
    for j, word in enumerate(words):
        bold = 'font-weight="bold"' if j == selected else ""
        x, y = left + wide * (j + 0.45), base + 20
        body.append(text(x, y, word, 15, "start", f'transform="rotate(40 {x:.1f} {y:.1f})" {bold}'))
    body.append(
        f'<rect x="{left + wide * selected:.1f}" y="{_TOP - 2}" width="{wide:.1f}" height="{base - _TOP + 4:.1f}"'
        f' fill="none" stroke="{COLOURS[1]}" stroke-width="3.5"/>'
    )
    below = base + 34 + 7.0 * max(len(word) for word in words)
    body.append(text(0, below, note, 16))
    column = "; ".join(f"{depth}: {row[selected]!r} {p[i, selected]:.2f}" for i, (depth, row) in _rows(depths, guesses))
    alt = f"{title}. After {words[selected]!r} the likeliest next words are, from below: {column}. {note}"
    across = max(left + wide * len(words) + 60, *(9.2 * len(line) for line in (title, note)))
    return svg(across, below + 14, "".join(body), alt)


def _rows(depths: Sequence[str], guesses: Sequence[Sequence[str]]) -> list[tuple[int, tuple[str, Sequence[str]]]]:
    return list(enumerate(zip(depths, guesses, strict=True)))
