"""Figure: what the next token costs, with a cache of keys and values and without it, as the text grows.

Without a cache the whole text is read again for every new token. With it, one token is read, and the keys and values
of the earlier ones are held in memory. Time, bytes held and multiply-adds of SmolLM2, one text, one thread, single
precision.
"""

from collections.abc import Callable
from typing import Any

import torch

from lectures.recipes.costs import peak_bytes, seconds
from lectures.recipes.run import Run, load_smollm2, recipe
from lectures.recipes.small_gpt import config
from lectures.trained import build

LENGTHS = (16, 64, 128, 256)


def multiply_adds(model: Any, n: int, new: int) -> int:
    """Of `new` tokens that end a text of n: every matrix once per token, and two products with every key's width.

    Our fast kernels are not seen by PyTorch's counter. A causal mask saves nothing in this count.
    """
    c = model.config
    matrices = sum(weight.numel() for weight in model.parameters() if weight.ndim == 2)  # a tied one is the unembedding
    return new * matrices + 2 * new * n * c.n_heads * c.head_size * c.n_layers


def held(state: Any) -> int:
    """Bytes of the keys and values of `state`'s tokens."""
    return sum(2 * layer.keys.nbytes for layer in state.layers)


def next_token(model: Any, tokens: torch.Tensor) -> tuple[Callable[[], Any], Callable[[], Any], int]:
    """What the token after `tokens` (1, time) costs: with a cache, without one; and the bytes that the cache holds."""
    with torch.no_grad():
        _, state = model(tokens[:, :-1])
    return lambda: model(tokens[:, -1:], state), lambda: model(tokens), held(model(tokens)[1])


@recipe(1)
def cook(run: Run) -> None:
    lengths = run.size(LENGTHS, (4, 8))
    model: Any = build("TransformerLM", config(run, 82)) if run.quick else load_smollm2()[0]
    model.eval()
    draw = torch.Generator().manual_seed(0)
    found: dict[str, Any] = {name: {} for name in ("seconds", "multiply_adds", "peak_bytes")}
    cache = {}
    for n in lengths:
        tokens = torch.randint(model.vocab_size, (1, n), generator=draw)
        with torch.no_grad():
            cached, afresh, cache[str(n)] = next_token(model, tokens)
        both = {"with the cache": cached, "without": afresh}
        for name, taken in seconds(both, run.size(3, 1)).items():
            found["seconds"].setdefault(name, {})[str(n)] = float(f"{taken:.4g}")
        for name, work in both.items():
            found["multiply_adds"].setdefault(name, {})[str(n)] = multiply_adds(model, n, 1 if work is cached else n)
            found["peak_bytes"].setdefault(name, {})[str(n)] = peak_bytes(work)
        run.say(f"{n} tokens: " + ", ".join(f"{name} {by[str(n)]:.3f} s" for name, by in found["seconds"].items()))
    first, last = str(lengths[0]), str(lengths[-1])
    times = {n: found["seconds"]["without"][n] / found["seconds"]["with the cache"][n] for n in (first, last)}
    run.save_result(
        "cache_cost",
        {
            "question": "What does the next token cost with a cache of keys and values, and without?",
            "how": "SmolLM2, one text, one thread, single precision; processor seconds, the fastest of"
            f" {run.size(3, 1)} in turns; peak_bytes: the most that is allocated during the step",
            **found,
            "cache_bytes": cache,
            "what_it_shows": f"without the cache the next token takes {times[first]:.1f} times as long after {first}"
            f" tokens, and {times[last]:.0f} times as long after {last}; the cache then holds"
            f" {cache[last] / 1e6:.1f} MB",
        },
    )
