"""Self-attention to play with: heads as edges above a sentence, and sentences whose words are shuffled."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import permutations

import ipywidgets
import numpy as np
import torch
from torch import Tensor, nn

from lectures.show import edges_svg, strongest_edges, vectors_svg
from lectures.widgets.explorer import _Tokenizer, all_attention
from lectures.show.live import Live, live, slider, swapped

Read = Callable[[Sequence[int]], Tensor]
"""Numbers of words -> one vector per word, (word, d)."""
_MARKS = ("[CLS]", "[SEP]")


def edges_playground(
    models: Mapping[str, tuple[nn.Module, _Tokenizer]],
    sentences: Sequence[str],
    *,
    layer: int = 0,
    head: int = 0,
) -> Live:
    """Any head of any of the models as labelled edges above a sentence; marks like `[CLS]` are left out.

    models: name -> (model, tokenizer), as for `attention_explorer`. Raises ValueError if there is no model or sentence.
    """
    if not models or not sentences:
        raise ValueError("edges_playground needs at least one model and one sentence")
    weights_of = lru_cache(maxsize=32)(lambda model, sentence: all_attention(*models[model], sentence))
    deepest, widest = (max(weights_of(name, sentences[0])[1].shape[axis] for name in models) - 1 for axis in (0, 1))

    def draw(model: str, sentence: str, layer: int, head: int, at_least: float) -> str:
        words, weights = weights_of(model, sentence)
        if layer >= weights.shape[0] or head >= weights.shape[1]:
            layers, heads = weights.shape[0] - 1, weights.shape[1] - 1
            raise ValueError(f"{model} has the layers 0 to {layers} and the heads 0 to {heads}")
        kept = [i for i, word in enumerate(words) if word not in _MARKS]
        matrix = weights[layer, head][np.ix_(kept, kept)]
        edges = strongest_edges(matrix, at_least)
        shown = [words[i].strip() for i in kept]
        title = f"{model}: layer {layer}, head {head}; {len(edges)} edges of weight {at_least:.2f} or more"
        return edges_svg(shown, edges, title=title)

    wide = ipywidgets.Layout(width="min(760px, 98%)")
    return live(
        draw,
        rows=[["model"], ["sentence"], ["layer", "head", "at_least"]],
        model=ipywidgets.ToggleButtons(options=list(models), description="model", style={"button_width": "auto"}),
        sentence=ipywidgets.Dropdown(options=list(sentences), description="sentence", layout=wide),
        layer=slider(layer, 0, deepest, 1, "layer ℓ", "300px"),
        head=slider(head, 0, widest, 1, "head k", "300px"),
        at_least=slider(0.25, 0.05, 0.95, 0.05, "edges from weight", "300px"),
    )


def shuffle_playground(
    layers: Mapping[str, Read], words: Sequence[str], *, yours: Mapping[str, Read] | None = None
) -> Live:
    """The words of a sentence in every order, and what layers of attention make of them.

    layers: name -> function from numbers of words, in some order, to one vector for each. Left the sentence as it
    is, right the shuffled one; the last row is the mean of the others, one vector for the sentence.
    """
    orders = list(permutations(range(len(words))))

    def draw(layers: Mapping[str, Read], layer: str, order: int) -> str:
        shuffled = orders[order]
        with torch.no_grad():
            plain, other = layers[layer](range(len(words))), layers[layer](shuffled)
        back = other[torch.tensor(shuffled).argsort()]
        moved, mean = (plain - back).abs().max().item(), (plain.mean(0) - other.mean(0)).abs().max().item()
        note = (
            f"word for word, the numbers differ by at most {moved:.2f};"
            f"\nthe sentence's vector (the mean) differs by at most {mean:.2f}"
        )
        panels = [
            (title, [*(words[i] for i in line), "mean"], torch.cat([vectors, vectors.mean(0, keepdim=True)]))
            for title, line, vectors in (("as written", range(len(words)), plain), ("shuffled", shuffled, other))
        ]
        alt = f"{layer}: {' '.join(words)}, and shuffled, {' '.join(words[i] for i in shuffled)}. {note}."
        return vectors_svg(panels, alt=alt, note=note)

    return live(
        partial(draw, layers),
        yours=swapped(draw, yours),
        rows=[["layer"], ["order"]],
        layer=ipywidgets.ToggleButtons(options=list(layers), style={"button_width": "auto"}),
        order=slider(len(orders) // 2 + 1, 0, len(orders) - 1, 1, "order of the words", "460px"),
    )
