import math

import pytest
import torch

from nlmcore.metrics import exposure, secret_rank


def test_ranks_against_sorting() -> None:
    log_p = torch.randn(40, generator=torch.Generator().manual_seed(0))
    order = sorted(range(40), key=lambda i: -float(log_p[i]))
    for secret in range(40):
        assert secret_rank(log_p, secret) == order.index(secret) + 1
        assert exposure(log_p, secret) == pytest.approx(math.log2(40 / (order.index(secret) + 1)))


def test_equal_candidates_share_their_ranks() -> None:
    assert [secret_rank(torch.tensor([1.0, 2.0, 2.0, 0.0]), i) for i in range(4)] == [3, 1.5, 1.5, 4]
    assert exposure(torch.zeros(1), 0) == 0


def test_a_secret_must_be_a_candidate() -> None:
    with pytest.raises(ValueError, match="secret must be the index of a candidate, below 3, got 3"):
        secret_rank(torch.zeros(3), 3)
