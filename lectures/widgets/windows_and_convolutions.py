"""Widgets: filters that slide, filters that have learned, what every kind of model can see, neighbours that replace a word."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from lectures.show import Axis, Canvas, Live, Plot, bar_list_svg, beside, choice, field, live, looks, menu, said, slider
from lectures.show.svg import BLUE, DARK_ORANGE, FAINT, INK, ORANGE, Pixels, blue, visible

__all__ = [
    "Continued", "Fired", "convolution_player", "filter_explorer", "neighbour_playground", "paths_svg",
    "reach_playground", "side_by_side_svg",
]  # fmt: skip

# --- a filter that slides ------------------------------------------------------------------------

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

    `convolve` computes the causal convolution; for the symmetric one the input is shifted (k − 1)/2 positions to the left.
    """
    inputs = np.asarray(x, dtype=float)

    def draw(convolve: Convolve, chosen: str, padding: str, at: int) -> str:
        w = np.asarray(filters[chosen], dtype=float)
        early = (len(w) - 1) // 2 if padding == "on both sides" else 0
        outputs = np.asarray(convolve(np.concatenate([inputs, np.zeros(early)]), w), dtype=float)[early:]
        if outputs.shape != inputs.shape:
            raise ValueError(
                f"the function must return one output per input, {len(inputs)} in all; got shape {outputs.shape}"
            )
        title = f"filter “{chosen}”, k = {len(w)}, zeros {padding}"
        return convolution_svg(inputs, w, outputs, labels, start=at - len(w) + 1 + early, at=at, title=title)

    return live(
        draw,
        convolve,
        yours=yours,
        rows=[["chosen", "padding"], ["at"]],
        play="at",
        chosen=choice(filters, "filter"),
        padding=choice(["in front", "on both sides"], "zeros"),
        at=slider(2, 0, len(inputs) - 1, 1, "output", "420px"),
    )


def convolution_svg(
    x: ArrayLike, w: ArrayLike, y: ArrayLike, labels: Sequence[str], *, start: int, at: int, title: str = ""
) -> str:
    """Output `at` of a filter w (k,) over inputs x (time,): the window starts at input `start`, which may be negative.

    y (output,): all outputs; those up to `at` are shown. Inputs of the window after `at` are orange: an
    output that uses them has seen the future.

    Raises ValueError if the shapes do not match.
    """
    inputs, weights, outputs = (np.asarray(a, dtype=float) for a in (x, w, y))
    if inputs.shape != (len(labels),) or weights.ndim != 1 or outputs.ndim != 1 or not 0 <= at < len(outputs):
        raise ValueError(
            "convolution_svg needs x (time,), w (k,), y (output,), a label per input and an output `at`, got"
            f" {inputs.shape}, {weights.shape}, {outputs.shape}, {len(labels)} labels and at={at}"
        )
    wide, high = 74.0, 44.0
    left = wide * max(len(weights) - 1, 1) + 20  # room for the zeros in front
    window = range(start, start + len(weights))
    future = window[-1] > at
    canvas = Canvas(title)
    filter_row, input_row, output_row = 60.0, 68.0 + high, 152.0 + 2 * high
    for top, name in ((filter_row, "filter w"), (input_row, "input x"), (output_row, "output y")):
        canvas.text(0, top - 8, name, 15, italic=True)

    def box(j: int, top: float, words: str, fill: str, stroke: str, ink: str = INK, frame: Pixels = 1.5) -> None:
        place = left + j * wide + 3, top, wide - 6, high
        canvas.box(*place, words, fill, stroke, frame, size=17, ink=ink, radius=5)

    terms = []
    for j, weight in zip(window, weights, strict=True):
        value = inputs[j] if 0 <= j < len(inputs) else 0.0
        terms.append(f"{_short(weight)}·{_short(value)}" if value >= 0 else f"{_short(weight)}·({_short(value)})")
        box(j, filter_row, _short(weight), "#ffffff", BLUE, BLUE, 2.5)
        if not 0 <= j < len(inputs):
            box(j, input_row, "0", "#ffffff", FAINT, FAINT)
    for j, (value, label) in enumerate(zip(inputs, labels, strict=True)):
        fill = "#eef4fa" if j not in window else "#ffe3c7" if j > at else "#cfe5f5"
        box(j, input_row, _short(value), fill, FAINT)
        canvas.text(left + (j + 0.5) * wide, input_row + high + 22, label, 16, "middle")
        if j < len(outputs):
            frame = (ORANGE if future else BLUE, INK, 3) if j == at else (FAINT, INK, 1.5)
            box(j, output_row, _short(outputs[j]) if j <= at else "", "#ffffff", *frame)
    line = f"y at “{labels[at] if at < len(labels) else at}” = {' + '.join(terms)} = {_short(outputs[at])}"
    verdict = "it has seen a later word" if future else "it has not seen any later word"
    canvas.text(0, output_row + high + 34, line, 17, bold=True)
    canvas.text(0, output_row + high + 62, verdict, 17, fill=DARK_ORANGE if future else INK)
    return canvas.svg(f"{title}. {line}; {verdict}.")


