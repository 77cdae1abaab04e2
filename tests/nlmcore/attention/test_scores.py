"""Attention against naive loops, against PyTorch's own functions, and against its own laws."""

import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from nlmcore.attention import (
    MultiHeadAttention,
    additive_score,
    attend,
    bilinear_score,
    causal_mask,
    dot_score,
    masked_softmax,
    padding_mask,
    scaled_dot_product_attention,
)
from tests.laws import assert_close


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def naive(score, query: Tensor, keys: Tensor) -> Tensor:
    """The definition, one pair at a time: query (batch, m, d), keys (batch, n, d)."""
    batch, m, n = query.shape[0], query.shape[1], keys.shape[1]
    result = torch.empty(batch, m, n)
    for b in range(batch):
        for i in range(m):
            for j in range(n):
                result[b, i, j] = score(query[b, i], keys[b, j])
    return result


W, W_query, W_key, v = draw(4, 6), draw(3, 4), draw(3, 6), draw(3)


@pytest.mark.parametrize(
    ("ours", "theirs", "d_query"),
    [
        (dot_score, lambda q, k: sum(a * b for a, b in zip(q, k, strict=True)), 6),
        (lambda q, k: bilinear_score(q, k, W), lambda q, k: q @ (W @ k), 4),
        (
            lambda q, k: additive_score(q, k, W_query, W_key, v),
            lambda q, k: v @ torch.tanh(W_query @ q + W_key @ k),
            4,
        ),
    ],
    ids=["dot", "bilinear", "additive"],
)
def test_scores_follow_their_definition(ours, theirs, d_query: int) -> None:
    queries, keys = draw(2, 3, d_query), draw(2, 5, 6)
    expected = naive(theirs, queries, keys)
    assert_close(ours(queries, keys), expected, "many queries")
    assert_close(ours(queries[:, 0], keys), expected[:, 0], "one query per row")
    assert_close(ours(queries[0, 0], keys[0]), expected[0, 0], "one query, no batch")
    assert_close(ours(queries[0], keys[0]), expected[0], "many queries, no batch")


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 6), st.integers(0, 10_000))
def test_weights_are_a_distribution_over_what_is_allowed(batch: int, queries: int, keys: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    scores = 30 * torch.randn(batch, queries, keys, generator=generator)
    mask = torch.rand(batch, queries, keys, generator=generator) < 0.5
    context, weights = attend(scores, torch.randn(batch, keys, 2, generator=generator), mask)
    assert torch.isfinite(context).all()
    assert (weights >= 0).all()
    assert not weights[~mask].any(), "nothing masked gets weight"
    assert_close(weights.sum(-1), mask.any(-1).float(), "rows sum to 1, or to 0 where nothing is allowed")
    assert not context[~mask.any(-1)].any(), "nothing to attend to gives zeros"
    # Softmax does not see a constant added to a row.
    assert_close(attend(scores + 7.0, context.new_ones(batch, keys, 2), mask)[1], weights, "shifted scores", 1e-4)


def test_masking_equals_leaving_out() -> None:
    scores, values = draw(3, 7), draw(3, 7, 2)
    kept = torch.tensor([0, 2, 3, 6])
    mask = torch.zeros(7, dtype=torch.bool)
    mask[kept] = True
    assert_close(attend(scores, values, mask)[0], attend(scores[:, kept], values[:, kept])[0], "masked = left out")


def test_a_masked_key_has_no_influence_and_no_gradient() -> None:
    scores, values = draw(2, 3, 4).requires_grad_(), draw(2, 4, 5).requires_grad_()
    mask = torch.tensor([[True, True, False, True], [True, False, False, True], [False] * 4])
    context, _ = attend(scores, values, mask)
    context.square().sum().backward()
    assert scores.grad is not None
    assert values.grad is not None
    assert torch.isfinite(scores.grad).all(), "no NaN, not even from the row without any key"
    assert not scores.grad[:, ~mask].any()
    assert not values.grad[:, 2].any(), "key 2 is masked everywhere"


def test_scores_of_minus_infinity_count_as_masked() -> None:
    assert masked_softmax(torch.full((2, 3), -math.inf)).tolist() == [[0.0] * 3] * 2


def test_attend_says_what_does_not_fit(plain_errors: None) -> None:
    with pytest.raises(ValueError, match="broadcast"):
        attend(draw(3, 4), draw(3, 4, 2), torch.ones(2, 4, dtype=torch.bool))
    with pytest.raises(ValueError, match="broadcast"):  # would silently widen the scores
        attend(draw(3, 4), draw(3, 4, 2), torch.ones(5, 3, 4, dtype=torch.bool))


@pytest.mark.parametrize("shape", [(), (3,), (2, 5)])
@pytest.mark.parametrize("masked", [False, True])
def test_it_agrees_with_pytorch(shape: tuple[int, ...], masked: bool) -> None:
    q, k, values = draw(*shape, 4, 6), draw(*shape, 7, 6), draw(*shape, 7, 3)
    mask = draw(*shape, 4, 7) > -1 if masked else None
    output, weights = scaled_dot_product_attention(q, k, values, mask)
    assert_close(output, F.scaled_dot_product_attention(q, k, values, mask), "output")
    assert weights.shape == (*shape, 4, 7)


def test_causal_mask() -> None:
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True, True, True]]
    assert torch.equal(causal_mask(2, past_length=3), causal_mask(5)[3:]), "the last rows of the longer mask"
    with pytest.raises(ValueError, match="n must be at least 1, got 0"):
        causal_mask(0)


