"""Widgets: byte-pair merges, the window of skip-gram, negative sampling, neighbours, analogies, a map of words."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from numpy.typing import ArrayLike

from lectures.show import (
    Live,
    bar_list_svg,
    choice,
    choose_or_type,
    field,
    live,
    menu,
    pieces_html,
    said,
    slider,
    tick,
    word_map_svg,
)
from lectures.show.svg import visible

__all__ = [
    "analogies",
    "merge_player",
    "negative_playground",
    "neighbours",
    "pieces_playground",
    "window_player",
    "word_map",
]

# --- tokens --------------------------------------------------------------------------------------

Learn = Callable[[str, int], Sequence[Any]]
"""(text, steps) -> per merge: pair, frequency, and words (how each distinct word is then split); see `trace_training`."""

Pairs = Callable[[Sequence[str], int], Sequence[tuple[int, int]]]
"""(words, m) -> all (position of the word, position of its neighbour)."""


def merge_player(
    learn: Learn,
    split: Callable[[str], Sequence[bytes]],
    texts: Mapping[str, str],
    *,
    merges: int = 40,
    at: int = 4,
    yours: Learn | None = None,
) -> Live:
    """Merge by merge: how the text is split, how the vocabulary grows, and how many tokens a word takes.

    split: a text -> its words as bytes, in order.
    """
    order = {name: list(split(text)) for name, text in texts.items()}
    traced = lru_cache(maxsize=32)(lambda learn, name: list(learn(texts[name], merges)))

    def draw(learn: Learn, text: str, step: int) -> str:
        steps = traced(learn, text)
        done = min(step, len(steps))
        cut = steps[done - 1].words if done else {}
        words = [[_spelled(piece) for piece in cut.get(w, [w[i : i + 1] for i in range(len(w))])] for w in order[text]]
        tokens, new, last = sum(map(len, words)), "", "no merge yet: every byte is a token"
        if done:
            a, b = map(_spelled, steps[done - 1].pair)
            new = a + b
            pair, times = f"“{visible(a)}” + “{visible(b)}”", steps[done - 1].frequency
            last = f"merge {done}: {pair} → “{visible(new)}”, which occurred {times} times"
        note = f"vocabulary: 256 bytes + {done} = {256 + done}\n"
        note += f"{tokens} tokens for {len(words)} words and punctuation marks: {tokens / len(words):.2f} each"
        if done == len(steps) < step:
            note += "\nno pair is left to merge"
        alt = f"{last}. {note.replace(chr(10), '. ')}."
        return pieces_html(words, alt=alt, framed=[new], title=last, note=note)

    return live(
        draw,
        learn,
        yours=yours,
        rows=[["text"], ["step"]],
        play="step",
        text=choice(texts, "text"),
        step=slider(at, 0, merges, 1, "merges", "620px"),
    )


def _spelled(piece: bytes) -> str:
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(f"⟨{byte:02x}⟩" for byte in piece)


_TOGETHER = 12
"""Pieces of a word that stay on one line."""
_LONGEST = 160
"""The largest number of characters in a picture."""


def pieces_playground(cuts: Mapping[str, Callable[[str], Sequence[str]]], texts: Mapping[str, str]) -> Live:
    """Any text, split by several tokenizers at every keystroke: their pieces, and how many there are.

    cuts: name -> function from a text to its pieces; bytes that are only part of a character are written `\\xf0`. texts:
    name in the menu -> a text to start with.
    """

    def draw(text: str, own: str) -> str:
        shown = own or texts[text]
        if len(shown) > _LONGEST:
            raise ValueError(f"the text has {len(shown)} characters; the picture has room for {_LONGEST}")
        pictures, told = [], []
        for name, cut in cuts.items():
            pieces = cut(shown)
            drops_spaces = not any(piece[:1] in (" ", "\n") for piece in pieces)
            words: list[list[str]] = []
            for piece in pieces:
                begins = not piece.startswith("##") if drops_spaces else piece[:1] in (" ", "\n")
                if not words or begins or len(words[-1]) == _TOGETHER:
                    words.append([])
                words[-1].append(piece if piece in shown else _bytes_shown(piece))
            n = len(pieces)
            told.append(f"{name} {n}")
            listed = " | ".join(piece for word in words for piece in word)
            alt = f"{name}: {n} tokens: {listed}."
            pictures.append(pieces_html(words or [["(nothing)"]], alt=alt, title=f"{name}: {n} tokens"))
        return "".join(pictures) + said(f"{len(shown)} characters. Tokens: {', '.join(told)}.")

    text, own = menu(texts, "text"), field(hint="… or type your own", every_key=True)
    choose_or_type(text, own)
    return live(draw, rows=[["text"], ["own"]], text=text, own=own)


def _bytes_shown(piece: str) -> str:
    return re.sub(r"\\x([0-9a-f]{2})", r"⟨\1⟩", piece)


def window_player(pairs: Pairs, sentence: str, *, at: int = 2, yours: Pairs | None = None) -> Live:
    """A word, the window around it, and the (word, neighbour) pairs from which skip-gram learns."""
    words = sentence.split()

    def draw(pairs: Pairs, place: int, m: int) -> str:
        every = [(int(i), int(j)) for i, j in pairs(words, m)]
        word, here = words[place - 1], [words[j] for i, j in every if i == place - 1]
        learns = "learns from: " + ", ".join(f"P({other} | {word})" for other in here)
        note = learns if here else f"no pair starts with {word}"
        return pieces_html(
            [[f"[{other}]" if i == place - 1 else other] for i, other in enumerate(words)],
            alt=f"{m} words on either side of {word}: {', '.join(here) or 'nothing'}; {len(every)} pairs.",
            framed=sorted({*here} - {word}),
            title=f"m = {m}",
            note=f"{note}\n{len(every)} pairs in the whole sentence",
        )

    return live(
        draw,
        pairs,
        yours=yours,
        place=slider(at + 1, 1, len(words), 1, "position of the word a"),
        m=slider(2, 1, 5, 1, "m, words on either side"),
    )


# --- vectors -------------------------------------------------------------------------------------

NegativeLoss = Callable[[float, Sequence[float]], float]
"""(score of the true neighbour, scores of the noise words) -> loss."""

Near = Callable[[str], Sequence[tuple[str, float]]]
"""word -> (word, cosine), best first; ValueError for a word that is not in the table."""

Answer = Callable[[str, str, str, bool], Sequence[tuple[str, float]]]
"""(a, b, c, whether a, b and c are excluded) -> (word, cosine), best first."""

Project = Callable[[Sequence[str]], tuple[ArrayLike, float]]
"""words -> their coordinates in the plane (word, 2), and the fraction of the variance that these keep."""


def negative_playground(
    loss: NegativeLoss, sigmoid: Callable[[float], float], noise: Sequence[str], *, yours: NegativeLoss | None = None
) -> Live:
    """A score for the true neighbour and one for each noise word, with their σ and the loss."""
    names = ["neighbour", *noise]

    def draw(loss: NegativeLoss, **scores: float) -> str:
        values = [float(value) for value in scores.values()]
        total = float(loss(values[0], values[1:]))
        shares = [sigmoid(value) for value in values]
        kinds = ["real", *["noise"] * len(noise)]
        told = [f"{kind}: σ({v:.1f}) = {p:.3f}" for kind, v, p in zip(kinds, values, shares, strict=True)]
        return bar_list_svg(
            shares,
            names,
            reach=1.0,
            highlight=[0],
            says=told,
            title="σ(score): probability of being a real neighbour",
            note=f"loss {total:.3f}",
            width=720,
        )

    sliders: dict[str, Any] = {
        f"s{i}": slider(0.0 if i else 1.0, -6.0, 6.0, 0.5, f"score of {name}") for i, name in enumerate(names)
    }
    return live(draw, loss, yours=yours, **sliders)


def _cosines(found: Sequence[tuple[str, float]], title: str, note: str, highlight: Sequence[int] = ()) -> str:
    return bar_list_svg(
        [max(cosine, 0.0) for _, cosine in found],
        [name for name, _ in found],
        reach=1.0,
        highlight=highlight,
        says=[f"{cosine:.2f}" for _, cosine in found],
        title=title,
        note=note,
    )


def neighbours(tables: Mapping[str, Near], words: Sequence[str]) -> Live:
    """The words nearest to a selected or typed one, in each of several tables of vectors."""

    def draw(table: str, word: str, own: str) -> str:
        asked = own.strip().lower() or word
        title = f"{table}: nearest to “{asked}”"
        return _cosines(list(tables[table](asked)), title, "cosine: 1 means the same direction")

    word, own = choice(words, "word"), field(hint="… or type a word and press Enter", width="420px")
    choose_or_type(word, own)
    table = choice(tables, "vectors", value=list(tables)[-1])
    return live(draw, rows=[["table"], ["word"], ["own"]], table=table, word=word, own=own)


def analogies(tables: Mapping[str, Answer], questions: Sequence[str]) -> Live:
    """a is to b as c is to …: the best answers of each table; questions are "a b c d" with d the expected answer."""

    def draw(table: str, question: str, own: str, leave_out: bool) -> str:
        words = (own.lower() if own.strip() else question).split()
        if len(words) not in (3, 4):
            raise ValueError(f"type three words and, if you like, the answer that you expect; got {own!r}")
        a, b, c = words[:3]
        found = list(tables[table](a, b, c, leave_out))
        hoped = [i for i, (name, _) in enumerate(found) if name in words[3:]]
        verdict = f"expected: {words[3]}" if words[3:] else ""
        verdict += ", and it ranks first" if 0 in hoped else ""
        return _cosines(found, f"{table}: {a} is to {b} as {c} is to …", verdict, hoped)

    question, own = (
        menu(questions, "question", "420px"),
        field(hint="… or type three words and press Enter", width="420px"),
    )
    choose_or_type(question, own)
    return live(
        draw,
        rows=[["table"], ["question", "own"], ["leave_out"]],
        table=choice(tables, "vectors"),
        question=question,
        own=own,
        leave_out=tick("exclude the words of the question", True),
    )


def word_map(project: Project, groups: Mapping[str, Sequence[Sequence[str]]], *, arrows: bool = True) -> Live:
    """Words in the plane of their first two principal components. Each choice has groups of words.

    Groups of the same length are drawn with arrows from the words of the first to those of the second.
    """

    def draw(choice: str, own: str) -> str:
        chosen = [list(group) for group in groups[choice]]
        first, paired = len(chosen[0]), arrows and len(chosen) == 2 and len(chosen[0]) == len(chosen[1])
        if own.strip():
            chosen.append(own.lower().split())
        words = [word for group in chosen for word in group]
        points, share = project(words)
        return word_map_svg(
            points,
            words,
            [mark for mark, group in enumerate(chosen) for _ in group],
            arrows=[(i, first + i) for i in range(first)] if paired else [],
            title=choice,
            note=f"the plane keeps {share:.0%} of the variance of these {len(words)} vectors",
            alt=f"Map of {len(words)} words: {'; '.join(map(' '.join, chosen))}. It keeps {share:.0%} of the variance.",
        )

    own = field(hint="… add your own words and press Enter", width="420px")
    return live(draw, rows=[["choice"], ["own"]], choice=choice(groups, "words"), own=own)
