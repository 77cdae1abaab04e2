"""The picture at the top of the lecture `decoding`: the most probable text beside Shakespeare's, token by token."""

from lectures import stored
from lectures.show import lines_svg


def aye() -> str:
    example = stored("dullness")["example"]
    lines = {
        "Shakespeare": example["Shakespeare"]["probabilities"],
        "beam search: “Aye, aye, aye, aye, …”": example["beam 4"]["probabilities"],
    }
    places = list(range(1, len(lines["Shakespeare"]) + 1))
    return lines_svg(
        places,
        lines,
        low=0,
        high=1,
        x_title="token",
        y_title="its probability",
        width=860,
        height=300,
        alt=f"Probability of each of {len(places)} tokens under SmolLM2: Shakespeare's text jumps between 0 and 1 and is mostly low; the"
        " text found by beam search climbs and stays near 1.",
    )


PICTURES = {"aye": aye}
