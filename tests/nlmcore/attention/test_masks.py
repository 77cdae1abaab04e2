"""Masks one place at a time, and attention under every combination of them: fused, explicit and by loops."""

import itertools
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from nlmcore.attention import (
    CausalAttention,
    MultiHeadAttention,
    causal_mask,
    padding_mask,
    prefix_mask,
    two_way,
    window_mask,
)
from nlmcore.inspect import capture
from nlmcore.positions import (
    ALiBi,
    MusicTransformerPositions,
    RelativeBias,
    Rotary,
    ShawPositions,
    TransformerXLPositions,
)
from tests.laws import assert_close
from tests.transformer_grid import TOLERANCE, lively

LENGTHS = torch.tensor([6, 4, 0])
MASKS = {
    "causal": causal_mask(6),
    "padding": padding_mask(LENGTHS, 6)[:, None, None, :],
    "prefix": prefix_mask(torch.tensor([2, 0, 5]), 6)[:, None],
    "window": window_mask(6, 2),
    "per head": torch.rand(3, 4, 6, 6, generator=torch.Generator().manual_seed(0)) < 0.6,
}
COMBINATIONS = [kinds for n in range(len(MASKS) + 1) for kinds in itertools.combinations(MASKS, n)]
POSITIONS: dict[str, Any] = {
    "none": None,
    "rotary": Rotary,
    "ALiBi": ALiBi,
    "T5": RelativeBias,
    "Shaw": ShawPositions,
    "Music Transformer": MusicTransformerPositions,
    "Transformer-XL": TransformerXLPositions,
}


def combined(kinds: tuple[str, ...]) -> Tensor | None:
    mask = None
    for kind in kinds:
        mask = MASKS[kind] if mask is None else mask & MASKS[kind]
    return mask


