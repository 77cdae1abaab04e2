"""The pictures of the lecture `pretraining`: three families on one sentence, and models in a family tree."""

import numpy as np

from lectures.show import Canvas
from lectures.show.svg import BLUE, DARK_GREEN, DARK_ORANGE, GREY, ORANGE

WORDS = ["the", "cat", "sat", "on", "the", "mat"]
SIDE = 150.0


def three_families() -> str:
    """Each family: its mask over six words, what is read and what is predicted."""
    n = len(WORDS)
    full, past = np.ones((n, n)), np.tril(np.ones((n, n)))
    columns = [
        ("masked (BERT)", full, "the [MASK] sat on the mat", "cat", "sees both sides"),
        ("causal (GPT)", past, "the cat sat on the", "cat sat on the mat", "sees the past"),
        (
            "span corruption (T5)",
            full,
            "the <X> on the mat",
            "<X> cat sat <Y>",
            "encoder sees all, decoder its past",
        ),
    ]
    canvas, told = Canvas(), []
    for i, (name, mask, reads, predicts, sees) in enumerate(columns):
        left = 330.0 * i
        canvas.text(left, 20, name, 17, bold=True)
        canvas.image(np.where(mask > 0, -0.8, np.nan), left, 34, SIDE, SIDE)
        if i == 2:
            canvas.image(
                np.where(past[:4, :4] > 0, -0.8, np.nan),
                left + SIDE + 16,
                34,
                SIDE * 4 / n,
                SIDE * 4 / n,
            )
        canvas.text(left, 34 + SIDE + 24, sees, 15, italic=True)
        canvas.text(left, 34 + SIDE + 52, f"reads {reads}", 15, fill=BLUE)
        canvas.text(left, 34 + SIDE + 78, f"predicts {predicts}", 15, fill=DARK_ORANGE)
        told.append(f"{name}: reads {reads}, predicts {predicts}, {sees}")
    return canvas.svg(
        f"Three families on one sentence. {'; '.join(told)}. Rows of the squares are queries, columns keys."
    )


MODELS = {
    "before the Transformer: LSTMs": [(2015, "Dai & Le"), (2018, "ELMo, ULMFiT")],
    "encoder: masked": [(2018, "BERT"), (2019, "RoBERTa"), (2020, "MiniLM")],
    "encoder and decoder: spans": [(2019, "T5, BART"), (2021, "Narang's 52 models")],
    "decoder: causal": [
        (2018, "GPT-1"),
        (2019, "GPT-2"),
        (2020, "GPT-3"),
        (2023, "GPT-4, Llama"),
        (2024, "SmolLM2"),
    ],
}
COLOURS = (GREY, DARK_GREEN, ORANGE, BLUE)
LSTMS = 1
"""So many rows at the top have no Transformer as their root."""


def family_tree() -> str:
    """Pretrained LSTMs, and three branches of the Transformer of 2017, by year."""
    canvas, told = Canvas(), []
    for year in range(2015, 2025):
        canvas.text(_x(year), 20, str(year), 15, "middle", fill=GREY)
    root = _x(2017), 60.0 + 84 * 2
    for row, ((name, models), colour) in enumerate(zip(MODELS.items(), COLOURS, strict=True)):
        y, first = 60.0 + 84 * row, _x(models[0][0]) - 52
        if row >= LSTMS:
            canvas.line((root[0] + 62, root[1]), (first, y), colour, 2.5)
        canvas.line((first, y), (_x(2024 if row >= LSTMS else 2018) + 70, y), colour, 2.5)
        canvas.text(first, y - 22, name, 15, italic=True)
        for year, model in models:
            wide = 9.6 * len(model) + 14
            canvas.box(
                _x(year) - wide / 2,
                y - 15,
                wide,
                30,
                model,
                "#ffffff",
                colour,
                2,
                size=15,
                radius=5,
            )
        told.append(f"{name}: {', '.join(f'{model} ({year})' for year, model in models)}")
    canvas.box(
        _x(2017) - 62, root[1] - 18, 124, 36, "Transformer", "#f0f0f0", GREY, 2, size=16, radius=6
    )
    return canvas.svg(
        f"A family tree. From the Transformer of 2017 come three of four branches. {'; '.join(told)}."
    )


def _x(year: int) -> float:
    return 60 + 118.0 * (year - 2015)


PICTURES = {"three_families": three_families, "family_tree": family_tree}
