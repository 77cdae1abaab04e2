"""Figure: what full attention costs as the text grows, and a recurrent network beside it.

1. Time and memory of attention alone, softmax(Q Kᵀ/√d_head) V, against the length n: as the equation is written, with
   all n² weights at hand, and through PyTorch's fused kernel, which never holds them (Dao et al. 2022). The power law
   of time and of memory is fitted. (The equation is `nlmcore.attention`'s, which can mask: it holds about four arrays
   of n² numbers where scores and weights alone are two. The power of n is the same.)

2. A whole layer: multi-head attention with its four projections, 4 n d² + 2 n² d multiply-adds (Vaswani et al. 2017,
   table 1), beside an LSTM layer of the same width, 8 n d². Attention's products are over all positions at once: so
   many matrices, whatever n. The LSTM's n products wait for one another; only W x does not. How many multiply-adds
   each does in a second shows what waiting costs, on one core already.

Forward, one text, single precision, one thread, nothing masked.
"""

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from nlmcore.attention import MultiHeadAttention, scaled_dot_product_attention
from nlmcore.recurrent import Recurrent
from torch.nn import functional as F

from lectures.recipes.costs import PowerLaw, peak_bytes, power_law, seconds
from lectures.recipes.run import Run, recipe

TITLES = {
    "explicit": "attention as written, all weights kept",
    "fused": "attention, fused kernel",
    "layer": "multi-head attention layer",
    "lstm": "LSTM layer",
}


def work_of(d_model: int, n_heads: int) -> dict[str, Callable[[int], Callable[[], Any]]]:
    """By name: from a length n to the computation over n positions."""
    torch.manual_seed(0)
    attention, lstm = MultiHeadAttention(d_model, n_heads).eval(), Recurrent("lstm", d_model, d_model).eval()

    def heads(n: int) -> Any:
        return torch.randn(3, 1, n_heads, n, d_model // n_heads).unbind()

    return {
        "explicit": lambda n: partial(scaled_dot_product_attention, *heads(n)),
        "fused": lambda n: partial(F.scaled_dot_product_attention, *heads(n)),
        "layer": lambda n: partial(attention, torch.randn(1, n, d_model)),
        "lstm": lambda n: partial(lstm, torch.randn(1, n, d_model)),
    }


def multiply_adds_of(name: str, n: int, d_model: int) -> int:
    """How many there are, by the formulas above."""
    attention = 2 * n * n * d_model
    whole = {"layer": attention + 4 * n * d_model**2, "lstm": 8 * n * d_model**2}
    return whole.get(name, attention)


def crossing(lengths: list[int], one: dict[int, float], other: dict[int, float]) -> int | None:
    """From which length on `one` costs more than `other`, on the line between two measured lengths (logarithms)."""
    for before, after in itertools.pairwise(lengths):
        gaps = [math.log(one[n] / other[n]) for n in (before, after)]
        if gaps[0] <= 0 < gaps[1]:
            return round(before * (after / before) ** (-gaps[0] / (gaps[1] - gaps[0])))
    return None


@recipe(4)
def cook(run: Run) -> None:
    d_model, n_heads = run.size(512, 16), run.size(8, 2)
    lengths = run.size([128, 181, 256, 362, 512, 724, 1024, 1448, 2048, 2896, 4096, 5792, 8192], [16, 32, 48, 64])
    longest_explicit, start = run.size(4096, 64), run.size(1024, 16)
    repeats = run.size(5, 1)
    work = work_of(d_model, n_heads)
    reach = {name: [n for n in lengths if name != "explicit" or n <= longest_explicit] for name in work}

    time: dict[str, dict[int, float]] = {name: {} for name in work}
    memory: dict[str, dict[int, int]] = {name: {} for name in work}
    for n in lengths:
        here = {name: build(n) for name, build in work.items() if n in reach[name]}
        for name, taken in seconds(here, repeats).items():
            time[name][n] = taken
            memory[name][n] = peak_bytes(here[name])
        run.say(f"{n} positions: " + ", ".join(f"{name} {time[name][n]:.4f} s" for name in here))

    laws: dict[str, dict[str, PowerLaw]] = {"time": {}, "memory": {}}
    for name in work:
        laws["time"][name] = power_law(reach[name], list(time[name].values()), start)
        laws["memory"][name] = power_law(reach[name], list(memory[name].values()), start)
    rates = {name: {n: multiply_adds_of(name, n, d_model) / time[name][n] / 1e9 for n in reach[name]} for name in work}
    crosses = crossing(lengths, time["layer"], time["lstm"])

    rounded = {name: {str(n): float(f"{value:.4g}") for n, value in by.items()} for name, by in time.items()}
    run.save_result(
        "attention_cost",
        {
            "question": "What does full attention cost as the text grows? Time and memory, and an LSTM beside it.",
            "lines": TITLES,
            "sizes": {"d_model": d_model, "n_heads": n_heads, "batch": 1, "repeats": repeats},
            "measured": "forward, single precision, one thread, nothing masked; seconds of the process clock, the"
            " fastest of the repeats; bytes are the peak of what PyTorch allocates, over the inputs and the weights",
            "seconds": rounded,
            "bytes": {name: {str(n): value for n, value in by.items()} for name, by in memory.items()},
            "law": {of: {name: law.rounded() for name, law in by.items()} for of, by in laws.items()},
            "law_is": f"cost = c · n^exponent, n ≥ {start}, least squares in logarithms; 95 % interval, Student's t",
            "multiply_adds": {"explicit": "2 n² d", "fused": "2 n² d", "layer": "4 n d² + 2 n² d", "lstm": "8 n d²"},
            "billion_multiply_adds_per_second": {
                name: {str(n): round(value, 1) for n, value in by.items()} for name, by in rates.items()
            },
            "steps_that_wait_for_one_another": {"explicit": "1", "fused": "1", "layer": "1", "lstm": "n"},
            "the_layer_takes_longer_than_the_lstm_from": crosses,
            "by_multiply_adds_alone_it_would_from": 2 * d_model,
        },
    )
