"""What is random in word2vec: which words it reads, how far it looks, and what noise it compares with.

    keep a word of relative frequency f with probability min(1, √(t / f) + t / f)        subsampling, threshold t
    look b words to either side, b uniform on 1 .. window                                dynamic window
    sample noise words with probability ∝ count ^ 3/4                                    noise distribution

Source: Mikolov et al. 2013b (arXiv 1310.4546), sections 2.2 and 2.3; the dynamic window is Mikolov et al. 2013a's.
Departs from the paper: its equation 5 keeps a word with probability √(t / f); the program that came with it adds t / f.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from nlmcore.checks import Probability, Size, checked, described


@checked
def keep_probability(counts: Int[Tensor, " vocab"], threshold: Probability) -> Float[Tensor, " vocab"]:
    """Frequent words tell little about their neighbours: most of their occurrences are skipped. Threshold 0: none."""
    _check_counts(counts)
    if threshold == 0:
        return torch.ones(len(counts), dtype=torch.float64)
    ratio = threshold * counts.sum() / counts.double().clamp(min=1)
    return (ratio.sqrt() + ratio).clamp(max=1.0)


@checked
def noise_distribution(counts: Int[Tensor, " vocab"], power: Probability = 0.75) -> Float[Tensor, " vocab"]:
    """Between the unigram distribution (power 1) and the uniform one over the words that were seen (power 0)."""
    _check_counts(counts)
    weights = counts.double() ** power * (counts > 0)
    return weights / weights.sum()


def _check_counts(counts: Tensor) -> None:
    if not len(counts) or int(counts.min()) < 0 or int(counts.max()) == 0:
        raise ValueError(f"counts must be at least 0 and not all 0, got {counts.tolist()!r:.60}")


def sample(distribution: Float[Tensor, " vocab"], shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
    """Ids sampled with replacement, by inverting the cumulated distribution."""
    cumulated = distribution.cumsum(0)
    where = torch.rand(shape, generator=generator, dtype=torch.float64) * cumulated[-1]
    last = int(distribution.nonzero()[-1])
    return torch.searchsorted(cumulated, where, right=True).clamp_(max=last)


@dataclass(frozen=True)
class Blocks:
    """A text cut into blocks of `c` words, each in a span that reaches `margin` words further on both sides."""

    tokens: Int[Tensor, "blocks span"]  # the words of each span; the block itself is tokens[:, margin : margin + c]
    seen: Bool[Tensor, "blocks c distance"]  # whether a word sees that at distance −margin, …, margin; never itself

    def __len__(self) -> int:
        return len(self.tokens)

    def __getitem__(self, which: slice) -> "Blocks":
        return Blocks(self.tokens[which], self.seen[which])

    @property
    def centre(self) -> Int[Tensor, "blocks c"]:
        """The words of the blocks, without their margins."""
        margin = self.seen.shape[2] // 2
        return self.tokens[:, margin : margin + self.seen.shape[1]]

    def window(self) -> Float[Tensor, "blocks c span"]:
        """1 where a word of the block (its second axis) and a word of the span are a pair."""
        (n, c, _), span = self.seen.shape, self.tokens.shape[1]
        window = torch.zeros(n, c, span)
        # the word at distance −margin from word i is number i of the span: what is seen is a diagonal band
        window.as_strided(self.seen.shape, (c * span, span + 1, 1)).copy_(self.seen)
        return window


def sample_blocks(
    tokens: Int[Tensor, " time"],
    lengths: Int[Tensor, " sequences"],
    keep: Float[Tensor, " vocab"],
    window: int,
    size: int,
    generator: torch.Generator | None,
) -> Blocks:
    """One epoch of the subsampled text, its blocks in random order; a word's window ends where its sequence does."""
    kept = torch.rand(len(tokens), generator=generator) < keep[tokens]
    sequence = torch.repeat_interleave(torch.arange(len(lengths)), lengths)[kept]
    tokens = tokens[kept]
    per_sequence = torch.bincount(sequence, minlength=len(lengths))
    end = per_sequence.cumsum(0)
    position, reach = torch.arange(len(tokens)), torch.randint(1, window + 1, (len(tokens),), generator=generator)
    left = torch.minimum(reach, position - (end - per_sequence)[sequence])
    right = torch.minimum(reach, end[sequence] - 1 - position)
    distance = torch.arange(-window, window + 1)
    seen = (distance >= -left[:, None]) & (distance <= right[:, None]) & (distance != 0)

    blocks = max(1, -(-len(tokens) // size))
    missing = blocks * size - len(tokens)  # the last block is padded; padding sees nothing
    order = torch.randperm(blocks, generator=generator)
    spans = pad(tokens, (window, window + missing)).unfold(0, size + 2 * window, size)
    return Blocks(spans[order], pad(seen, (0, 0, 0, missing)).view(blocks, size, -1)[order])


def mean_pairs(lengths: Int[Tensor, " sequences"], window: int) -> float:
    """How many neighbours a word sees on average: window + 1, fewer where sequences are short.

    A neighbour at distance d is seen with probability (window + 1 − d) / window, on either side.
    """
    distance = torch.arange(1, window + 1)
    pairs_at = (lengths[:, None] - distance).clamp(min=0).sum(0)
    return 2 * float((pairs_at * (window + 1 - distance) / window).sum() / lengths.sum())


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