def _short(value: Pixels) -> str:
    shown = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown.replace("-", "−")


# --- filters that have learned -------------------------------------------------------------------


@dataclass(frozen=True)
class Fired:
    """The responses of a classifier's filters to one text."""

    letters: Sequence[str]
    responses: Sequence[tuple[int, np.ndarray]]
    """For every filter its width and its response at every window of that width."""
    pull: np.ndarray
    """(filter,): how much each filter's strongest response raises the score of the first class over the second."""
    classes: tuple[str, str]
    probability: float
    """Of the first class."""


def filter_explorer(read: Callable[[str], Fired], texts: Sequence[str], *, top: int = 6) -> Live:
    """Choose or type a text, then step through the filters in order of their pull.

    read: text -> `Fired`; the widget shows the text of its ValueError.

    Raises ValueError if `texts` is empty.
    """
    if not texts:
        raise ValueError("filter_explorer needs at least one text")
    fired = lru_cache(maxsize=64)(read)

    def draw(own: str, text: str, rank: int) -> str:
        found = fired(own if own.strip() else text)
        order = [int(i) for i in np.argsort(-np.abs(found.pull), kind="stable")]
        chosen, strongest = order[rank - 1], order[:top]

        def spelled(i: int) -> str:
            width, answers = found.responses[i]
            place = int(np.argmax(answers))
            return "".join(found.letters[place : place + width]).replace(" ", "␣")

        def pulls(i: int) -> str:
            return f"{abs(found.pull[i]):.2f} {found.classes[0 if found.pull[i] > 0 else 1]}"

        size, towards = pulls(chosen).split(" ", 1)
        width, values = found.responses[chosen]
        note = f"its strongest window, “{spelled(chosen)}”, pulls {size} towards “{towards}”"
        says = f"P({found.classes[0]}) = {found.probability:.2f}"
        letters = fired_svg(
            found.letters,
            values,
            width=width,
            title=f"filter {chosen + 1}, {width} letters wide",
            notes=[note, says],
            alt=f"Filter {chosen + 1} of width {width} on '{''.join(found.letters)}': {note}. {says}.",
        )
        return letters + bar_list_svg(
            [abs(found.pull[i]) for i in strongest],
            [f"“{spelled(i)}”" for i in strongest],
            says=[pulls(i) for i in strongest],
            highlight=[rank - 1],
            title="the strongest pulls and the letters that cause them",
            width=680,
        )

    return live(
        draw,
        rows=[["text"], ["own"], ["rank"]],
        text=menu(texts, "line"),
        own=field(),
        rank=slider(1, 1, len(fired(texts[0]).pull), 1, "filter, by its pull", "520px"),
    )


