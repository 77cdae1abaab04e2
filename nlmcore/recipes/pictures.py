"""The stored results as pictures: `picture(result)` for what `load_result(NAME)` read. Nothing is measured here."""

import json
from pathlib import Path
from typing import Any

from nlmcore.recipes.recipe import LECTURES
from nlmcore.show.figures import bars, curves
from nlmcore.show.figures.picture import Picture


def load_result(name: str, folder: str | Path | None = None) -> dict[str, Any]:
    """The numbers of a figure, as a recipe wrote them; `folder` is lectures/results unless given."""
    place = LECTURES / "results" if folder is None else Path(folder)
    known = sorted(file.stem for file in place.glob("*.json"))
    if name not in known:
        raise ValueError(f"name must be one of {', '.join(known)}, got {name!r}")
    return json.loads((place / f"{name}.json").read_text(encoding="utf-8"))


def quality_by_length(result: dict[str, Any]) -> Picture:
    """BLEU against the length of the source: Bahdanau et al. (2015), figure 2, on numbers."""
    lines = {name: [q["bleu"] for q in line.values()] for name, line in result["lines"].items()}
    middles = [sum(map(int, words.split("-"))) / 2 for words in next(iter(result["lines"].values()))]
    alt = "BLEU against the number of words in the source. " + " ".join(
        f"{name}: {line[0]:.0f} at the shortest, {line[-1]:.0f} at the longest." for name, line in lines.items()
    )
    return curves(middles, lines, alt=alt, x_title="English words in the number", y_title="BLEU")


def gradient_against_distance(result: dict[str, Any], when: str = "at initialisation") -> Picture:
    """The gradient's norm at distance d over that at distance 0, on a logarithmic scale."""
    found = result["gradient_log10"][when]
    lines = {result["cells"][cell]: [10**value for value in line] for cell, line in found.items()}
    alt = f"Norm of the gradient against the distance in time, {when}, logarithmic. " + " ".join(
        f"{name}: {line[-1]:.0e} after {len(line) - 1} steps." for name, line in lines.items()
    )
    steps = list(range(len(next(iter(lines.values())))))
    every = max(1, len(steps) // 20)  # a marker at each step would hide the lines
    thin = {name: line[::every] for name, line in lines.items()}
    x_title, y_title = "steps back in time", "gradient, relative"
    return curves(steps[::every], thin, alt=alt, x_title=x_title, y_title=y_title, log_y=True)


def copying_after_delay(result: dict[str, Any]) -> Picture:
    """Share of symbols copied right against the delay."""
    found = result["copy_accuracy"]
    lines = {result["cells"][cell]: list(row.values()) for cell, row in found.items()}
    delays = [int(delay) for delay in next(iter(found.values()))]
    alt = "Share of symbols copied right against the delay. " + " ".join(
        f"{name}: {line[-1]:.0%} after {delays[-1]} steps." for name, line in lines.items()
    )
    return curves(delays, lines, alt=alt, x_title="delay in steps", y_title="copied right", log_x=True)


def errors_by_place(result: dict[str, Any]) -> Picture:
    """Errors at place t, after the true beginning and after the model's own."""
    ways = {"forced": "reads the truth", "free": "reads itself"}
    lines = {f"{way}, {ways[mode]}": row[mode] for way, row in result["rows"].items() for mode in ways}
    alt = "Share of wrong phonemes against the place in the word. " + " ".join(
        f"{name}: {line[0]:.0%} at the first place, {line[-1]:.0%} at place {len(line)}."
        for name, line in lines.items()
    )
    places = range(1, len(next(iter(lines.values()))) + 1)
    return curves(list(places), lines, alt=alt, x_title="place in the word", y_title="share of errors")


def perplexities(result: dict[str, Any], smoothing: str = "kneser_ney") -> Picture:
    """The n-grams of one smoothing beside the neural models."""
    counted = {f"{n}-gram": p for n, p in result["ngram"][smoothing].items() if n.isdigit() and p is not None}
    values = counted | {name: row["perplexity"] for name, row in result["neural"].items()}
    alt = "Perplexity on the test plays. " + ", ".join(f"{name} {value:.1f}" for name, value in values.items()) + "."
    return bars(list(values.values()), list(values), alt=alt, y_title="perplexity")
