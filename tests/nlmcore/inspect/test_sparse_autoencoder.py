"""TopK against a loop; what a sparse autoencoder keeps, and what it finds in data whose directions are known."""

import pytest
import torch
from torch.nn import functional as F

from nlmcore.inspect import SparseAutoencoder, keep_largest, unexplained


def test_the_largest_are_kept() -> None:
    z = torch.randn(3, 4, 7, generator=torch.Generator().manual_seed(0))
    wanted = torch.zeros_like(z)
    for a in range(3):
        for b in range(4):
            for i in sorted(range(7), key=lambda i: -float(z[a, b, i]))[:3]:
                wanted[a, b, i] = z[a, b, i]
    assert torch.equal(keep_largest(z, 3), wanted)
    assert torch.equal(keep_largest(z, 7), z)
    with pytest.raises(ValueError, match="k must be at most the number of features, 7, got 8"):
        keep_largest(z, 8)


def test_features_are_few_and_never_negative_and_each_position_is_by_itself() -> None:
    torch.manual_seed(0)
    sae, x = SparseAutoencoder(5, 11, 2), torch.randn(3, 4, 5)
    z = sae.encode(x)
    assert (z >= 0).all()
    assert ((z > 0).sum(-1) <= 2).all()
    assert torch.allclose(sae(x)[1, 2], sae(x[1, 2]), atol=1e-6)
    assert torch.allclose(sae(x), z @ sae.directions + sae.centre)


def test_a_sum_of_orthogonal_directions_is_reconstructed_exactly() -> None:
    torch.manual_seed(0)
    sae = SparseAutoencoder(6, 6, 2)
    basis = torch.linalg.qr(torch.randn(6, 6)).Q
    sae.directions.data, sae.encoder.data, sae.centre.data = basis, basis.clone(), torch.randn(6)
    x = sae.centre + 0.7 * basis[1] + 2 * basis[4]
    assert torch.allclose(sae(x), x, atol=1e-5)
    assert sae.encode(x).nonzero()[:, 0].tolist() == [1, 4]
    assert not torch.allclose(sae(x + basis[0]), x + basis[0], atol=0.1), "three need k = 3"


def test_directions_go_back_to_length_one() -> None:
    sae = SparseAutoencoder(3, 4, 1)
    turned = F.normalize(torch.randn(4, 3), dim=-1)
    sae.directions.data = turned * torch.tensor([[0.1], [1.0], [3.0], [9.0]])
    sae.normalise()
    assert torch.allclose(sae.directions, turned, atol=1e-6)


def test_the_mean_explains_nothing() -> None:
    x = torch.randn(50, 4) * torch.tensor([1.0, 2.0, 3.0, 4.0]) + 5
    assert unexplained(x, x) == 0
    assert unexplained(x, x.mean(0).expand_as(x)) == pytest.approx(1)