def fired_svg(
    letters: Sequence[str], responses: ArrayLike, *, width: int, title: str = "", notes: Sequence[str] = (), alt: str
) -> str:
    """The response of one filter at every window of a text: a bar at the start of each window, the strongest in orange.

    responses (place,): entry i is the window of `width` letters that starts at letter i. The letters of the strongest
    window are framed. `notes` are lines below.

    Raises ValueError if the numbers of responses and letters do not match.
    """
    values = np.asarray(responses, dtype=float)
    if values.shape != (len(letters) - width + 1,) or not len(values):
        raise ValueError(
            f"{len(letters)} letters have {len(letters) - width + 1} windows of {width}, got {values.shape}"
        )
    cell, tall = min(26.0, 860.0 / len(letters)), 110.0
    best, reach = int(np.argmax(values)), max(float(values.max()), 1e-9)
    canvas = Canvas(title)
    base = canvas.top + tall
    for i, value in enumerate(values):
        high = max(tall * max(value, 0.0) / reach, 1)
        canvas.rect(i * cell + 2, base - high, cell - 4, high, ORANGE if i == best and value > 0 else BLUE)
    for i, letter in enumerate(letters):
        framed = best <= i < best + width and values[best] > 0
        look = ("#ffe3c7", ORANGE) if framed else ("none", "none")
        canvas.box(i * cell, base + 6, cell, 32, visible(letter), *look, size=min(20.0, cell * 0.95))
    canvas.notes(notes, 17, gap=4)
    return canvas.svg(alt)


# --- what a model can see ------------------------------------------------------------------------

Measure = Callable[[str, int, int, Sequence[int], int], ArrayLike]
"""(kind, layers, kernel size, dilations, time) -> how much the prediction at `time` depends on each word."""

Place = tuple[int, int]
"""(row, time): row 0 contains the words; the prediction is computed from the highest row."""

KINDS = ("convolution", "window", "recurrent", "recurrent, orthogonal U", "attention")


def reach_playground(measure: Measure, words: Sequence[str]) -> Live:
    """Which words a prediction can see: drawn from the architecture, and measured by gradients through a model.

    measure: called with one of KINDS; its result is cached.
    """
    n = len(words)
    kept = lru_cache(maxsize=512)(lambda *setting: np.asarray(measure(*setting), dtype=float))

    def draw(kind: str, layers: int, kernel: int, spread: str, at: int) -> str:
        dilations = tuple(2**i if spread == "1, 2, 4, …" else 1 for i in range(layers))
        rows, edges = architecture(kind, layers, kernel, dilations, n)
        strength = kept(kind, layers, kernel, dilations, at)
        title = f"{layers} {kind} layers"
        note = f"all previous words; kernel {kernel} and dilations have no effect"
        if kind == "convolution":
            title = f"{layers} causal convolutions, kernel {kernel}, dilations {', '.join(map(str, dilations))}"
            note = f"1 + Σ (k − 1)·dilation = {1 + sum((kernel - 1) * d for d in dilations)} words"
        elif kind == "window":
            title = f"feed-forward, window {kernel}"
            note = f"{kernel} words; layers {layers} and dilations have no effect"
        measured = f"measured: {int((strength > 0).sum())} words have a nonzero gradient"
        notes = [f"{note} ({spread})", measured]
        return reach_svg(words, rows, edges, (len(rows), at), strength, title=title, notes=notes)

    return live(
        draw,
        rows=[["kind"], ["layers", "kernel"], ["spread"], ["at"]],
        kind=choice(KINDS, "model"),
        layers=slider(3, 1, 4, 1, "layers", "300px"),
        kernel=slider(2, 2, 4, 1, "kernel / window", "300px"),
        spread=choice(["1, 1, 1, …", "1, 2, 4, …"], "dilations"),
        at=slider(n - 1, 0, n - 1, 1, "prediction after word", "420px"),
    )


