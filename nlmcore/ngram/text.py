"""What `fit` accepts as text: one sequence of ids or many, as lists, arrays or tensors."""

import operator
from collections.abc import Iterable
from itertools import islice

import numpy as np
from numpy import ndarray
from torch import Tensor


def as_sequences(name: str, tokens: object, vocab_size: int) -> tuple[ndarray, ndarray]:
    """One sequence or a list of them -> all ids end to end (time,), and the length of each (sequences,)."""
    if isinstance(tokens, Tensor):
        tokens = tokens.cpu().numpy()
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Iterable):
        raise TypeError(f"{name} must be a sequence of ids or a list of sequences, got {type(tokens).__name__}")
    if isinstance(tokens, ndarray):
        if tokens.ndim not in (1, 2):
            raise ValueError(f"{name} must have one dimension, or two (batch, time), got shape {tokens.shape}")
        parts = [tokens] if tokens.ndim == 1 else list(tokens)
    else:
        tokens = list(tokens)
        many = any(isinstance(part, Iterable) for part in islice(tokens, 1))
        try:
            parts = [np.asarray(part) for part in tokens] if many else [np.asarray(tokens)]
        except ValueError as error:
            raise TypeError(
                f"{name} must be a sequence of ids or a list of sequences, got ids and sequences mixed: {tokens!r:.60}"
            ) from error
    if not parts or (len(parts) == 1 and not parts[0].size):
        raise ValueError(f"{name} must hold at least one token, got none")
    for i, part in enumerate(parts):
        here = name if len(parts) == 1 else f"{name}[{i}]"
        if not part.size:
            raise ValueError(f"{here} must hold at least one token, got an empty sequence")
        if part.dtype.kind not in "iu":
            raise TypeError(f"{here} must hold integer ids, got {part.dtype}")
        if part.ndim != 1:
            raise ValueError(f"{here} must be a sequence of ids, got shape {part.shape}")
    flat = np.concatenate(parts).astype(np.int64)
    low, high = int(flat.min()), int(flat.max())
    if low < 0 or high >= vocab_size:
        raise ValueError(f"{name} must be ids in [0, {vocab_size}), the vocabulary, got ids from {low} to {high}")
    return flat, np.array([len(part) for part in parts])


def as_integer(name: str, value: object, low: int, high: int) -> int:
    """A Python int in [low, high] from any integer (numpy's, a tensor of one), and nothing else."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {type(value).__name__} {value!r}") from None
    if not low <= number <= high:
        raise ValueError(f"{name} must be in [{low}, {high}], got {number}")
    return number
