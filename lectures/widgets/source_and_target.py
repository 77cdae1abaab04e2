"""The three uses of attention in the Transformer of 2017, side by side (Vaswani et al. 2017, section 3.2.3).

The encoder's reads the source both ways; the decoder's reads the target up to where it is written; the decoder looks
at the source with queries of its own. The target is read shifted by one: what a row reads stands left of the arrow,
what it must say next right of it.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import ipywidgets
import numpy as np
import torch
from torch import Tensor, nn

from nlmcore.inspect import capture
from nlmcore.language_model import evaluation_mode
from lectures.show import beside, heatmap_svg, said
from lectures.show.live import Live, live, slider

_USES = {
    "encoder.layers.{}.attention": ("encoder", "every source word reads every other"),
    "decoder.layers.{}.attention": ("decoder, masked", "a target word reads what is written"),
    "decoder.layers.{}.cross_attention": ("decoder at source", "q = Q z, k = K h, v = V h"),
}


class Pair(NamedTuple):
    """A source and its target as the model knows them: a word for each token, the target from `<bos>` on."""

    source: Sequence[str]
    source_tokens: Tensor
    target: Sequence[str]
    target_tokens: Tensor


def source_and_target_player(model: nn.Module, pairs: Sequence[Pair], *, layer: int = 0, head: int = 0) -> Live:
    """All attention of an encoder-decoder on pairs of source and target, one layer and one head at a time.

    model: has `encode(source)` and `model(tokens, state)`, and attention under the names of
    nlmcore.transformer.EncoderDecoder. Each row of the decoder tells how probable the model found its next word. The
    slider frames one of them.

    Raises ValueError if there is no pair, words and tokens of one differ in number, or the model has no such attention.
    """
    if not pairs:
        raise ValueError("source_and_target_player needs at least one pair")
    reading = lru_cache(maxsize=None)(lambda which: _read(model, pairs[which]))
    weights, _ = reading(0)
    deepest, widest = len(weights[0]) - 1, len(weights[0][0]) - 1

    def draw(pair: int, layer: int, head: int, row: int) -> str:
        (encoder, decoder, cross), chances = reading(pair)
        source, target = pairs[pair].source, pairs[pair].target
        row = min(row, len(target) - 2)
        reads = [f"{word} → {following}" for word, following in pairwise(target)]
        future = np.triu(np.ones((len(reads), len(reads)), dtype=bool), 1)
        tables = (
            (encoder, source, source, None),
            (decoder, reads, target[:-1], future),
            (cross, reads, source, None),
        )
        pictures = []
        for (use, note), (every, rows, columns, hidden) in zip(_USES.values(), tables, strict=True):
            matrix = every[layer][head] if hidden is None else np.where(hidden, np.nan, every[layer][head])
            best = [columns[int(i)] for i in np.nan_to_num(matrix).argmax(-1)]
            alt = f"{use}, layer {layer}, head {head}: " + "; ".join(
                f"{name} reads {word} most" for name, word in zip(rows, best, strict=True)
            )
            framed = None if rows is source else row
            pictures.append(
                heatmap_svg(matrix, rows, columns, alt=alt, title=use, note=note, cell=30, highlight=framed)
            )
        sure = f"having read {' '.join(target[: row + 1])}, it says {target[row + 1]!r} with {chances[row]:.2f}"
        return beside(*pictures) + said(sure)

    longest = max(len(pair.target) for pair in pairs) - 2
    wide = ipywidgets.Layout(width="min(760px, 98%)")
    names = [(f"{i + 1}. {' '.join(pair.source)}", i) for i, pair in enumerate(pairs)]
    return live(
        draw,
        rows=[["pair"], ["layer", "head", "row"]],
        pair=ipywidgets.Dropdown(options=names, description="source", layout=wide),
        layer=slider(layer, 0, deepest, 1, "layer", "260px"),
        head=slider(head, 0, widest, 1, "head", "260px"),
        row=slider(0, 0, longest, 1, "target word", "320px"),
    )


def _read(model: Any, pair: Pair) -> tuple[list[list[np.ndarray]], list[float]]:
    """Weights of each use and layer, (head, query, key), and the probability of each next word."""
    for name, words, tokens in (("source", *pair[:2]), ("target", *pair[2:])):
        if tokens.ndim != 1 or len(tokens) != len(words) or len(words) < (2 if name == "target" else 1):
            raise ValueError(
                f"a pair needs a word for each token, and a target from <bos> on of two or more, got {len(words)} words"
                f" and tokens {tuple(tokens.shape)} for the {name}"
            )
    with torch.no_grad(), evaluation_mode(model), capture(model) as tape:
        logits, _ = model(pair.target_tokens[None, :-1], model.encode(pair.source_tokens[None]))
    layers = [[name.format(n) for n in range(len(tape)) if name.format(n) in tape] for name in _USES]
    if not all(layers) or len({*map(len, layers)}) != 1:
        raise ValueError(f"{type(model).__name__} has no encoder and decoder of one depth, it has {list(tape)}")
    chances = logits[0].softmax(-1).gather(1, pair.target_tokens[1:, None].to(logits.device))[:, 0]
    return [[tape[name][0].float().numpy() for name in names] for names in layers], chances.tolist()
