"""What every layer adds to the score of the next word."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lectures.show import Live, beside, choice, lines_svg, live, menu, said, slider


class Added(NamedTuple):
    """A sentence, and what the embedding and every sublayer add to the score of the word that really follows."""

    words: Sequence[str]
    follows: Sequence[str]
    """The word after each, so one fewer than words."""
    embedding: ArrayLike
    """(word,)"""
    attention: ArrayLike
    """(layer, word)"""
    feed_forward: ArrayLike
    """(layer, word)"""


def added_player(read: Callable[[str, str], Added], models: Sequence[str], sentences: Sequence[str]) -> Live:
    """Left what attention and the feed-forward network of each layer add to the score, right their sum so far.

    read: (model, sentence) -> what is added. Raises ValueError if there is no model or sentence, or shapes differ.
    """
    if not models or not sentences:
        raise ValueError("added_player needs at least one model and one sentence")
    reading = lru_cache(maxsize=32)(lambda model, sentence: _checked(read(model, sentence)))
    longest = max(len(reading(models[0], sentence).follows) for sentence in sentences)

    def draw(model: str, sentence: str, place: int) -> str:
        found = reading(model, sentence)
        at = min(place, len(found.follows) - 1)
        start = float(np.asarray(found.embedding)[at])
        parts = {
            "attention": np.asarray(found.attention)[:, at],
            "feed-forward": np.asarray(found.feed_forward)[:, at],
        }
        sums = np.concatenate([[start], start + np.cumsum(sum(parts.values()))])
        after, word = found.words[at], found.follows[at]
        every = np.concatenate([*parts.values(), sums])
        low, high = float(np.floor(every.min())) - 1, float(np.ceil(every.max())) + 1
        most, layer = max(
            ((name, int(np.argmax(values))) for name, values in parts.items()), key=lambda of: parts[of[0]][of[1]]
        )
        told = f"embedding {start:+.2f}; most is added by {most} of layer {layer} ({parts[most][layer]:+.2f})"
        layers = np.arange(len(parts["attention"]))
        bars = lines_svg(
            layers, parts, x_title="layer", y_title="adds to the score", low=low, high=high, level=0, width=430,
            height=330, title=f"after {after!r}: the score of {word!r}",
            alt=f"{model}: what each layer adds to the score of {word!r} after {after!r}: {told}.",
        )  # fmt: skip
        path = lines_svg(
            np.arange(len(sums)), {"sum so far": sums}, x_title="layers passed", y_title="score", low=low, high=high,
            level=0, width=430, height=330, title="the sum along the pathway",
            alt=f"The score of {word!r} along the pathway: {sums[0]:+.2f} at first, {sums[-1]:+.2f} at last.",
        )  # fmt: skip
        return beside(bars, path) + said(f"{word!r} ends at {sums[-1]:+.2f}: {told}")

    return live(
        draw,
        rows=[["model"], ["sentence"], ["place"]],
        play="place",
        model=choice(models, "model"),
        sentence=menu(sentences, "sentence"),
        place=slider(longest // 2, 0, longest - 1, 1, "after word"),
    )


def _checked(found: Added) -> Added:
    words, shape = len(found.follows), np.shape(found.attention)
    shapes = np.shape(found.embedding), np.shape(found.feed_forward)
    if len(found.words) != words + 1 or shape[1:] != (words,) or shapes != ((words,), shape):
        raise ValueError(
            f"added_player needs a value per layer and word that is followed, got {len(found.words)} words, {words} that"
            f" follow, attention {shape}, embedding {shapes[0]} and feed-forward {shapes[1]}"
        )
    return found
