"""The picture at the top of the lecture `gates`: one memory unit of the course's character-level network, reading Shakespeare."""

import numpy as np
import torch

from nlmcore.corpora import load
from lectures.trained import checkpoint
from nlmcore.recurrent import unroll
from lectures.show import shaded_words_svg

UNIT = 90  # found in section 6 of the lecture, by correlation with the position in the line, on a different play


def a_unit_that_counts() -> str:
    model, tokenizer, _ = checkpoint("char_lstm")
    text = load("shakespeare").texts("test")[0][30_000:30_500]
    with torch.no_grad():
        gates = unroll(
            model.recurrent.cells[0], model.embedding(torch.tensor([tokenizer.encode(text)]))
        ).gates
    part = slice(text.index("\n\n") + 2, text.index("\n", 420))
    memory = gates["memory"][0, part, UNIT].numpy()
    shade = np.clip((1 - memory) / 2, 0, 1)
    return shaded_words_svg(
        list(text[part]),
        shade,
        alt=f"A passage of Twelfth Night, each character shaded by memory unit {UNIT}: faintly at the"
        " start of every line, more strongly towards its end.",
        width=880,
        size=17,
        gap=0,
    )


PICTURES = {"a_unit_that_counts": a_unit_that_counts}
