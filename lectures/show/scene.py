"""A picture and where a captioner looks in it: one copy of the picture per word, its parts framed by their weights."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.raster import image_svg
from lectures.show.svg import svg, text

_SIDE, _GAP, _TOP = 204.0, 30.0, 34.0


def scene_svg(
    image: ArrayLike, looks: Sequence[tuple[str, ArrayLike]], *, title: str = "the picture", note: str = ""
) -> str:
    """image (height, width), 0 white and 1 dark; looks: (word, weights (row, column) over the parts of a grid).

    Left the picture alone, then once for each word: the thicker a part's frame, the more weight it has; weights of
    0.05 and more are written in.

    Raises ValueError if the image or some weights are no matrices.
    """
    ink = np.asarray(image, dtype=float)
    maps = [(word, np.asarray(weights, dtype=float)) for word, weights in looks]
    if ink.ndim != 2 or any(weights.ndim != 2 for _, weights in maps):
        raise ValueError(f"image and weights must be matrices, got {ink.shape} and {[w.shape for _, w in maps]}")
    body, said = [], []
    for panel, (word, weights) in enumerate([(title, None), *maps]):
        x = 4 + panel * (_SIDE + _GAP)
        body.append(text(x, 20, word, 16, more='font-weight="bold"'))
        body.append(image_svg(-ink, x, _TOP, _SIDE, _SIDE))
        if weights is None:
            continue
        rows, columns = weights.shape
        high, wide = _SIDE / rows, _SIDE / columns
        for (i, j), weight in np.ndenumerate(weights):
            if weight >= 0.05:
                left, up, thick = x + wide * j, _TOP + high * i, 1 + 5 * weight
                body.append(
                    f'<rect x="{left + thick / 2:.1f}" y="{up + thick / 2:.1f}" width="{wide - thick:.1f}"'
                    f' height="{high - thick:.1f}" fill="none" stroke="#D55E00" stroke-width="{thick:.1f}"/>'
                )
                halo = 'style="paint-order:stroke;stroke:#fff;stroke-width:4px" font-weight="bold"'
                body.append(text(left + 8, up + 20, f"{weight:.2f}", 14, "start", halo))
        i, j = np.unravel_index(int(weights.argmax()), weights.shape)
        said.append(f"{word}: most weight, {weights[i, j]:.2f}, on row {i + 1}, column {j + 1}")
    if note:
        body.append(text(4, _TOP + _SIDE + 24, note, 16))
    width = max(4 + (1 + len(maps)) * (_SIDE + _GAP), 9.4 * len(note))
    return svg(width, _TOP + _SIDE + (34 if note else 8), "".join(body), f"{title}. {'; '.join(said)}. {note}")
