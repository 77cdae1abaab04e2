"""Widgets on what can be read inside a model, and what it learned that nobody meant to teach; all from stored runs."""

import html
import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np

from lectures.show import Axis, Canvas, Live, Look, Plot, bar_list_svg, beside, choice, live, menu, said, slider, stops
from lectures.show.svg import BLUE, COLOURS, DARK_ORANGE, GREY, INK, ORANGE

__all__ = [
    "directions_svg",
    "f1_player",
    "occupation_player",
    "page_player",
    "planted_player",
    "superposition_player",
]

Result = Mapping[str, Any]
"""A stored result, as `stored` returns it."""


def directions_svg(weight: Any, *, alt: str, title: str = "", reach: float = 1.4, size: float = 380) -> str:
    """The directions of features as arrows from one point; weight (2, n)."""
    canvas = Canvas(title)
    middle, top = size / 2, canvas.top
    canvas.rect(0, top, size, size, stroke=GREY)
    centre = (middle, top + middle)
    for i, (x, y) in enumerate(np.asarray(weight, dtype=float).T):
        colour = COLOURS[i % len(COLOURS)]
        end = (middle + x / reach * middle, top + middle - y / reach * middle)
        if math.hypot(x, y) > 0.05:
            canvas.line(centre, end, colour, 4, arrow=True)
        far = 1 + 0.16 / max(math.hypot(x, y), 0.3)
        place = (middle + far * x / reach * middle, top + middle - far * y / reach * middle)
        canvas.text(place[0], place[1] + 6, str(i + 1), 17, "middle", bold=True, halo=True)
    return canvas.svg(alt, width=size)


def superposition_player(result: Result, sparsity: float = 0.0) -> Live:
    """The directions that a toy learned, at a sparsity, with or without the ReLU, seed by seed."""
    sparsities = result["sparsities"]

    def draw(sparsity: float, model: str, seed: int) -> str:
        row = result["rows"][model][sparsities.index(sparsity)]
        weight, loss, kept = row["weight"][seed - 1], row["loss"][seed - 1], row["kept"][seed - 1]
        shares = row["dimensionality"][seed - 1]
        lengths = np.linalg.norm(weight, axis=0)
        words = ", ".join(f"{length:.2f}" for length in lengths)
        arrows = directions_svg(
            weight,
            title=f"{model}, sparsity {sparsity:g}",
            alt=f"{model} at sparsity {sparsity:g}, seed {seed}: five arrows of length {words}.",
        )
        bars = bar_list_svg(
            shares,
            [f"feature {i + 1}" for i in range(len(shares))],
            title="dimensions of each feature",
            reach=1,
            width=380,
        )
        return beside(arrows, bars) + said(
            f"{kept} of {len(shares)} directions are longer than 0.5; the loss is {loss:.2f} of that of answering 0"
        )

    return live(
        draw,
        sparsity=stops(sparsities, sparsity, "sparsity", "420px"),
        model=choice(result["rows"], "toy"),
        seed=slider(1, 1, len(result["rows"]["ReLU"][0]["kept"]), 1, "seed", "300px"),
    )


def f1_player(result: Result) -> Live:
    """F1 of each set of units on one label, or the mean over all: one mark per seed or draw."""
    every = "all labels (mean)"

    def draw(label: str) -> str:
        at = None if label == every else result["labels"].index(label)
        rows = {
            name: [fmean(scores) if at is None else scores[at] for scores in of] for name, of in result["f1"].items()
        }
        canvas = Canvas(f"F1 on a held-out play, {label}")
        names = {i + 0.5: name for i, name in enumerate(rows)}
        plot = Plot(
            canvas, Axis(0, 1, "F1"), Axis(len(rows), 0, ticks=names, grid=False), across=820, down=70 + 46 * len(rows)
        )
        for i, (name, values) in enumerate(rows.items()):
            look = Look(DARK_ORANGE if name == "sparse autoencoder" else BLUE, mark="diamond", wide=0)
            plot.marks(values, [i + 0.5] * len(values), look, 7)
        spoken = "; ".join(f"{name} {min(v):.2f} to {max(v):.2f}" for name, v in rows.items())
        return canvas.svg(f"F1 on {label}: {spoken}.") + said(spoken)

    return live(draw, label=menu([every, *result["labels"]], "label", "420px"))


