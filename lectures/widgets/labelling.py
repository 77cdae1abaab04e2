"""Labelling and classifying, live: type a sentence and see what a recurrent network makes of it."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial

import ipywidgets

from lectures.show.labels import restored_svg, verdict_svg
from lectures.show.live import Live, live, slider, swapped

Restore = Callable[[str], tuple[list[str], list[str], list[float], list[str]]]
"""text -> (words as read, words with the model's marks, the probability of each answer, words with no mark)."""

Verdict = Callable[[str], tuple[list[str], list[float], list[bool]]]
"""text -> (words, P(high) after each, which of them the model does not know)."""

_LONGEST = 60


def restore_player(restore: Restore, sentences: Sequence[str], *, yours: Restore | None = None) -> Live:
    """Choose a sentence or type one; a mark is put only where the model is at least as sure as the slider says."""
    answer = lru_cache(maxsize=64)(lambda restore, text: restore(text))

    def draw(restore: Restore, least: float, sentence: str, typed: str) -> str:
        words, marked, sure, bare = answer(restore, _chosen(sentence, typed))
        shown = [m if p >= least else b for m, b, p in zip(marked, bare, sure, strict=True)]
        held = sum(m != b and p < least for m, b, p in zip(marked, bare, sure, strict=True))
        note = f"answers below {least:.2f} are left out: {held}"
        return restored_svg(words, shown, sure, note=note)

    return live(
        partial(draw, restore),
        yours=swapped(draw, yours),
        rows=[["least"], ["sentence"], ["typed"]],
        least=slider(0.0, 0.0, 1.0, 0.05, "only if at least this sure"),
        **_texts(sentences),
    )


def verdict_player(
    verdict: Verdict, sentences: Sequence[str], *, low: str, high: str, yours: Verdict | None = None
) -> Live:
    """Choose a sentence or type one; the probability of `high` after every word, up to the slider's."""
    answer = lru_cache(maxsize=64)(lambda verdict, text: verdict(text))

    def draw(verdict: Verdict, read: int, sentence: str, typed: str) -> str:
        words, chances, unknown = answer(verdict, _chosen(sentence, typed))
        shown = len(words) if typed.strip() else min(read, len(words))
        return verdict_svg(words, chances, low=low, high=high, read=shown, unknown=unknown)

    longest = max(len(sentence.split()) for sentence in sentences)
    first = len(sentences[0].split())
    return live(
        partial(draw, verdict),
        yours=swapped(draw, yours),
        rows=[["read"], ["sentence"], ["typed"]],
        read=slider(max(1, first // 2), 1, longest, 1, "words read"),
        **_texts(sentences),
    )


def _texts(sentences: Sequence[str]) -> dict[str, ipywidgets.Widget]:
    wide = {"layout": ipywidgets.Layout(width="min(820px, 98%)"), "style": {"description_width": "80px"}}
    return {
        "sentence": ipywidgets.Dropdown(options=list(sentences), description="sentence", **wide),
        "typed": ipywidgets.Text(
            placeholder="… or type your own and press Enter", description="yours", continuous_update=False, **wide
        ),
    }


def _chosen(sentence: str, typed: str) -> str:
    text = typed if typed.strip() else sentence
    if len(text.split()) > _LONGEST:
        raise ValueError(f"the text has {len(text.split())} words; the picture has room for {_LONGEST}")
    return text
