"""Figure: how long attention, matrix memories and an LSTM take on one thread, by the length of the text.

One layer with its projections, forward and backward. The matrix memory is computed twice with the same result, in chunks
and step by step; so is the LSTM, as one call of PyTorch's kernel and as a loop over its cell. And what the size of the
chunks does: one text through four heads of width 32, forward only, nothing erased.
"""

from functools import partial
from typing import Any
from unittest.mock import patch

import torch
import torch.nn.functional as F
from nlmcore.attention import CausalAttention
from nlmcore.recurrent import Recurrent, matrix_memory
from nlmcore.recurrent.matrix_memory import MatrixMemory
from torch import Tensor

from lectures.recipes.costs import seconds
from lectures.recipes.run import Run, recipe

D_MODEL, HEADS, BATCH = 96, 4, 2
LENGTHS = (64, 256, 1024, 4096)
CHUNKS = (1, 8, 32, 128, 512)


@torch.enable_grad()
def passed(layer: Any, x: Tensor) -> None:
    layer(x)[0].square().mean().backward()


def by_steps(layer: Any, x: Tensor) -> None:
    """The same, with the loop instead of chunks."""
    with patch.object(matrix_memory, "chunked", matrix_memory.step_by_step):
        passed(layer, x)


def layers() -> dict[str, Any]:
    torch.manual_seed(0)
    memory = {rule: MatrixMemory(D_MODEL, HEADS, D_MODEL // HEADS, rule) for rule in ("linear", "delta")}
    lstms = {fused: Recurrent("lstm", D_MODEL, D_MODEL, fused=fused) for fused in (True, False)}
    return {
        "attention": partial(passed, CausalAttention(D_MODEL, HEADS)),
        "linear attention, in chunks": partial(passed, memory["linear"]),
        "delta rule, in chunks": partial(passed, memory["delta"]),
        "delta rule, step by step": partial(by_steps, memory["delta"]),
        "LSTM, one call": partial(passed, lstms[True]),
        "LSTM, step by step": partial(passed, lstms[False]),
    }


def by_chunk(n: int) -> dict[int, Any]:
    q, k, v = F.normalize(torch.randn(3, 1, 4, n, 32, generator=torch.Generator().manual_seed(0)), dim=-1)
    return {size: partial(matrix_memory.chunked, q, k, v, chunk=size) for size in CHUNKS}


@recipe(1)
def cook(run: Run) -> None:
    torch.set_num_threads(1)
    found: dict[str, dict[str, float]] = {}
    for n in run.size(LENGTHS, (4, 8)):
        x = torch.randn(BATCH, n, D_MODEL, generator=torch.Generator().manual_seed(n))
        taken = seconds({name: partial(work, x) for name, work in layers().items()}, run.size(3, 1))
        for name, one in taken.items():
            found.setdefault(name, {})[str(n)] = float(f"{one:.3g}")
        run.say(f"{n} tokens: {taken}")
    with torch.no_grad():
        chunks = seconds(by_chunk(max(CHUNKS)), run.size(20, 1))
    longest = max(map(int, found["attention"]))
    run.save_result(
        "memory_speed",
        {
            "question": "How long do attention, matrix memories and an LSTM take, by the length of the text?",
            "how": f"one layer of width {D_MODEL} ({HEADS} heads), {BATCH} texts, forward and backward, one thread;"
            f" processor seconds, the fastest of {run.size(3, 1)} in turns; by chunk: {max(CHUNKS)} positions, the fastest of {run.size(20, 1)}",
            "seconds": found,
            "seconds_by_chunk": {str(size): float(f"{one:.3g}") for size, one in chunks.items()},
            "what_it_shows": f"{longest:,} tokens: "
            + ", ".join(f"{name} {1000 * of[str(longest)]:.0f} ms" for name, of in found.items()),
        },
    )
