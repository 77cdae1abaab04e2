"""The picture at the top of the lecture `tokens_and_vectors`: words of Shakespeare in the plane."""

import torch

from lectures.trained import checkpoint
from lectures.show import word_map_svg

GROUPS = (
    "father mother son daughter brother sister",
    "france england rome naples venice",
    "sword dagger knife blade",
    "night day morning evening noon",
)


def word_map() -> str:
    model, tokenizer, _ = checkpoint("word_vectors")
    words = [word for group in GROUPS for word in group.split()]
    groups = [mark for mark, group in enumerate(GROUPS) for _ in group.split()]
    ids = [tokenizer.encode(word)[0] for word in words]
    unit = torch.nn.functional.normalize(model.vectors[ids], dim=1)
    u, s, _ = torch.linalg.svd(unit - unit.mean(0), full_matrices=False)
    u = u * torch.sign(u[0])
    return word_map_svg(
        (u[:, :2] * s[:2]).tolist(),
        words,
        groups,
        alt="Words of Shakespeare in the plane, by their vectors. Words for relatives form a cluster; so do names of "
        "places, weapons and times of day.",
    )


PICTURES = {"map": word_map}
