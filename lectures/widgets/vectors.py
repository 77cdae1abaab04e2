"""Widgets about word vectors: the loss of negative sampling, neighbours, analogies, and a map in the plane."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import ipywidgets
from numpy.typing import ArrayLike

from lectures.show import bar_list_svg, word_map_svg
from lectures.show.live import Live, live, slider, swapped

NegativeLoss = Callable[[float, Sequence[float]], float]
"""(score of the true neighbour, scores of the noise words) -> loss."""

Near = Callable[[str], Sequence[tuple[str, float]]]
"""word -> (word, cosine), best first; ValueError for a word that is not in the table."""

Answer = Callable[[str, str, str, bool], Sequence[tuple[str, float]]]
"""(a, b, c, whether a, b and c are left out) -> (word, cosine), best first."""

Project = Callable[[Sequence[str]], tuple[ArrayLike, float]]
"""words -> their places in the plane (word, 2), and the share of the variance that these keep."""


def negative_playground(
    loss: NegativeLoss, sigmoid: Callable[[float], float], noise: Sequence[str], *, yours: NegativeLoss | None = None
) -> Live:
    """A score for the true neighbour, one for each noise word; what σ makes of them, and the loss."""
    names = ["neighbour", *noise]

    def draw(loss: NegativeLoss, **scores: float) -> str:
        values = [float(scores[f"s{i}"]) for i in range(len(names))]
        total = float(loss(values[0], values[1:]))
        shares = [sigmoid(value) for value in values]
        told = [
            f"{'real' if i == 0 else 'noise'}: σ({v:.1f}) = {p:.3f}"
            for i, (v, p) in enumerate(zip(values, shares, strict=True))
        ]
        return bar_list_svg(
            shares,
            names,
            reach=1.0,
            highlight=[0],
            says=told,
            title="σ(score): held to be a real neighbour",
            note=f"loss {total:.3f}",
            alt="; ".join(f"{name} {words}" for name, words in zip(names, told, strict=True)) + f"; loss {total:.3f}.",
            width=720,
        )

    sliders: dict[str, Any] = {
        f"s{i}": slider(1.0 if i == 0 else 0.0, -6.0, 6.0, 0.5, f"score of {name}", "340px")
        for i, name in enumerate(names)
    }
    return live(partial(draw, loss), yours=swapped(draw, yours), **sliders)


def neighbours(tables: Mapping[str, Near], words: Sequence[str]) -> Live:
    """The words nearest to a chosen or typed one, in each of several tables of vectors."""

    def draw(table: str, word: str, own: str) -> str:
        asked = own.strip().lower() or word
        found = list(tables[table](asked))
        return bar_list_svg(
            [max(cosine, 0.0) for _, cosine in found],
            [name for name, _ in found],
            reach=1.0,
            says=[f"{cosine:.2f}" for _, cosine in found],
            title=f"{table}: nearest to “{asked}”",
            note="cosine: 1 is the same direction",
            alt=f"{table}: nearest to {asked}: " + ", ".join(f"{name} {cosine:.2f}" for name, cosine in found) + ".",
        )

    choose = ipywidgets.ToggleButtons(options=list(words), description="word", style={"button_width": "auto"})
    field = _field("… or type a word and press Enter")
    widget = live(
        draw,
        rows=[["table"], ["word"], ["own"]],
        table=ipywidgets.ToggleButtons(
            options=list(tables), value=list(tables)[-1], description="vectors", style={"button_width": "auto"}
        ),
        word=choose,
        own=field,
    )
    choose.observe(lambda _: setattr(field, "value", ""), names="value")
    return widget


def analogies(tables: Mapping[str, Answer], questions: Sequence[str]) -> Live:
    """a is to b as c is to …: the best answers of each table; questions are "a b c d", d the one that is hoped for."""

    def draw(table: str, question: str, own: str, leave_out: bool) -> str:
        words = (own.lower() if own.strip() else question).split()
        if len(words) not in (3, 4):
            raise ValueError(f"type three words, a, b and c, and a fourth that you hope for if you like; got {own!r}")
        a, b, c = words[:3]
        hoped = words[3] if len(words) == 4 else None
        found = list(tables[table](a, b, c, leave_out))
        verdict = (
            "" if hoped is None else f"hoped for: {hoped}" + (", and it comes first" if found[0][0] == hoped else "")
        )
        return bar_list_svg(
            [max(cosine, 0.0) for _, cosine in found],
            [name for name, _ in found],
            reach=1.0,
            highlight=[i for i, (name, _) in enumerate(found) if name == hoped],
            says=[f"{cosine:.2f}" for _, cosine in found],
            title=f"{table}: {a} is to {b} as {c} is to …",
            note=verdict,
            alt=f"{table}: {a} is to {b} as {c} is to " + ", ".join(f"{n} {x:.2f}" for n, x in found) + f". {verdict}",
        )

    choose = ipywidgets.Dropdown(
        options=list(questions), description="question", layout=ipywidgets.Layout(width="420px")
    )
    field = _field("… or type three words and press Enter")
    widget = live(
        draw,
        rows=[["table"], ["question", "own"], ["leave_out"]],
        table=ipywidgets.ToggleButtons(options=list(tables), description="vectors", style={"button_width": "auto"}),
        question=choose,
        own=field,
        leave_out=ipywidgets.Checkbox(value=True, description="a, b and c are no answers", indent=False),
    )
    choose.observe(lambda _: setattr(field, "value", ""), names="value")
    return widget


def word_map(project: Project, groups: Mapping[str, Sequence[Sequence[str]]], *, arrows: bool = True) -> Live:
    """Words in the plane of their two largest principal components. Each choice has groups of words.

    Groups of the same length are drawn with arrows from the words of the first to those of the second.
    """

    def draw(choice: str, own: str) -> str:
        chosen = [list(group) for group in groups[choice]]
        if own.strip():
            chosen.append(own.lower().split())
        words = [word for group in chosen for word in group]
        marks = [mark for mark, group in enumerate(chosen) for _ in group]
        points, share = project(words)
        first = len(groups[choice][0])
        paired = arrows and len(groups[choice]) == 2 and len(groups[choice][1]) == first
        spoken = "; ".join(" ".join(group) for group in chosen)
        return word_map_svg(
            points,
            words,
            marks,
            arrows=[(i, first + i) for i in range(first)] if paired else [],
            title=choice,
            note=f"the plane keeps {share:.0%} of the variance of these {len(words)} vectors",
            alt=f"Map of {len(words)} words: {spoken}. It keeps {share:.0%} of the variance.",
        )

    return live(
        draw,
        rows=[["choice"], ["own"]],
        choice=ipywidgets.ToggleButtons(options=list(groups), description="words", style={"button_width": "auto"}),
        own=_field("… add words of your own and press Enter"),
    )


def _field(hint: str) -> ipywidgets.Text:
    return ipywidgets.Text(
        placeholder=hint, description="yours", continuous_update=False, layout=ipywidgets.Layout(width="420px")
    )
