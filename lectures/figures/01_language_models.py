"""The picture at the top of lecture 1: how much each character of a line surprised a network."""

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
    before = 400  # what the network has read when the line begins
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
        alt=f"A line of Shakespeare; below each character, how much it surprised a network, in bits: {said}.",
    )


PICTURES = {"01_surprise": surprise}
