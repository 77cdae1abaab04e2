"""Figure: time and memory of a layer of cheaper attention, to 16,384 tokens, beside full attention's fused kernel.

The sizes are those of a layer of SmolLM2: d_model 576, nine heads that share three sets of keys and values; each row is
a whole attention layer with its projections, as an encoder runs it, without a mask.

    full, as written   softmax(Q Kᵀ/√d_head) V with all n² weights at hand
    full, fused        PyTorch's kernel, which never holds them (Dao et al. 2022)
    Longformer         a window of 512 and one global token          ours, `nlmcore.variants.sparse`
    BigBird            blocks of 64: three neighbours, three random, two global; the paper's table 8
    Linformer          256 mixed keys                                ours, `nlmcore.variants.linformer`
    feed-forward       the other half of a layer, for comparison: SwiGLU, 3 · d_model · 1,536

Seconds are medians of the process clock; the power law of each is fitted to the long texts. Forward only, one text,
single precision, one thread.
"""

import statistics
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from nlmcore.attention import MultiHeadAttention
from nlmcore.inspect import capture
from nlmcore.transformer import GatedFeedForward, TransformerConfig
from nlmcore.variants.linformer import LinformerAttention
from nlmcore.variants.sparse import build_bigbird, build_longformer
from torch import nn

from lectures.recipes.attention_cost import crossing
from lectures.recipes.costs import peak_bytes, power_law, seconds
from lectures.recipes.run import Run, recipe

WRITTEN, FUSED, NETWORK = "full, as written", "full, fused", "feed-forward"
LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)


def layers(config: TransformerConfig, window: int, block: int, k: int) -> dict[str, nn.Module]:
    """By name: parts that are called with x (batch, time, d_model)."""
    torch.manual_seed(0)
    sizes = (config.d_model, config.n_heads, config.n_kv_heads)
    parts = {
        WRITTEN: MultiHeadAttention(*sizes, bias=False),
        FUSED: MultiHeadAttention(*sizes, bias=False),
        "Longformer": build_longformer(config, False, window=window),
        "BigBird": build_bigbird(config, False, block=block),
        "Linformer": LinformerAttention(config, k=k),
        NETWORK: GatedFeedForward(config.d_model, config.hidden_size),
    }
    return {name: part.eval() for name, part in parts.items()}


def explicitly(part: nn.Module, x: torch.Tensor) -> Any:
    """With all weights at hand: while they are captured, the equation is computed as it is written."""
    with capture(part):
        return part(x)


def multiply_adds(name: str, part: Any, c: TransformerConfig, n: int) -> int:
    """Of a layer over n tokens: projections, and two products of d_head per score and head."""
    if name == NETWORK:
        return 3 * n * c.d_model * c.hidden_size
    kv = (c.n_kv_heads or c.n_heads) * c.head_size
    d = c.n_heads * c.head_size
    projections = n * c.d_model * (2 * d + 2 * kv)
    if name == "Linformer":
        k = part.E.shape[0]
        return projections + 2 * n * k * d + 2 * k * n * kv
    if name in (WRITTEN, FUSED):
        return projections + 2 * n * n * d
    separate = n * c.d_model * (d + 2 * kv) if part.global_projection is not None else 0
    return projections + separate + 2 * part.scores(n) * d


@recipe(4)
def cook(run: Run) -> None:
    lengths = run.size(LENGTHS, (16, 32, 64))
    config = TransformerConfig(
        vocab_size=10,
        d_model=run.size(576, 24),
        n_heads=run.size(9, 3),
        n_kv_heads=run.size(3, 1),
        n_layers=1,
        max_length=lengths[-1],
        d_ff=run.size(1536, 48),
        attention_bias=False,
    )
    parts = layers(config, run.size(512, 8), run.size(64, 4), run.size(256, 4))
    longest_written, start, repeats = run.size(4096, 64), run.size(2048, 16), run.size(3, 1)
    time: dict[str, dict[int, float]] = {name: {} for name in parts}
    memory: dict[str, dict[int, int]] = {name: {} for name in parts}
    for n in lengths:
        x = torch.randn(1, n, config.d_model)
        work: dict[str, Callable[[], Any]] = {
            name: partial(explicitly, part, x) if name == WRITTEN else partial(part, x)
            for name, part in parts.items()
            if name != WRITTEN or n <= longest_written
        }
        for name, taken in seconds(work, repeats, statistics.median).items():
            time[name][n], memory[name][n] = float(f"{taken:.4g}"), peak_bytes(work[name])
        run.say(f"{n} tokens: " + ", ".join(f"{name} {time[name][n]:.3f} s" for name in work))
    fitted = [name for name in parts if len([n for n in time[name] if n >= start]) >= 3]
    law = {name: power_law(list(time[name]), list(time[name].values()), start).rounded() for name in fitted}
    cheaper = [name for name in parts if name not in (WRITTEN, FUSED, NETWORK)]
    crosses = {name: crossing(list(lengths), time[FUSED], time[name]) for name in (*cheaper, NETWORK)}
    run.save_result(
        "sparse_cost",
        {
            "question": "What does a layer of cheaper attention cost to 16,384 tokens, beside full attention's kernel?",
            "how": "one attention layer of SmolLM2's sizes with its projections, nothing masked; forward, one text,"
            f" single precision, one thread; seconds of the process clock, the median of {repeats}; bytes are the peak"
            " of what PyTorch allocates over the input and the weights",
            "sizes": {"d_model": config.d_model, "n_heads": config.n_heads, "d_ff": config.hidden_size}
            | {"window": run.size(512, 8), "block": run.size(64, 4), "k": run.size(256, 4)},
            "seconds": {name: {str(n): s for n, s in by.items()} for name, by in time.items()},
            "bytes": {name: {str(n): b for n, b in by.items()} for name, by in memory.items()},
            "multiply_adds": {
                name: {str(n): multiply_adds(name, part, config, n) for n in lengths} for name, part in parts.items()
            },
            "law": law,
            "law_is": f"seconds = c · n^exponent, n ≥ {start}, least squares in logarithms; 95 % interval, Student's t",
            "full_fused_takes_longer_from": crosses,
            "what_it_shows": "full attention's fused kernel takes longer than "
            + ", ".join(f"{name} from {n} tokens on" if n else f"{name} nowhere" for name, n in crosses.items()),
        },
    )
