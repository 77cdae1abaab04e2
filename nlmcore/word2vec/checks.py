"""Refusing what word2vec cannot work with: messages name the argument, what was given and what is allowed."""

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


def check_question(vectors: Tensor, words: dict[str, int], k: int) -> None:
    """Refuse ids outside the table and more answers than it can give."""
    for name, word in words.items():
        if isinstance(word, bool) or not isinstance(word, int):
            raise TypeError(f"{name} must be an id, got {type(word).__name__} {word!r}")
        if not 0 <= word < len(vectors):
            raise ValueError(f"{name} must be an id in [0, {len(vectors)}), the vocabulary, got {word}")
    most = len(vectors) - len(set(words.values()))
    if isinstance(k, bool) or not isinstance(k, int):
        raise TypeError(f"k must be an integer, got {type(k).__name__} {k!r}")
    if not 1 <= k <= most:
        raise ValueError(f"k must be in [1, {most}], the words that are left, got {k}")
