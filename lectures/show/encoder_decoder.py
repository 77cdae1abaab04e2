"""An encoder and a decoder unrolled over time, the decoder's words fed back: with one vector between them, or attention."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lectures.show.networks import fed_back
from lectures.show.svg import AMBER, BLUE, DARK_GREEN, DARK_ORANGE, GREEN, INK, Canvas, label_width, subscript

__all__ = ["encoder_decoder_svg"]

_WIDE, _TALL, _STEP, _ARROW = 54.0, 40.0, 72.0, "#555555"
"""A state's box, how far words are above and below it, and the colour of arrows."""


def encoder_decoder_svg(
    source: Sequence[str],
    target: Sequence[str],
    *,
    alt: str,
    weights: ArrayLike | None = None,
    backward: bool = False,
    title: str = "",
    step: int | None = None,
    states: tuple[ArrayLike, ArrayLike] | None = None,
) -> str:
    """Source words enter the encoder's states h; the decoder's states s read `<bos>`, then each word just written.

    weights None: one vector c carries the whole source to the decoder. weights (len(source),): the context of the last
    decoder step is a mixture of all encoder states, lines as thick as their weights. backward: the encoder reads from
    right to left; states are numbered in the order in which they are computed.

    step: what has happened after so many steps in time (None: everything): a step per state of the encoder, one that
    passes on c, and two per word, which is read and then written. What is still to come is pale, its words are not shown.
    states: the vectors of both networks, (source, width) in the order of computation and (target, width), as strips.

    Raises ValueError if there is no source or target, if weights or states do not fit the words, or alt is empty.
    """
    n, m = len(source), len(target)
    if not n or not m:
        raise ValueError(f"encoder_decoder_svg needs source and target words, got {n} and {m}")
    alpha = None if weights is None else np.asarray(weights, dtype=float)
    if alpha is not None and alpha.shape != (n,):
        raise ValueError(
            f"encoder_decoder_svg needs one weight per source word, got weights {alpha.shape} for {n} words"
        )
    strips = None if states is None else [np.asarray(vectors, dtype=float) for vectors in states]
    if strips is not None and [len(vectors) for vectors in strips] != [n, m]:
        raise ValueError(f"states need a row per word, {n} and {m}, got {[len(vectors) for vectors in strips]}")
    now = n + 1 + 2 * m if step is None else step
    read = ["<bos>", *target[:-1]]
    pitch = max(_WIDE + 46, label_width([*source, *read, *target], 16) + 28)
    canvas = Canvas(title)
    y = canvas.top + 36 + (_STEP if alpha is None else 3 * _STEP)
    middle = [40 + pitch * (i + 0.5) for i in range(n)], [40 + pitch * (n + 1 + i + 0.5) for i in range(m)]

    def arrow(x: float, above: float, to_x: float, to_y: float) -> None:
        canvas.line((x, above), (to_x, to_y), _ARROW, 2, arrow=True)

    def state(x: float, name: str, colour: str, part: int, i: int, since: int) -> None:
        """A box; with `states`, its vector below its name. The one that is computed in this step has a thick rim."""
        rim: Any = {"stroke": INK, "wide": 4} if step == since else {}
        high = _TALL - 15 if strips is not None else _TALL
        canvas.rect(x - _WIDE / 2, y - _TALL / 2, _WIDE, _TALL, colour, radius=7, **rim)
        canvas.text(x, y - _TALL / 2 + high / 2 + 6, name, 18, "middle", fill="#ffffff")
        if strips is not None and now >= since:
            canvas.image(strips[part][i][None], x - _WIDE / 2 + 3, y + _TALL / 2 - 16, _WIDE - 6, 13)

    def along(xs: Sequence[float], since: int, pace: int = 1) -> None:
        """Arrows between neighbouring states, in the order of `xs`; the first is there after `since`."""
        for i, (x, to_x) in enumerate(pairwise(xs)):
            side = _WIDE / 2 if to_x > x else -_WIDE / 2
            with canvas.pale(now < since + pace * i):
                arrow(x + side, y, to_x - side - (3 if to_x > x else -3), y)

    encoder, decoder = middle
    for i, (x, word) in enumerate(zip(encoder, source, strict=True)):
        turn = n - i if backward else i + 1
        canvas.text(x, y + _STEP, word, 17, "middle")
        with canvas.pale(now < turn):
            state(x, f"h{subscript(turn)}", BLUE, 0, turn - 1, turn)
            arrow(x, y + _STEP - 18, x, y + _TALL / 2 + 3)
    along(encoder[::-1] if backward else encoder, 2)
    for i, (x, word) in enumerate(zip(decoder, target, strict=True)):
        reads = n + 2 + 2 * i
        room = max(_WIDE, label_width([word], 16))
        with canvas.pale(now < reads):
            state(x, f"s{subscript(i + 1)}", DARK_ORANGE, 1, i, reads)
            canvas.text(x, y + _STEP, read[i] if now >= reads else "", 17, "middle")
            arrow(x, y + _STEP - 18, x, y + _TALL / 2 + 3)
        if i + 1 < m:
            end = decoder[i + 1] - label_width([target[i]], 17) / 2 - 4
            with canvas.pale(now < reads + 2):
                fed_back(canvas, (x + room / 2, y - _STEP), x + pitch / 2, (end, y + _STEP - 5))
        with canvas.pale(now < reads + 1):
            arrow(x, y - _TALL / 2 - 2, x, y - _STEP + 18)
            rim: Any = {"stroke": INK, "wide": 4} if step == reads + 1 else {}
            canvas.box(x - room / 2, y - _STEP - 15, room, 30, word if now > reads else "", AMBER, radius=6, **rim)
    along(decoder, n + 4, 2)
    with canvas.pale(now < n + 1):
        if alpha is None:
            _one_vector(canvas, y, encoder[0] if backward else encoder[-1], encoder[-1] + pitch, decoder[0], backward)
        else:
            along([encoder[-1], decoder[0]], n + 1)
            _context(canvas, y, encoder, decoder, alpha)
    return canvas.svg(alt, width=80 + pitch * (n + m + 1))


