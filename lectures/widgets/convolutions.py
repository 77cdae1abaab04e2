"""Filters that slide, filters that have learned, and what every kind of model can see."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import ipywidgets
import numpy as np
from numpy.typing import ArrayLike

from lectures.show import bar_list_svg, beside, convolution_svg, fired_svg, reach_svg, said
from lectures.show.live import Live, live, slider, swapped

Convolve = Callable[[np.ndarray, np.ndarray], ArrayLike]
"""(x (time,), w (k,)) -> y (time,): the causal convolution."""


def convolution_player(
    convolve: Convolve,
    x: Sequence[float | int],
    labels: Sequence[str],
    filters: Mapping[str, Sequence[float | int]],
    *,
    yours: Convolve | None = None,
) -> Live:
    """Slide a filter over a row of numbers, with zeros in front (causal) or on both sides (symmetric).

    `convolve` computes the causal one; the symmetric one is the same with the input moved, (k − 1)/2 places early.
    """
    inputs = np.asarray(x, dtype=float)

    def draw(convolve: Convolve, chosen: str, padding: str, at: int) -> str:
        w = np.asarray(filters[chosen], dtype=float)
        early = (len(w) - 1) // 2 if padding == "on both sides" else 0
        outputs = np.asarray(convolve(np.concatenate([inputs, np.zeros(early)]), w), dtype=float)[early:]
        if outputs.shape != inputs.shape:
            raise ValueError(f"one output per input is needed, {len(inputs)} of them, got an array of {outputs.shape}")
        return convolution_svg(
            inputs,
            w,
            outputs,
            labels,
            start=at - len(w) + 1 + early,
            at=at,
            title=f"filter “{chosen}”, k = {len(w)}, zeros {padding}",
        )

    return live(
        partial(draw, convolve),
        yours=swapped(draw, yours),
        rows=[["chosen", "padding"], ["at"]],
        chosen=ipywidgets.ToggleButtons(options=list(filters), description="filter", style={"button_width": "auto"}),
        padding=ipywidgets.ToggleButtons(
            options=["in front", "on both sides"], description="zeros", style={"button_width": "auto"}
        ),
        at=slider(2, 0, len(inputs) - 1, 1, "output", "420px"),
    )


@dataclass(frozen=True)
class Fired:
    """What a classifier's filters answer to one text."""

    letters: Sequence[str]
    responses: Sequence[tuple[int, np.ndarray]]
    """For every filter its width and its response at every window of that width."""
    pull: np.ndarray
    """(filter,): how much each filter's strongest response moves the score of the first class against the second."""
    classes: tuple[str, str]
    probability: float
    """Of the first class."""


def filter_explorer(read: Callable[[str], Fired], texts: Sequence[str], *, top: int = 6) -> Live:
    """Choose a text or type one, then walk through the filters in the order of how much they pull.

    read: text -> `Fired`; a ValueError of it is shown in words.

    Raises ValueError if there is no text.
    """
    if not texts:
        raise ValueError("filter_explorer needs at least one text")
    fired = lru_cache(maxsize=64)(read)
    n_filters = len(fired(texts[0]).pull)

    def draw(own: str, text: str, rank: int) -> str:
        found = fired(own if own.strip() else text)
        order = np.argsort(-np.abs(found.pull), kind="stable")
        chosen = int(order[rank - 1])
        width, values = found.responses[chosen]
        first, second = found.classes

        def spelled(i: int) -> str:
            w, answers = found.responses[i]
            place = int(answers.argmax())
            return "".join(found.letters[place : place + w]).replace(" ", "␣")

        towards = first if found.pull[chosen] > 0 else second
        note = f"its strongest window, “{spelled(chosen)}”, pulls {abs(found.pull[chosen]):.2f} towards “{towards}”"
        says = f"P({first}) = {found.probability:.2f}"
        left = fired_svg(
            found.letters,
            values,
            width=width,
            title=f"filter {chosen + 1}, {width} letters wide",
            notes=[note, says],
            alt=f"Filter {chosen + 1} of width {width} on '{''.join(found.letters)}': {note}. {says}.",
        )
        strongest = order[:top]
        return left + bar_list_svg(
            np.abs(found.pull[strongest]),
            [f"“{spelled(int(i))}”" for i in strongest],
            says=[f"{abs(found.pull[i]):.2f} {first if found.pull[i] > 0 else second}" for i in strongest],
            highlight=[rank - 1] if rank <= top else [],
            title="the strongest pulls, with the letters they come from",
            alt="Strongest pulls: " + ", ".join(f"{spelled(int(i))} {found.pull[i]:+.2f}" for i in strongest) + ".",
            width=680,
        )

    wide = ipywidgets.Layout(width="min(760px, 98%)")
    style = {"description_width": "80px"}
    return live(
        draw,
        rows=[["text"], ["own"], ["rank"]],
        text=ipywidgets.Dropdown(options=list(texts), description="line", layout=wide, style=style),
        own=ipywidgets.Text(
            placeholder="… or type your own and press Enter",
            description="yours",
            continuous_update=False,
            layout=wide,
            style=style,
        ),
        rank=slider(1, 1, n_filters, 1, "filter, by its pull", "520px"),
    )


