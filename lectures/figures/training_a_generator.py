"""The picture at the top of the lecture `training_a_generator`: one letter changes, and two texts diverge."""

from lectures.widgets.training_a_generator import parted_svg
import torch

from nlmcore.decoding import sample
from lectures.trained import checkpoint

BEGINNING, PLACE, INTO = "The night is long", 14, "u"


def parted() -> str:
    model, tokenizer, _ = checkpoint("char_lstm")

    def go_on(text: str) -> str:
        draw = torch.Generator().manual_seed(0)
        tokens = torch.tensor([tokenizer.encode(f"MACBETH.\n{text}")])
        written = sample(model, tokens, 90, temperature=0.6, generator=draw)
        assert not isinstance(written, tuple)  # no trace was asked for
        return text + tokenizer.decode(written.tokens[0].tolist())

    other = BEGINNING[:PLACE] + INTO + BEGINNING[PLACE + 1 :]
    return parted_svg(
        go_on(BEGINNING), go_on(other), changed=PLACE, names=["original", "changed"], per_line=54
    )


PICTURES = {"parted": parted}
