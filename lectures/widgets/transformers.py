"""Transformers: the three attentions of an encoder-decoder, and the pathway read at every depth."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from lectures.show import Canvas, Live, beside, choice, heatmap_svg, lines_svg, live, menu, said, slider
from lectures.show.svg import ORANGE, blue, label_width
from nlmcore.inspect import capture, pathway
from nlmcore.language_model import evaluation_mode

__all__ = ["Pair", "lens_player", "source_and_target_player"]

# --- source and target ---------------------------------------------------------------------------

_USES = {
    "encoder.layers.{}.attention": ("encoder", "every source word reads every other"),
    "decoder.layers.{}.attention": ("decoder, masked", "a target word reads what is written"),
    "decoder.layers.{}.cross_attention": ("decoder at source", "q = z Q, k = h K, v = h V"),
}


class Pair(NamedTuple):
    """A source and its target as the model knows them: a word for each token, the target from `<bos>` on."""

    source: Sequence[str]
    source_tokens: Tensor
    target: Sequence[str]
    target_tokens: Tensor


def source_and_target_player(model: nn.Module, pairs: Sequence[Pair], *, layer: int = 0, head: int = 0) -> Live:
    """The three uses of attention in the Transformer (Vaswani et al. 2017, section 3.2.3), one layer and head at a time.

    The encoder's reads the source both ways; the decoder's reads the target up to where it is written; the decoder
    reads the source with its own queries. The target is read shifted by one: what a row reads is left of the arrow,
    what it must say next is right of it. The slider frames one row and tells how probable the model found its next word.

    model: has `encode(source)` and `model(tokens, state)`, and attention under the names of
    nlmcore.transformer.EncoderDecoder.

    Raises ValueError if there is no pair, words and tokens of one differ in number, or the model has no such attention.
    """
    if not pairs:
        raise ValueError("source_and_target_player needs at least one pair")
    reading = lru_cache(maxsize=None)(lambda which: _read_pair(model, pairs[which]))
    weights, _ = reading(0)

    def draw(pair: int, layer: int, head: int, row: int) -> str:
        every, chances = reading(pair)
        source, target = pairs[pair].source, pairs[pair].target
        row = min(row, len(target) - 2)
        reads = [f"{word} → {following}" for word, following in pairwise(target)]
        future = np.triu(np.ones((len(reads), len(reads)), dtype=bool), 1)
        labels = ((source, source), (reads, target[:-1]), (reads, source))
        pictures = []
        for (use, note), of_layers, (rows, columns) in zip(_USES.values(), every, labels, strict=True):
            matrix = of_layers[layer][head]
            matrix = np.where(future, np.nan, matrix) if use == "decoder, masked" else matrix
            best = [columns[int(i)] for i in np.nan_to_num(matrix).argmax(-1)]
            reading_most = "; ".join(f"{name} reads {word} most" for name, word in zip(rows, best, strict=True))
            alt = f"{use}, layer {layer}, head {head}: {reading_most}"
            framed = None if rows is source else row
            pictures.append(heatmap_svg(matrix, rows, columns, alt=alt, title=use, note=note, highlight=framed))
        sure = f"having read {' '.join(target[: row + 1])}, it says {target[row + 1]!r} with {chances[row]:.2f}"
        return beside(*pictures) + said(sure)

    names = [(f"{i + 1}. {' '.join(pair.source)}", i) for i, pair in enumerate(pairs)]
    return live(
        draw,
        rows=[["pair"], ["layer", "head", "row"]],
        pair=menu(names, "source"),
        layer=slider(layer, 0, len(weights[0]) - 1, 1, "layer", "260px"),
        head=slider(head, 0, len(weights[0][0]) - 1, 1, "head", "260px"),
        row=slider(0, 0, max(len(pair.target) for pair in pairs) - 2, 1, "target word", "320px"),
    )


def _read_pair(model: Any, pair: Pair) -> tuple[list[list[np.ndarray]], list[float]]:
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


# --- the pathway at every depth ------------------------------------------------------------------

_LONGEST = 24


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

    Every depth is read with the model's own last norm and output matrix ("logit lens", nostalgebraist 2020), which were
    trained for the last depth alone: the low rows of the grid show the pathway, not a claim of the model.
    Right, for the chosen word: the pathway, and what attention and the feed-forward network add to it, as root mean
    squares. In pre-norm models the pathway grows, in post-norm ones every layer brings it back to one size.

    models: name -> (language model with `final_norm` and `output`, its tokenizer), as `nlmcore.pretrained.smollm2()`
    gives them.

    Raises ValueError if there is no model or sentence, one is too long, or a model has no such parts.
    """
    if not models or not sentences:
        raise ValueError("lens_player needs at least one model and one sentence")
    reading = lru_cache(maxsize=16)(lambda model, sentence: _read(*models[model], sentence))
    lengths = [len(tokenizer.encode(sentence)) for _, tokenizer in models.values() for sentence in sentences]
    first = min(len(reading(name, sentences[0]).words) for name in models)

    def draw(model: str, sentence: str, place: int) -> str:
        read = reading(model, sentence)
        selected = min(place, len(read.words) - 1)
        note = "the surer, the stronger the colour; low rows are read with a norm and a matrix made for the highest"
        grid = lens_svg(read.words, read.depths, read.guesses, read.chances, selected=selected, title=model, note=note)
        return beside(grid, _sizes(read, selected))

    return live(
        draw,
        rows=[["model"], ["sentence"], ["place"]],
        play="place",
        model=choice(models, "model"),
        sentence=menu(sentences, "sentence"),
        place=slider(first // 2, 0, min(max(lengths), _LONGEST) - 1, 1, "look at word"),
    )


def _sizes(read: _Reading, word: int) -> str:
    logs = {name: np.log10(np.maximum(line, 1e-12)) for name, line in read.sizes.items()}
    every = np.concatenate([line[np.isfinite(line)] for line in logs.values()])
    low, high = float(np.floor(every.min())), float(np.ceil(every.max() + 1e-9))
    path = read.sizes["pathway"][:, word]
    return lines_svg(
        np.arange(len(path)),
        {name: line[:, word] for name, line in logs.items()},
        alt=f"Root mean square of the pathway at {read.words[word]!r}: {path[0]:.2f} at first, {path[-1]:.2f} at last.",
        x_title="sublayers passed",
        y_title="root mean square",
        low=low,
        high=max(high, low + 1),
        powers=True,
        title=f"sizes at {read.words[word]!r}",
        width=460,
        columns=1,
    )


def _read(model: Any, tokenizer: _Tokenizer, sentence: str) -> _Reading:
    """One pass; every depth through the last norm and the output."""
    if missing := [part for part in ("final_norm", "output") if not callable(getattr(model, part, None))]:
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
    sizes: dict[str, np.ndarray] = {"pathway": np.full((len(branches) + 1, len(tokens)), np.nan)}
    sizes["pathway"][0] = _size(branches[0].x)
    for n, branch in enumerate(branches, start=1):
        name = "added by " + branch.name.rpartition(".")[2].removeprefix("residual_").replace("_", " ")
        sizes["pathway"][n] = _size(branch.result)
        sizes.setdefault(name, np.full_like(sizes["pathway"], np.nan))[n] = _size(branch.y)
    return _Reading(
        words=[_visible(piece) for piece in tokenizer.pieces(sentence)],
        depths=[_depth(name) for name in layers],
        guesses=[[_visible(tokenizer.decode([int(i)])) for i in indices] for _, indices in best],
        chances=torch.stack([chance for chance, _ in best]).float().numpy(),
        sizes=sizes,
    )


def _visible(piece: str) -> str:
    """A token as it is read; one that is all space, with marks that can be seen."""
    return piece.strip() or piece.translate(str.maketrans(" \n\t", "␣↵⇥")) or "∅"


def _depth(name: str) -> str:
    number = name.rpartition(".")[2]
    return f"layer {number}" if number.isdigit() else name


def _size(x: Tensor) -> np.ndarray:
    return x[0].float().square().mean(-1).sqrt().numpy()


def lens_svg(
    words: Sequence[str],
    depths: Sequence[str],
    guesses: Sequence[Sequence[str]],
    chances: ArrayLike,
    *,
    selected: int,
    title: str = "",
    note: str = "",
) -> str:
    """guesses, chances (depth, word): the likeliest next word and its probability, the darker the surer.

    The words that were read are below, the deepest row on top. Column `selected` is framed. A cell tells its
    probability when the pointer rests on it; what is longer than the cell is cut off and told there as well.

    Raises ValueError if there is not one guess and one chance per depth and word, or no such column.
    """
    p = np.asarray(chances, dtype=float)
    shape = (len(depths), len(words))
    if p.shape != shape or len(guesses) != shape[0] or any(len(row) != shape[1] for row in guesses):
        raise ValueError(
            f"lens_svg needs a guess and a chance for each of {shape[0]} depths and {shape[1]} words, got chances"
            f" {p.shape} and rows of {sorted({len(row) for row in guesses})} guesses"
        )
    if not p.size or not 0 <= selected < len(words):
        raise ValueError(f"selected={selected} is none of {len(words)} columns of {len(depths)} depths")
    canvas, left, high, top = Canvas(title), label_width(depths), 27.0, 66.0
    wide = max(46.0, min(104.0, (960 - left) / len(words)))
    base, room = top + high * len(depths), int(wide / 9.6)  # letters of size 15
    canvas.text(left, top - 12, "what would come next:")
    for i, (depth, row) in enumerate(zip(depths, guesses, strict=True)):
        y = base - high * (i + 1)
        canvas.text(left - 7, y + 19, depth, 15, "end")
        for j, guess in enumerate(row):
            cut = guess if len(guess) <= room else guess[: room - 1] + "…"
            says = f"{depth}, after {words[j]!r}: {guess!r} with {p[i, j]:.2f}"
            canvas.box(left + wide * j, y, wide, high, cut, blue(p[i, j]), "#d0d0d0", 0.6, size=15, says=says)
    for j, word in enumerate(words):
        canvas.text(left + wide * (j + 0.45), base + 20, word, 15, turn=40, bold=j == selected)
    canvas.rect(left + wide * selected, top - 2, wide, base - top + 4, stroke=ORANGE, wide=3.5)
    canvas.notes([note])
    column = "; ".join(f"{depths[i]}: {row[selected]!r} {p[i, selected]:.2f}" for i, row in enumerate(guesses))
    after = f"After {words[selected]!r} the likeliest next words are, from below: {column}"
    return canvas.svg(f"{title}. {after}. {note}")
