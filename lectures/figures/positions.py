"""The picture at the top of the lecture `positions`: 50 positions, 512 columns of sines and cosines."""

from lectures.show import Canvas
from nlmcore.positions import sinusoidal


def fifty_positions() -> str:
    table = sinusoidal(50, 512)
    canvas, top, wide, high = Canvas("", size=16), 34.0, 384.0, 300.0
    for left, first, name in ((100.0, 0, "256 sines"), (504.0, 1, "256 cosines")):
        canvas.image(table[:, first::2].numpy(), left, top, wide, high)
        canvas.text(left, top - 10, f"{name}: from the fastest to the slowest", 16)
    for position in (0, 25, 49):
        at = top + (position + 0.5) * high / 50 + 5
        canvas.text(92, at, f"position {position}", 15, "end")
    return canvas.svg(
        "Two tables of 50 rows, positions, in blue (−1), white (0) and red (1): 256 columns of sines and 256 of "
        "cosines. On the left of each narrow waves run down the columns; to the right they grow longer, until "
        "all rows look the same."
    )


PICTURES = {"fifty_positions": fifty_positions}
