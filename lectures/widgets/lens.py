"""The residual pathway from below: what a language model would say if it stopped at a layer, and who changed its mind.

Every depth is read with the model's own last norm and output matrix ("logit lens", nostalgebraist 2020), which were
trained for the last depth alone: what stands low in the grid is a picture of the pathway, not a claim of the model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import ipywidgets
import numpy as np
import torch
from torch import Tensor, nn

from nlmcore.inspect import pathway
from nlmcore.language_model import evaluation_mode
from lectures.show import beside, lens_svg, lines_svg
from lectures.show.live import Live, live, slider

_LONGEST = 24


@runtime_checkable
class _Tokenizer(Protocol):
    def encode(self, text: str) -> list[int]: ...
    def decode(self, ids: Sequence[int]) -> str: ...
    def pieces(self, text: str) -> list[str]: ...


@dataclass(frozen=True)
class _Reading:
    words: list[str]
    depths: list[str]
    guesses: list[list[str]]
    chances: np.ndarray  # (depth, word)
    sizes: dict[str, np.ndarray]  # per line, (sublayer, word): root mean square


def lens_player(models: Mapping[str, tuple[nn.Module, _Tokenizer]], sentences: Sequence[str]) -> Live:
    """Left the likeliest next word at every depth, after every word; right how long the vectors on the way are.

    models: name -> (language model with `final_norm` and `output`, its tokenizer), as `nlmcore.pretrained.smollm2()`
    gives them. Right, for the chosen word: the pathway, and what attention and the feed-forward network add to it, as
    root mean squares. In pre-norm models the pathway grows, in post-norm ones every layer brings it back to one size.

    Raises ValueError if there is no model or sentence, one is too long, or a model has no such parts.
    """
    if not models or not sentences:
        raise ValueError("lens_player needs at least one model and one sentence")
    reading = lru_cache(maxsize=16)(lambda model, sentence: _read(*models[model], sentence))
    longest = max(len(reading(name, sentences[0]).words) for name in models)

    def draw(model: str, sentence: str, place: int) -> str:
        read = reading(model, sentence)
        selected = min(place, len(read.words) - 1)
        note = "the surer, the darker; low rows are read with a norm and a matrix made for the highest"
        grid = lens_svg(read.words, read.depths, read.guesses, read.chances, selected=selected, title=model, note=note)
        return beside(grid, _sizes(read, selected))

    wide = ipywidgets.Layout(width="min(760px, 98%)")
    return live(
        draw,
        rows=[["model"], ["sentence"], ["place"]],
        model=ipywidgets.ToggleButtons(options=list(models), description="model", style={"button_width": "auto"}),
        sentence=ipywidgets.Dropdown(options=list(sentences), description="sentence", layout=wide),
        place=slider(longest - 1, 0, _LONGEST - 1, 1, "look at word"),
    )


def _sizes(read: _Reading, word: int) -> str:
    lines = {name: np.log10(np.maximum(line[:, word], 1e-12)) for name, line in read.sizes.items()}
    every = np.concatenate([np.log10(np.maximum(line, 1e-12)).ravel() for line in read.sizes.values()])
    every = every[np.isfinite(every)]
    low, high = np.floor(every.min()), np.ceil(every.max() + 1e-9)
    path = read.sizes["pathway"][:, word]
    return lines_svg(
        np.arange(len(path)),
        lines,
        alt=f"Root mean square of the pathway at {read.words[word]!r}: {path[0]:.2f} at first, {path[-1]:.2f} at last.",
        x_title="sublayers passed",
        y_title="root mean square",
        low=float(low),
        high=float(max(high, low + 1)),
        powers=True,
        title=f"sizes at {read.words[word]!r}",
        width=460,
        height=380,
        columns=1,
    )


def _read(model: Any, tokenizer: _Tokenizer, sentence: str) -> _Reading:
    """One pass; every depth through the last norm and the output."""
    missing = [part for part in ("final_norm", "output") if not callable(getattr(model, part, None))]
    if missing:
        raise ValueError(f"{type(model).__name__} has no {' and no '.join(missing)} to read a depth with")
    tokens = tokenizer.encode(sentence)
    if not 1 <= len(tokens) <= _LONGEST:
        raise ValueError(f"the sentence has {len(tokens)} tokens; the picture has room for 1 to {_LONGEST}")
    with torch.no_grad(), evaluation_mode(model):
        with pathway(model) as branches:
            model(torch.tensor([tokens]))
        layers: dict[str, Tensor] = {"embeddings": branches[0].x}
        for branch in branches:  # the last branch of a layer stays
            layers[branch.name.rpartition(".")[0]] = branch.result
        best = [model.output(model.final_norm(x))[0].softmax(-1).max(-1) for x in layers.values()]
    added: dict[str, list[np.ndarray]] = {"pathway": [_size(branches[0].x)]}
    for n, branch in enumerate(branches, start=1):
        added["pathway"].append(_size(branch.result))
        name = "added by " + branch.name.rpartition(".")[2].removeprefix("around_").replace("_", " ")
        line = added.setdefault(name, [])
        line += [np.full(len(tokens), np.nan)] * (n - len(line)) + [_size(branch.y)]
    count = len(branches) + 1
    return _Reading(
        words=[_visible(piece) for piece in tokenizer.pieces(sentence)],
        depths=[_depth(name) for name in layers],
        guesses=[[_visible(tokenizer.decode([int(i)])) for i in indices] for _, indices in best],
        chances=torch.stack([chance for chance, _ in best]).float().numpy(),
        sizes={
            name: np.stack(line + [np.full(len(tokens), np.nan)] * (count - len(line))) for name, line in added.items()
        },
    )


def _visible(piece: str) -> str:
    """A token as it is read; one that is all space, with marks that can be seen."""
    return piece.strip() or piece.translate(str.maketrans(" \n\t", "␣↵⇥")) or "∅"


def _depth(name: str) -> str:
    number = name.rpartition(".")[2]
    return f"layer {number}" if number.isdigit() else name


def _size(x: Tensor) -> np.ndarray:
    return x[0].float().square().mean(-1).sqrt().numpy()
