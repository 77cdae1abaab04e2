"""The pictures at the top of lecture 6: how much the loss of the last word feels of every word before it."""

import json
from pathlib import Path

import numpy as np

from lectures.show import shaded_words_svg

FACTS = json.loads((Path(__file__).parents[1] / "results" / "looking_back.json").read_text())


def shaded(pieces: list[str], gradient: list[float], title: str, decides: int) -> str:
    share = np.array(gradient) / max(gradient)
    words = [piece.strip() for piece in pieces]
    alt = (
        f"{title}. The gradient is largest at '{words[int(share.argmax())]}'; at '{words[decides]}', the word that"
        f" decides, it is {share[decides]:.2g} of that."
    )
    return shaded_words_svg(words, share, alt=alt, title=title, width=880)


def large() -> str:
    facts = FACTS["smollm2"]
    title = "SmolLM2: gradient of the loss of the next word, “tickets”, at every word read"
    return shaded(facts["pieces"], facts["gradient"], title, facts["tickets_at"][0])


def small() -> str:
    facts = FACTS["lstm"]
    title = "a small LSTM: gradient of the loss of the next word, “letters”"
    return shaded(facts["known_pieces"], facts["gradient"], title, facts["letters_at"][0])


PICTURES = {"06_seen_by_smollm2": large, "06_seen_by_lstm": small}
