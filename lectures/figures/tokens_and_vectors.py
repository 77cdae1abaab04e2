"""The pictures of the lecture `tokens_and_vectors`: words of Shakespeare in the plane, and two ways to predict."""

import torch

from lectures.trained import checkpoint
from lectures.show import Canvas, word_map_svg
from lectures.show.svg import BLUE, GREY, ORANGE

GROUPS = (
    "father mother son daughter brother sister",
    "france england rome naples venice",
    "sword dagger knife blade",
    "night day morning evening noon",
)


def word_map() -> str:
    model, tokenizer, _ = checkpoint("word_vectors")
    words = [word for group in GROUPS for word in group.split()]
    groups = [mark for mark, group in enumerate(GROUPS) for _ in group.split()]
    ids = [tokenizer.encode(word)[0] for word in words]
    unit = torch.nn.functional.normalize(model.vectors[ids], dim=1)
    u, s, _ = torch.linalg.svd(unit - unit.mean(0), full_matrices=False)
    u = u * torch.sign(u[0])
    return word_map_svg(
        (u[:, :2] * s[:2]).tolist(),
        words,
        groups,
        alt="Words of Shakespeare in the plane, by their vectors. Words for relatives form a cluster; so do names of "
        "places, weapons and times of day.",
    )


def two_directions() -> str:
    """Skip-gram predicts the neighbours from the word, CBOW the word from the mean of its neighbours."""
    words, wide, high = ("my", "kingdom", "for", "a", "horse"), 82, 30
    canvas = Canvas()
    for name, left in (("skip-gram", 0), ("CBOW", 460)):
        canvas.text(left, 20, name, 17, bold=True)
        centres = [left + wide * i + wide / 2 for i in range(len(words))]
        for i, (x, word) in enumerate(zip(centres, words, strict=True)):
            middle = i == 2
            read = middle == (name == "skip-gram")  # at the bottom; what is predicted is above
            y, colour = (150, BLUE) if read else (40, ORANGE)
            canvas.rect(x - wide / 2 + 3, y, wide - 6, high, "#ffffff", colour, 2)
            canvas.text(x, y + 20, word, 15, "middle")
        if name == "skip-gram":
            for i in (0, 1, 3, 4):
                canvas.line((centres[2], 148), (centres[i], 74), GREY, 2, arrow=True)
        else:
            for i in (0, 1, 3, 4):
                canvas.line((centres[i], 148), (centres[2], 116), GREY, 2)
            canvas.circle(centres[2], 112, 5, BLUE)
            canvas.line((centres[2], 106), (centres[2], 74), GREY, 2, arrow=True)
            canvas.text(centres[2] + 12, 104, "mean", 14)
    canvas.notes(["blue: what is read; orange: what is predicted"], 14)
    return canvas.svg(
        "The sentence my kingdom for a horse, twice. Skip-gram: four arrows lead from the middle word, for, to its "
        "neighbours. CBOW: four lines lead from the neighbours to their mean, and an arrow from the mean to the middle word."
    )


PICTURES = {"map": word_map, "two_directions": two_directions}
