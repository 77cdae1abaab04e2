"""The picture at the top of the lecture `language_models`: how much each character of a line surprised a network."""

import math

import torch

from nlmcore.corpora import load
from lectures.recipes.guessing import key_log_probabilities, key_of
from lectures.trained import checkpoint
from lectures.show import surprise_svg


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


PICTURES = {"surprise": surprise}