def test_padding_mask(plain_errors: None) -> None:
    assert padding_mask(torch.tensor([2, 0, 3])).int().tolist() == [[1, 1, 0], [0, 0, 0], [1, 1, 1]]
    assert padding_mask(torch.tensor([1]), length=4).shape == (1, 4)
    with pytest.raises(ValueError, match=r"\[0, 2\]"):
        padding_mask(torch.tensor([3]), length=2)
    with pytest.raises(TypeError, match="integers"):
        padding_mask(torch.tensor([1.5]))


def test_dropout_acts_in_training_only() -> None:
    attention, x = MultiHeadAttention(12, 4, dropout=0.5), draw(2, 5, 12)
    assert not torch.equal(attention(x), attention(x))
    attention.eval()
    assert torch.equal(attention(x), attention(x))


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: dot_score(draw(5), draw(2, 6, 5)), ValueError, "same leading axes"),
        (lambda: attend(draw(2, 3, 6), draw(1, 6, 5)), ValueError, "same leading axes"),
        (lambda: MultiHeadAttention(8, 2)(draw(2, 3, 8), draw(2, 0, 8)), ValueError, "at least one position"),
        (lambda: causal_mask(1.5), TypeError, "n must be an integer, got float 1.5"),
        (lambda: padding_mask([1, 2]), TypeError, "lengths must be"),
        (lambda: padding_mask(torch.tensor([], dtype=torch.long)), ValueError, "at least one length"),
    ],
)
def test_what_does_not_fit_is_named_and_nothing_is_broadcast(plain_errors: None, call, error, words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_a_nan_is_not_hidden_as_a_mask() -> None:
    weights = masked_softmax(torch.tensor([[0.0, math.nan, 1.0], [0.0, 1.0, -math.inf]]))
    assert torch.isnan(weights[0]).all()
    assert_close(weights[1], torch.tensor([1.0, math.e, 0.0]) / (1 + math.e), "the row without a NaN")


def test_multi_head_attention_says_what_does_not_fit(plain_errors: None) -> None:
    with pytest.raises(ValueError, match="d_model=10, n_heads=3"):
        MultiHeadAttention(10, 3)
    with pytest.raises(ValueError, match="n_kv_heads=3"):
        MultiHeadAttention(8, 4, 3)
    with pytest.raises(ValueError, match="dropout"):
        MultiHeadAttention(8, 4, dropout=1.0)
    attention = MultiHeadAttention(8, 4)
    with pytest.raises(ValueError, match="mask must broadcast"):
        attention(draw(2, 3, 8), mask=torch.ones(2, 3, 3, dtype=torch.bool))
    with pytest.raises(TypeError, match="boolean"):
        attention(draw(2, 3, 8), mask=torch.ones(3, 3))
