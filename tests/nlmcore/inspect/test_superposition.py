"""The toy against loops over features, and what no weights can do."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nlmcore.inspect import ToyAutoencoder, dimensionality, sparse_features
from nlmcore.inspect.features import reconstruct


@torch.no_grad()
def test_a_reconstruction_is_the_sum_over_features_that_share_a_direction() -> None:
    torch.manual_seed(0)
    toy, x = ToyAutoencoder(4, 3, models=2), torch.rand(2, 5, 4)
    toy.bias.data = torch.randn(2, 4) / 3
    wanted = torch.empty(2, 5, 4)
    for m in range(2):
        for b in range(5):
            for i in range(4):
                dots = sum(float(toy.weight[m, :, i] @ toy.weight[m, :, j]) * float(x[m, b, j]) for j in range(4))
                wanted[m, b, i] = dots + float(toy.bias[m, i])
    assert torch.allclose(reconstruct(x, toy.weight, toy.bias), wanted, atol=1e-5)
    assert torch.allclose(toy(x), wanted.clamp(min=0), atol=1e-5)
    importance = torch.tensor([1.0, 0.5, 0.2, 0.1])
    losses = [
        sum(float(importance[i]) * float(x[m, b, i] - toy(x)[m, b, i]) ** 2 for b in range(5) for i in range(4)) / 5
        for m in range(2)
    ]
    assert toy.loss(x, importance).tolist() == pytest.approx(losses, abs=1e-5)


def test_the_linear_toy_has_no_relu() -> None:
    torch.manual_seed(0)
    toy = ToyAutoencoder(5, 2, relu=False)
    assert (toy(torch.rand(1, 50, 5)) < 0).any()


@given(st.integers(1, 4), st.integers(1, 7), st.integers(0, 99))
def test_features_share_at_most_the_dimensions_that_there_are(d: int, n: int, seed: int) -> None:
    weight = torch.randn(3, d, n, generator=torch.Generator().manual_seed(seed))
    found = dimensionality(weight)
    assert (found.sum(-1) <= d + 1e-4).all()
    assert ((found >= 0) & (found <= 1 + 1e-5)).all()
    for m in range(3):
        for i in range(n):
            w = weight[m, :, i]
            shared = sum(float((w / w.norm()) @ weight[m, :, j]) ** 2 for j in range(n))
            assert float(found[m, i]) == pytest.approx(float(w @ w) / shared, abs=1e-4)


def test_a_pentagon_gives_two_fifths_and_a_missing_feature_nothing() -> None:
    turn = torch.arange(5) * 2 * torch.pi / 5
    pentagon = torch.stack([turn.cos(), turn.sin()])
    assert torch.allclose(dimensionality(pentagon), torch.full((5,), 0.4), atol=1e-5)
    assert dimensionality(torch.tensor([[1.0, 0.0], [0.0, 0.0]])).tolist() == [1.0, 0.0]


def test_features_are_absent_as_often_as_asked() -> None:
    x = sparse_features((4000, 3), 0.8, torch.Generator().manual_seed(0))
    assert float((x == 0).float().mean()) == pytest.approx(0.8, abs=0.02)
    assert float(x[x > 0].mean()) == pytest.approx(0.5, abs=0.02)
    with pytest.raises(ValueError, match="sparsity"):
        sparse_features((2,), 1.5)
