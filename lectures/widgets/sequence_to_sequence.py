"""Widgets: a translator, its context vector, its steps, a map of many vectors, and pronunciation."""

from collections.abc import Callable, Mapping, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lectures.show import (
    Canvas,
    Live,
    encoder_decoder_svg,
    bar_list_svg,
    choice,
    choose_or_type,
    field,
    live,
    map_svg,
    menu,
    said,
    slider,
)
from lectures.show.svg import BLUE, DARK_GREEN, DARK_ORANGE, number, subscript

__all__ = ["DecodingStep", "decoder_player", "pronouncer", "time_player", "translator_playground", "vector_map"]

Write = Callable[[str], Sequence[str]]
"""source text -> the words that a model writes."""

_GREY = "#767676"

# --- from a source through one vector to a target ------------------------------------------------


def translation_svg(
    source: Sequence[str],
    stripes: Sequence[tuple[str, ArrayLike]],
    written: Sequence[str],
    *,
    reference: Sequence[str] | None = None,
    title: str = "",
    note: str = "",
) -> str:
    """Source words, one stripe of colours per (label, vector), the words written, and the reference if they differ.

    A written word that the reference does not have there is orange, framed by dashes. Blue in a stripe is negative,
    red positive, full colour at ±1.

    Raises ValueError if there is no source word, or a stripe is no vector.
    """
    if not source:
        raise ValueError("translation_svg needs at least one source word")
    wrong = [False] * len(written) if reference is None else wrong_places(written, reference)
    right = reference is not None and list(written) == list(reference)
    canvas = Canvas(title)
    y = _boxes(canvas, "source", [(word, BLUE, "") for word in source], canvas.top)
    for label, vector in stripes:
        numbers = np.asarray(vector, dtype=float)
        if numbers.ndim != 1:
            raise ValueError(f"a stripe needs a vector, got shape {numbers.shape} for {label!r}")
        canvas.text(112, y + 22, label, 15, "end")
        canvas.image(numbers[None], 120, y + 4, 730, 26)
        y += 38
    looks = {True: (DARK_ORANGE, "6 4"), False: (DARK_GREEN, "")}
    words = [(word, *looks[bad]) for word, bad in zip(written, wrong, strict=True)] or [("…", _GREY, "")]
    y = _boxes(canvas, "written", words, y + 4)
    if reference is not None and not right:
        y = _boxes(canvas, "reference", [(word, _GREY, "") for word in reference], y)
    if reference:
        otherwise = f"wrong words: {sum(wrong)} of {len(written)}" if any(wrong) else "words are missing"
        canvas.text(112, y + 20, "right in every word" if right else otherwise, 16)
    canvas.notes([note], gap=2)
    alt = f"Source: {' '.join(source)}. Written: {' '.join(written) or 'nothing yet'}."
    if reference is not None:
        alt += " It is right." if right else f" The reference is: {' '.join(reference)}."
    return canvas.svg(f"{alt} {note}".strip(), width=860)


def wrong_places(written: Sequence[str], reference: Sequence[str]) -> list[bool]:
    """For each written word: does it fall out of the longest common runs with the reference?"""
    wrong = [True] * len(written)
    for block in SequenceMatcher(None, list(written), list(reference), autojunk=False).get_matching_blocks():
        wrong[block.a : block.a + block.size] = [False] * block.size
    return wrong


def _boxes(canvas: Canvas, label: str, words: Sequence[tuple[str, str, str]], top: float) -> float:
    """(word, colour, dashes) in frames, in as many lines as they take; where the next row begins."""
    canvas.text(112, top + 22, label, 15, "end", italic=True)
    x = 120.0
    for word, colour, dashes in words:
        wide = len(word) * 10.7 + 18
        if x + wide > 860 and x > 120:
            x, top = 120.0, top + 38
        canvas.box(x, top + 2, wide, 30, word, "#ffffff", colour, 2, size=17, ink=colour, radius=6, dashes=dashes)
        x += wide + 8
    return top + 42


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
    """Choose a number: its words, the vector they become, and what the decoder writes.

    translate: source words -> target words; `ways`: further ways of decoding, by name. encode: source words -> vector.
    spell and answer: a number in source and target words.
    """
    every = {"greedy": translate, **(ways or {})}
    vector_of = lru_cache(maxsize=64)(encode)

    def draw(own: Write | None, number: int, way: str = "greedy") -> str:
        words = spell(number)
        written = (own or every[way])(words)
        if isinstance(written, str) or not all(isinstance(word, str) for word in written):
            raise TypeError(f"a translation is a list of words, such as ['ein', 'und'], got {written!r}")
        title = f"{number:,}" + (f", {way}" if len(every) > 1 else "")
        stripes, right = [("vector c", vector_of(words))], answer(number).split()
        return translation_svg(words.split(), stripes, list(written), reference=right, title=title)

    controls = {"number": slider(number, 1, highest, 1, "number", "620px")}
    if len(every) > 1:
        controls["way"] = choice(every, "decode by")
    return live(draw, None, yours=yours, rows=[[name] for name in controls], **controls)


# --- a decoder, step by step ---------------------------------------------------------------------


class DecodingStep(NamedTuple):
    """One step of a decoder: its state, and the most probable words with their probabilities, best first."""

    state: ArrayLike
    likely: Sequence[tuple[str, float | int]]


