"""The picture at the top of the lecture `memory_without_attention`: a cache that grows, and a matrix that does not."""

import torch

from nlmcore.recurrent.matrix_memory import step_by_step
from lectures.show import Canvas
from lectures.show.svg import BLUE, DARK_ORANGE, INK, diverging

TOKENS = [
    "the",
    "memory",
    "of",
    "a",
    "network",
    "need",
    "not",
    "grow",
    "with",
    "what",
    "it",
    "reads",
]


def cache_and_matrix() -> str:
    draw = torch.Generator().manual_seed(0)
    k, v = (torch.randn(1, 1, len(TOKENS), 4, generator=draw) for _ in "kv")
    canvas, cell = Canvas(), 20.0
    canvas.text(0, 22, "a cache: a key and a value for every token", 17, bold=True)
    canvas.text(570, 22, "a matrix: one size, rewritten by every token", 17, bold=True)
    for t, token in enumerate(TOKENS):
        x = 40 * t
        for i in range(4):
            canvas.rect(
                x, 44 + cell * i, 28, cell, diverging(float(k[0, 0, t, i]), 2.5), INK, 0.5
            )
            canvas.rect(
                x, 134 + cell * i, 28, cell, diverging(float(v[0, 0, t, i]), 2.5), INK, 0.5
            )
        canvas.text(x + 18, 236, token, 16, turn=40)
    _, S = step_by_step(v, k / 2, v, S=None)
    for i in range(4):
        for j in range(4):
            canvas.rect(
                660 + 40 * j, 70 + 34 * i, 40, 34, diverging(float(S[0, 0, i, j]), 4.0), INK, 0.5
            )
    canvas.line((590, 138), (654, 138), DARK_ORANGE, 3, arrow=True)
    canvas.text(622, 126, "write", 16, "middle")
    canvas.line((826, 138), (890, 138), BLUE, 3, arrow=True)
    canvas.text(858, 126, "read", 16, "middle")
    canvas.text(740, 236, "S", 20, "middle", bold=True)
    return canvas.svg(
        f"Left, a cache: one column of key and value for each of {len(TOKENS)} tokens, and it grows by one with each."
        " Right, one matrix S of the same size after every token, into which tokens are written and from which a query"
        " reads."
    )


PICTURES = {"cache_and_matrix": cache_and_matrix}