def architecture(
    kind: str, layers: int, kernel: int, dilations: Sequence[int], n: int
) -> tuple[list[str], list[tuple[Place, Place]]]:
    """The names of the rows and the edges (from, to) of a model over n words."""
    if kind == "window":
        return ["hidden"], [((0, t - j), (1, t)) for t in range(n) for j in range(kernel) if t >= j]
    edges: list[tuple[Place, Place]] = []
    for row in range(1, layers + 1):
        for t in range(n):
            if kind == "convolution":
                back = [j * dilations[row - 1] for j in range(kernel)]
                edges += [((row - 1, t - b), (row, t)) for b in back if t >= b]
            elif kind.startswith("recurrent"):
                edges += [((row - 1, t), (row, t))] + ([((row, t - 1), (row, t))] if t else [])
            else:
                edges += [((row - 1, s), (row, t)) for s in range(t + 1)]
    return [f"layer {i + 1}" for i in range(layers)], edges


def reach_svg(
    words: Sequence[str],
    rows: Sequence[str],
    edges: Collection[tuple[Place, Place]],
    target: Place,
    strength: ArrayLike,
    *,
    title: str = "",
    notes: Sequence[str] = (),
) -> str:
    """All nodes and edges, those that lead to `target` in blue; below, each word tinted by its measured influence.

    rows: the name of every row above the words, from the bottom; edges: (from, to). strength (time,): how much the
    prediction depends on each word, 0 if it does not; the largest is darkest.

    Raises ValueError if the numbers of strengths and words differ, or if there are no rows.
    """
    measured = np.asarray(strength, dtype=float)
    if measured.shape != (len(words),) or not rows:
        raise ValueError(
            f"reach_svg needs one strength per word and a row, got {measured.shape} for {len(words)} words"
        )
    lit = _lit(edges, target)
    left, high = max(len(name) for name in rows) * 9.2 + 14, 50.0
    cell = (860.0 - left) / len(words)
    base = 44.0 + high * len(rows)

    def at(place: Place) -> tuple[float, float]:
        return left + (place[1] + 0.5) * cell, base - high * place[0] + (12 if place[0] else 0)

    canvas = Canvas(title)
    paths: dict[bool, list[str]] = {False: [], True: []}
    for source, end in edges:
        paths[end in lit].append("M{:.1f},{:.1f} L{:.1f},{:.1f}".format(*at(source), *at(end)))
    canvas.path(" ".join(paths[False]), "#dcdcdc", 1)
    many = len(paths[True]) > 120
    canvas.path(" ".join(paths[True]), BLUE, 0.8 if many else 1.8, opacity=0.45 if many else "")
    for row, name in enumerate(rows, start=1):
        canvas.text(0, at((row, 0))[1] + 5, name, 15)
        for time in range(len(words)):
            here = (row, time)
            fill = ORANGE if here == target else BLUE if here in lit else "#ffffff"
            canvas.mark("circle", *at(here), fill, 10 if here == target else 7, stroke=FAINT, wide=1)
    largest = max(float(measured.max()), 1e-30)
    for time, (word, value) in enumerate(zip(words, measured, strict=True)):
        # a square root makes small influences visible; exactly 0 stays white
        tint = 0.15 + 0.85 * (value / largest) ** 0.5 if value > 0 else 0.0
        canvas.rect(left + time * cell + 1, base, cell - 2, 24, blue(tint), FAINT)
        canvas.text(left + (time + 0.5) * cell, base + 44 + 20 * (time % 2), word, 17, "middle")  # every second lower
    canvas.notes(notes, 17, gap=2)
    seen = [word for word, value in zip(words, measured, strict=True) if value > 0]
    says = f"{title}. The prediction after '{words[target[1]]}' can be reached from {sum(row == 0 for row, _ in lit)}"
    says += f" words in the drawing; measured by gradients it depends on {len(seen)}: {' '.join(seen)}."
    return canvas.svg(f"{says} {' '.join(notes)}", width=860)


def _lit(edges: Collection[tuple[Place, Place]], target: Place) -> set[Place]:
    """All nodes from which the target can be reached."""
    below: dict[Place, list[Place]] = {}
    for source, end in edges:
        below.setdefault(end, []).append(source)
    lit, stack = {target}, [target]
    while stack:
        fresh = [source for source in below.get(stack.pop(), []) if source not in lit]
        lit.update(fresh)
        stack += fresh
    return lit


# --- a neighbour replaces a word --------------------------------------------------------------


