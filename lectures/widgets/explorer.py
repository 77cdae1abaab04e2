"""The attention explorer: real sentences through a real encoder, one head at a time.

All layers and heads of a sentence are computed once, when the sentence is chosen; moving a slider only
redraws.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import ipywidgets
import numpy as np
import torch
from torch import nn

from nlmcore.inspect import capture
from lectures.show import attention_html
from lectures.show.live import Live, slider

_ALL, _LONGEST = "all words", 40


@runtime_checkable
class _Tokenizer(Protocol):
    def encode(self, text: str) -> list[int]: ...
    def pieces(self, text: str) -> list[str]: ...


def all_attention(model: nn.Module, tokenizer: _Tokenizer, sentence: str) -> tuple[list[str], np.ndarray]:
    """The tokens of a sentence and every weight: (layer, head, query, key).

    Raises ValueError for a sentence without a token, or longer than a picture can show.
    """
    if not sentence.strip():
        raise ValueError("the sentence is empty: type a few words")
    tokens = tokenizer.encode(sentence)
    if len(tokens) > _LONGEST:
        raise ValueError(f"the sentence has {len(tokens)} tokens; the picture has room for {_LONGEST}")
    with torch.no_grad(), capture(model) as tape:
        model(torch.tensor([tokens]))
    return tokenizer.pieces(sentence), torch.cat([weights for weights in tape.values()]).numpy()


def attention_explorer(
    model: nn.Module,
    tokenizer: _Tokenizer,
    sentences: Sequence[str],
    *,
    layer: int = 0,
    head: int = 0,
    token: str | None = None,
) -> Live:
    """Choose a sentence (or type one), a layer, a head and a word; see what the word reads.

    model: anything whose attention `nlmcore.inspect.capture` sees and that is called with tokens; swap in
    yours. tokenizer: `encode(text)` and `pieces(text)`. Resting the pointer on a token previews its row,
    clicking its button keeps it.

    Raises ValueError if there is no sentence, or the first one has no such token.
    """
    if not sentences:
        raise ValueError("attention_explorer needs at least one sentence")
    weights_of = lru_cache(maxsize=32)(lambda sentence: all_attention(model, tokenizer, sentence))
    words, weights = weights_of(sentences[0])
    if token is not None and token not in words:
        raise ValueError(f"token must be one of the first sentence's, got {token!r}; they are {words}")
    wide = ipywidgets.Layout(width="min(860px, 98%)")
    initial: dict[str, Any] = {"style": {"description_width": "70px"}, "layout": wide}
    choose = ipywidgets.Dropdown(options=list(sentences), description="sentence", **initial)
    typed = ipywidgets.Text(
        placeholder="… or type your own and press Enter", description="yours", continuous_update=False, **initial
    )
    layers = slider(layer, 0, weights.shape[0] - 1, 1, "layer")
    heads = slider(head, 0, weights.shape[1] - 1, 1, "head")
    buttons = ipywidgets.ToggleButtons(
        options=_numbered(words),
        value=None if token is None else words.index(token),
        description="look from",
        style={"button_width": "auto", "description_width": "70px"},
        layout=ipywidgets.Layout(width="98%"),
    )

    def draw(sentence: str, own: str, layer: int, head: int, selected: int | None) -> str:
        tokens, every = weights_of(own if own.strip() else sentence)
        selected = selected if selected is None or selected < len(tokens) else None
        return attention_html(every[layer, head], tokens, selected=selected, title=f"layer {layer}, head {head}")

    controls = {"sentence": choose, "own": typed, "layer": layers, "head": heads, "selected": buttons}
    explorer = Live(draw, controls, [["sentence"], ["own"], ["layer", "head"], ["selected"]])

    def renew(change: dict[str, Any]) -> None:
        if change["owner"] is choose:
            typed.value = ""
        try:
            tokens, _ = weights_of(typed.value if typed.value.strip() else choose.value)
        except ValueError:
            return  # the picture says what is wrong
        if [name for name, _ in buttons.options] != [name for name, _ in _numbered(tokens)]:
            with explorer.hold_trait_notifications():
                buttons.options = _numbered(tokens)
                buttons.value = None

    choose.observe(renew, names="value")
    typed.observe(renew, names="value")
    return explorer


def _numbered(words: Sequence[str]) -> list[tuple[str, int | None]]:
    """Labels of buttons must differ: the second "the" gets a thin mark."""
    seen: dict[str, int] = {}
    options: list[tuple[str, int | None]] = [(_ALL, None)]
    for position, word in enumerate(words):
        seen[word] = seen.get(word, 0) + 1
        options.append((word if seen[word] == 1 else f"{word} ({seen[word]})", position))
    return options
