"""Scores of heads against loops over positions."""

import pytest
import torch

from nlmcore.inspect import attention_at, first_token_score, induction_score, previous_token_score, repeated


def test_scores_are_means_over_the_right_pairs() -> None:
    weights = torch.rand(2, 3, 8, 8).tril()
    period = 4
    for score, pairs in (
        (previous_token_score(weights), [(t, t - 1) for t in range(1, 8)]),
        (induction_score(weights, period), [(t, t - period + 1) for t in range(period, 8)]),
        (first_token_score(weights), [(t, 0) for t in range(1, 8)]),
        (attention_at(weights, 2, 3), [(t, t - 2) for t in range(3, 8)]),
        (attention_at(weights, 5), [(t, t - 5) for t in range(5, 8)]),
        (attention_at(weights, 0), [(t, t) for t in range(8)]),
    ):
        wanted = torch.stack([weights[:, :, q, k] for q, k in pairs]).mean((0, 1))
        assert torch.allclose(score, wanted)
    with pytest.raises(ValueError, match="must leave a query from 0 on, got 8 in 8"):
        attention_at(weights, 8)


def test_repeated_tokens_are_the_same_twice_and_again_with_the_same_seed() -> None:
    ids = torch.tensor([3, 5, 9])
    tokens = repeated(ids, 4, 50, torch.Generator().manual_seed(1))
    assert tokens.shape == (4, 100)
    assert torch.equal(tokens[:, :50], tokens[:, 50:])
    assert set(tokens.unique().tolist()) == {3, 5, 9}
    assert torch.equal(tokens, repeated(ids, 4, 50, torch.Generator().manual_seed(1)))
