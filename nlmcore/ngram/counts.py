"""Counting every n-gram of a text, up to an order, by sorting instead of by hashing.

An n-gram (h, w) is its prefix h and its last word w. Prefixes of one order are numbered 0, 1, 2, ..., so an
n-gram of the next order is one integer,

    key(h, w) = id(h) · V + w,

and counting is sorting: the rank of a key among the distinct ones is the id of that n-gram, from which the keys of the
next order are made.

Symbols: h context (prefix) of order-1 words, h' the same without its first word (suffix), w word, c(h, w) count.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy import ndarray
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Ngrams:
    """All n-grams of one order that a text holds: one level of the trie, sorted by key."""

    order: int
    vocab_size: int
    keys: ndarray  # (ngrams,) id(prefix) · V + word, ascending; the position in this array is the n-gram's id
    counts: ndarray  # (ngrams,) how often each occurs; at least 1
    suffix: ndarray  # (ngrams,) the id, one order lower, of the n-gram without its first word: (h, w) -> (h', w)
    contexts: int  # how many n-grams there are one order lower: every one of them may be a context here
    context_suffix: ndarray  # (contexts,) `suffix` of the level below: h -> h'

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def prefix(self) -> ndarray:
        """(ngrams,) the id of each n-gram's context h, one order lower."""
        return self.keys // self.vocab_size

    @cached_property
    def word(self) -> ndarray:
        """(ngrams,) the last word of each n-gram."""
        return self.keys - self.prefix * self.vocab_size

    @cached_property
    def starts(self) -> ndarray:
        """(contexts + 1,) the n-grams of context h are those from starts[h] up to starts[h + 1]."""
        return np.concatenate([[0], np.cumsum(np.bincount(self.prefix, minlength=self.contexts))])

    def sum_by_context(self, values: ndarray) -> ndarray:
        """(ngrams,) -> (contexts,): Σ_w values(h, w) for every context h."""
        return np.bincount(self.prefix, weights=values, minlength=self.contexts)

    def find(self, prefix: ndarray, word: ndarray) -> ndarray:
        """The ids of the n-grams (prefix, word), any shape; -1 for a prefix of -1 and for unseen n-grams."""
        if not len(self):
            return np.full(np.broadcast(prefix, word).shape, -1)
        wanted = np.where(prefix >= 0, prefix * self.vocab_size + word, -1).ravel()
        position: ndarray | slice = slice(None)
        if wanted.size > 1000:  # searching for sorted keys walks memory in order: over ten times as fast
            wanted, position = sort_with_positions(wanted + 1)
            wanted -= 1
        place = np.minimum(np.searchsorted(self.keys, wanted), len(self) - 1)
        found = np.empty_like(wanted)
        found[position] = np.where(self.keys[place] == wanted, place, -1)
        return found.reshape(prefix.shape)


def as_sequences(name: str, tokens: object, vocab_size: int) -> tuple[ndarray, ndarray]:
    """One sequence or a list of them -> all ids end to end (time,), and the length of each (sequences,)."""
    if isinstance(tokens, Tensor):
        tokens = tokens.cpu().numpy()
    allowed = f"{name} must be a sequence of ids or a list of sequences"
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Iterable):
        raise TypeError(f"{allowed}, got {type(tokens).__name__}")
    if isinstance(tokens, ndarray):
        if tokens.ndim not in (1, 2):
            raise ValueError(f"{name} must have one dimension, or two (batch, time), got shape {tokens.shape}")
        parts = [tokens] if tokens.ndim == 1 else list(tokens)
    else:
        tokens = list(tokens)
        many = len(tokens) > 0 and isinstance(tokens[0], Iterable)
        try:
            parts = [np.asarray(part) for part in tokens] if many else [np.asarray(tokens)]
        except ValueError as error:
            raise TypeError(f"{allowed}, got ids and sequences mixed: {tokens!r:.60}") from error
    if not parts:
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
    low, high = int(np.min(flat)), int(np.max(flat))
    if low < 0 or high >= vocab_size:
        raise ValueError(f"{name} must be ids in [0, {vocab_size}), the vocabulary, got ids from {low} to {high}")
    return flat, np.array([len(part) for part in parts])


def count_ngrams(tokens: ndarray, lengths: ndarray, order: int, vocab_size: int) -> list[Ngrams]:
    """All n-grams of orders 1 to `order` in sequences laid end to end; none crosses a boundary.

    tokens: (time,) ids; lengths: (sequences,) with lengths.sum() == time. Level m-1 of the list is order m.
    """
    offset = np.arange(len(tokens)) - np.repeat(np.cumsum(lengths) - lengths, lengths)  # position in its own sequence
    node = np.zeros(len(tokens), dtype=np.int64)  # id of the n-gram that ends at each token; order 0 has one: the root
    below_suffix, contexts, levels = np.zeros(1, dtype=np.int64), 1, []
    for m in range(1, order + 1):
        ends = np.flatnonzero(offset >= m - 1)  # where an n-gram of m words ends
        keys = tokens[ends] if m == 1 else node[ends - 1] * vocab_size + tokens[ends]
        keys, position = sort_with_positions(keys)
        is_first = np.ones(len(keys), dtype=bool)
        is_first[1:] = keys[1:] != keys[:-1]
        first = np.flatnonzero(is_first)
        where = ends[position]
        suffix = node[where[first]]
        node = np.full(len(tokens), -1)
        node[where] = np.cumsum(is_first) - 1
        counts = np.diff(np.append(first, len(keys)))
        levels.append(Ngrams(m, vocab_size, keys[first], counts, suffix, contexts, below_suffix))
        below_suffix, contexts = suffix, len(first)
    return levels


def walk(
    levels: list[Ngrams], tokens: ndarray, starts: ndarray | None = None
) -> Iterator[tuple[Ngrams, ndarray, ndarray]]:
    """For each order m, the contexts and n-grams met on reading `tokens` (batch, time), each row from its start.

    Yields (level, context (batch, time + 1), ngram (batch, time)): context[b, t] is the id of the m-1 words before
    position t, ngram[b, t] that of those and tokens[b, t]; -1 where the row is too short or they were never seen.
    starts: positions at which a new sequence begins within the row, and history with it.
    """
    context = np.zeros((tokens.shape[0], tokens.shape[1] + 1), dtype=np.int64)  # no words: the root, always seen
    for level in levels:
        ngram = level.find(context[:, :-1], tokens)
        yield level, context, ngram
        context = np.full_like(context, -1)
        context[:, 1:] = ngram  # the n-gram that ends at t - 1 is the context at t
        if starts is not None:
            context[:, starts] = -1


def sort_with_positions(keys: ndarray) -> tuple[ndarray, ndarray]:
    """Sorted keys (non-negative), and where each was. Key and position in one integer sort 3 to 10 times as fast."""
    bits = max(1, len(keys) - 1).bit_length()  # of a position
    if len(keys) and int(keys.max()).bit_length() + bits > 63:
        position = np.argsort(keys, kind="stable")
        return keys[position], position
    packed = np.sort(keys << bits | np.arange(len(keys)))
    return packed >> bits, packed & ((1 << bits) - 1)
