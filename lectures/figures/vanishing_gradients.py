"""The pictures at the top of the lecture `vanishing_gradients`: how much the loss of the last word depends on every earlier word."""

import numpy as np

from lectures import stored
from lectures.show import bands_svg, from_to, shaded_words_svg


def large() -> str:
    facts = stored("looking_back")["smollm2"]
    title = "SmolLM2: gradient of the loss of the next word, “tickets”, at every word read"
    share = np.array(facts["gradient"]) / max(facts["gradient"])
    words = [piece.strip() for piece in facts["pieces"]]
    decides = facts["tickets_at"][0]
    alt = (
        f"{title}. The gradient is largest at '{words[int(share.argmax())]}'; at '{words[decides]}', the decisive"
        f" word, it is {share[decides]:.2g} of that."
    )
    return shaded_words_svg(words, share, alt=alt, title=title, width=880)


def plain_against_gated() -> str:
    race = stored("race")
    names = {"RNN": "plain network", "UGRNN": "UGRNN, gated", "GRU": "GRU, gated"}
    right = {shown: 100 * np.array(race["right"][name]) for name, shown in names.items()}
    ends = "; ".join(f"{name}, {from_to(of[:, -1])} %" for name, of in right.items())
    return bands_svg(
        race["steps"],
        right,
        alt=f"Fraction of symbols copied correctly against training steps, five seeds each; after {race['steps'][-1]} steps: {ends}.",
        title="five symbols, ten blanks, then write the symbols",
        x_title="training step",
        y_title="% right",
        low=0,
        high=100,
        level=12.5,
        width=860,
        height=320,
    )


PICTURES = {"plain_against_gated": plain_against_gated, "seen_by_smollm2": large}
