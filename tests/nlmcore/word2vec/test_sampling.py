"""What is drawn at random has the distributions of the paper."""

import pytest
import torch

from nlmcore.word2vec import keep_probability, noise_distribution
from nlmcore.word2vec.sampling import sample, sample_blocks


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_keep_probability() -> None:
    counts = torch.tensor([900, 90, 9, 1, 0])
    keep = keep_probability(counts, 0.01)
    for f, p in zip((0.9, 0.09), keep.tolist(), strict=False):
        assert p == pytest.approx((0.01 / f) ** 0.5 + 0.01 / f)
    assert keep[2:].tolist() == [1, 1, 1]
    assert keep_probability(counts, 0.0).tolist() == [1] * 5


def test_noise_is_the_three_quarter_power() -> None:
    p = noise_distribution(torch.tensor([16, 1, 0, 81]))
    torch.testing.assert_close(p, torch.tensor([8, 1, 0, 27], dtype=torch.float64) / 36)
    drawn = sample(p, (200, 100), seeded())
    assert drawn.shape == (200, 100)
    torch.testing.assert_close(torch.bincount(drawn.ravel(), minlength=4) / 20_000, p.float(), atol=0.01, rtol=0)


def test_noise_never_draws_an_unseen_last_word() -> None:
    p = noise_distribution(torch.tensor([3, 1, 0]))
    assert sample(p, (10_000,), seeded()).max() == 1


def all_pairs(tokens: list[int], lengths: list[int], window: int, size: int, seed: int = 0) -> list[tuple[int, int]]:
    keep = torch.ones(max(tokens) + 1, dtype=torch.float64)
    blocks = sample_blocks(torch.tensor(tokens), torch.tensor(lengths), keep, window, size, seeded(seed))
    mask = blocks.window()
    return [(int(blocks.tokens[n, i + window]), int(blocks.tokens[n, j])) for n, i, j in mask.nonzero().tolist()]


@pytest.mark.parametrize("size", [1, 3, 4, 10, 50])
def test_windows_of_one_word_are_the_neighbours(size: int) -> None:
    """Window 1 draws nothing: pairs are adjacent words of one sequence, whatever the blocks."""
    pairs = all_pairs(list(range(10)), [4, 1, 5], 1, size)
    sequences = [[0, 1, 2, 3], [4], [5, 6, 7, 8, 9]]
    expected = [(s[i], s[j]) for s in sequences for i in range(len(s)) for j in (i - 1, i + 1) if 0 <= j < len(s)]
    assert sorted(pairs) == sorted(expected)


def test_wider_windows_stay_in_their_sequence_and_see_both_sides_alike() -> None:
    tokens, lengths = list(range(60)), [25, 35]
    counts = torch.zeros(4)
    for seed in range(200):
        pairs = all_pairs(tokens, lengths, 3, 8, seed)
        assert len(set(pairs)) == len(pairs)
        for a, b in pairs:
            assert 1 <= abs(a - b) <= 3
            assert (a < 25) == (b < 25)
            counts[abs(a - b)] += 1
    # a window of 3 reaches distance d with probability (4 - d) / 3
    places = torch.tensor([2 * (n - d) for n in lengths for d in (1, 2, 3)]).view(2, 3).sum(0)
    torch.testing.assert_close(counts[1:] / 200 / places, torch.tensor([3, 2, 1]) / 3, atol=0.03, rtol=0)


def test_subsampling_drops_frequent_words_and_moves_their_neighbours_together() -> None:
    keep = torch.tensor([0.0, 1.0, 1.0])
    blocks = sample_blocks(torch.tensor([1, 0, 2, 0, 0]), torch.tensor([3, 2]), keep.double(), 1, 4, seeded())
    assert blocks.centre[0, :2].tolist() == [1, 2]
    assert blocks.window()[0, 0].nonzero().tolist() == [[2]]


def test_nothing_kept_is_a_block_without_pairs() -> None:
    blocks = sample_blocks(torch.tensor([0, 0]), torch.tensor([2]), torch.zeros(1).double(), 2, 4, seeded())
    assert blocks.window().sum() == 0


COUNTS = torch.tensor([3, 0, 1])


@pytest.mark.parametrize("function", [lambda c: keep_probability(c, 0.1), noise_distribution])
@pytest.mark.parametrize(
    "counts", [[1, 2], None, COUNTS - 1, COUNTS * 0, COUNTS[:0], COUNTS[None], COUNTS / 2, COUNTS > 0]
)
def test_bad_counts_are_named(function, counts) -> None:
    with pytest.raises((ValueError, TypeError), match="counts"):
        function(counts)


@pytest.mark.parametrize("bad", [-1, -0.1, 2.0, float("nan"), float("inf"), None, "1"])
def test_bad_threshold_and_power_are_named(bad) -> None:
    with pytest.raises((ValueError, TypeError), match="threshold"):
        keep_probability(COUNTS, bad)
    with pytest.raises((ValueError, TypeError), match="power"):
        noise_distribution(COUNTS, bad)
