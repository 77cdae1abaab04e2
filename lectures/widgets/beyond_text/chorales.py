"""Chorales to see and to hear; what a model reads at which distance; losses of the rows of an experiment."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lectures.show import (
    Axis,
    Canvas,
    Live,
    Plot,
    bar_list_svg,
    choice,
    live,
    menu,
    piano_roll_svg,
    player_html,
    said,
    slider,
)
from nlmcore.metrics import mean_interval

VOICES = ("soprano", "alto", "tenor", "bass")


def chorale_player(
    pieces: Mapping[str, Mapping[str, ArrayLike]], *, given: Mapping[str, int] | None = None, note: str = ""
) -> Live:
    """pieces: name -> version -> MIDI pitches (voice, time), 0 for silence: seen as a piano roll, and heard.

    given: name -> sixteenths at the beginning that every version shares. Sixteen quarters are shown at a time.
    """
    found = {name: {v: np.asarray(of, dtype=int) for v, of in by.items()} for name, by in pieces.items()}
    versions = list(dict.fromkeys(version for by in found.values() for version in by))
    longest = max(of.shape[1] for by in found.values() for of in by.values())

    def draw(heard: str, piece: str = next(iter(found)), first: int = 1, version: str = versions[0]) -> str:
        whole = found[piece][version]
        start = min(4 * (first - 1), whole.shape[1] - 1)
        shown = whole[:, start : start + 64]
        sounding = [heard in ("all voices", voice) for voice in VOICES]
        prompt = max(0, (given or {}).get(piece, 0) - start)
        title = f"{piece}, {version}" if len(versions) > 1 else piece
        played = np.where(np.array(sounding)[:, None], shown, 0)
        return (
            piano_roll_svg(shown, title=f"{title}, quarters {first} to {first - 1 + shown.shape[1] // 4}", given=prompt, sounding=sounding)
            + player_html(played, says=f"play {title}")
            + (said(note) if note else "")
        )  # fmt: skip

    controls: dict[str, Any] = {}
    if len(found) > 1:
        controls["piece"] = menu(found, "piece", "300px")
    if len(versions) > 1:
        controls["version"] = choice(versions, "version")
    controls["heard"] = choice(["all voices", *VOICES], "heard")
    if longest > 64:
        controls["first"] = slider(1, 1, longest // 4 - 15, 4, "from quarter")
    return live(draw, **controls)


def distance_explorer(weights: ArrayLike) -> Live:
    """weights (layer, head, distance): the mean attention of a head to the token so many tokens back."""
    found = np.asarray(weights, dtype=float)
    layers, heads, distances = found.shape

    def draw(layer: int, head: int) -> str:
        by = found[layer - 1, head - 1]
        best = [int(d) for d in np.argsort(-by)[:3]]
        told = ", ".join(f"{d} back {by[d]:.2f}" for d in best)
        canvas = Canvas(f"layer {layer}, head {head}: mean attention by distance", size=16)
        ticks = {d: str(d) for d in range(0, distances, 4 if distances <= 40 else 8)}
        plot = Plot(
            canvas,
            Axis(-1, distances, "tokens back from the query, which predicts the next token", ticks),
            Axis(0, 1),
            across=860,
            down=330,
        )
        for d in range(distances):
            plot.bar(d, by[d], 700 / distances, "#D55E00" if d % 4 == 3 else "#0072B2", f"{d} back: {by[d]:.3f}")
        same = by[3::4].sum() / by.sum()
        return canvas.svg(f"Mean attention of layer {layer}, head {head} by distance, bars of the predicted voice in orange. Most: {told}.") + said(
            f"Most weight: {told}. On the voice that is predicted (3, 7, 11, … back): {same:.0%} of the weight in the picture."
        )  # fmt: skip

    return live(draw, layer=slider(1, 1, layers, 1, "layer", "240px"), head=slider(1, 1, heads, 1, "head", "240px"))


def chorale_losses(result: Mapping[str, Any]) -> Live:
    """Rows of `stored("chorales")`, mean and interval over seeds, and the n-gram model, for all notes or some."""
    rows, without = result["rows"], result["without"]
    measures = {"all tokens": "all", "held pitches": "held", "changed pitches": "changed"}

    def values(of: Mapping[str, Any], measure: str) -> Sequence[float]:
        if measure in VOICES:
            return [run[VOICES.index(measure)] for run in of["by_voice"]]
        found: Sequence[float] = of[measures[measure]]
        return found

    def draw(measure: str) -> str:
        told = {row: mean_interval(values(of, measure)) for row, of in rows.items()}
        ngram = without["7-gram"]
        alone = ngram["by_voice"][VOICES.index(measure)] if measure in VOICES else ngram[measures[measure]]
        means = [*(mean for mean, _ in told.values()), alone]
        words = [*(f"{mean:.3f} ± {half:.3f}" for mean, half in told.values()), f"{alone:.3f}"]
        return bar_list_svg(
            means, [*told, "7-gram, Kneser–Ney"], says=words, width=900, title=f"nats per token, {measure}",
            highlight=[int(np.argmin(means))], reach=max(means) * 1.15, note="±: 95 % interval of the mean over the seeds",
        )  # fmt: skip

    return live(draw, measure=choice([*measures, *VOICES], "measure"))