def draw(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.mark.parametrize("past", [0, 1, 3])
@pytest.mark.parametrize("window", [None, 1, 2, 4, 9])
def test_a_window_is_its_definition(window: int | None, past: int) -> None:
    mask = window_mask(5, window, past)
    assert mask.shape == (5, past + 5)
    for i, j in itertools.product(range(5), range(past + 5)):
        distance = past + i - j
        assert mask[i, j].item() == (0 <= distance < (math.inf if window is None else window)), (i, j)


def test_a_prefix_is_its_definition() -> None:
    lengths = torch.tensor([0, 1, 3, 5])
    mask = prefix_mask(lengths, 5)
    assert mask.shape == (4, 5, 5)
    for b, i, j in itertools.product(range(4), range(5), range(5)):
        assert mask[b, i, j].item() == (j <= i or j < lengths[b].item()), (b, i, j)
    assert torch.equal(mask[0], causal_mask(5)), "no prefix is causal"
    assert mask[3].all(), "all prefix is bidirectional"


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: prefix_mask(torch.tensor([4]), 3), ValueError, r"lengths must lie in \[0, 3\], got 4 to 4"),
        (lambda: prefix_mask(torch.tensor([-1]), 3), ValueError, "lengths must lie in"),
    ],
)
def test_what_is_no_mask_is_named(plain_errors: None, call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def by_loops(attention: MultiHeadAttention, x: Tensor, mask: Tensor | None) -> Tensor:
    """One head, one query and one key at a time."""
    allowed = torch.ones(3, 4, 6, 6, dtype=torch.bool) if mask is None else mask.expand(3, 4, 6, 6)
    group, width = attention.n_heads // attention.n_kv_heads, attention.d_head
    q, k, v = attention.query(x), attention.key(x), attention.value(x)
    result = torch.zeros(3, 6, 4 * width, dtype=torch.float64)
    for b, head, i in itertools.product(range(3), range(4), range(6)):
        mine, theirs = slice(head * width, (head + 1) * width), head // group * width
        keys = [j for j in range(6) if allowed[b, head, i, j]]
        scores = [math.exp((q[b, i, mine] @ k[b, j, theirs : theirs + width]).item() / width**0.5) for j in keys]
        for j, score in zip(keys, scores, strict=True):
            result[b, i, mine] += score / sum(scores) * v[b, j, theirs : theirs + width]
    return result @ attention.output.weight.T + attention.output.bias


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@pytest.mark.parametrize("kinds", [(), ("causal",), ("padding", "prefix"), ("window", "padding"), ("per head",)])
def test_attention_is_its_definition(kinds: tuple[str, ...], n_kv_heads: int) -> None:
    attention, x = lively(MultiHeadAttention(20, 4, n_kv_heads, d_head=3)), draw(3, 6, 20)
    with torch.no_grad():
        assert_close(attention(x, mask=combined(kinds)), by_loops(attention, x, combined(kinds)), "loops", TOLERANCE)


@pytest.mark.parametrize("positions", POSITIONS)
@pytest.mark.parametrize("kinds", COMBINATIONS, ids=lambda kinds: " & ".join(kinds) or "no mask")
def test_fused_and_explicit_give_the_same_numbers_and_gradients(
    unchecked: None, kinds: tuple[str, ...], positions: str
) -> None:
    build, mask = POSITIONS[positions], combined(kinds)
    n_kv_heads = 1 + len(kinds) % 2
    part = None if build is None else build(4, 6, 6, False)
    attention = lively(MultiHeadAttention(20, 4, n_kv_heads, d_head=6, positions=part))
    x = draw(3, 6, 20).requires_grad_()
    projection = draw(3, 6, 20, seed=1)
    fused = attention(x, mask=mask)
    (from_fused,) = torch.autograd.grad((fused * projection).sum(), x)
    with capture(attention) as tape:
        explicit = attention(x, mask=mask)
    (from_explicit,) = torch.autograd.grad((explicit * projection).sum(), x)
    with torch.no_grad():
        assert_close(attention(x, mask=mask), fused, "with and without autograd", TOLERANCE)
    assert_close(explicit, fused, "explicit against fused", TOLERANCE)
    assert_close(from_explicit, from_fused, "gradients", TOLERANCE)
    weights = tape[""]
    assert weights.shape == (3, 4, 6, 6)
    allowed = torch.ones(3, 4, 6, 6, dtype=torch.bool) if mask is None else mask.expand(3, 4, 6, 6)
    assert not weights[~allowed].any()
    some = allowed.any(-1)
    assert_close(weights.sum(-1), some.double(), "rows sum to 1, or to 0 where nothing is allowed", TOLERANCE)
    none = ~some.any(1)  # (batch, query): no head has a key
    if "padding" in kinds:
        assert none[2].all(), "row 2 of the padding mask allows nothing"
    bias = attention.output.bias.expand(3, 6, 20)
    assert_close(fused[none], bias[none], "a context of zeros leaves the output's bias", TOLERANCE)
    assert torch.isfinite(from_fused).all()
    assert not from_fused[2].any() or not none[2].all(), "what nobody reads has no gradient"


@pytest.mark.parametrize("time", [1, 2, 6])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@pytest.mark.parametrize("window", [None, 1, 3])
@pytest.mark.parametrize("positions", POSITIONS)
def test_reading_on_is_attention_under_a_mask(
    unchecked: None, positions: str, window: int | None, n_kv_heads: int, time: int
) -> None:
    """Causal attention in pieces = one call of the same heads with the mask that it implies."""
    build = POSITIONS[positions]
    part = None if build is None else build(4, 6, 6, True)
    attention = lively(CausalAttention(20, 4, n_kv_heads, d_head=6, positions=part, window=window))
    x = draw(3, 6, 20)
    with torch.no_grad():
        expected, state, pieces = two_way(attention)(x, mask=window_mask(6, window)), None, []
        for piece in x.split(time, dim=1):
            y, state = attention(piece, state)
            pieces.append(y)
    assert_close(torch.cat(pieces, dim=1), expected, "pieces", TOLERANCE)


def test_remembering_and_looking_is_cross_attention() -> None:
    attention, query, source = lively(MultiHeadAttention(20, 4, 2)), draw(3, 5, 20), draw(3, 6, 20, seed=1)
    mask = MASKS["padding"]
    memory = attention.project_source(source)
    assert memory.keys.shape == memory.values.shape == (3, 2, 6, 5)
    with torch.no_grad():
        whole = attention(query, source, mask)
        assert_close(attention(query, memory, mask), whole, "in two steps", TOLERANCE)
        steps = [attention(query[:, t : t + 1], memory, mask) for t in range(5)]
        assert_close(torch.cat(steps, dim=1), whole, "one query at a time", TOLERANCE)
    with pytest.raises(ValueError, match=r"shape \(2, 2, key, 5\), got \(3, 2, 6, 5\)"):
        attention(query[:2], memory)


def test_views_of_the_projection_are_its_rows() -> None:
    attention, x = MultiHeadAttention(20, 4, 2, d_head=3), draw(2, 3, 20).float()
    rows = [attention.query, attention.key, attention.value]
    assert [part.weight.shape[0] for part in rows] == [12, 6, 6]
    assert_close(torch.cat([part(x) for part in rows], dim=-1), attention.projection(x), "q, k, v in one matrix")
    with torch.no_grad():
        attention.key.weight.zero_()
    assert not attention.projection.weight[12:18].any(), "writing into a view writes into the matrix"
    assert MultiHeadAttention(20, 4, bias=False).value.bias is None
