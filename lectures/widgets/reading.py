"""A recurrent network at work: its state filling word by word, and its gradient through time, term by term."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import ipywidgets
import torch
from torch import Tensor

from lectures.show.states import states_svg
from lectures.show.through_time import contributions_svg
from lectures.show.live import Live, live, slider, swapped

Step = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""(x (input,), h (unit,), U (unit, unit), W (input, unit)) -> the next h (unit,): vectors are rows."""

ThroughTime = Callable[[float, float, Sequence[float], Sequence[float]], tuple[list[float], list[list[float]]]]
"""(u, w, inputs, targets) -> (states h_0 … h_T, contributions: row t, column k ≤ t, zeros elsewhere)."""


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

    embedding: a vector (input,) per word. The second slider scales U, so that one sees what the recurrence is for.
    Raises ValueError, in the picture's place, for a word without a vector.
    """

    def draw(step: Step, read: int, scale: float, sentence: str) -> str:
        words = sentence.split()
        missing = [word for word in words if word not in embedding]
        if missing:
            raise ValueError(f"there is no vector for {missing}; there are some for {sorted(embedding)}")
        states = [torch.zeros(len(U))]
        for word in words:
            states.append(step(embedding[word], states[-1], U * scale, W))
        h = torch.stack(states)
        chances = (h[1:] @ V).softmax(-1)
        title = f"state h after each word, predictions above it; U times {scale:.1f}"
        return states_svg(h, words, units, chances, outcomes, read=min(read, len(words)), title=title)

    longest = max(len(sentence.split()) for sentence in sentences)
    return live(
        partial(draw, step),
        yours=swapped(draw, yours),
        rows=[["read", "scale"], ["sentence"]],
        read=slider(0 if yours is None else longest, 0, longest, 1, "words read"),  # to compare: all of it
        scale=slider(1.0, 0.0, 1.5, 0.1, "multiply U by"),
        sentence=ipywidgets.Dropdown(
            options=list(sentences), description="sentence", layout=ipywidgets.Layout(width="520px")
        ),
    )


def through_time_player(
    through_time: ThroughTime,
    inputs: Sequence[float],
    targets: Sequence[float],
    *,
    u: float | int = 0.5,
    w: float | int = 1.0,
    yours: ThroughTime | None = None,
) -> Live:
    """dL/du of a scalar network, taken apart: one number for each loss t and each use k of u; a slider cuts it off."""
    times = len(inputs)

    def draw(through_time: ThroughTime, u: float, w: float, cut: int) -> str:
        states, contributions = through_time(u, w, inputs, targets)
        slopes = [u * (1 - h * h) for h in states[1:]]
        return contributions_svg(contributions, states=states, slopes=slopes, cut=None if cut >= times else cut)

    return live(
        partial(draw, through_time),
        yours=swapped(draw, yours),
        rows=[["u", "w", "cut"]],
        u=slider(float(u), -1.5, 3.0, 0.1, "u"),
        w=slider(float(w), 0.1, 2.0, 0.1, "w"),
        cut=slider(times, 1, times, 1, "pairs less than … apart", "380px"),
    )
