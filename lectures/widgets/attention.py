"""Widgets: softmax, a query among keys, the width of queries and keys, masks, and the heads of a real encoder.

Each playground takes the function that it demonstrates; `yours`, a student's own, is drawn next to it.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from lectures.show import (
    Axis,
    Canvas,
    Live,
    Plot,
    attention_html,
    choice,
    field,
    heatmap_svg,
    live,
    menu,
    slider,
    stops,
    tick,
)
from lectures.show.svg import AMBER, BLUE, FAINT, GREEN, ORANGE, number
from nlmcore.inspect import capture

__all__ = ["attention_explorer", "mask_playground", "query_playground", "softmax_playground", "width_playground"]

Attend = Callable[..., tuple[Tensor, Tensor]]
"""(scores, values, mask=None) -> (context, weights), like `nlmcore.attention.attend`."""

# --- scores and weights --------------------------------------------------------------------------


def softmax_playground(
    attend: Attend, scores: Sequence[float], labels: Sequence[str], *, yours: Attend | None = None
) -> Live:
    """A slider per score, one that adds to them all and one that multiplies them; the weights follow."""

    def draw(attend: Attend, add: float, scale: float, **values: float) -> str:
        s = (torch.tensor(list(values.values())) + add) * scale
        _, weights = attend(s, torch.eye(len(labels)))
        return softmax_svg(s, weights, labels, reach=6.0, extra=f"the weights sum to {weights.sum():.2f}")

    sliders: dict[str, Any] = {
        f"s{i}": slider(float(score), -3.0, 3.0, 0.1, f"score of {label}", "300px")
        for i, (label, score) in enumerate(zip(labels, scores, strict=True))
    }
    return live(
        draw,
        attend,
        yours=yours,
        rows=[list(sliders), ["add", "scale"]],
        **sliders,
        add=slider(0.0, -3.0, 3.0, 0.5, "then add to all"),
        scale=slider(1.0, 0.0, 8.0, 0.1, "then multiply all by"),
    )


def width_playground(attend: Attend, n_keys: int = 6, seed: int = 0, *, yours: Attend | None = None) -> Live:
    """A random query and random keys of growing width d, with and without the division by √d."""
    widest, texts = 512, 200
    generator = torch.Generator().manual_seed(seed)
    queries = torch.randn(texts, widest, 1, generator=generator)
    keys = torch.randn(texts, n_keys, widest, generator=generator)
    labels = [f"k{j + 1}" for j in range(n_keys)]

    def draw(attend: Attend, d: int, divide: bool) -> str:
        scores = (keys[:, :, :d] @ queries[:, :d]).squeeze(-1) / (math.sqrt(d) if divide else 1.0)
        _, weights = attend(scores, torch.eye(n_keys).expand(texts, n_keys, n_keys))
        mean = f"largest weight, mean over {texts} random queries: {weights.amax(-1).mean():.2f}"
        return softmax_svg(scores[0], weights[0], labels, reach=30.0, extra=mean)

    return live(
        draw,
        attend,
        yours=yours,
        d=stops([2**i for i in range(1, 10)], 4, "width d", "360px"),
        divide=tick("divide the scores by √d"),
    )


def softmax_svg(
    scores: ArrayLike, weights: ArrayLike, labels: Sequence[str], *, reach: float = 3.0, extra: str = ""
) -> str:
    """Two panels of bars: scores (any real number, up or down) and weights (between 0 and 1, summing to 1).

    The axis of the scores goes from −reach to reach and stays there, so that pictures can be compared; a
    longer bar is cut off and its number tells. `extra` is a line written below.

    Raises ValueError if lengths differ.
    """
    s, w = np.asarray(scores, dtype=float), np.asarray(weights, dtype=float)
    if s.ndim != 1 or s.shape != w.shape or len(labels) != len(s):
        raise ValueError(
            f"softmax_svg needs as many weights and labels as scores, got scores {s.shape}, weights {w.shape}"
            f" and {len(labels)} labels"
        )
    canvas, wide = Canvas(), 84.0 * len(s)
    names = {i + 0.5: label for i, label in enumerate(labels)}
    panels = (
        (f"scores e (axis: ±{reach:g})", s, Axis(-1.26 * reach, 1.26 * reach, ticks={0: ""}), AMBER, reach),
        ("weights α = softmax(e)", w, Axis(0, 1.13, ticks={0: ""}), BLUE, 1.0),
    )
    for panel, (title, values, axis, colour, most) in enumerate(panels):
        left = panel * (wide + 80)
        canvas.text(left, 20, title, 17, bold=True)
        plot = Plot(canvas, Axis(0, len(s), ticks=names, grid=False), axis, left=left, top=36, across=wide, down=215, inner=True)  # fmt: skip
        plot.level(0)
        for i, value in enumerate(values):
            shown = float(np.clip(value, -most, most))
            plot.bar(i + 0.5, shown, 64, colour)
            beyond = plot.down(shown) + (18 if value < 0 else -6)
            canvas.text(plot.across(i + 0.5), beyond, number(value), 16, "middle")
    canvas.text(wide + 40, 156, "→", 34, "middle")
    canvas.notes([extra], 17)
    says = "; ".join(f"{label}: score {a:.2f}, weight {b:.2f}" for label, a, b in zip(labels, s, w, strict=True))
    return canvas.svg(f"Scores and softmax weights. {says}.")


# --- a query among keys --------------------------------------------------------------------------


def query_playground(
    attend: Attend,
    scores: Mapping[str, Callable[[Tensor, Tensor], Tensor]],
    keys: Tensor,
    labels: Sequence[str],
    *,
    yours: Attend | None = None,
) -> Live:
    """Rotate a query among keys in the plane, under each score; disks grow with the weights.

    scores: name -> function (query (2,), keys (key, 2)) -> (key,). The keys are their own values.
    """

    def draw(attend: Attend, score: str, angle: int, length: float) -> str:
        radians = math.radians(angle)
        query = torch.tensor([math.cos(radians), math.sin(radians)]) * length
        context, weights = attend(scores[score](query, keys), keys)
        return plane_svg(query, keys, weights, context, labels, title=score)

    return live(
        draw,
        attend,
        yours=yours,
        rows=[["score"], ["angle", "length"]],
        score=menu(scores, "score", "420px"),
        angle=slider(315, 0, 355, 5, "angle of the query (°)"),
        length=slider(1.5, 0.0, 1.8, 0.1, "its length"),
    )


def plane_svg(
    query: ArrayLike, keys: ArrayLike, weights: ArrayLike, context: ArrayLike, labels: Sequence[str], *, title: str = ""
) -> str:
    """query (2,), keys (key, 2), weights (key,), context (2,): the values are the keys themselves.

    A disk's area is its weight. Raises ValueError if shapes do not fit.
    """
    q, k, w, c = (np.asarray(a, dtype=float) for a in (query, keys, weights, context))
    if q.shape != (2,) or c.shape != (2,) or k.shape != (len(labels), 2) or w.shape != (len(labels),):
        raise ValueError(
            "plane_svg needs query (2,), keys (key, 2), weights (key,), context (2,) and a label per key, got"
            f" {q.shape}, {k.shape}, {w.shape}, {c.shape} and {len(labels)} labels"
        )
    canvas = Canvas(title, size=16)
    canvas.line((6, 41), (34, 41), ORANGE, 4, arrow=True)
    canvas.text(42, 46, "query")
    canvas.mark("circle", 120, 41, BLUE, 9, opacity=0.75)
    canvas.text(136, 46, "keys (= values), area = weight")
    canvas.mark("diamond", 394, 41, GREEN, 7)
    canvas.text(410, 46, "context")
    axes = Axis(-2.8, 2.8, ticks={0: ""}), Axis(-2, 2, ticks={0: ""})
    plot = Plot(canvas, *axes, top=60, across=560, down=400, inner=True)
    canvas.line(plot.at(0, -2), plot.at(0, 2), "#ddd")
    for key, weight in zip(k, w, strict=True):
        canvas.line(plot.at(0, 0), plot.at(*key), FAINT, 1.5)
        canvas.mark("circle", *plot.at(*key), BLUE, 3 + 30 * math.sqrt(weight), stroke="none", opacity=0.75)
    canvas.line(plot.at(0, 0), plot.at(*q), ORANGE, 4, arrow=bool(np.linalg.norm(q) > 0.05))
    canvas.mark("diamond", *plot.at(*c), GREEN, 7)
    for key, weight, label in zip(k, w, labels, strict=True):  # last, with a white halo: readable over the arrow
        (x, y), side = plot.at(*key), 1 if key[0] >= 0 else -1
        x, anchor = x + side * (8 + 30 * math.sqrt(weight)), "start" if side > 0 else "end"
        canvas.text(x, y - 4, label, 15, anchor, bold=True, halo=True)
        canvas.text(x, y + 14, f"{weight:.2f}", 14, anchor, halo=True)
    spoken = ", ".join(f"{label} {weight:.2f}" for label, weight in zip(labels, w, strict=True))
    says = f"{title} Query at ({q[0]:.2f}, {q[1]:.2f}); weights: {spoken}; context at ({c[0]:.2f}, {c[1]:.2f})."
    return canvas.svg(says)


# --- masks ---------------------------------------------------------------------------------------


def mask_playground(
    attend: Attend, words: Sequence[str], scores: Tensor, masks: Mapping[str, Tensor], *, yours: Attend | None = None
) -> Live:
    """One matrix of scores under each mask; × marks what is forbidden.

    scores (query, key), one row and one column per word; masks: name -> boolean, broadcasts to the scores.
    """

    def draw(attend: Attend, mask: str) -> str:
        allowed = masks[mask].expand(scores.shape)
        _, weights = attend(scores, torch.eye(scores.shape[-1]), allowed)
        sums = ", ".join(f"{total:.0f}" for total in weights.sum(-1).tolist())
        forbidden = int((~allowed).sum())
        alt = f"Attention weights under the mask {mask!r}; {forbidden} entries forbidden; rows sum to {sums}."
        shown = weights.masked_fill(~allowed, math.nan)
        note = f"one row per word that reads; the rows sum to {sums}"
        return heatmap_svg(shown, words, words, alt=alt, cell=64, title=mask, note=note)

    return live(draw, attend, yours=yours, mask=choice(masks, "mask"))


# --- the heads of a real encoder -----------------------------------------------------------------

_ALL, _LONGEST = "all words", 40


class Tokenizer(Protocol):
    def encode(self, text: str) -> list[int]: ...
    def pieces(self, text: str) -> list[str]: ...


def all_attention(model: nn.Module, tokenizer: Tokenizer, sentence: str) -> tuple[list[str], np.ndarray]:
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
    tokenizer: Tokenizer,
    sentences: Sequence[str],
    *,
    layer: int = 0,
    head: int = 0,
    token: str | None = None,
) -> Live:
    """Choose a sentence (or type one), a layer, a head and a word; see what the word reads.

    model: anything whose attention `nlmcore.inspect.capture` sees and that is called with tokens; swap in
    yours. tokenizer: `encode(text)` and `pieces(text)`. Resting the pointer on a token previews its row,
    clicking its button keeps it. All layers and heads of a sentence are computed when it is chosen.

    Raises ValueError if there is no sentence, or the first one has no such token.
    """
    if not sentences:
        raise ValueError("attention_explorer needs at least one sentence")
    weights_of = lru_cache(maxsize=32)(lambda sentence: all_attention(model, tokenizer, sentence))
    words, weights = weights_of(sentences[0])
    if token is not None and token not in words:
        raise ValueError(f"token must be one of the first sentence's, got {token!r}; they are {words}")

    def draw(sentence: str, own: str, layer: int, head: int, selected: int | None) -> str:
        tokens, every = weights_of(own if own.strip() else sentence)
        selected = selected if selected is None or selected < len(tokens) else None
        return attention_html(every[layer, head], tokens, selected=selected, title=f"layer {layer}, head {head}")

    sentence, own = menu(sentences, "sentence", "min(860px, 98%)"), field(width="min(860px, 98%)")
    start = None if token is None else words.index(token)
    selected = choice(numbered(words), "look from", value=start)
    selected.layout.width = "98%"
    explorer = live(
        draw,
        rows=[["sentence"], ["own"], ["layer", "head"], ["selected"]],
        sentence=sentence,
        own=own,
        layer=slider(layer, 0, weights.shape[0] - 1, 1, "layer"),
        head=slider(head, 0, weights.shape[1] - 1, 1, "head"),
        selected=selected,
    )

    def renew(change: dict[str, Any]) -> None:
        if change["owner"] is sentence:
            own.value = ""
        try:
            options = numbered(weights_of(own.value if own.value.strip() else sentence.value)[0])
        except ValueError:
            return  # the picture says what is wrong
        if [name for name, _ in selected.options] != [name for name, _ in options]:
            with explorer.hold_trait_notifications():
                selected.options, selected.value = options, None

    sentence.observe(renew, names="value")
    own.observe(renew, names="value")
    return explorer


def numbered(words: Sequence[str]) -> list[tuple[str, int | None]]:
    """Labels of buttons must differ: the second "the" is "the (2)"."""
    options: list[tuple[str, int | None]] = [(_ALL, None)]
    for position, word in enumerate(words):
        times = list(words[: position + 1]).count(word)
        options.append((word if times == 1 else f"{word} ({times})", position))
    return options
