"""Text for word2vec: sequences of words or of ids, as one tensor of ids."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain, repeat

import numpy as np
import torch
from torch import Tensor

from nlmcore.checks import Size, checked, described


@checked
def build_vocabulary(sequences: Iterable[Sequence[str]], min_count: Size = 5) -> list[str]:
    """The words that occur at least `min_count` times, most frequent first (ties in order of appearance)."""
    counts: Counter[str] = Counter()
    for sequence in [sequences] if isinstance(sequences, str) or not isinstance(sequences, Iterable) else sequences:
        if isinstance(sequence, str) or not isinstance(sequence, Iterable):
            raise TypeError(f"sequences must be lists of words, got {described(sequence)}")
        counts.update(sequence)
    if strangers := [word for word in counts if not isinstance(word, str)]:
        raise TypeError(f"sequences must be lists of words, got {described(strangers[0])} in one")
    words = [word for word, count in counts.most_common() if count >= min_count]
    if not words:
        raise ValueError(f"sequences must hold a word at least min_count={min_count} times, got {len(counts)} words")
    return words


def read(sequences: object, ids: dict[str, int] | None, vocab_size: int) -> tuple[Tensor, Tensor]:
    """Sequences of words or ids -> all ids end to end (time,), and the length of each (sequences,).

    Words outside the vocabulary are dropped, and their neighbours move together, as in the original program.
    """
    if isinstance(sequences, str) or not isinstance(sequences, Iterable):
        raise TypeError(f"sequences must be a list of sequences, got {type(sequences).__name__}")
    given = list(sequences)
    if ids is not None and all(isinstance(part, list) and (not part or isinstance(part[0], str)) for part in given):
        words = np.fromiter(map(ids.get, chain.from_iterable(given), repeat(-1)), np.int64)
        sequence = np.repeat(np.arange(len(given)), np.fromiter(map(len, given), np.int64))[words >= 0]
        tokens, lengths = torch.from_numpy(words[words >= 0]), torch.from_numpy(np.bincount(sequence))
    else:
        parts = [_one(f"sequences[{i}]", part, ids) for i, part in enumerate(given)]
        tokens = torch.from_numpy(np.concatenate([*parts, np.empty(0, np.int64)]))
        lengths = torch.tensor([len(part) for part in parts])
    lengths = lengths[lengths > 0]
    if not len(lengths):
        raise ValueError("sequences must hold at least one word of the vocabulary, got none")
    low, high = int(tokens.min()), int(tokens.max())
    if low < 0 or high >= vocab_size:
        raise ValueError(f"sequences must be ids in [0, {vocab_size}), the vocabulary, got ids from {low} to {high}")
    return tokens, lengths


def _one(name: str, sequence: object, ids: dict[str, int] | None) -> np.ndarray:
    """The ids of one sequence in any form."""
    if isinstance(sequence, str) or not isinstance(sequence, Iterable):
        raise TypeError(f"{name} must be a sequence of words or ids, got {described(sequence)}")
    if isinstance(sequence, Tensor):
        sequence = sequence.cpu().numpy()
    if not isinstance(sequence, np.ndarray):
        sequence = list(sequence)
        if sequence and isinstance(sequence[0], str):
            if ids is None:
                raise TypeError(f"{name} must hold ids, as no words were given for the vocabulary, got {sequence[0]!r}")
            sequence = [ids[word] for word in sequence if word in ids]
        sequence = np.array(sequence or np.empty(0, dtype=np.int64))
    if sequence.dtype.kind not in "iu" or sequence.ndim != 1:
        raise TypeError(f"{name} must hold words or ids, got {sequence.dtype} of shape {sequence.shape}")
    return sequence.astype(np.int64)
