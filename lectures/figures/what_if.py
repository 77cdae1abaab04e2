"""The picture at the top of the lecture `what_if`: a block, and a question for each of its parts."""

from lectures.show import Canvas
from lectures.show.svg import ORANGE, PALE

PARTS = (
    ("feed-forward network", "no networks?", 40),
    ("norm", "where, in a hundred layers?", 92),
    ("attention", "no attention?", 156),
    ("norm", "another order of the sublayers?", 208),
    ("embeddings + positions", "no positions?", 280),
)


def parts_with_questions() -> str:
    canvas, left, wide = Canvas("", size=16), 70.0, 250.0
    canvas.rect(left - 50, 26, wide + 64, 236, stroke="#777777", dashes="7 5")
    canvas.text(left - 50, 18, "× L, deeper or wider?", 16, bold=True)
    for name, question, y in PARTS:
        canvas.box(left, y, wide, 40, name, PALE, "#555555", 1.5, size=16)
        canvas.text(left + wide + 34, y + 26, question, 17, bold=True)
    for bottom, top in ((252, 148), (140, 34)):  # the skips, around a norm and a sublayer each
        canvas.path(
            f"M{left + wide / 2:.0f} {bottom} H{left - 24:.0f} V{top} H{left + wide / 2:.0f}",
            ORANGE,
            3,
        )
    canvas.text(left - 30, 342, "orange: skip connections. And without them?", 16)
    return canvas.svg(
        "A Transformer block of two norms, attention and a feed-forward network, with a skip connection around each of"
        f" the two halves. Questions: {' '.join(question for _, question, _ in PARTS)} Deeper or wider? Without skip"
        " connections?"
    )


PICTURES = {"parts_with_questions": parts_with_questions}
