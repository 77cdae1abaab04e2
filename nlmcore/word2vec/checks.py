"""Refusing what word2vec cannot work with: messages name the argument, what was given and what is allowed."""

import torch
from torch import Tensor


def positive(name: str, value: object) -> int:
    """An integer of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an integer, got {type(value).__name__} {value!r}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")
    return value


def rate(name: str, value: object) -> float:
    """A number in [0, 1]."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{name} must be a number, got {type(value).__name__} {value!r}")
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {value}")
    return float(value)


def check_counts(counts: Tensor) -> None:
    """How often each word was seen: one row of integers, at least one of them above 0."""
    kind = counts.dtype if isinstance(counts, Tensor) else type(counts).__name__
    if kind not in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        raise TypeError(f"counts must be a tensor of integers, got {kind}")
    if counts.ndim != 1 or not len(counts):
        raise ValueError(f"counts must be one row with a number per word, got shape {tuple(counts.shape)}")
    if int(counts.min()) < 0 or int(counts.max()) == 0:
        raise ValueError(f"counts must be at least 0 and not all 0, got {counts.min()} to {counts.max()}")


def check_question(vectors: Tensor, words: dict[str, int], k: int | None, usual: int = 1) -> int:
    """How many answers to give: k, or for None `usual` ones, as far as there are so many.

    Refuses a table that holds no vectors, ids outside it and more answers than it can give.
    """
    if not isinstance(vectors, Tensor) or not vectors.is_floating_point():
        kind = vectors.dtype if isinstance(vectors, Tensor) else type(vectors).__name__
        raise TypeError(f"vectors must be a tensor of real numbers, got {kind}")
    if vectors.ndim != 2:
        raise ValueError(f"vectors must be (vocab, d_model), got shape {tuple(vectors.shape)}")
    if not bool(vectors.isfinite().all()):
        raise ValueError(f"vectors must be finite, got nan or inf in {int((~vectors.isfinite()).any(1).sum())} rows")
    for name, word in words.items():
        if isinstance(word, bool) or not isinstance(word, int):
            raise TypeError(f"{name} must be an id, got {type(word).__name__} {word!r}")
        if not 0 <= word < len(vectors):
            raise ValueError(f"{name} must be an id in [0, {len(vectors)}), the vocabulary, got {word}")
    most = len(vectors) - len(set(words.values()))
    if most < 1:
        raise ValueError(f"vectors must hold a word beside those of the question, got {len(vectors)} words")
    if k is None:
        return min(usual, most)
    if isinstance(k, bool) or not isinstance(k, int):
        raise TypeError(f"k must be an integer, got {type(k).__name__} {k!r}")
    if not 1 <= k <= most:
        raise ValueError(f"k must be in [1, {most}], the words that are left, got {k}")
    return k
