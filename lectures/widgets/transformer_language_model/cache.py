"""A cache of keys and values, read word by word: what each head keeps, and how many products it saves."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from lectures.show import Canvas, Live, beside, choice, lines_svg, live, slider
from lectures.show.svg import BLUE, FAINT, ORANGE
from nlmcore.inspect import capture
from nlmcore.language_model import State, evaluation_mode

_UNITS = {1: "products", 10**3: "thousand products", 10**6: "million products", 10**9: "billion products"}


@dataclass(frozen=True)
class _Step:
    """The caches of all layers after so many words, and what it took to get there from the previous step."""

    keys: list[np.ndarray]  # per layer, (kv_head, held, d_head)
    values: list[np.ndarray]
    weights: list[np.ndarray]  # per layer, (head, seen): the newest word's
    products: int
    products_afresh: int


def cache_player(models: Mapping[str, nn.Module], tokens: Tensor, words: Sequence[str], *, prompt: int = 1) -> Live:
    """Read a text, its first `prompt` words in one call and then word by word; see what each head of each layer keeps.

    models: name -> language model of a few layers whose state has `layers`, each a key-value cache with `keys`,
    `values` (batch, kv_head, key, d_head): nlmcore.transformer.TransformerLM. With several, you
    compare heads that share keys, or a sliding window. tokens (time,), and a word for each. Below, the products
    (multiplications of two numbers, as PyTorch counts them) with the cache, and without: where the text is read again
    for every word. All steps are taken when the player is made: moving a slider only draws.

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
        others = f"; {shared} heads share these keys and values" if shared > 1 else ""
        held = 2 * sum(keys.size for keys in step.keys)
        drawn = cache_svg(
            words[:read],
            keys[head // shared],
            values[head // shared],
            weights[head],
            new=prompt if read == prompt else 1,
            title=f"{model}: layer {layer}, head {head}{others}",
            notes=[
                f"all layers and heads hold {held:,} values",
                f"this step: {step.products:,} products",
                f"reading all {read} words again: {step.products_afresh:,}",
            ],
        )
        return beside(drawn, _costs(steps[model][: read - prompt + 1], prompt, len(words), most))

    weights = [every[0].weights for every in steps.values()]
    deepest, widest = max(map(len, weights)) - 1, max(len(heads) for layers in weights for heads in layers) - 1
    return live(
        draw,
        rows=[["model"], ["read", "layer", "head"]],
        play="read",
        model=choice(models, "model"),
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
    counted = {f"{label}: {int(products[-1]):,}": products for label, products in counted.items()}
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
        title="products so far",
        width=380,
        height=330,
        columns=1,
    )


def _read(model: nn.Module, tokens: Tensor, prompt: int) -> list[_Step]:
    """Every step's caches, weights and products."""
    steps: list[_Step] = []
    state: State = None
    with torch.no_grad(), evaluation_mode(model):
        for end in range(prompt, len(tokens) + 1):
            new = tokens[None, 0 if state is None else end - 1 : end]
            with torch.enable_grad():  # without gradients some products take a path that is not counted
                with capture(model), FlopCounterMode(display=False) as counted:
                    model(new, state)
                with capture(model), FlopCounterMode(display=False) as afresh:
                    model(tokens[None, :end])
            with capture(model) as tape:
                _, state = model(new, state)
            caches = getattr(state, "layers", ())
            if not caches or not all(hasattr(cache, "keys") for cache in caches):
                raise ValueError(f"the state of {type(model).__name__} has no key-value cache per layer")
            steps.append(
                _Step(
                    keys=[cache.keys[0].float().numpy() for cache in caches],
                    values=[cache.values[0].float().numpy() for cache in caches],
                    weights=[weights[0, :, -1].float().numpy() for weights in tape.values()],
                    products=counted.get_total_flops() // 2,
                    products_afresh=afresh.get_total_flops() // 2,
                )
            )
    return steps


def cache_svg(
    words: Sequence[str],
    keys: ArrayLike,
    values: ArrayLike,
    weights: ArrayLike,
    *,
    new: int = 1,
    title: str = "",
    notes: Sequence[str] = (),
) -> str:
    """One column per word that was read.

    keys, values (held, d_head): of the last `held` of the words; those before were forgotten by a sliding window, and
    their columns are crossed out. weights (seen,): how much the newest word reads of each of the last `seen` words,
    itself included. The last `new` columns were computed in this step and are framed.

    Raises ValueError for shapes that do not fit each other or the words.
    """
    K, V, alpha = (np.asarray(x, dtype=float) for x in (keys, values, weights))
    if K.ndim != 2 or K.shape != V.shape or len(K) > len(words):
        raise ValueError(
            "cache_svg needs keys and values (held, d_head), held at most the number of words, got"
            f" {K.shape} and {V.shape} for {len(words)} words"
        )
    held, seen = len(K), len(alpha)
    if alpha.ndim != 1 or not 1 <= seen <= len(words) or not 1 <= new <= len(words):
        raise ValueError(
            f"of {len(words)} words at least one is read and one is new, at most all, got weights {alpha.shape} and"
            f" new={new}"
        )
    canvas, first, left, tall, bars = Canvas(title), len(words) - held, 78.0, 64.0, 60.0
    cell = min(32.0, (860 - left) / len(words))
    top = 42 + max(map(len, words)) * 7.4 + bars
    canvas.text(0, top - bars / 2 + 6, "reads", 16)
    canvas.line((left, top), (left + cell * len(words), top), FAINT)
    for i, word in enumerate(words):
        gone: Any = {"opacity": 0.5, "text_decoration": "line-through"} if i < first else {}
        canvas.text(left + cell * (i + 0.62), top - bars - 8, word, 15, turn=-48, **gone)
    for j, weight in enumerate(alpha, start=len(words) - seen):
        high = bars * max(float(weight), 0.0)
        canvas.rect(left + cell * j + 3, top - high, cell - 6, high, BLUE, says=f"{weight:.3f}")
    for name, matrix, y in (("keys", K, top + 24), ("values", V, top + 38 + tall)):
        canvas.text(0, y + tall / 2 + 5, name, 16)
        for i in range(first):
            x, wide = left + cell * i + 4, cell - 8
            canvas.path(f"M{x:.1f},{y} l{wide:.1f},{tall} M{x + wide:.1f},{y} l{-wide:.1f},{tall}", "#c8c8c8")
        if held:
            reach = float(np.abs(matrix).max()) or 1.0
            canvas.image(matrix.T, left + cell * first, y, cell * held, tall, reach)
    frame = left + cell * (len(words) - new), top + 20, cell * new, 2 * tall + 22
    canvas.rect(*frame, stroke=ORANGE, wide=4)
    lines = [f"framed: computed in this step; {max(0, seen - new)} read as they were"]
    if first:
        lines.append(f"crossed out: {first} forgotten, no later word sees them")
    lines += notes
    canvas.notes(lines)
    best = int(np.argmax(alpha))
    return canvas.svg(
        f"{title} Of {len(words)} words the keys and values of {held} are held, {first} are"
        f" forgotten. {words[-1]!r} reads most from {words[len(words) - seen + best]!r} ({alpha[best]:.2f})."
        f" {' '.join(lines)}"
    )
