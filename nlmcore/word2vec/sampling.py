"""What word2vec draws at random: which words it reads, how far it looks, and what noise it compares with.

    keep a word of relative frequency f with probability min(1, √(t / f) + t / f)        subsampling, threshold t
    look b words to either side, b uniform on 1 .. window                                dynamic window
    draw noise words with probability ∝ count ^ 3/4                                      noise distribution

Source: Mikolov et al. 2013b (arXiv 1310.4546), sections 2.2 and 2.3; the dynamic window is Mikolov et al. 2013a's.
Departs from the paper: its equation 5 keeps a word with probability √(t / f); the program that came with it, and
everybody since, adds t / f.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from nlmcore.word2vec.checks import check_counts, rate


def keep_probability(counts: Tensor, threshold: float | int) -> Float[Tensor, " vocab"]:
    """Frequent words tell little about their neighbours: most of their occurrences are skipped. Threshold 0: none.

    counts: (vocab,), integers, not all 0. threshold: in [0, 1].
    """
    check_counts(counts)
    rate("threshold", threshold)
    if threshold == 0:
        return torch.ones(len(counts), dtype=torch.float64)
    ratio = threshold * counts.sum() / counts.double().clamp(min=1)
    return (ratio.sqrt() + ratio).clamp(max=1.0)


def noise_distribution(counts: Tensor, power: float | int = 0.75) -> Float[Tensor, " vocab"]:
    """Between the unigram distribution (power 1) and the uniform one over the words that were seen (power 0).

    counts: (vocab,), integers, not all 0. power: in [0, 1].
    """
    check_counts(counts)
    rate("power", power)
    weights = counts.double() ** power * (counts > 0)
    return weights / weights.sum()


def draw(distribution: Float[Tensor, " vocab"], shape: tuple[int, ...], generator: torch.Generator | None) -> Tensor:
    """Ids drawn with replacement, by inverting the cumulated distribution."""
    cumulated = distribution.cumsum(0)
    where = torch.rand(shape, generator=generator, dtype=torch.float64) * cumulated[-1]
    last = int(distribution.nonzero()[-1])
    return torch.searchsorted(cumulated, where, right=True).clamp_(max=last)


@dataclass(frozen=True)
class Blocks:
    """A text cut into blocks of `c` words, each in a span that reaches `margin` words further on both sides."""

    tokens: Int[Tensor, "blocks span"]
    """The words of each span; the block itself is tokens[:, margin : margin + c]."""
    left: Int[Tensor, "blocks c"]
    """The first place in the span that each word of the block sees, and `right` the last; left > right: none."""
    right: Int[Tensor, "blocks c"]
    margin: int

    def window(self, which: Tensor) -> Float[Tensor, "n c span"]:
        """1 where a word of the block (its second axis) and a word of the span are a pair."""
        place = torch.arange(self.tokens.shape[1], dtype=self.left.dtype)
        seen = (place >= self.left[which, :, None]) & (place <= self.right[which, :, None])
        torch.diagonal(seen, offset=self.margin, dim1=1, dim2=2).zero_()  # no word is its own neighbour
        return seen.float()


def sample_blocks(
    tokens: Int[Tensor, " time"],
    lengths: Int[Tensor, " sequences"],
    keep: Float[Tensor, " vocab"],
    window: int,
    size: int,
    generator: torch.Generator | None,
) -> Blocks:
    """One reading of the text: subsampled, every word with its own window, which ends where its sequence does."""
    kept = torch.rand(len(tokens), generator=generator) < keep[tokens]
    sequence = torch.repeat_interleave(torch.arange(len(lengths)), lengths)[kept]
    tokens = tokens[kept]
    per_sequence = torch.bincount(sequence, minlength=len(lengths))
    end = per_sequence.cumsum(0)
    reach = torch.randint(1, window + 1, (len(tokens),), generator=generator)
    place = torch.arange(len(tokens))
    left = torch.maximum(place - reach, (end - per_sequence)[sequence])
    right = torch.minimum(place + reach, end[sequence] - 1)

    blocks = max(1, -(-len(tokens) // size))  # the last one is padded
    missing = blocks * size - len(tokens)
    first = torch.arange(blocks)[:, None] * size - window  # the place in the text at which each span begins
    spans = torch.nn.functional.pad(tokens, (window, window + missing)).unfold(0, size + 2 * window, size)
    left = torch.nn.functional.pad(left, (0, missing), value=1).view(blocks, size) - first
    right = torch.nn.functional.pad(right, (0, missing), value=0).view(blocks, size) - first
    right[left > right] = -1  # padding sees nothing
    return Blocks(spans, left.int(), right.int(), window)