Measure = Callable[[str, int, int, Sequence[int], int], ArrayLike]
"""(kind, layers, kernel size, dilations, time) -> how much the prediction at `time` changes with each word."""

KINDS = ("convolution", "window", "recurrent", "attention")


def reach_playground(measure: Measure, words: Sequence[str]) -> Live:
    """Which words a prediction can see: as drawn from the architecture, and as measured by gradients through a model.

    measure: called with one of KINDS; its answer is kept.
    """
    n = len(words)
    kept = lru_cache(maxsize=512)(lambda *setting: np.asarray(measure(*setting), dtype=float))

    def draw(kind: str, layers: int, kernel: int, spread: str, at: int) -> str:
        dilations = tuple(2**i if spread == "1, 2, 4, …" else 1 for i in range(layers))
        rows, edges = architecture(kind, layers, kernel, dilations, n)
        strength = kept(kind, layers, kernel, dilations, at)
        if kind == "convolution":
            title = f"{layers} causal convolutions, kernel {kernel}, dilations {', '.join(map(str, dilations))}"
            note = f"1 + Σ (k − 1)·dilation = {1 + sum((kernel - 1) * d for d in dilations)} words"
        elif kind == "window":
            title, note = (
                f"feed-forward, window {kernel}",
                f"{kernel} words; layers {layers} and dilations play no part",
            )
        elif kind == "recurrent":
            title, note = f"{layers} recurrent layers", f"every word before; kernel {kernel} and dilations play no part"
        else:
            title, note = f"{layers} attention layers", f"every word before; kernel {kernel} and dilations play no part"
        measured = f"measured: {int((strength > 0).sum())} words have a gradient that is not 0"
        return reach_svg(
            words, rows, edges, (len(rows), at), strength, title=title, notes=[note + f" ({spread})", measured]
        )

    return live(
        draw,
        rows=[["kind"], ["layers", "kernel"], ["spread"], ["at"]],
        kind=ipywidgets.ToggleButtons(options=KINDS, description="model", style={"button_width": "auto"}),
        layers=slider(3, 1, 4, 1, "layers", "300px"),
        kernel=slider(2, 2, 4, 1, "kernel / window", "300px"),
        spread=ipywidgets.ToggleButtons(
            options=["1, 1, 1, …", "1, 2, 4, …"], description="dilations", style={"button_width": "auto"}
        ),
        at=slider(n - 1, 0, n - 1, 1, "prediction after word", "420px"),
    )


def architecture(
    kind: str, layers: int, kernel: int, dilations: Sequence[int], n: int
) -> tuple[list[str], list[tuple[tuple[int, int], tuple[int, int]]]]:
    """The rows' names and the edges ((row, time) -> (row, time)) of a model over n words."""
    if kind == "window":
        return ["hidden"], [((0, t - j), (1, t)) for t in range(n) for j in range(kernel) if t >= j]
    rows = [f"layer {i + 1}" for i in range(layers)]
    edges = []
    for row in range(1, layers + 1):
        for t in range(n):
            if kind == "convolution":
                back = [j * dilations[row - 1] for j in range(kernel)]
                edges += [((row - 1, t - b), (row, t)) for b in back if t >= b]
            elif kind == "recurrent":
                edges.append(((row - 1, t), (row, t)))
                if t:
                    edges.append(((row, t - 1), (row, t)))
            else:
                edges += [((row - 1, s), (row, t)) for s in range(t + 1)]
    return rows, edges


@dataclass(frozen=True)
class Continued:
    """What two models expect after the same words."""

    words: Sequence[str]
    seen: str
    """What the training text knows of these words, in a line."""
    models: Mapping[str, Sequence[tuple[str, float]]]
    """Model -> (next word, probability), best first."""


def neighbour_playground(
    continue_: Callable[[str, int], Continued], contexts: Sequence[str], neighbours: int = 8
) -> Live:
    """Put a word's neighbours in its place, one after the other: what becomes of each model's expectation?

    continue_: (context, rank) -> `Continued`; rank 0 is the context as it stands.
    """
    kept = lru_cache(maxsize=256)(continue_)

    def draw(context: str, rank: int) -> str:
        found = kept(context, rank)
        panels = [
            bar_list_svg(
                [p for _, p in best],
                [word.replace("\n", "↵") for word, _ in best],
                reach=0.5,
                title=name,
                alt=f"{name} after '{' '.join(found.words)}': "
                + ", ".join(f"{word} {p:.3f}" for word, p in best)
                + ".",
                width=420,
            )
            for name, best in found.models.items()
        ]
        line = " ".join(found.words)
        return said(f"“{line} …”   {found.seen}") + beside(*panels)

    return live(
        draw,
        rows=[["context"], ["rank"]],
        context=ipywidgets.Dropdown(
            options=list(contexts), description="words", layout=ipywidgets.Layout(width="min(560px, 95%)")
        ),
        rank=slider(0, 0, neighbours, 1, "neighbour in place of the word in brackets", "min(620px, 95%)"),
    )
