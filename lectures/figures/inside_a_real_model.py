"""The picture at the top of the lecture `inside_a_real_model`: one word's path through SmolLM2."""

from lectures import stored
from lectures.widgets.inside_a_real_model.reading import grid_svg


def patched_path() -> str:
    facts = stored("patched_texts")["pairs"]["giver"]
    words = [word.strip() for word in facts["pieces"]][facts["first"] :]
    shares = facts["map"]["pathway"]
    best = [words[max(range(len(words)), key=row.__getitem__)] for row in shares]
    changes = [
        f"from layer {i} at {word!r}"
        for i, word in enumerate(best)
        if i == 0 or best[i - 1] != word
    ]
    return grid_svg(
        shares[::-1],
        [str(i) for i in facts["layers"]][::-1],
        words,
        alt=f"“{facts['clean']}”, with the giver exchanged. The cell that restores most: {', '.join(changes)}.",
        title="… John gave a drink to → Mary: what one restored vector brings back",
        reach=1.0,
        cell=(120, 11),
        note="vertical: layer, 0 at the bottom; red: the answer returns",
    )


PICTURES = {"patched_path": patched_path}