def decoder_player(run: Callable[[str], Sequence[DecodingStep]], sources: Sequence[str], start: ArrayLike) -> Live:
    """A decoder one step at a time: its state before and after, and what the next word was chosen from.

    run: source words -> the steps of a greedy decoding; start: what the first state is, for the words (source, number).
    """
    runs = {source: list(run(source)) for source in sources}
    vectors = dict(zip(sources, np.asarray(start, dtype=float), strict=True))

    def draw(source: str, step: int) -> str:
        steps = runs[source][:step]
        words = [one.likely[0][0] for one in steps]
        stripes: list[tuple[str, ArrayLike]] = [("h₀ = c", vectors[source])]
        if not steps:
            told = "The source has been read. The first state is the vector c; nothing is written yet."
            return translation_svg(source.split(), stripes, words) + said(told)
        stripes.append((f"state h{subscript(len(steps))}", steps[-1].state))
        likely, read = steps[-1].likely, ["<bos>", *words][-2]
        return translation_svg(source.split(), stripes, words) + bar_list_svg(
            [p for _, p in likely],
            [word for word, _ in likely],
            reach=1.0,
            highlight=[0],
            title=f"step {len(steps)}: the decoder has read {read}; what comes next?",
        )

    return live(
        draw,
        rows=[["source"], ["step"]],
        play="step",
        source=menu(runs, "source"),
        step=slider(1, 0, max(map(len, runs.values())), 1, "step", "460px"),
    )


def time_player(
    encode: Callable[[str], ArrayLike],
    run: Callable[[str], Sequence[DecodingStep]],
    sources: Sequence[str],
    *,
    backward: bool = False,
) -> Live:
    """Encoder and decoder unrolled, playing in time: each word written is the next one read.

    encode: source words -> the encoder's states (word, width), one per word and one for `<eos>`, in the order in which
    they are computed. run: as for `decoder_player`. Short sources: all words stand side by side.
    """
    states = {source: np.asarray(encode(source), dtype=float) for source in sources}
    runs = {source: list(run(source)) for source in sources}

    def draw(source: str, step: int) -> str:
        words, steps, n = [*source.split(), "<eos>"], runs[source], len(states[source])
        target, step = [one.likely[0][0] for one in steps], min(step, n + 1 + 2 * len(steps))
        told = _event(words[::-1] if backward else words, states[source], steps, step)
        vectors = states[source], np.array([one.state for one in steps])
        alt = f"Encoder and decoder after step {step} of {n + 1 + 2 * len(steps)}: {told}"
        return encoder_decoder_svg(words, target, alt=alt, backward=backward, step=step, states=vectors) + said(told)

    longest = max(len(states[source]) + 1 + 2 * len(runs[source]) for source in sources)
    return live(
        draw,
        rows=[["step", "source"]],
        play="step",
        step=slider(0, 0, longest, 1, "step", "420px"),
        source=menu(sources, "source", "280px"),
    )


def _event(words: Sequence[str], states: np.ndarray, steps: Sequence[DecodingStep], step: int) -> str:
    """What happens in one step, with its numbers; `words` in the order in which they are read."""
    n = len(states)
    if step == 0:
        return "Nothing has been read yet."
    if step <= n:
        first = ", ".join(number(value) for value in states[step - 1][:4])
        return f"h{subscript(step)} reads “{words[step - 1]}”. Its {len(states[0])} values begin {first} …"
    if step == n + 1:
        first = ", ".join(number(value) for value in states[-1][:4])
        return f"c = h{subscript(n)} = ({first}, …) is all that the decoder is told about the source."
    i, writes = divmod(step - n - 2, 2)
    likely = steps[i].likely
    before = "<bos>" if i == 0 else steps[i - 1].likely[0][0]
    if not writes:
        chances = ", ".join(f"{word} {chance:.3f}" for word, chance in likely[:3])
        again = "" if i == 0 else ", the word just written"
        return f"s{subscript(i + 1)} reads “{before}”{again}. Next word: {chances} …"
    end = "It ends the text." if i + 1 == len(steps) else "It will be read next."
    return f"“{likely[0][0]}” is written, with probability {likely[0][1]:.3f}. {end}"


# --- a map of vectors ----------------------------------------------------------------------------


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
        (tones, low, high), near = shades[shade], nearest(chosen)
        title, close = f"shade: {shade}", ", ".join(names[i] for i in near)
        return map_svg(plane, tones, names, chosen=chosen, near=near, low=low, high=high, title=title) + said(
            f"nearest to “{names[chosen]}” in all {x.shape[1]} dimensions: {close}."
            f" The plane shows {share:.0%} of the variance."
        )

    return live(
        draw,
        rows=[["chosen"], ["shade"]],
        chosen=menu([(names[i], i) for i in choices], "number", "min(620px, 96%)"),
        shade=choice(shades, "shade by"),
    )


# --- pronunciation -------------------------------------------------------------------------------


def pronouncer(
    say: Write, encode: Callable[[str], ArrayLike], words: Sequence[str], known: Callable[[str], Sequence[str]]
) -> Live:
    """Choose a word or type one; the model writes its phonemes, and the picture compares them with the dictionary's.

    say: word -> phonemes; known: word -> the pronunciations that a dictionary has, nearest first, if any.
    """

    def draw(word: str, own: str) -> str:
        spelled = "".join(letter for letter in (own.strip().lower() or word) if letter in "abcdefghijklmnopqrstuvwxyz'")
        if not spelled or len(spelled) > 24:
            raise ValueError("type a word of 1 to 24 letters from a to z")
        written = list(say(spelled))
        allowed = [spoken.split() for spoken in known(spelled)]
        best = min(allowed, key=lambda spoken: (spoken != written, abs(len(spoken) - len(written))), default=None)
        note = "" if best is not None else "the dictionary does not have this word, so listen"
        return translation_svg(list(spelled), [("vector c", encode(spelled))], written, reference=best, note=note)

    word, own = menu(words, "word", "300px"), field(hint="… or type one", width="300px", every_key=True)
    choose_or_type(word, own)
    return live(draw, rows=[["word", "own"]], word=word, own=own)
