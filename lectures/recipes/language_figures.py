"""What is measured of a language model of Shakespeare: quality on texts, the curve of a training."""

import math
import statistics
from typing import Any

from nlmcore.metrics import log_likelihood
from lectures.recipes.shakespeare import plays
from lectures.recipes.streams import as_document, in_rows
from nlmcore.training import History

POINTS = 40
"""Of a training's curve."""


def quality(model: Any, tokenizer: Any, texts: list[str]) -> dict[str, float]:
    """Perplexity per token, and bits per character; <eos> is predicted and counts as a character."""
    rows = in_rows([as_document(tokenizer.encode(text)) for text in texts])
    total, predicted = log_likelihood(model, rows, ignore=0, chunk=256)
    characters = sum(len(text) + 1 for text in texts)
    return {
        "perplexity": round(math.exp(-total / predicted), 3),
        "bits_per_character": round(-total / math.log(2) / characters, 4),
    }


def sample(model: Any, tokenizer: Any) -> dict[str, float]:
    """Quality on the beginning of the first test play."""
    return quality(model, tokenizer, [plays().test[0][:3000]])


def curve(history: History, tokens: int, seconds: float | int) -> dict[str, list[Any]]:
    """The training loss in stretches: after how many tokens and seconds, its mean over the stretch."""
    size = max(1, len(history.losses) // POINTS)
    ends = range(size, len(history.losses) + 1, size)
    return {
        "tokens": [end * tokens for end in ends],
        "seconds": [round(end * seconds, 1) for end in ends],
        "nats_per_token": [round(statistics.fmean(history.losses[end - size : end]), 4) for end in ends],
    }
