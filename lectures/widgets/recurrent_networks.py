"""Widgets: a state that builds up word by word, its gradient through time, labelled words, the loss during training."""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import ipywidgets
import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from lectures.show import Axis, Canvas, Live, Look, Plot, curve_svg, field, live, menu, slider
from lectures.show.svg import (
    AMBER,
    BLUE,
    DARK_ORANGE,
    GREY,
    INK,
    ORANGE,
    blue,
    diverging,
    label_width,
    number,
)

__all__ = ["TrainingCurve", "restore_player", "state_player", "through_time_player", "verdict_player"]

# --- a state, word by word --------------------------------------------------------------------------

Step = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""(x (input,), h (unit,), U (unit, unit), W (input, unit)) -> the next h (unit,): vectors are rows."""


def state_player(
    step: Step,
    sentences: Sequence[str],
    embedding: Mapping[str, Tensor],
    U: Tensor,
    W: Tensor,
    V: Tensor,
    units: Sequence[str],
    outcomes: Sequence[str],
    *,
    yours: Step | None = None,
) -> Live:
    """Read a sentence word by word: h_t = step(x_t, h_{t−1}, U, W), y_t = softmax(h_t V).

    embedding: a vector (input,) per word. The second slider scales U, so that you see what the recurrence is for.
    Raises ValueError, in the picture's place, for a word without a vector.
    """

    def draw(step: Step, sentence: str, read: int, scale: float) -> str:
        words = sentence.split()
        if missing := [word for word in words if word not in embedding]:
            raise ValueError(f"there is no vector for {missing}; the known words are {sorted(embedding)}")
        states = [torch.zeros(len(U))]
        for word in words:
            states.append(step(embedding[word], states[-1], U * scale, W))
        h = torch.stack(states)
        chances = (h[1:] @ V).softmax(-1)
        title = f"state h after each word, predictions above it; U times {scale:.1f}"
        return states_svg(h, words, units, chances, outcomes, read=min(read, len(words)), title=title)

    chosen, length = menu(sentences, "sentence", "520px"), len(sentences[0].split())
    read = slider(0 if yours is None else length, 0, length, 1, "words read")  # to compare: all of it
    player = live(
        draw,
        step,
        yours=yours,
        rows=[["read", "scale"], ["sentence"]],
        play="read",
        sentence=chosen,
        read=read,
        scale=slider(1.0, 0.0, 1.5, 0.1, "multiply U by"),
    )

    def renew(_change: object) -> None:
        whole, read.max = read.value == read.max, len(chosen.value.split())
        if whole:
            read.value = read.max

    chosen.observe(renew, names="value")
    return player


def states_svg(
    states: ArrayLike,
    words: Sequence[str],
    units: Sequence[str],
    chances: ArrayLike,
    outcomes: Sequence[str],
    *,
    read: int | None = None,
    title: str = "",
) -> str:
    """h_0, h_1, … as columns of coloured values between −1 and 1, words below, predictions above.

    states (time + 1, unit), the first row is h_0; chances (time, outcome), the prediction after each word; read:
    how many words have been read (None: all); later columns are empty.

    Raises ValueError if the shapes do not fit, or if `read` exceeds the number of words.
    """
    h, p = np.asarray(states, dtype=float), np.asarray(chances, dtype=float)
    read = len(words) if read is None else read
    if h.shape != (len(words) + 1, len(units)) or p.shape != (len(words), len(outcomes)):
        raise ValueError(
            f"states must be (words + 1, units) = {(len(words) + 1, len(units))} and chances (words, outcomes) ="
            f" {(len(words), len(outcomes))}, got {h.shape} and {p.shape}"
        )
    if not 0 <= read <= len(words):
        raise ValueError(f"read must lie in [0, {len(words)}], got {read}")
    canvas, wide, tall = Canvas(title), 58.0, 34.0
    left, pitch = label_width([*units, *outcomes], 16) + 14, max(wide + 34, label_width(words, 16) + 10)
    top = canvas.top + 24 * len(outcomes) + 34
    bottom = top + tall * len(units)
    rows = [top - 48 - 24 * (len(outcomes) - 1 - k) for k in range(len(outcomes))]
    for k, unit in enumerate(units):
        canvas.text(left - 14, top + tall * (k + 0.5) + 6, unit, 16, "end")
    for y, outcome in zip(rows, outcomes, strict=True):
        canvas.text(left - 14, y, outcome, 16, "end")
    for t, word in enumerate(["h₀", *words]):
        x, middle, seen = left + pitch * t, left + pitch * t + wide / 2, t <= read
        for k, value in enumerate(h[t]):
            shown, fill = (number(value), diverging(value)) if seen else ("", "#ffffff")
            dashes = "" if seen else "3 3"
            canvas.box(x, top + tall * k, wide, tall, shown, fill, "#b8b8b8", dashes=dashes)
        canvas.text(middle, bottom + 52, word, 17, "middle", fill=INK if seen else GREY)
        if t == read:
            canvas.rect(x - 3, top - 3, wide + 6, tall * len(units) + 6, stroke=ORANGE, wide=3)
        if not t:
            continue
        ink, level = INK if seen else "#c8c8c8", (top + bottom) / 2
        canvas.line((x - (pitch - wide) + 4, level), (x - 5, level), ink, 2, arrow=True)
        canvas.line((middle, bottom + 34), (middle, bottom + 5), ink, 2, arrow=True)
        if seen:
            canvas.line((middle, top - 5), (middle, top - 30), ink, 2, arrow=True)
            for y, chance in zip(rows, p[t - 1], strict=True):
                canvas.rect(x - 6, y - 14, (wide + 12) * chance, 19, AMBER)
                canvas.text(x - 2, y + 1, f"{chance:.2f}", bold=chance == p[t - 1].max())
    numbers = ", ".join(f"{unit} {value:.2f}" for unit, value in zip(units, h[read], strict=True))
    if not read:
        return canvas.svg(f"A recurrent network before it reads “{' '.join(words)}”. Its state: {numbers}.")
    best = int(p[read - 1].argmax())
    return canvas.svg(
        f"A recurrent network has read “{' '.join(words[:read])}”. Its state: {numbers}."
        f" It predicts {outcomes[best]} with probability {p[read - 1, best]:.2f}."
    )


# --- its gradient through time -------------------------------------------------------------------

ThroughTime = Callable[[float, float, Sequence[float], Sequence[float]], tuple[list[float], list[list[float]]]]
"""(u, w, inputs, targets) -> (states h_0 … h_T, contributions: row t, column k ≤ t, zeros elsewhere)."""


def through_time_player(
    through_time: ThroughTime,
    inputs: Sequence[float],
    targets: Sequence[float],
    *,
    u: float | int = 0.5,
    w: float | int = 1.0,
    yours: ThroughTime | None = None,
) -> Live:
    """dL/du of a scalar network, taken apart: one entry for each loss t and each use k of u; a slider leaves out distant pairs."""
    times = len(inputs)

    def draw(through_time: ThroughTime, u: float, w: float, cut: int) -> str:
        states, contributions = through_time(u, w, inputs, targets)
        slopes = [u * (1 - h * h) for h in states[1:]]
        return contributions_svg(contributions, states=states, slopes=slopes, cut=None if cut >= times else cut)

    return live(
        draw,
        through_time,
        yours=yours,
        u=slider(float(u), -1.5, 3.0, 0.1, "u"),
        w=slider(float(w), 0.1, 2.0, 0.1, "w"),
        cut=slider(times, 1, times, 1, "pairs less than … steps apart", "430px"),
    )


def contributions_svg(
    contributions: ArrayLike,
    *,
    states: Sequence[float | int],
    slopes: Sequence[float | int],
    cut: int | None = None,
    symbol: str = "u",
) -> str:
    """Row t, column k: the loss at time t, differentiated through the use of U at time k, for k ≤ t.

    contributions (time, time); states h_0 … h_T; slopes ∂h_j/∂h_{j−1} for j = 1 … T, shown on the chain below.
    cut: pairs with t − k ≥ cut are crossed out, and not part of the sum (None: all count).

    Raises ValueError for shapes that do not fit.
    """
    c, n = np.asarray(contributions, dtype=float), len(slopes)
    if c.shape != (n, n) or len(states) != n + 1:
        raise ValueError(
            f"contributions must be (time, time) = {(n, n)} with {n + 1} states, got {c.shape} and {len(states)}"
        )
    left, top, wide, tall = 116.0, 64.0, 92.0, 40.0
    canvas, kept = Canvas(), 0.0
    canvas.text(left, 20, f"what each pair adds to dL/d{symbol}", 17, bold=True)
    reach = float(np.abs(c).max()) or 1.0
    for t in range(n):
        y = top + tall * t
        canvas.text(left - 10, y + 26, f"loss at {t + 1}", 16, "end")
        canvas.text(left + wide * (t + 0.5), top - 10, f"used at {t + 1}", 15, "middle")
        for k in range(t + 1):
            out = cut is not None and t - k >= cut
            kept += 0.0 if out else float(c[t, k])
            fill = "#e9e9e9" if out else diverging(c[t, k], reach)
            canvas.box(
                left + wide * k, y, wide, tall, number(c[t, k], 4), fill, "#b8b8b8", ink=GREY if out else "", struck=out
            )
    whole, under = float(np.tril(c).sum()), top + tall * n
    total = f"sum {number(kept, 4)}" + ("" if cut is None else f" of {number(whole, 4)}")
    canvas.text(left, under + 30, total, 18, bold=True)
    chain = under + 78
    canvas.text(left - 34, chain + 6, "states h", 16, "end")
    canvas.text(left - 4, chain + 46, "∂hⱼ/∂hⱼ₋₁", 15, "end", fill=DARK_ORANGE)
    for j, h in enumerate(states):
        x = left + wide * j
        canvas.mark("circle", x, chain, "#fff", 25, stroke=BLUE, wide=2.5)
        canvas.text(x, chain + 5, number(h), 15, "middle")
        if j:
            canvas.line((x - wide + 27, chain), (x - 27, chain), DARK_ORANGE, 2, arrow=True)
            canvas.text(x - wide / 2, chain + 46, f"×{number(slopes[j - 1])}", 16, "middle", fill=DARK_ORANGE)
    says = f"Contributions of {n} time steps to the gradient of {symbol}; their sum is {kept:.4f}"
    says += "" if cut is None else f" when only pairs less than {cut} steps apart count, {whole:.4f} with all of them"
    slopes_said = ", ".join(f"{s:.2f}" for s in slopes)
    return canvas.svg(f"{says}. The derivative of a state with respect to the previous one is {slopes_said}.")


# --- labelling and classifying -------------------------------------------------------------------

Restore = Callable[[str], tuple[list[str], list[str], list[float], list[str]]]
"""text -> (words as read, words with the model's marks, the probability of each answer, words with no mark)."""

Verdict = Callable[[str], tuple[list[str], list[float], list[bool]]]
"""text -> (words, P(high) after each, which of them the model does not know)."""

_LONGEST = 60


def _chosen(sentence: str, typed: str) -> str:
    text = typed if typed.strip() else sentence
    if len(text.split()) > _LONGEST:
        raise ValueError(
            f"the text has {len(text.split())} words, but the picture shows at most {_LONGEST}; shorten the text"
        )
    return text


def restore_player(restore: Restore, sentences: Sequence[str], *, yours: Restore | None = None) -> Live:
    """Choose a sentence or type one; a mark is set only where the model is at least as confident as the slider says."""
    answer = lru_cache(maxsize=64)(lambda restore, text: restore(text))

    def draw(restore: Restore, least: float, sentence: str, typed: str) -> str:
        words, marked, sure, bare = answer(restore, _chosen(sentence, typed))
        answers = list(zip(marked, bare, sure, strict=True))
        held = sum(m != b and p < least for m, b, p in answers)
        note = f"answers below {least:.2f} are left out: {held}"
        return restored_svg(words, [m if p >= least else b for m, b, p in answers], sure, note=note)

    return live(
        draw,
        restore,
        yours=yours,
        rows=[["least"], ["sentence"], ["typed"]],
        least=slider(0.0, 0.0, 1.0, 0.05, "only if at least this confident"),
        sentence=menu(sentences, "sentence"),
        typed=field(),
    )


def restored_svg(
    plain: Sequence[str], restored: Sequence[str], sure: ArrayLike, *, per_line: int = 9, note: str = ""
) -> str:
    """Each word of the input, and above it the model's answer; the darker the blue, the more confident the model.

    Raises ValueError if the three differ in length, or there is no word.
    """
    chance = np.asarray(sure, dtype=float)
    if not len(plain) == len(restored) == len(chance) or not len(plain):
        raise ValueError(
            f"restored_svg needs one restored word and one probability per word, and at least one word; got {len(plain)}"
            f" words, {len(restored)} restored and {chance.shape}"
        )
    canvas, x = Canvas(), 0.0
    for i, (word, old, p) in enumerate(zip(restored, plain, chance, strict=True)):
        x, y = x if i % per_line else 0.0, 8.0 + 92 * (i // per_line)
        wide = max(label_width([word], 19), label_width([old], 15), 58.0)
        canvas.box(x, y, wide, 36, word, blue(p * 0.62), size=19, radius=5)
        canvas.text(x + wide / 2, y + 56, old, 15, "middle", fill="#595959")
        canvas.text(x + wide / 2, y + 76, f"{p:.2f}", 15, "middle")
        x += wide + 4
    canvas.notes([note])
    return canvas.svg(f"Restored: {' '.join(restored)} {note}".strip())


def verdict_player(
    verdict: Verdict, sentences: Sequence[str], *, low: str, high: str, yours: Verdict | None = None
) -> Live:
    """Choose a sentence or type one; the probability of `high` after every word, up to the slider's."""
    answer = lru_cache(maxsize=64)(lambda verdict, text: verdict(text))

    def draw(verdict: Verdict, read: int, sentence: str, typed: str) -> str:
        words, chances, unknown = answer(verdict, _chosen(sentence, typed))
        shown = len(words) if typed.strip() else min(read, len(words))
        return verdict_svg(words, chances, low=low, high=high, read=shown, unknown=unknown)

    lengths = [len(sentence.split()) for sentence in sentences]
    return live(
        draw,
        verdict,
        yours=yours,
        rows=[["read"], ["sentence"], ["typed"]],
        read=slider(max(1, lengths[0] // 2), 1, max(lengths), 1, "words read"),
        sentence=menu(sentences, "sentence"),
        typed=field(),
    )


def verdict_svg(
    words: Sequence[str],
    chances: ArrayLike,
    *,
    low: str,
    high: str,
    read: int | None = None,
    unknown: Sequence[bool] | None = None,
) -> str:
    """The probability of `high` (against `low`) after each word, as a line above the words, for the first `read`.

    unknown: words that the model reads as <unk>, written in grey and in italics.

    Raises ValueError if the lengths do not fit, or if there is no word.
    """
    p, read = np.asarray(chances, dtype=float), len(words) if read is None else read
    if p.shape != (len(words),) or not len(words) or not 1 <= read <= len(words):
        raise ValueError(
            f"verdict_svg needs one probability per word and read in [1, {len(words)}], got {p.shape} and read={read}"
        )
    now = f"after {read} word{'s' if read > 1 else ''}: P({high}) = {p[read - 1]:.2f}"
    canvas, pitch = Canvas(now, size=18), max(30.0, min(64.0, 900.0 / len(words)))
    x, y = Axis(0, len(words), ticks={}), Axis(0, 1, ticks={1.0: high, 0.5: "0.5", 0.0: low})
    left = label_width([low, high, "0.5"]) + 4
    plot = Plot(canvas, x, y, left=left, top=42, across=pitch * len(words), down=190, inner=True)
    at = np.arange(read) + 0.5
    plot.line(at, p[:read])
    plot.marks(at[:-1], p[: read - 1], size=4)
    plot.marks(at[-1:], p[read - 1 : read], Look(ORANGE), size=7)
    for t, word in enumerate(words):
        odd = unknown is not None and unknown[t]
        ink = "#767676" if t >= read or odd else INK
        canvas.text(plot.across(t + 0.5), plot.bottom + 22, word, 16, turn=40, fill=ink, italic=odd)
    return canvas.svg(f"“{' '.join(words[:read])}”, {now}.")


# --- a training ----------------------------------------------------------------------------------


class TrainingCurve(ipywidgets.VBox):
    """A picture that follows the records which `nlmcore.training.fit` passes to `on_step`.

        curve = TrainingCurve()
        display(curve)
        fit(model, batches, steps=500, on_step=curve)

    Redrawn at most every `every` seconds, and at each evaluation, so that drawing costs training almost
    nothing; `finish()` draws the final state.
    """

    def __init__(self, title: str = "loss", every: float | int = 0.25) -> None:
        if every < 0:
            raise ValueError(f"every must be seconds of at least 0, got {every}")
        self.losses: list[float] = []
        self.validation: dict[int, float] = {}
        self.title, self.every = title, every
        self._drawn_at = -math.inf
        self.picture = ipywidgets.HTML('<p role="status">training has not started yet</p>')
        super().__init__([self.picture])

    def __call__(self, record: Any) -> None:
        """record: anything with `loss`, `step` and `validation` (None where nothing was evaluated)."""
        self.losses.append(float(record.loss))
        if record.validation is not None:
            self.validation[record.step] = float(record.validation)
        if record.validation is not None or time.monotonic() - self._drawn_at >= self.every:
            self.finish()

    def finish(self) -> None:
        """Draw all records received so far."""
        if self.losses:
            self.picture.value = curve_svg(self.losses, self.validation, title=self.title)
            self._drawn_at = time.monotonic()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        data = super()._repr_mimebundle_(**kwargs)
        if isinstance(data, dict):
            data["text/html"] = self.picture.value  # what is shown where no kernel runs
        return data
