"""Widgets over stored measurements: the map of heads, heads ablated together, causal tracing."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any

from lectures.show import Axis, Canvas, Live, Plot, choice, live, said, slider
from lectures.show.plot import Look, looks
from lectures.show.svg import BLUE, GREY, ORANGE
from lectures.widgets.inside_a_real_model.reading import grid_svg

__all__ = ["head_map_player", "together_player", "tracing_player"]

LETTERS = {
    "induction": "I",
    "previous token": "P",
    "same token": "S",
    "punctuation": ",",
    "first token": "0",
    "unknown": "",
}


def head_map_player(facts: Mapping[str, Any], heads: int = 9) -> Live:
    """All heads: where each looks, or the names that an intervention supports; one of them in numbers.

    facts: as `stored("head_map")` gives them.
    """
    rows = facts["rows"]
    layers = len(rows) // heads

    def draw(shows: str, layer: int, head: int) -> str:
        one, grid = rows[layer * heads + head], [[rows[i * heads + k] for i in range(layers)] for k in range(heads)]
        key = "name" if shows == "names" else "candidate"
        letters = [[LETTERS[row[key] or "unknown"] for row in line] for line in grid]
        looks_at = shows if shows in facts["tests"] else None
        values = [
            [row["looks"][looks_at][0] if looks_at else 0.25 * bool(letters[k][i]) for i, row in enumerate(line)]
            for k, line in enumerate(grid)
        ]
        counts = facts["named"] if shows == "names" else facts["candidates"]
        told = ", ".join(f"{name} {count}" for name, count in counts.items())
        title = {"names": "names that ablation supports", "candidates": "candidates, by where they look"}.get(
            shows, f"weight: {shows}"
        )
        if looks_at:
            letters = []
            top = sorted(rows, key=lambda row: -row["looks"][looks_at][0])[:5]
            told = ", ".join(f"{row['head']} {row['looks'][looks_at][0]:z.2f}" for row in top)
        picture = grid_svg(
            values, [f"head {k}" for k in range(heads)], [str(i) for i in range(layers)], alt=f"{title}, 270 heads: {told}.",
            title=title, reach=1.0, cell=(29, 28), chosen=(head, layer), letters=letters, x_title="layer", every=2, note=told
            + ("" if looks_at else "\nI induction, P previous token, S same token, comma: punctuation, 0: first token"),
        )  # fmt: skip
        return picture + said(_told(facts, one))

    return live(
        draw,
        rows=[["shows"], ["layer", "head"]],
        shows=choice(["candidates", "names", *facts["tests"]], "show"),
        layer=slider(18, 0, layers - 1, 1, "layer", "320px"),
        head=slider(6, 0, heads - 1, 1, "head", "280px"),
    )


def _told(facts: Mapping[str, Any], one: Mapping[str, Any]) -> str:
    looks_at = ", ".join(f"{name} {mean:z.2f}" for name, (mean, _) in one["looks"].items())
    says = f"head {one['head']} looks at: {looks_at}. "
    if not one["candidate"]:
        return says + "It looks at none of the five places strongly enough to be a candidate: unknown."
    test, of = one["test"], facts["tests"][one["candidate"]]
    if test["difference"] is None:
        return says + f"Candidate: {one['candidate']}; no later head reads what it could write: unknown."
    return says + (
        f"Candidate: {one['candidate']}. Ablated, {of} changes by {test['difference']:+z.3f} ± {test['half']:z.3f} more than for"
        f" its controls: {one['name']}."
    )


def together_player(facts: Mapping[str, Any]) -> Live:
    """The k strongest induction heads ablated together: the rise of the copying loss, with every control draw."""

    def draw(by: str, mark: str) -> str:
        canvas, counts = Canvas("nats per copied token, more than with all heads", size=16), list(facts["together"])
        found = {k: facts["together"][k][by] for k in counts}
        high = 1.15 * max(max(of["ablated"]) for of in found.values())
        keys = {
            "induction heads": Look(ORANGE, mark="diamond", wide=0),
            "random heads of the same layers": Look(BLUE, mark="ring", wide=0),
        }
        axes = (
            Axis(0, len(counts) - 1, "heads ablated together", dict(enumerate(counts)), grid=False),
            Axis(-0.1 * high, high, "nats"),
        )
        plot = Plot(canvas, *axes, across=720, down=400, keys=keys, padding=30)
        told = []
        for x, (k, of) in enumerate(found.items()):
            means = [fmean(each) for each in of["controls"]]
            plot.marks([x + 0.1] * len(means), means, keys["random heads of the same layers"], 4)
            values = of["ablated"] if mark == "each draw" else [fmean(of["ablated"])]
            plot.marks([x - 0.1] * len(values), values, keys["induction heads"], 6)
            told.append(
                f"{k}: {fmean(of['ablated']):z.2f}, controls {min(means):z.2f} to {max(means):z.2f}, on verses {fmean(of['on verses']):z.2f}"
            )
        plot.level(0, "4 4")
        return canvas.svg(f"Rise of the copying loss by heads ablated: {'; '.join(told)}.") + said(" · ".join(told))

    return live(
        draw,
        by=choice([("by their mean", "mean"), ("by zero", "zero")], "ablate"),
        mark=choice(["mean", "each draw"], "show"),
    )


def tracing_player(facts: Mapping[str, Any]) -> Live:
    """Share of the log-odds restored by a clean activation, by layer: one layer or a window, at two tokens."""

    def draw(at: str, span: str, layer: int) -> str:
        of = facts["windows"] if span == "windows" else facts["rows"]
        kinds = [name for name in ("pathway", "attention", "network") if f"{name}, {at}" in of]
        canvas = Canvas(f"restored at “{at if at == 'is' else 'the country'}”", size=16)
        keys = {
            name: look._replace(colour=colour)
            for (name, look), colour in zip(looks(kinds).items(), (GREY, BLUE, ORANGE)[-len(kinds) :], strict=True)
        }
        plot = Plot(
            canvas,
            Axis(0, len(facts["layers"]) - 1, "layer"),
            Axis(-0.2, 1.1, "share restored"),
            across=720,
            down=370,
            keys=keys,
            columns=3,
        )
        told = []
        for name in kinds:
            mean, low, high = zip(*of[f"{name}, {at}"], strict=True)
            plot.band(facts["layers"], low, high, keys[name])
            plot.line(facts["layers"], mean, keys[name])
            best = max(range(len(mean)), key=mean.__getitem__)
            told.append(
                f"{name} at most {mean[best]:z.2f} ({low[best]:z.2f} to {high[best]:z.2f}) at layer {facts['layers'][best]}"
            )
            plot.marks([layer], [mean[layer]], keys[name])
        here = ", ".join(
            f"{name} {of[f'{name}, {at}'][layer][0]:z.2f} ({of[f'{name}, {at}'][layer][1]:z.2f} to {of[f'{name}, {at}'][layer][2]:z.2f})"
            for name in kinds
        )
        return canvas.svg(f"Share restored at {at}: {'; '.join(told)}.") + said(f"layer {layer}: {here}")

    return live(
        draw,
        at=choice([("the country", "country"), ("the last token, “is”", "is")], "at"),
        span=choice([("one layer", "rows"), (f"windows of {facts['window']} layers", "windows")], "restore"),
        layer=slider(5, 0, len(facts["layers"]) - 1, 1, "layer"),
    )
