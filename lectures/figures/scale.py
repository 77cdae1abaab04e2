"""The picture at the top of the lecture `scale`: the models of the ladder as squares."""

from lectures.show import Canvas
from lectures.show.svg import BLUE, ORANGE

PARAMETERS = (1_760, 3_792, 6_592, 14_496, 38_176, 84_912, 200_064, 447_552, 991_616)
"""Without embeddings, of `lectures.recipes.ladder`; the last one is held out."""


def ladder_of_models() -> str:
    canvas, x, bottom, largest = Canvas("", size=16), 24.0, 250.0, 230.0
    for n in PARAMETERS:
        side = largest * (n / PARAMETERS[-1]) ** 0.5
        held_out = n == PARAMETERS[-1]
        canvas.rect(
            x,
            bottom - side,
            side,
            side,
            "none" if held_out else BLUE,
            ORANGE if held_out else BLUE,
            3,
        )
        words = (
            f"{n / 1e6:.2f} M"
            if n >= 1e5
            else f"{n / 1e3:.1f} k"
            if n < 1e4
            else f"{n / 1e3:.0f} k"
        )
        wide = max(side, 54.0)
        canvas.text(x + side / 2, bottom + 24, words, 16, "middle")
        if held_out:
            canvas.text(x + side / 2, bottom - side / 2 + 6, "held out", 18, "middle", bold=True)
        x += side + max(18.0, (wide - side) / 2 + 26)
    return canvas.svg(
        f"Nine models as squares whose areas are in proportion to their parameters, from {PARAMETERS[0]:,} to"
        f" {PARAMETERS[-1]:,}; the largest was held out."
    )


PICTURES = {"ladder_of_models": ladder_of_models}
