"""Widgets: the three attentions of an encoder-decoder, one training step, its decoding, and what its pairs cost."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from lectures.show import Canvas, Live, bar_list_svg, beside, choice, heatmap_svg, live, menu, said, slider, stops
from lectures.show.svg import BLUE, DARK_GREEN, DARK_ORANGE, ORANGE, blue, label_width
from nlmcore.inspect import capture
from nlmcore.language_model import evaluation_mode

__all__ = [
    "Aligned",
    "Decoding",
    "Network",
    "Pair",
    "TrainingRow",
    "alignment_player",
    "decoding_playback",
    "pair_cost_playground",
    "source_and_target_player",
    "training_step_player",
]

_GREY = "#767676"

# --- one training step ---------------------------------------------------------------------------


class TrainingRow(NamedTuple):
    """One pair of a batch in training: what the decoder reads and must predict, and how probable it found each word."""

    source: Sequence[str]
    """With padding."""
    reads: Sequence[str]
    predicts: Sequence[str]
    probabilities: ArrayLike
    """(time,) of the words in `predicts`."""
    causal: bool = True
    """Is the decoder masked? If not, every position reads all of `reads`."""


_PADDING = "<pad>"
_STAGES = (
    "the pair",
    "the encoder",
    "shift",
    "the causal mask",
    "cross-attention",
    "all probabilities",
    "the loss",
)


def training_step_player(ways: Mapping[str, Sequence[TrainingRow]], *, stage: int = 0) -> Live:
    """One training step, stage by stage: source, shifted target, the masks, probabilities and the loss.

    ways: name -> the rows of one batch, as many for each name. The framed position tells what it reads and predicts.
    """
    first = next(iter(ways.values()))
    longest = max(len(row.reads) for rows in ways.values() for row in rows)

    def draw(stage: int, position: int, pair: int, way: str = next(iter(ways))) -> str:
        row = ways[way][pair]
        at = min(position, len(row.reads) - 1)
        mean = [-np.log(p) for one in ways[way] for p in _counted(one)]
        return beside(step_svg(row, stage, at), *_masks(row, stage, at)) + said(
            _told(row, stage, at, float(np.mean(mean)), len(mean))
        )

    pairs = [(f"{i + 1}. {' '.join(w for w in row.source if w[0] != '<')}", i) for i, row in enumerate(first)]
    controls: dict[str, Any] = {
        "stage": slider(stage, 0, len(_STAGES) - 1, 1, "stage", "330px"),
        "position": slider(1, 0, longest - 1, 1, "position", "330px"),
        "pair": menu(pairs, "pair", "min(520px, 96%)"),
    }
    rows = [["stage", "position"], ["pair"]]
    if len(ways) > 1:
        controls["way"], rows = choice(ways, "trained"), [["way"], *rows]
    return live(draw, rows=rows, play="stage", **controls)


def _counted(row: TrainingRow) -> list[float]:
    p = np.asarray(row.probabilities, dtype=float)
    return [float(chance) for word, chance in zip(row.predicts, p, strict=True) if word != _PADDING]


def _allowed(row: TrainingRow) -> np.ndarray:
    """(query, key) of the decoder: True where it may attend."""
    m = len(row.reads)
    return np.tril(np.ones((m, m), dtype=bool)) if row.causal else np.ones((m, m), dtype=bool)


def _masks(row: TrainingRow, stage: int, at: int) -> list[str]:
    """The mask that the stage is about, as a table: blue may be read, grey with a cross may not."""
    real = np.array([word != _PADDING for word in row.source])
    n, m = len(row.source), len(row.reads)
    tables = {
        1: ("the encoder's self-attention", np.tile(real, (n, 1)), row.source, row.source, None),
        3: ("the decoder's self-attention", _allowed(row), row.reads, row.reads, at),
        4: ("cross-attention", np.tile(real, (m, 1)), row.reads, row.source, at),
    }
    if stage not in tables:
        return []
    title, allowed, rows, columns, framed = tables[stage]
    alt = f"Mask, {title}: " + "; ".join(
        f"{word} may read {' '.join(c for c, yes in zip(columns, may, strict=True) if yes)}"
        for word, may in zip(rows, allowed, strict=True)
    )
    note = "blue: may read. grey: may not"
    shown = np.where(allowed, 0.45, np.nan)
    return [
        heatmap_svg(shown, rows, columns, alt=alt, cell=25, title=title, note=note, highlight=framed, numbers=False)
    ]


def _told(row: TrainingRow, stage: int, at: int, mean: float, count: int) -> str:
    p = float(np.asarray(row.probabilities, dtype=float)[at])
    seen = [word for word, yes in zip(row.reads, _allowed(row)[at], strict=True) if yes]
    predicts = row.predicts[at]
    if stage == 0:
        return f"A source and its target; <pad> brings the batch to one length. Target word {at + 1} is {predicts}."
    if stage == 1:
        return (
            "The encoder has no future to hide: every source word reads every other one, and only padding is masked."
            f" It has read them all before target word {at + 1}, {predicts}, is predicted."
        )
    reading = f"Position {at + 1} has read {' '.join(seen)}"
    if stage == 2:
        return f"Position {at + 1} reads {row.reads[at]} and must predict {predicts}."
    if stage == 3:
        leaks = "" if predicts == _PADDING or predicts not in seen[at:] else " The answer is among the words it reads!"
        return f"{reading}; it must predict {predicts}.{leaks}"
    if stage == 4:
        return f"{reading}, and all real source words. No prediction waits for another: all are made in one pass."
    if predicts == _PADDING:
        return f"Position {at + 1} must predict nothing: padding does not count."
    if stage == 5:
        return f"{reading} and the source, it gives {predicts} the probability {p:.3f}."
    return f"Position {at + 1}: −ln {p:.3f} = {-np.log(p):.3f}. The loss is the mean over {count} words of the batch: {mean:.3f}."


def step_svg(row: TrainingRow, stage: int, at: int) -> str:
    """The words of one pair in rows, as far as the stage has come; position `at` is framed.

    Raises ValueError if reads, predicts and probabilities do not have one length.
    """
    p = np.asarray(row.probabilities, dtype=float)
    if not len(row.reads) == len(row.predicts) == len(p):
        raise ValueError(
            f"a row needs a word to predict and a probability for each word that is read, got {len(row.reads)},"
            f" {len(row.predicts)} and {len(p)}"
        )
    canvas, left = Canvas(f"stage {stage}: {_STAGES[stage]}"), 92.0
    pitch = min(104.0, max(label_width([*row.source, *row.reads, *row.predicts], 15) + 6, 60.0))
    lines: list[tuple[str, Sequence[str], str, bool]] = [("source", row.source, BLUE, True)]
    lines.append(("reads", row.reads, DARK_GREEN, stage >= 2))
    lines.append(("predicts", row.predicts, DARK_ORANGE, stage >= 2))
    lines.append(("P", [f"{x:.3f}" for x in p], _GREY, stage >= 5))
    lines.append(("−ln P", [f"{-np.log(x):.3f}" for x in p], _GREY, stage >= 6))
    if stage < 2:
        lines[1:3] = [("target", [*row.predicts], DARK_GREEN, True)]
    y = canvas.top
    for name, words, colour, there in lines:
        if not there:
            continue
        canvas.text(left - 10, y + 21, name, 15, "end", italic=True)
        for i, word in enumerate(words):
            padding = word == _PADDING or (name in ("P", "−ln P") and row.predicts[i] == _PADDING)
            text = "–" if padding and name in ("P", "−ln P") else word
            ink = _GREY if padding else colour
            frame = "" if name in ("P", "−ln P") else ink
            canvas.box(left + pitch * i, y, pitch - 6, 30, text, "#ffffff", frame, 1.6, size=15, ink=ink, radius=5)
        y += 40
    rows = sum(there for _, _, _, there in lines) - 1
    if rows:
        canvas.rect(left + pitch * at - 4, canvas.top + 36, pitch + 2, 40 * rows - 2, stroke=ORANGE, wide=3)
    spoken = "; ".join(f"{name}: {' '.join(words)}" for name, words, _, there in lines if there)
    return canvas.svg(f"Stage {stage}, {_STAGES[stage]}. {spoken}.")


# --- decoding ------------------------------------------------------------------------------------


class Decoding(NamedTuple):
    """One step of a decoder: its attention to the source, and the likeliest next words, best first."""

    weights: ArrayLike
    likely: Sequence[tuple[str, float]]


def decoding_playback(runs: Mapping[str, tuple[Sequence[str], Sequence[Decoding]]]) -> Live:
    """A greedy decoding, step by step: the encoder runs once, the two caches, what is read and what is written.

    runs: name -> (the words of the source with `<eos>`, the steps).
    """

    def draw(source: str, step: int) -> str:
        words, steps = runs[source]
        step = min(step, len(steps))
        picture = decoding_svg(words, steps, step)
        if not step:
            told = f"The encoder has read {len(words)} tokens in one pass. Their keys and values are computed and kept."
            return picture + said(told)
        likely = steps[step - 1].likely
        read = ["<bos>", *(one.likely[0][0] for one in steps)][step - 1]
        bars = bar_list_svg(
            [chance for _, chance in likely],
            [word for word, _ in likely],
            reach=1.0,
            highlight=[0],
            title=f"step {step}: the decoder reads {read}",
            width=380,
        )
        told = (
            f"One new query in each layer: it attends to {step} target token{'s' if step > 1 else ''} and to {len(words)}"
            " source tokens. The encoder does not run again."
        )
        return beside(picture, bars) + said(told)

    most = max(len(steps) for _, steps in runs.values())
    return live(
        draw,
        rows=[["source"], ["step"]],
        play="step",
        source=menu(runs, "source", "min(620px, 96%)"),
        step=slider(1, 0, most, 1, "step", "460px"),
    )


def decoding_svg(words: Sequence[str], steps: Sequence[Decoding], step: int) -> str:
    """The source with what the decoder attends to at this step, and below it the cache of the target.

    Raises ValueError if some weights do not fit the source.
    """
    for one in steps:
        if np.shape(one.weights) != (len(words),):
            raise ValueError(f"weights must have one value per source word, {len(words)}, got {np.shape(one.weights)}")
    written = [one.likely[0][0] for one in steps]
    canvas, y = Canvas(), 12.0
    weights = np.zeros(len(words)) if not step else np.asarray(steps[step - 1].weights, dtype=float)
    y = _row(canvas, "source, read once", words, y, [blue(weight) for weight in weights], BLUE)
    if step:
        y = _row(canvas, "its weights", [f"{weight:.2f}" for weight in weights], y - 4, None, "", words)
    read = ["<bos>", *written][:step]
    y = _row(canvas, "target, cached", read, y + 8, ["#ffffff"] * (step - 1) + ["#fff0d8"] * (step > 0), DARK_GREEN)
    canvas.notes(["blue: attention to the source, mean of the last layer's heads"] if step else [], 15, gap=0)
    if step:
        most = words[int(np.argmax(weights))]
        alt = f"Step {step}: having read {' '.join(read)}, the decoder attends most to {most}, {np.max(weights):.2f}."
    else:
        alt = f"The source {' '.join(words)} has been read; nothing is written yet."
    return canvas.svg(alt, width=490)


def _row(
    canvas: Canvas,
    name: str,
    words: Sequence[str],
    top: float,
    fills: Sequence[str] | None,
    frame: str,
    like: Sequence[str] | None = None,
) -> float:
    """Boxes with words under a name, as wide as the words of `like`; where the next row begins."""
    canvas.text(4, top + 12, name, 15, italic=True)
    x, y = 4.0, top + 20
    for i, word in enumerate(words):
        wide = max(len((like or words)[i]) * 9.6 + 14, 46.0)
        if x + wide > 490:
            x, y = 4.0, y + 36
        canvas.box(x, y, wide, 30, word, fills[i] if fills else "#ffffff", frame, 1.6, size=15, radius=5)
        x += wide + 5
    return y + 44


# --- two attentions on one source ----------------------------------------------------------------


class Aligned(NamedTuple):
    """What the heads of one network attend to while it writes, and the reference alignment if it is known."""

    written: Sequence[str]
    source: Sequence[str]
    weights: ArrayLike
    """(head, written, source)"""
    heads: Sequence[str]
    reference: Sequence[int | None] = ()


def alignment_player(networks: Mapping[str, Callable[[Any], Aligned]], source: Any, *, head: int = 0) -> Live:
    """Several networks on the same source: each one's attention, framed where the reference alignment is.

    networks: name -> function of the control `source`'s value. head: the one that is shown first, of those that have
    several.
    """
    cached = {name: lru_cache(maxsize=64)(read) for name, read in networks.items()}
    many = next(of for of in (read(source.value).heads for read in cached.values()) if len(of) > 1)

    def draw(source: Any, head: int) -> str:
        pictures, told = [], []
        for name, read in cached.items():
            found = read(source)
            weights = np.asarray(found.weights, dtype=float)
            which = min(head, len(weights) - 1)
            pictures.append(aligned_svg(found, which, title=name))
            if found.reference:
                right, known = _found(found, which)
                told.append(f"{name}: {right} of {known} words found")
        return beside(*pictures) + (said("; ".join(told)) if told else "")

    return live(
        draw,
        rows=[["source"], ["head"]],
        source=source,
        head=stops([(name, i) for i, name in enumerate(many)], head, "layer.head", "380px"),
    )


def _found(aligned: Aligned, head: int) -> tuple[int, int]:
    """How many of the words that have a reference have their largest weight on it."""
    best = np.asarray(aligned.weights, dtype=float)[head].argmax(-1)
    known = [(int(j), i) for j, i in zip(best, aligned.reference, strict=False) if i is not None]
    return sum(j == i for j, i in known), len(known)


def aligned_svg(aligned: Aligned, head: int, *, title: str = "") -> str:
    """A row per written word, a column per source word; blue is weight, an orange frame the reference.

    Raises ValueError if weights and words do not fit.
    """
    weights = np.asarray(aligned.weights, dtype=float)[head]
    rows, columns = aligned.written, aligned.source
    if weights.shape != (len(rows), len(columns)):
        raise ValueError(f"weights must have shape ({len(rows)}, {len(columns)}), got {weights.shape}")
    canvas, left, cell = Canvas(), label_width(rows), 25.0
    canvas.text(0, 18, title + (f", head {aligned.heads[head]}" if len(aligned.heads) > 1 else ""), 16, bold=True)
    top = 34 + label_width(columns) * 0.75
    for j, word in enumerate(columns):
        canvas.text(left + cell * (j + 0.6), top - 5, word, 15, turn=-48)
    for i, word in enumerate(rows):
        canvas.text(left - 6, top + cell * (i + 0.5) + 5, word, 15, "end")
        for j in range(len(columns)):
            says = f"{word} → {columns[j]}: {weights[i, j]:.3f}"
            canvas.rect(left + cell * j, top + cell * i, cell, cell, blue(weights[i, j]), "#c8c8c8", 0.6, says=says)
    for i, place in enumerate(aligned.reference):
        if place is not None and i < len(rows):
            canvas.rect(left + cell * place + 1.5, top + cell * i + 1.5, cell - 3, cell - 3, stroke=ORANGE, wide=2.5)
    best = weights.argmax(-1)
    spoken = "; ".join(f"{word} reads {columns[j]} most, {weights[i, j]:.2f}" for i, (word, j) in enumerate(zip(rows, best, strict=True)))  # fmt: skip
    name = f"{title}, head {aligned.heads[head]}" if len(aligned.heads) > 1 else title
    return canvas.svg(f"{name}: {spoken}.")


# --- what lengths cost ---------------------------------------------------------------------------


class Network(NamedTuple):
    """What a network does for n source and m target words, each a function of (n, m)."""

    products: Callable[[int, int], float | int]
    """Multiply-adds of a forward pass."""
    waits: Callable[[int, int], int]
    """Steps that wait for each other when it is trained."""
    within: Callable[[int, int], int]
    """Steps from the first source word to the last one."""
    across: Callable[[int, int], int]
    """Steps from the first source word to the last target word."""


def pair_cost_playground(networks: Mapping[str, Network]) -> Live:
    """Two lengths; multiply-adds, steps in sequence and the longest path of each network, as bars."""
    lengths = [2**i for i in range(3, 14)]

    def draw(n: int, m: int) -> str:
        pictures = []
        for title, what, form in (
            ("million multiply-adds", lambda one: one.products(n, m) / 1e6, "{:,.0f}"),
            ("steps in sequence, in training", lambda one: one.waits(n, m), "{:,}"),
            ("path: first to last source word", lambda one: one.within(n, m), "{:,}"),
            ("path: first source to last target word", lambda one: one.across(n, m), "{:,}"),
        ):
            values = [what(one) for one in networks.values()]
            told = [form.format(value) for value in values]
            pictures.append(bar_list_svg(values, list(networks), says=told, title=title, width=430))
        return beside(*pictures)

    return live(
        draw,
        rows=[["n", "m"]],
        n=stops(lengths, 16, "n, source words"),
        m=stops(lengths, 16, "m, target words"),
    )


# --- the three attentions ----------------------------------------------------------------------------------

_USES = {
    "encoder.layers.{}.attention": ("encoder", "every source word reads every other"),
    "decoder.layers.{}.attention": ("decoder, masked", "a word reads the target so far"),
    "decoder.layers.{}.cross_attention": ("cross-attention", "q from z; k and v from h"),
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
