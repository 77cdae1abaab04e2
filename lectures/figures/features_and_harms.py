"""The picture at the top of the lecture `features_and_harms`: the toy that stores five features in two dimensions."""

from lectures.show.svg import BLUE, DARK_ORANGE, GREY, Canvas


def five_into_two() -> str:
    canvas = Canvas()
    columns = (
        (60, [f"x{i}" for i in "₁₂₃₄₅"], BLUE, "five features"),
        (330, ["h₁", "h₂"], DARK_ORANGE, "two dimensions"),
        (600, [f"x′{i}" for i in "₁₂₃₄₅"], BLUE, "the same five?"),
    )
    places = [
        [(x, 150 + 58 * (i - (len(names) - 1) / 2)) for i in range(len(names))]
        for x, names, _, _ in columns
    ]
    for left, right in ((0, 1), (1, 2)):
        for a in places[left]:
            for b in places[right]:
                canvas.line(a, b, GREY, 1.5)
    for (x, names, colour, title), points in zip(columns, places, strict=True):
        for (across, down), name in zip(points, names, strict=True):
            canvas.circle(across, down, 24, "#ffffff", stroke=colour, wide=3)
            canvas.text(across, down + 6, name, 18, "middle", bold=True)
        canvas.text(x, 330, title, 18, "middle")
    canvas.text(195, 26, "W", 20, "middle", bold=True)
    canvas.text(465, 26, "ReLU(Wᵀ h + b)", 18, "middle", bold=True)
    return canvas.svg(
        "A network that reads five features, has two values in its middle, h₁ and h₂, and writes five features again.",
        width=660,
    )


PICTURES = {"five_into_two": five_into_two}
