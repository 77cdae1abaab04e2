"""The picture at the top of the lecture `transformer_language_model`: what one GPT writes while it learns."""

from lectures import stored
from lectures.show import Canvas

STEPS, LINES, LETTERS = ("0", "30", "200", "2000"), 3, 58


def lines_of(text: str) -> list[str]:
    """The first lines of a text, as they would be printed; a long one is continued on the next."""
    found: list[str] = []
    for line in text.split("\n"):
        found += [line[i : i + LETTERS] for i in range(0, len(line), LETTERS)]
    return [line for line in found if line.strip()][:LINES]


def from_noise() -> str:
    written = stored("small_gpt")["written"]
    canvas, top = Canvas("", size=16), 30.0
    for step in STEPS:
        name = "before training" if step == "0" else f"after {int(step):,} steps"
        canvas.text(0, top, name, 16, bold=True)
        for i, line in enumerate(lines_of(written[step])):
            canvas.text(190, top + 24 * i, line, 16, mono=True)
        top += 24 * LINES + 18
    return canvas.svg(
        "What one GPT writes: "
        + " ".join(f"Step {step}: {' / '.join(lines_of(written[step]))}." for step in STEPS)
    )


PICTURES = {"from_noise": from_noise}
