"""The losses are the papers' sums over pairs, and the gradients written by hand are autograd's."""

import math

import pytest
import torch
from torch import Tensor

from nlmcore.word2vec import cbow_gradient, cbow_loss, skipgram_gradient, skipgram_loss

N, C, S, K, D, NEGATIVES = 2, 3, 7, 4, 5, 6


def batch(seed: int = 0) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    g = torch.Generator().manual_seed(seed)
    centre, around, noise = (torch.randn(N, m, D, generator=g, dtype=torch.float64) for m in (C, S, K))
    window = (torch.rand(N, C, S, generator=g) < 0.5).double()
    window[1, 2] = 0  # a word without neighbours
    return centre, around, noise, window


def log_sigmoid(x: float) -> float:
    return -math.log1p(math.exp(-x))


def test_skipgram_loss_is_the_sum_over_pairs() -> None:
    centre, around, noise, window = batch()
    expected = 0.0
    for n in range(N):
        for i in range(C):
            for j in range(S):
                if window[n, i, j]:
                    expected -= log_sigmoid(float(centre[n, i] @ around[n, j]))
                    draws = [log_sigmoid(-float(centre[n, i] @ noise[n, m])) for m in range(K)]
                    expected -= NEGATIVES * sum(draws) / K
    assert skipgram_loss(centre, around, noise, window, NEGATIVES).item() == pytest.approx(expected)


def test_cbow_loss_is_the_sum_over_words() -> None:
    centre, around, noise, window = batch()
    expected = 0.0
    for n in range(N):
        for i in range(C):
            neighbours = [around[n, j] for j in range(S) if window[n, i, j]]
            if neighbours:
                h = sum(neighbours) / len(neighbours)
                expected -= log_sigmoid(float(h @ centre[n, i]))
                expected -= NEGATIVES * sum(log_sigmoid(-float(h @ noise[n, m])) for m in range(K)) / K
    assert cbow_loss(centre, around, noise, window, NEGATIVES).item() == pytest.approx(expected)


@pytest.mark.parametrize(("loss", "gradient"), [(skipgram_loss, skipgram_gradient), (cbow_loss, cbow_gradient)])
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_by_hand_is_autograd_s(loss, gradient, seed: int) -> None:
    *vectors, window = batch(seed)
    leaves = [v.clone().requires_grad_() for v in vectors]
    expected = torch.autograd.grad(loss(*leaves, window, NEGATIVES), leaves)
    for by_hand, by_autograd in zip(gradient(*vectors, window, NEGATIVES), expected, strict=True):
        torch.testing.assert_close(by_hand, by_autograd)


def test_the_original_cbow_gives_every_neighbour_the_whole_gradient() -> None:
    centre, around, noise, _ = batch()
    window = torch.zeros(N, C, S, dtype=torch.float64)
    window[:, 0, [1, 2, 4]] = 1  # one word, three neighbours
    corrected = cbow_gradient(centre, around, noise, window, NEGATIVES)
    original = cbow_gradient(centre, around, noise, window, NEGATIVES, corrected=False)
    torch.testing.assert_close(original[1], 3 * corrected[1])
    torch.testing.assert_close(original[0], corrected[0])
