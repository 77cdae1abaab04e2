"""The pictures of the lecture `language_models`: how much each character of a line surprised a network, and a timeline."""

import math

import torch

from nlmcore.corpora import load
from lectures.recipes.guessing import key_log_probabilities, key_of
from lectures.trained import checkpoint
from lectures.show import Canvas, surprise_svg
from lectures.show.svg import BLUE, GREY, ORANGE


def surprise() -> str:
    model, tokenizer, _ = checkpoint("char_lstm")
    play = load("shakespeare").test[1].text
    line = "All things are ready, if our minds be so."
    start = play.index(line)
    before = 400  # characters of context before the line
    text = play[start - before : start + len(line)]
    scores = key_log_probabilities(model, tokenizer, text)
    targets = torch.tensor([key_of(character) for character in text])
    bits = -scores.gather(1, targets[:, None])[before:, 0] / math.log(2)
    said = " ".join(
        f"{character!r} {b:.0f}" for character, b in zip(line, bits.tolist(), strict=True)
    )
    return surprise_svg(
        line,
        bits,
        alt=f"A line of Shakespeare; below each character, its surprise for a small network, in bits: {said}.",
    )


MILESTONES = (
    ("1913", "Markov", "counts letters"),
    ("1948", "Shannon", "n-grams"),
    ("1980", "Jelinek, Mercer", "mixed n-grams"),
    ("1995", "Kneser, Ney", "better smoothing"),
    ("2000", "Bengio", "neural network"),
    ("2010", "Mikolov", "recurrent network"),
    ("2014", "encoder, decoder", "and attention"),
    ("2017", "Transformer", ""),
    ("2018", "GPT, BERT", "pretraining"),
    ("2020", "GPT-3", "prompts"),
    ("2022", "ChatGPT", "an assistant"),
    ("2024", "SmolLM2", "on your laptop"),
)
COUNTED = 4
"""So many of them, the first ones, count; the others compute."""


def timeline() -> str:
    """Milestones at equal distances, by turns above and below the line."""
    canvas, wide, middle = Canvas(), 78, 84
    canvas.line((34, middle), (34 + wide * (len(MILESTONES) - 0.5), middle), GREY, 2, arrow=True)
    for i, (year, first, second) in enumerate(MILESTONES):
        x, above = 66 + wide * i, i % 2 == 0
        colour = ORANGE if i < COUNTED else BLUE
        canvas.circle(x, middle, 6, colour)
        canvas.text(x, middle + (26 if above else -14), year, 15, "middle", bold=True)
        lines = [line for line in (first, second) if line]
        for j, line in enumerate(lines):
            y = middle - 14 - 18 * (len(lines) - 1 - j) if above else middle + 26 + 18 * j
            canvas.text(x, y, line, 14, "middle")
    canvas.notes(["orange: models that count; blue: neural networks"], 14)
    told = ". ".join(
        f"{year}: {', '.join(part for part in parts if part)}" for year, *parts in MILESTONES
    )
    return canvas.svg(f"A line of {len(MILESTONES)} years. {told}.")


PICTURES = {"surprise": surprise, "timeline": timeline}
