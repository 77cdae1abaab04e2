"""The picture at the top of the lecture `assistant`: what surrounds a language model."""

from lectures.show import Canvas
from lectures.show.svg import BLUE, ORANGE, PALE

AROUND = (
    ("chat template", "section 1", 20, 20),
    ("tuning, preferences", "sections 2 to 4", 20, 110),
    ("library", "section 7", 20, 200),
    ("calculator", "section 5", 520, 20),
    ("pattern, guidance", "sections 5, 6", 520, 110),
    ("memory", "section 8", 520, 200),
)


def what_surrounds_a_model() -> str:
    canvas, wide, high = Canvas("", size=16), 200.0, 60.0
    for name, section, x, y in AROUND:
        inner, outer = (x + wide, 280.0) if x < 200 else (x, 460.0)
        canvas.line((inner, y + high / 2), (outer, 140), BLUE, 2)
        canvas.box(x, y, wide, high, name, PALE, "#555555", 1.5, size=16)
        canvas.text(x + wide / 2, y + 78, section, 15, "middle")
    canvas.box(280, 95, 180, 90, "language model", "#ffffff", ORANGE, 3, size=17)
    told = "; ".join(f"{name} ({section})" for name, section, _, _ in AROUND)
    return canvas.svg(f"A language model in the middle, and around it: {told}.")


PICTURES = {"what_surrounds_a_model": what_surrounds_a_model}
