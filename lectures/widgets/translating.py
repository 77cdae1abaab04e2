"""Sequence to sequence under the hand: a translator, its vector, its steps, and a map of many vectors."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

import ipywidgets
import numpy as np
from numpy.typing import ArrayLike

from lectures.show import bar_list_svg, map_svg, said, translation_svg
from lectures.show.live import Live, live, slider, swapped

Write = Callable[[str], Sequence[str]]
"""source text -> the words that a model writes."""


class DecodingStep(NamedTuple):
    """One step of a decoder: its state, and the most probable words with their probabilities, best first."""

    state: ArrayLike
    likely: Sequence[tuple[str, float | int]]


def translator_playground(
    translate: Write,
    encode: Callable[[str], ArrayLike],
    spell: Callable[[int], str],
    answer: Callable[[int], str],
    *,
    ways: Mapping[str, Write] | None = None,
    number: int = 465_721,
    highest: int = 999_999,
    yours: Write | None = None,
) -> Live:
    """Turn a number: its words, the vector they become, and what the decoder makes of it.

    translate: source words -> target words; `ways`: further ways of decoding, by name. encode: source words -> vector.
    spell and answer: a number in source and target words.
    """
    every = {"greedy": translate, **(ways or {})}
    vector_of = lru_cache(maxsize=64)(encode)

    def draw(own: Write | None, way: str, number: int) -> str:
        words = spell(number)
        written = (own or every[way])(words)
        if isinstance(written, str) or not all(isinstance(word, str) for word in written):
            raise TypeError(f"a translation is a list of words, such as ['ein', 'und'], got {written!r}")
        return translation_svg(
            words.split(),
            [("vector c", vector_of(words))],
            list(written),
            reference=answer(number).split(),
            title=f"{number:,}" + (f", {way}" if len(every) > 1 else ""),
        )

    controls = {"number": slider(number, 1, highest, 1, "number", "620px")}
    if len(every) == 1:
        return live(partial(draw, None, "greedy"), yours=swapped(partial(draw, way="greedy"), yours), **controls)
    ways_to = ipywidgets.ToggleButtons(options=list(every), description="decode by", style={"button_width": "auto"})
    return live(partial(draw, None), yours=swapped(draw, yours), rows=[["number"], ["way"]], **controls, way=ways_to)


def decoder_player(run: Callable[[str], Sequence[DecodingStep]], sources: Sequence[str], start: ArrayLike) -> Live:
    """A decoder one step at a time: its state before and after, and what the next word was chosen from.

    run: source words -> the steps of a greedy decoding; start: what the first state is, for the words (source, number).
    """
    runs = {source: list(run(source)) for source in sources}
    vectors = dict(zip(sources, np.asarray(start, dtype=float), strict=True))
    longest = max(len(steps) for steps in runs.values())

    def draw(source: str, step: int) -> str:
        steps = runs[source]
        step = min(step, len(steps))
        words = [one.likely[0][0] for one in steps[:step]]
        stripes: list[tuple[str, ArrayLike]] = [("h₀ = c", vectors[source])]
        if step:
            stripes.append((f"state h{_low(step)}", steps[step - 1].state))
        picture = translation_svg(source.split(), stripes, words)
        if not step:
            return picture + said("The source has been read. The first state is the vector c; nothing is written yet.")
        likely = steps[step - 1].likely
        read = "<bos>" if step == 1 else words[-2]
        bars = bar_list_svg(
            [p for _, p in likely],
            [word for word, _ in likely],
            reach=1.0,
            highlight=[0],
            title=f"step {step}: the decoder has read {read}; what comes next?",
            alt=f"Step {step}, after {read}: " + ", ".join(f"{word} {p:.3f}" for word, p in likely) + ".",
            width=640,
        )
        return picture + bars

    return live(
        draw,
        rows=[["source"], ["step"]],
        source=ipywidgets.Dropdown(
            options=list(runs), description="source", layout=ipywidgets.Layout(width="min(680px, 96%)")
        ),
        step=slider(1, 0, longest, 1, "step", "460px"),
    )


def vector_map(
    vectors: ArrayLike,
    names: Sequence[str],
    shades: Mapping[str, tuple[Sequence[float | int], str, str]],
    *,
    choices: Sequence[int],
    neighbours: int = 4,
) -> Live:
    """Vectors (n, width) in the plane of their two largest principal components; neighbours are those in full width.

    shades: name -> (a number per vector, what the lowest is, what the highest is); the colour follows it.
    choices: the vectors that may be chosen.
    """
    x = np.asarray(vectors, dtype=float)
    centred = x - x.mean(axis=0)
    _, sizes, directions = np.linalg.svd(centred, full_matrices=False)
    directions = directions[:2] * np.sign(directions[:2].sum(axis=1, keepdims=True))  # the same picture everywhere
    plane = centred @ directions.T
    share = float((sizes[:2] ** 2).sum() / (sizes**2).sum())

    @lru_cache(maxsize=256)
    def nearest(i: int) -> tuple[int, ...]:
        order = np.argsort(((x - x[i]) ** 2).sum(axis=1), kind="stable")
        return tuple(int(j) for j in order if j != i)[:neighbours]

    def draw(chosen: int, shade: str) -> str:
        tones, low, high = shades[shade]
        picture = map_svg(
            plane, tones, names, chosen=chosen, near=nearest(chosen), low=low, high=high, title=f"shade: {shade}"
        )
        return picture + said(
            f"nearest to “{names[chosen]}” in all {x.shape[1]} numbers: "
            + ", ".join(names[i] for i in nearest(chosen))
            + f". The plane shows {share:.0%} of the scatter."
        )

    return live(
        draw,
        rows=[["chosen"], ["shade"]],
        chosen=ipywidgets.Dropdown(
            options=[(names[i], i) for i in choices],
            description="number",
            layout=ipywidgets.Layout(width="min(620px, 96%)"),
        ),
        shade=ipywidgets.ToggleButtons(options=list(shades), description="shade by", style={"button_width": "auto"}),
    )


def pronouncer(
    say: Write, encode: Callable[[str], ArrayLike], words: Sequence[str], known: Callable[[str], Sequence[str]]
) -> Live:
    """Choose a word or type one; the model writes its phonemes, beside what the dictionary says.

    say: word -> phonemes; known: word -> the pronunciations that a dictionary has, nearest first, if any.
    """

    def draw(word: str, own: str) -> str:
        spelled = "".join(letter for letter in (own.strip().lower() or word) if letter in "abcdefghijklmnopqrstuvwxyz'")
        if not spelled or len(spelled) > 24:
            raise ValueError("type a word of 1 to 24 letters from a to z")
        written = list(say(spelled))
        allowed = [said.split() for said in known(spelled)]
        best = min(allowed, key=lambda said: (said != written, abs(len(said) - len(written))), default=None)
        note = "" if best is not None else "the dictionary does not have this word: listen"
        return translation_svg(list(spelled), [("vector c", encode(spelled))], written, reference=best, note=note)

    choose = ipywidgets.Dropdown(options=list(words), description="word", layout=ipywidgets.Layout(width="300px"))
    typed = ipywidgets.Text(placeholder="… or type one", description="yours", layout=ipywidgets.Layout(width="300px"))
    player = live(draw, rows=[["word", "own"]], word=choose, own=typed)

    def forget(_change: object) -> None:
        typed.value = ""  # choosing a word takes precedence again

    choose.observe(forget, names="value")
    return player


def _low(number: int) -> str:
    """A number as an index: 12 -> ₁₂."""
    return "".join(chr(0x2080 + int(digit)) for digit in str(number))
