"""Widgets about cutting text: byte-pair merges one at a time, and the window of skip-gram that slides over words."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import ipywidgets

from lectures.show import pieces_html
from lectures.show.live import Live, live, slider, swapped

Learn = Callable[[str, int], Sequence[Any]]
"""(text, steps) -> per merge: pair, frequency, and words, how each distinct word is cut then; as `trace_training`."""

Pairs = Callable[[Sequence[str], int], Sequence[tuple[int, int]]]
"""(words, m) -> all (place of the word, place of its neighbour)."""


def merge_player(
    learn: Learn,
    split: Callable[[str], Sequence[bytes]],
    texts: Mapping[str, str],
    *,
    merges: int = 40,
    at: int = 4,
    yours: Learn | None = None,
) -> Live:
    """Merge after merge: how the text is cut, how the vocabulary grows, and how many tokens a word takes.

    split: a text -> its words as bytes, in order.
    """
    order = {name: list(split(text)) for name, text in texts.items()}

    def player(learn: Learn) -> Callable[[str, int], str]:
        traced = lru_cache(maxsize=32)(lambda name: list(learn(texts[name], merges)))

        def draw(text: str, step: int) -> str:
            steps = traced(text)
            done = min(step, len(steps))
            cut = steps[done - 1].words if done else {}
            words = [
                [_spelled(piece) for piece in cut.get(w, [w[i : i + 1] for i in range(len(w))])] for w in order[text]
            ]
            tokens = sum(map(len, words))
            pair = tuple(map(_spelled, steps[done - 1].pair)) if done else ()
            new = "".join(pair)
            last = (
                f"merge {done}: {_seen(pair[0])} + {_seen(pair[1])} → {_seen(new)}, which stood there"
                f" {steps[done - 1].frequency} times"
                if done
                else "no merge yet: every byte is a token"
            )
            note = (
                f"vocabulary: 256 bytes + {done} = {256 + done}\n"
                f"{tokens} tokens for {len(words)} words and signs: {tokens / len(words):.2f} each"
            )
            if done == len(steps) < step:
                note += "\nno pair is left to merge"
            return pieces_html(
                words, alt=f"{last}. {note.replace(chr(10), '. ')}.", framed=[new], title=last, note=note
            )

        return draw

    choose = ipywidgets.ToggleButtons(options=list(texts), description="text", style={"button_width": "auto"})
    return live(
        player(learn),
        yours=None if yours is None else player(yours),
        rows=[["text"], ["step"]],
        text=choose,
        step=slider(at, 0, merges, 1, "merges", "620px"),
    )


def window_player(pairs: Pairs, sentence: str, *, at: int = 2, yours: Pairs | None = None) -> Live:
    """A word, the window around it, and the pairs (word, neighbour) that skip-gram learns from."""
    words = sentence.split()

    def draw(pairs: Pairs, place: int, m: int) -> str:
        every = [(int(i), int(j)) for i, j in pairs(words, m)]
        here = [words[j] for i, j in every if i == place - 1]
        boxes = [[f"[{word}]" if i == place - 1 else word] for i, word in enumerate(words)]
        around = {words[j] for i, j in every if i == place - 1}
        note = (
            "learns from: " + ", ".join(f"P({b} | {words[place - 1]})" for b in here)
            if here
            else f"no pair begins with {words[place - 1]}"
        )
        note += f"\n{len(every)} pairs in the whole sentence"
        return pieces_html(
            boxes,
            alt=f"{m} words to either side of {words[place - 1]}: {', '.join(here) or 'nothing'}; {len(every)} pairs.",
            framed=sorted(around - {words[place - 1]}),
            title=f"m = {m}",
            note=note,
        )

    return live(
        partial(draw, pairs),
        yours=swapped(draw, yours),
        place=slider(at + 1, 1, len(words), 1, "place of the word a"),
        m=slider(2, 1, 5, 1, "m, words to either side"),
    )


def _spelled(piece: bytes) -> str:
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(f"⟨{byte:02x}⟩" for byte in piece)


def _seen(piece: str) -> str:
    return "“" + piece.replace(" ", "\N{OPEN BOX}") + "”"