@dataclass(frozen=True)
class Continued:
    """The predictions of two models after the same words."""

    words: Sequence[str]
    seen: str
    """One line on where these words occur in the training text."""
    models: Mapping[str, Sequence[tuple[str, float]]]
    """Model -> (next word, probability), best first."""


def neighbour_playground(
    continue_: Callable[[str, int], Continued], contexts: Sequence[str], neighbours: int = 8
) -> Live:
    """Replace a word by its neighbours in turn: how does each model's prediction change?

    continue_: (context, rank) -> `Continued`; rank 0 is the context itself.
    """
    kept = lru_cache(maxsize=256)(continue_)

    def draw(context: str, rank: int) -> str:
        found = kept(context, rank)
        line, panels = " ".join(found.words), []
        for name, best in found.models.items():
            words = [word.replace("\n", "↵") for word, _ in best]
            panels.append(bar_list_svg([p for _, p in best], words, reach=0.5, title=name, width=420))
        return said(f"“{line} …”   {found.seen}") + beside(*panels)

    return live(
        draw,
        rows=[["context"], ["rank"]],
        context=menu(contexts, "words", "min(560px, 95%)"),
        rank=slider(0, 0, neighbours, 1, "neighbour that replaces the word in brackets", "min(620px, 95%)"),
    )


# --- two ways to hand a window on, and the path of each kind of network -------------------------------------------


def side_by_side_svg(words: Sequence[str]) -> str:
    """The vectors of a window side by side, and their mean."""
    canvas, cell = Canvas("", size=16), 74
    width = cell * len(words)
    for left, name in ((10, "concatenated"), (width + 90, "averaged")):
        canvas.text(left + width / 2, 22, name, 17, "middle")
        for i, word in enumerate(words):
            middle = left + cell * (i + 0.5)
            canvas.text(middle, 176, word, 16, "middle")
            canvas.rect(middle - 30, 128, 60, 24, BLUE, opacity=0.25)
            end = middle if name == "concatenated" else left + width / 2
            canvas.line((middle, 126), (end, 82), INK, 1.5, arrow=True)
            if name == "concatenated":
                canvas.rect(middle - 30, 54, 60, 24, BLUE, opacity=0.25)
        if name == "averaged":
            canvas.rect(left + width / 2 - 30, 54, 60, 24, ORANGE, opacity=0.35)
    return canvas.svg(
        f"Left: the vectors of {', '.join(words)} side by side, one long vector in which each keeps its position. "
        "Right: one vector, their mean, which is as wide as a single one and does not say which word came first."
    )


PATHS: Mapping[str, Sequence[tuple[int, int]]] = {
    "window of 4": [(1, 0), (4, 0), (4, 1)],
    "convolutions of width 3": [(1, 0), (3, 0), (3, 1), (5, 1), (5, 2), (7, 2), (7, 3)],
    "recurrent network": [(1, 0), (1, 1), (8, 8)],
    "attention and feed-forward layer": [(1, 0), (8, 0), (8, 1)],
}
"""Kind of network -> its path through the plane: (words that have met, nonlinear layers passed)."""


def paths_svg() -> str:
    """The plane of composition and abstraction, with the path of each kind of network."""
    keys = looks(PATHS, marks=("circle", "square", "diamond", "triangle"))
    canvas = Canvas("", size=16)
    axes = Axis(0.5, 8.5, "composition: words that have met"), Axis(-0.5, 8.5, "abstraction: nonlinear layers")
    plot = Plot(canvas, *axes, across=640, down=400, keys=keys)
    for i, (name, path) in enumerate(PATHS.items()):
        xs, ys = zip(*path, strict=True)
        shift = 0.07 * i  # paths that share a stretch stay visible
        at = [x + shift for x in xs], [y + shift for y in ys]
        plot.line(*at, keys[name])
        plot.marks(*at, keys[name])
    told = "; ".join(f"{name}: " + " → ".join(f"({x}, {y})" for x, y in path) for name, path in PATHS.items())
    return canvas.svg(f"Words that have met against nonlinear layers passed. {told}.")