def planted_player(result: Result, row: str) -> Live:
    """The rank of each secret over the number of its copies, for one kind of training."""
    rows, times = result["rows"], result["times"]
    names = {name: "after deduplication" if name == "deduplicated" else f"learning {name}" for name in rows}

    def draw(training: str) -> str:
        points = [(each[0], each[1]) for seed in rows[training] for each in seed["secrets"]]
        canvas = Canvas(f"Rank of the secret among {result['candidates']:,}, {names[training]}")
        plot = Plot(
            canvas,
            Axis(-0.5, len(times) - 0.5, "copies in the training text", {i: str(n) for i, n in enumerate(times)}),
            Axis(
                result["candidates"],
                0.8,
                "rank (1: most probable)",
                {r: f"{r:,}" for r in (1, 10, 100, 1000)},
                log=True,
            ),
            across=720,
            down=400,
        )
        plot.level(result["candidates"] / 2, "6 5", INK)
        for i, n in enumerate(times):
            of = sorted(rank for copies, rank in points if copies == n)
            spread = (np.arange(len(of)) - (len(of) - 1) / 2) * 0.05
            plot.marks(i + spread, of, Look(DARK_ORANGE, mark="circle", wide=0))
        middle = [median(rank for copies, rank in points if copies == n) for n in times]
        spoken = f"median rank after {', '.join(map(str, times))} copies: {', '.join(f'{m:.0f}' for m in middle)}"
        return canvas.svg(f"{spoken}.") + said(f"{spoken}; dashed: the mean rank by chance")

    return live(draw, training=choice([(name, key) for key, name in names.items()], "", row))


def occupation_player(result: Result) -> Live:
    """Each occupation's score over a percentage of women, in one template or the mean of all; one of them named."""
    every = "the mean of all"
    which = {"at work in it": 1, "of its mentions": 0}

    def draw(template: str, statistic: str, occupation: str) -> str:
        at = None if template == every else result["templates"].index(template)
        score = {word: fmean(v) if at is None else v[at] for word, v in result["scores"].items()}
        percent = {word: of[which[statistic]] for word, of in result["women"].items()}
        canvas = Canvas(f"“{template.format(occupation, a='a')}”" if at is not None else "the mean of six templates")
        plot = Plot(
            canvas,
            Axis(0, 100, f"women, %, {statistic}"),
            Axis(-3.2, 3.2, "ln P(she) − ln P(he)"),
            across=720,
            down=420,
        )
        plot.level(0, "6 5", INK)
        words = [word for word in score if word != occupation]
        plot.marks([percent[w] for w in words], [score[w] for w in words], Look(BLUE, mark="circle", wide=0), 5)
        x, y = plot.at(percent[occupation], score[occupation])
        canvas.mark("diamond", x, y, DARK_ORANGE, 9)
        canvas.text(
            x + (12 if percent[occupation] < 60 else -12), y + 5, occupation, 16,
            "start" if percent[occupation] < 60 else "end", bold=True, halo=True,
        )  # fmt: skip
        above = sum(value > 0 for value in score.values())
        words_of = f"{above} of {len(score)} occupations lean towards “she”; {occupation}: {score[occupation]:+.2f}"
        return canvas.svg(f"{statistic}, {template}: {words_of}.") + said(words_of.replace("-", "−"))

    return live(
        draw,
        rows=[["template"], ["statistic", "occupation"]],
        template=menu([every, *result["templates"]], "template", "460px"),
        statistic=choice(which, "women"),
        occupation=menu(sorted(result["scores"]), "occupation", "300px"),
    )


def page_player(facts: Sequence[Any], arms: Mapping[str, Any], pages: Mapping[str, Any]) -> Live:
    """A page with what was put into it, what the system message adds, and the stored reply: facts of
    `lectures.recipes.false_pages`, its arms, and the replies of each."""
    shown = range(len(next(iter(arms.values()))["shown"]))

    def draw(arm: str, fact: int) -> str:
        page, added = pages[arm][0](facts, fact), pages[arm][1].strip()
        reply, taken, right = (arms[arm][key][fact] for key in ("shown", "taken", "right"))
        verdict = "holds what was planted" if taken else "holds the page's fact" if right else "holds neither"
        colour = ORANGE if taken else BLUE
        box = "border:1px solid #767676;padding:8px 12px;margin:6px 0;font-size:17px;line-height:1.5"
        system = f'<div style="{box}"><b>In the system message</b><br>{html.escape(added)}</div>' if added else ""
        return (
            f'<div style="max-width:820px">{system}<div style="{box}"><b>Page</b><br>{html.escape(page)}</div>'
            f'<div style="{box}"><b>Question</b><br>{html.escape(facts[fact].question)}</div>'
            f'<div style="{box};border-left:8px solid {colour}"><b>SmolLM2</b><br>{html.escape(reply)}</div></div>'
        ) + said(f"The reply {verdict}.")

    questions = [(facts[i].question, i) for i in shown]
    return live(
        draw, rows=[["arm"], ["fact"]], arm=menu(pages, "page", "460px"), fact=menu(questions, "question", "460px")
    )
