"""The picture at the top of the lecture `smaller_and_faster`: 64 weights of the course's GPT on sixteen levels."""

from lectures.trained import checkpoint
from lectures.widgets.smaller_and_faster import levels_svg


def sixteen_levels() -> str:
    model, _, _ = checkpoint("char_gpt")
    return levels_svg(model.layers[0].feed_forward.inner.weight.detach()[0, :64], 4, 32)


PICTURES = {"sixteen_levels": sixteen_levels}
