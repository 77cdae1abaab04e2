"""The picture at the top of the lecture `cheaper_attention`: who sees whom, in full and in three sparse patterns."""

import numpy as np

from lectures.show import Canvas

SIDE, N = 190.0, 48


def patterns() -> dict[str, np.ndarray]:
    """Masks (query, key), True = is scored."""
    position = np.arange(N)
    near = np.abs(position[:, None] - position) <= 4
    with_global = near.copy()
    with_global[0] = with_global[:, 0] = True
    block = position // 4
    blocks = np.abs(block[:, None] - block) <= 1
    sampled = np.random.default_rng(1).integers(N // 4, size=N // 4)
    blocks = blocks | (block == sampled[block][:, None]) | (block == 0) | (block == 0)[:, None]
    return {
        "full": np.ones((N, N), dtype=bool),
        "window": near,
        "window + global": with_global,
        "BigBird": blocks,
    }


def four_patterns() -> str:
    canvas = Canvas()
    told = []
    for i, (name, mask) in enumerate(patterns().items()):
        left = i * (SIDE + 24)
        pairs = f"{mask.sum():,} of {N * N:,} pairs"
        canvas.text(left, 20, name, 17, bold=True)
        canvas.image(np.where(mask, -1.0, np.nan), left, 32, SIDE, SIDE)
        canvas.text(left, 32 + SIDE + 24, pairs, 16)
        told.append(f"{name} scores {pairs}")
    return canvas.svg(f"Four patterns over {N} positions, rows read columns: {', '.join(told)}.")


PICTURES = {"four_patterns": four_patterns}
