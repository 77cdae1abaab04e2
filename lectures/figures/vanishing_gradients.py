"""The pictures of the lecture `vanishing_gradients`: who learns to copy, what depends on a word far back, and powers of a matrix."""

import numpy as np

from lectures import stored
from lectures.show import Axis, Canvas, Plot, bands_svg, from_to, shaded_words_svg
from lectures.show.svg import BLUE, DARK_ORANGE


def large() -> str:
    facts = stored("looking_back")["smollm2"]
    title = "SmolLM2: gradient of the loss of the next word, “tickets”, at every word read"
    share = np.array(facts["gradient"]) / max(facts["gradient"])
    words = [piece.strip() for piece in facts["pieces"]]
    decides = facts["tickets_at"][0]
    alt = (
        f"{title}. The gradient is largest at '{words[int(share.argmax())]}'; at '{words[decides]}', the decisive"
        f" word, it is {share[decides]:.2g} of that."
    )
    return shaded_words_svg(words, share, alt=alt, title=title, width=880)


def plain_against_gated() -> str:
    race = stored("race")
    names = {"RNN": "plain network", "UGRNN": "UGRNN, gated", "GRU": "GRU, gated"}
    right = {shown: 100 * np.array(race["right"][name]) for name, shown in names.items()}
    ends = "; ".join(f"{name}, {from_to(of[:, -1])} %" for name, of in right.items())
    return bands_svg(
        race["steps"],
        right,
        alt=f"Fraction of symbols copied correctly against training steps, five seeds each; after {race['steps'][-1]} steps: {ends}.",
        title="five symbols, ten blanks, then write the symbols",
        x_title="training step",
        y_title="% right",
        low=0,
        high=100,
        level=12.5,
        width=860,
        height=320,
    )


MATRICES = {
    "×0.9 in every direction": np.diag([0.9, 0.9]),
    "rotated by 25°": np.array([[0.906, 0.423], [-0.423, 0.906]]),
    "×1.15 to the right, ×0.7 upwards": np.diag([1.15, 0.7]),
}


def again_and_again(steps: int = 8) -> str:
    """A vector multiplied by one matrix again and again, for three matrices."""
    canvas = Canvas()
    for i, (title, U) in enumerate(MATRICES.items()):
        v = [np.array([0.6, 1.1])]
        for _ in range(steps):
            v.append(v[-1] @ U)
        points = np.array(v)
        canvas.text(10 + 290 * i, 20, title, 16, bold=True)
        ends = Axis(-2, 2, ticks={-1: "−1", 0: "0", 1: "1"})
        plot = Plot(
            canvas, ends, ends, left=40 + 290 * i, top=34, across=230, down=230, inner=True
        )
        plot.line(points[:, 0], points[:, 1])
        for j, (x, y) in enumerate(points):
            canvas.circle(plot.across(x), plot.down(y), 6 if j else 8, BLUE if j else DARK_ORANGE)
    return canvas.svg(
        "One vector multiplied eight times by a matrix, for three matrices. The first makes it shorter at every step, the"
        " second moves it around a circle, the third stretches it to the right while its height shrinks."
    )


PICTURES = {
    "plain_against_gated": plain_against_gated,
    "seen_by_smollm2": large,
    "again_and_again": again_and_again,
}
