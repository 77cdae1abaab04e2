"""Widgets: a head step by step, and heads as edges above a sentence.

Both take the models that they show.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import torch
from torch import Tensor, nn

from lectures.show import HEAD_STEPS, Head, Live, choice, edges_svg, head_html, live, menu, slider, strongest_edges
from lectures.widgets.attention import Tokenizer, all_attention, numbered
from nlmcore.attention import MultiHeadAttention, causal_mask

__all__ = ["edges_playground", "head_player"]


def edges_playground(
    models: Mapping[str, tuple[nn.Module, Tokenizer]], sentences: Sequence[str], *, layer: int = 0, head: int = 0
) -> Live:
    """Any head of any of the models as labelled edges above a sentence; special tokens like `[CLS]` are omitted.

    models: name -> (model, tokenizer), as for `attention_explorer`. Raises ValueError if there is no model or sentence.
    """
    if not models or not sentences:
        raise ValueError("edges_playground needs at least one model and one sentence")
    weights_of = lru_cache(maxsize=32)(lambda model, sentence: all_attention(*models[model], sentence))
    deepest, widest = (max(weights_of(name, sentences[0])[1].shape[axis] for name in models) - 1 for axis in (0, 1))

    def draw(model: str, sentence: str, layer: int, head: int, at_least: float) -> str:
        words, weights = weights_of(model, sentence)
        layers, heads = weights.shape[:2]
        if layer >= layers or head >= heads:
            raise ValueError(f"{model} has the layers 0 to {layers - 1} and the heads 0 to {heads - 1}")
        kept = [i for i, word in enumerate(words) if word not in ("[CLS]", "[SEP]")]
        edges = strongest_edges(weights[layer, head][np.ix_(kept, kept)], at_least)
        title = f"{model}: layer {layer}, head {head}; {len(edges)} edges of weight {at_least:.2f} or more"
        return edges_svg([words[i].strip() for i in kept], edges, title=title)

    return live(
        draw,
        rows=[["model"], ["sentence"], ["layer", "head", "at_least"]],
        model=choice(models, "model"),
        sentence=menu(sentences, "sentence"),
        layer=slider(layer, 0, deepest, 1, "layer ℓ", "300px"),
        head=slider(head, 0, widest, 1, "head k", "300px"),
        at_least=slider(0.25, 0.05, 0.95, 0.05, "smallest weight", "300px"),
    )


def head_player(
    model: nn.Module, tokenizer: Tokenizer, sentence: str, *, layer: int = 0, head: int = 0, asks: int = 1
) -> Live:
    """One head on one sentence, step by step: x → q, k, v → scores → ÷ √d → mask → softmax → weighted sum.

    model: an encoder whose layers are `nlmcore.attention.MultiHeadAttention` without positions or shared keys. asks:
    the token whose output is computed. The numbers are the model's own; the causal mask shows what the same
    head would read if it were not allowed to look ahead.

    Raises ValueError if the model has no such attention.
    """
    words, (seen, layers) = tokenizer.pieces(sentence), _entering(model, tokenizer.encode(sentence))
    masks = {"none: every token can be read": torch.ones(len(words), len(words), dtype=torch.bool)}
    masks["causal: no later token"] = causal_mask(len(words))

    @lru_cache(maxsize=512)
    def numbers(layer: int, head: int, mask: str) -> Head:
        with torch.no_grad():
            parts = [part(seen[layer]) for part in (layers[layer].query, layers[layer].key, layers[layer].value)]
        q, k, v = (p.unflatten(-1, (layers[layer].n_heads, -1))[:, head].double().numpy() for p in parts)
        return Head(words, seen[layer].double().numpy(), q, k, v, masks[mask].numpy())

    def draw(step: int, layer: int, head: int, asks: int, mask: str, number: int) -> str:
        title = f"layer {layer}, head {head}"
        return head_html(numbers(layer, head, mask), asks, step, at=number, title=title)

    tokens = [(name, place) for name, place in numbered(words) if place is not None]
    asking = menu(tokens, "token", "240px")
    asking.value = asks
    return live(
        draw,
        rows=[["step", "asks"], ["layer", "head", "number"], ["mask"]],
        play="step",
        step=slider(0, 0, len(HEAD_STEPS) - 1, 1, "step", "320px"),
        asks=asking,
        layer=slider(layer, 0, len(layers) - 1, 1, "layer ℓ", "280px"),
        head=slider(head, 0, layers[0].n_heads - 1, 1, "head k", "280px"),
        number=slider(0, 0, layers[0].d_head - 1, 1, "entry to spell out", "300px"),
        mask=choice(masks, "mask"),
    )


def _entering(model: nn.Module, tokens: Sequence[int]) -> tuple[list[Tensor], list[MultiHeadAttention]]:
    """The input of each self-attention of the model for a text, (time, d_model) each, and these layers."""
    layers = [module for module in model.modules() if isinstance(module, MultiHeadAttention)]
    if not layers or any(layer.positions is not None or layer.n_kv_heads != layer.n_heads for layer in layers):
        raise ValueError(f"{type(model).__name__} must have self-attention without positions and with keys per head")
    seen: list[Tensor] = []
    hooks = [layer.register_forward_pre_hook(lambda _, given: seen.append(given[0][0])) for layer in layers]
    try:
        with torch.no_grad():
            model(torch.tensor([list(tokens)]))
    finally:
        for hook in hooks:
            hook.remove()
    return seen, layers