def _one_vector(canvas: Canvas, y: float, last: float, at: float, first: float, backward: bool) -> None:
    """The last state of the encoder becomes c, at `at`, and c the first state of the decoder."""
    if backward:  # over the states that were computed before
        canvas.polyline([(last, y - _TALL / 2 - 2), (last, y - _STEP + 14), (at, y - _STEP + 14)], _ARROW, 2)
        canvas.line((at, y - _STEP + 14), (at, y - _TALL / 2 - 3), _ARROW, 2, arrow=True)
    else:
        canvas.line((last + _WIDE / 2, y), (at - _WIDE / 2 - 3, y), _ARROW, 2, arrow=True)
    canvas.line((at + _WIDE / 2, y), (first - _WIDE / 2 - 3, y), _ARROW, 2, arrow=True)
    canvas.box(at - _WIDE / 2, y - _TALL / 2, _WIDE, _TALL, "c", DARK_GREEN, size=18, ink="#ffffff", radius=20)
    canvas.text(at, y + _TALL / 2 + 22, "one vector", 15, "middle", fill=DARK_GREEN, bold=True)


def _context(canvas: Canvas, y: float, encoder: Sequence[float], decoder: Sequence[float], alpha: np.ndarray) -> None:
    """The context of the last decoder step: the states that it mixes, the state that asks, the state that it reaches."""
    x, top = decoder[-1], y - 2.6 * _STEP
    for at, weight in zip(encoder, alpha, strict=True):
        opacity = round(0.3 + 0.7 * float(weight), 2)
        canvas.line((at, y - _TALL / 2), (x - _WIDE / 2, top), GREEN, 1 + 9 * float(weight), stroke_opacity=opacity)
        canvas.text(at - 8, y - _TALL / 2 - 10, f"{weight:.2f}", 16, "end", halo=True)
    lane = x + _WIDE / 2 + 22
    canvas.polyline([(x + _WIDE / 2, top), (lane, top), (lane, y)], DARK_GREEN, 2.5)
    canvas.line((lane, y), (x + _WIDE / 2 + 3, y), DARK_GREEN, 2.5, arrow=True)
    canvas.text(lane + 6, (y + top) / 2, "gives", 16, italic=True)
    if len(decoder) > 1:
        start, end = (decoder[-2] + 20, y - _TALL / 2 - 2), (x - 20, top + _TALL / 2 + 3)
        canvas.line(start, end, _ARROW, 2, arrow=True, dashes="6 4")
        canvas.text(
            start[0] + 0.62 * (end[0] - start[0]) - 10,
            (start[1] + end[1]) / 2 - 24,
            "asks",
            16,
            "end",
            italic=True,
            halo=True,
        )
    name = f"c{subscript(len(decoder))}"
    canvas.box(x - _WIDE / 2, top - _TALL / 2, _WIDE, _TALL, name, DARK_GREEN, size=18, ink="#ffffff", radius=20)
