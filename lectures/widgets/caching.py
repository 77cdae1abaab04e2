"""What a language model keeps while it reads word by word: its key-value cache, in place, and what it saves.

All steps are taken when the player is made: real states are shown, and products are counted by PyTorch while the model
runs. Moving a slider only draws.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ipywidgets
import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from nlmcore.inspect import capture
from nlmcore.language_model import State, evaluation_mode
from lectures.show import beside, cache_svg, lines_svg
from lectures.show.live import Live, live, slider

_UNITS = {1: "products", 10**3: "thousand products", 10**6: "million products", 10**9: "billion products"}


@dataclass(frozen=True)
class _Step:
    """What stands in the caches of all layers after so many words, and what it took to get there from the last."""

    keys: list[np.ndarray]  # per layer, (kv_head, held, d_head)
    values: list[np.ndarray]
    weights: list[np.ndarray]  # per layer, (head, seen): the newest word's
    capacity: int
    products: int
    products_afresh: int

    @property
    def numbers(self) -> int:
        """How many numbers the caches hold."""
        return 2 * sum(keys.size for keys in self.keys)


def cache_player(models: Mapping[str, nn.Module], tokens: Tensor, words: Sequence[str], *, prompt: int = 1) -> Live:
    """Read a text, its first `prompt` words at once and then word by word; see what each head of each layer keeps.

    models: name -> language model of a few layers whose state has `layers`, each a key-value cache with `keys`,
    `values` (batch, kv_head, capacity, d_head) and `length`: nlmcore.transformer.TransformerLM. With several, one
    compares heads that share keys, or a sliding window. tokens (time,), and a word for each. Below, the products
    (multiplications of two numbers) with the cache, and without: where the text is read again for every word.

    Raises ValueError if words and tokens differ in number, there is no model, or one keeps no such caches.
    """
    if tokens.ndim != 1 or len(tokens) != len(words) or not 1 <= prompt < len(words):
        raise ValueError(
            "cache_player needs tokens (time,), a word for each and a prompt that leaves some to be read, got tokens"
            f" {tuple(tokens.shape)}, {len(words)} words and prompt={prompt}"
        )
    if not models:
        raise ValueError("cache_player needs at least one model")
    steps = {name: _read(model, tokens, prompt) for name, model in models.items()}
    most = max(sum(step.products_afresh for step in every) for every in steps.values())

    def draw(model: str, read: int, layer: int, head: int) -> str:
        step = steps[model][read - prompt]
        if layer >= len(step.keys) or head >= len(step.weights[layer]):
            raise ValueError(
                f"{model} has the layers 0 to {len(step.keys) - 1} and the heads 0 to {len(step.weights[0]) - 1}"
            )
        keys, values, weights = step.keys[layer], step.values[layer], step.weights[layer]
        shared = len(weights) // len(keys)  # so many heads read the same keys
        mine = head // shared
        others = f"; {shared} heads share these keys and values" if shared > 1 else ""
        drawn = cache_svg(
            words[:read],
            keys[mine],
            values[mine],
            weights[head],
            capacity=step.capacity,
            new=prompt if read == prompt else 1,
            title=f"{model}: layer {layer}, head {head}{others}",
            notes=[
                f"all layers and heads hold {step.numbers:,} numbers",
                f"this step: {step.products:,} products; reading all {read} words again: {step.products_afresh:,}",
            ],
        )
        return beside(drawn, _costs(steps[model][: read - prompt + 1], prompt, len(words), most))

    weights = [every[0].weights for every in steps.values()]
    deepest, widest = max(map(len, weights)) - 1, max(len(heads) for layers in weights for heads in layers) - 1
    return live(
        draw,
        rows=[["model"], ["read", "layer", "head"]],
        model=ipywidgets.ToggleButtons(options=list(models), description="model", style={"button_width": "auto"}),
        read=slider(min(prompt + 1, len(words)), prompt, len(words), 1, "words read"),
        layer=slider(0, 0, deepest, 1, "layer", "260px"),
        head=slider(0, 0, widest, 1, "head", "260px"),
    )


def _costs(steps: Sequence[_Step], prompt: int, longest: int, most: int) -> str:
    """Products so far against words read, with and without the cache."""
    last = prompt + len(steps) - 1
    counted = {
        "with the cache": np.cumsum([step.products for step in steps]),
        "without": np.cumsum([step.products_afresh for step in steps]),
    }
    unit, name = max((u, n) for u, n in _UNITS.items() if u <= most)
    lines = {}
    for label, products in counted.items():
        lines[label] = np.full(longest + 1, np.nan)  # no line where nothing has been read yet
        lines[label][0], lines[label][prompt : last + 1] = 0, products / unit
    with_it, without = (int(products[-1]) for products in counted.values())
    return lines_svg(
        np.arange(longest + 1),
        lines,
        alt=f"Products in all after {last} words: {with_it:,} with the cache, {without:,} without.",
        x_title="words read",
        y_title=name,
        low=0,
        high=most / unit,
        title=f"products in all: {with_it:,} with, {without:,} without",
        width=460,
        height=330,
    )


def _read(model: nn.Module, tokens: Tensor, prompt: int) -> list[_Step]:
    """Every step's caches, weights and products. Keys are copied: a later step writes behind them."""
    steps: list[_Step] = []
    state: State = None
    with torch.no_grad(), evaluation_mode(model):
        for end in range(prompt, len(tokens) + 1):
            with capture(model) as tape, FlopCounterMode(display=False) as counted:
                _, state = model(tokens[None, 0 if state is None else end - 1 : end], state)
            with capture(model), FlopCounterMode(display=False) as afresh:
                model(tokens[None, :end])
            caches = getattr(state, "layers", ())
            if not caches or not all(hasattr(cache, "keys") and hasattr(cache, "length") for cache in caches):
                raise ValueError(f"the state of {type(model).__name__} has no key-value cache per layer")
            steps.append(
                _Step(
                    keys=[_held(cache.keys, cache.length) for cache in caches],
                    values=[_held(cache.values, cache.length) for cache in caches],
                    weights=[_newest(weights) for weights in tape.values()],
                    capacity=caches[0].keys.shape[2],
                    products=counted.get_total_flops() // 2,
                    products_afresh=afresh.get_total_flops() // 2,
                )
            )
    return steps


def _held(buffer: Tensor, length: int) -> np.ndarray:
    return buffer[0, :, :length].float().numpy().copy()


def _newest(weights: Tensor) -> np.ndarray:
    return weights[0, :, -1].float().numpy()
