"""Pooling: each equation by a loop over positions, what padding does, and what fixed weights cannot do."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from nlmcore.attention import AttentionPool, FixedPool, last_pool, mean_pool
from nlmcore.inspect import capture
from tests.laws import assert_close

N, D = 5, 3
X = torch.randn(4, N, D, generator=torch.Generator().manual_seed(0))
LENGTHS = [5, 2, 1, 0]
MASK = torch.arange(N) < torch.tensor(LENGTHS)[:, None]


def stirred(pool: Any) -> Any:
    with torch.no_grad():
        for p in pool.parameters():
            p.copy_(torch.randn(p.shape, generator=torch.Generator().manual_seed(1)))
    return pool


def by_attention(pool: AttentionPool, h: Tensor) -> Tensor:
    e = [math.exp(sum(q * x for q, x in zip(pool.query.tolist(), row.tolist(), strict=True))) for row in h]
    return sum((a / sum(e) * row for a, row in zip(e, h, strict=True)), torch.zeros(D))


POOLS: dict[str, tuple[Any, Any]] = {
    "mean": (lambda: mean_pool, lambda pool, h: sum(h, torch.zeros(D)) / max(len(h), 1)),
    "last": (lambda: last_pool, lambda pool, h: h[-1] if len(h) else torch.zeros(D)),
    "fixed": (
        lambda: stirred(FixedPool(D, N)),
        lambda pool, h: sum((W @ row for W, row in zip(pool.W, h, strict=False)), torch.zeros(D)),
    ),
    "attention": (lambda: stirred(AttentionPool(D)), by_attention),
}


@torch.no_grad()
@pytest.mark.parametrize("name", POOLS)
def test_a_pool_is_its_equation_and_ignores_padding(name: str) -> None:
    make, by_hand = POOLS[name]
    pool = make()
    assert_close(pool(X), torch.stack([by_hand(pool, h) for h in X]), "all real")
    short = torch.stack([by_hand(pool, h[:n]) for h, n in zip(X, LENGTHS, strict=True)])
    assert_close(pool(X, MASK), short, "padded, and one text of nothing")


@torch.no_grad()
def test_at_first_attention_and_fixed_weights_are_the_mean() -> None:
    assert_close(AttentionPool(D)(X, MASK), mean_pool(X, MASK), "attention")
    assert_close(FixedPool(D, N)(X), mean_pool(X), "fixed weights")


def test_weights_can_be_looked_at() -> None:
    pool = POOLS["attention"][0]()
    with capture(torch.nn.ModuleDict({"pool": pool})) as tape:
        pool(X, MASK)
    assert tape["pool"].shape == (4, 1, 1, N)
    assert_close(tape["pool"].sum(-1).flatten(), torch.tensor([1.0, 1, 1, 0]), "sums")


def test_what_does_not_fit_is_named(plain_errors: None) -> None:
    with pytest.raises(ValueError, match="states must have at most 4 positions, one for each W_j, got 5"):
        FixedPool(D, 4)(X)
    with pytest.raises(ValueError, match=r"mask must have shape \(batch, time\) with time = 5"):
        mean_pool(X, MASK[:, :4])
