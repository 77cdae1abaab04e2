"""Longformer and BigBird against loops over pairs, and what they compute against what full attention does."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from nlmcore.attention import two_way
from nlmcore.inspect import capture
from nlmcore.transformer import TransformerEncoder
from nlmcore.variants import CATALOGUE
from nlmcore.variants.sparse import SparseAttention, build_bigbird, build_longformer, draw_blocks
from nlmcore.variants.variant import vanilla
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import VOCAB, stirred

C = vanilla(VOCAB, d_model=10, n_heads=4, d_head=3, n_kv_heads=2, max_length=23)
N = 19
X = torch.randn(2, N, 10, generator=torch.Generator().manual_seed(0))
REAL = torch.arange(N) < torch.tensor([N, 13])[:, None]


def made(build: Any, causal: bool = False, **sizes: Any) -> SparseAttention:
    torch.manual_seed(3)
    return stirred(build(C, causal, **sizes))


PARTS = {
    "Longformer": lambda: made(build_longformer, window=6, n_global=2),
    "Longformer, no global token": lambda: made(build_longformer, window=6, n_global=0),
    "Longformer, itself alone": lambda: made(build_longformer, window=1, n_global=1),
    "BigBird": lambda: made(build_bigbird, block=2, n_global=1, n_random=2),
    "BigBird, nothing random": lambda: made(build_bigbird, block=3, n_global=1, n_random=0),
    "BigBird, nothing global": lambda: made(build_bigbird, block=3, n_global=0, n_random=1),
}


def heads(x: Tensor, weight: Tensor) -> tuple[list[Tensor], list[Tensor], list[Tensor]]:
    """Rows of `weight`: 4 heads of queries, 2 of keys, 2 of values, of 3 numbers each."""
    parts = [x @ weight[3 * h : 3 * h + 3].T for h in range(8)]
    return parts[:4], parts[4:6], parts[6:]


def by_pairs(part: SparseAttention, x: Tensor, sees: Any, n_global: int) -> Tensor:
    """One text, (time, d_model), query by query and key by key."""
    q, k, v = heads(x, part.attention.projection.weight)
    asked = (q, k, v)
    if part.global_projection is not None:
        asked = heads(x, part.global_projection.weight)
    rows = []
    for i in range(len(x)):
        q, k, v = asked if i < n_global else heads(x, part.attention.projection.weight)
        out = []
        for h in range(4):
            keys = [j for j in range(len(x)) if sees(i, j)]
            e = [math.exp((q[h][i] @ k[h // 2][j]).item() / math.sqrt(3)) for j in keys]
            out.append(sum(p / sum(e) * v[h // 2][j] for p, j in zip(e, keys, strict=True)))
        rows.append(torch.cat(out))
    return torch.stack(rows) @ part.attention.output.weight.T


def longformer(w: int, n_global: int) -> Any:
    return lambda i, j: abs(i - j) <= w / 2 or i < n_global or j < n_global


def bigbird(part: SparseAttention, block: int, n_global: int) -> Any:
    def sees(i: int, j: int) -> bool:
        a, b = i // block, j // block
        return abs(a - b) <= 1 or b in part.table[a, 3:].tolist() or a < n_global or b < n_global

    return sees


@torch.no_grad()
@pytest.mark.parametrize("w", [2, 6, 7])
def test_longformer_is_its_equation_pair_by_pair(w: int) -> None:
    part = made(build_longformer, window=w, n_global=2)
    assert_close(part(X)[0], by_pairs(part, X[0], longformer(w, 2), 2), "all real", 1e-4)
    padded = part(X, REAL[:, None, None, :])[1, :13]
    assert_close(padded, by_pairs(part, X[1, :13], longformer(w, 2), 2), "padding is seen by nobody", 1e-4)


@torch.no_grad()
@pytest.mark.parametrize("block", [1, 2, 5])
def test_bigbird_is_its_equation_pair_by_pair(block: int) -> None:
    part = made(build_bigbird, block=block, n_global=1, n_random=1)
    sees = bigbird(part, block, 1)
    assert_close(part(X)[0], by_pairs(part, X[0], sees, block), "all real", 1e-4)
    padded = part(X, REAL[:, None, None, :])[1, :13]
    assert_close(padded, by_pairs(part, X[1, :13], sees, block), "padding is seen by nobody", 1e-4)


@torch.no_grad()
@pytest.mark.parametrize("name", PARTS)
def test_the_pattern_is_what_is_seen(name: str) -> None:
    """Which outputs move with a vector: those of the queries whose row of the pattern has that key."""
    part = PARTS[name]()
    before, seen = part(X[:1])[0], torch.zeros(N, N, dtype=torch.bool)
    for j in range(N):
        moved = X[:1].clone()
        moved[0, j] += 1.0
        seen[:, j] = (part(moved)[0] - before).abs().amax(-1) > 1e-6
    assert torch.equal(seen, part.pattern(N))


@torch.no_grad()
@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("time", [1, 2, 7, 23])
def test_a_text_is_read_as_it_is_with_padding(name: str, time: int) -> None:
    part = PARTS[name]()
    x = torch.randn(1, 23, 10, generator=torch.Generator().manual_seed(time))
    mask = (torch.arange(23) < time)[None, None, None]
    assert_close(part(x, mask)[:, :time], part(x[:, :time]), "the text alone", 1e-5)
    assert torch.isfinite(part(x, mask & False)).all(), "a text of nothing"


@pytest.mark.parametrize("name", PARTS)
def test_gradients_are_those_of_the_text_alone(name: str) -> None:
    part, x = PARTS[name](), X.clone().requires_grad_()
    real = torch.stack([REAL[1], REAL[1] & False])[:, None, None]  # the second text is nothing but padding
    (padded,) = torch.autograd.grad((part(x, real)[:1, :13] ** 2).sum(), x)
    (alone,) = torch.autograd.grad((part(x[:1, :13]) ** 2).sum(), x)
    assert alone.any()
    assert_close(padded, alone, "gradient", 1e-4)
    (everywhere,) = torch.autograd.grad(part(x, real).sum(), x)
    assert torch.isfinite(everywhere).all()


def test_wide_enough_it_is_full_attention() -> None:
    """A window of all, without global tokens, and blocks of which everybody's are neighbours."""
    for part in (
        made(build_longformer, window=46, n_global=0),
        made(build_bigbird, block=12, n_global=0, n_random=0),
        made(build_bigbird, block=2, n_global=1, n_random=20),
    ):
        assert part.pattern(23).all()
        assert_close(
            part(X, REAL[:, None, None, :]), two_way(part.attention)(X, mask=REAL[:, None, None, :]), "full", 1e-4
        )


CAUSAL = {
    "Longformer": lambda: made(build_longformer, True, window=6, n_global=2),
    "Longformer, no global token": lambda: made(build_longformer, True, window=4, n_global=0),
    "BigBird": lambda: made(build_bigbird, True, block=2, n_global=1, n_random=2),
    "BigBird, nothing global": lambda: made(build_bigbird, True, block=5, n_global=0, n_random=1),
}


@torch.no_grad()
@pytest.mark.parametrize("name", CAUSAL)
def test_causal_it_is_full_attention_under_its_pattern_in_pieces_of_any_size(name: str) -> None:
    """The usual attention with the pattern as its mask is the oracle."""
    part = CAUSAL[name]()
    expected = two_way(part.attention)(X, mask=part.pattern(N))
    for piece in (N, 1, 2, 7, 11):
        read, state = [], None
        for x in X.split(piece, dim=1):
            y, state = part(x, state)
            read.append(y)
        assert_close(torch.cat(read, 1), expected, f"pieces of {piece}", 1e-5)
    part.attention.recorder = seen = [].append  # type: ignore[assignment]
    assert_close(part(X)[0], expected, "watched")
    assert seen.__self__[0].shape == (2, 4, N, N)  # type: ignore[attr-defined]
    assert torch.equal(seen.__self__[0].amax((0, 1)) > 0, part.pattern(N))  # type: ignore[attr-defined]


def test_causal_patterns_are_the_equations_without_the_future() -> None:
    longformer = CAUSAL["Longformer"]().pattern(N)
    assert torch.equal(longformer, made(build_longformer, window=6, n_global=2).pattern(N).tril())
    part = CAUSAL["BigBird"]()
    far = 0
    for i, row in enumerate(part.pattern(N).tolist()):
        drawn = [j for j in part.table[i // 2, 2:].tolist() if j >= 0]
        assert len(drawn) == min(2, max(0, i // 2 - 2)), "earlier blocks, but not the global and the previous one"
        assert row == [j <= i and (j < 2 or i // 2 - j // 2 <= 1 or j // 2 in drawn) for j in range(N)]
        far += len(drawn)
    assert far, "some blocks are drawn"


@pytest.mark.parametrize("name", [*PARTS, "BigBird, causal", "Longformer, causal"])
def test_scores_are_counted_as_they_are_computed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    part, counted = (CAUSAL[name[:-8]] if name.endswith(", causal") else PARTS[name])(), 0
    attend = part._attend

    def counting(q: Tensor, k: Tensor, v: Tensor, allowed: Any) -> Any:
        nonlocal counted
        counted += len(q) // len(X) * q.shape[2] * k.shape[2]  # a block is a text of its own
        return attend(q, k, v, allowed)

    monkeypatch.setattr(part, "_attend", counting)
    for time in (N, 1, 8):
        counted = 0
        part(X[:, :time])
        assert part.scores(time) == counted >= part.pattern(time).sum()


def test_random_blocks_are_drawn_once_for_good_and_are_nobodys_neighbours() -> None:
    torch.manual_seed(1)
    table = draw_blocks(16, 2, 3)
    assert table.shape == (16, 6)
    for i, row in enumerate(table.tolist()):
        assert row[:3] == [i - 1, i, i + 1 if i < 15 else -1]
        drawn = [j for j in row[3:] if j >= 0]
        assert len(set(drawn)) == len(drawn) == 3
        assert all(j >= 2 and abs(i - j) > 1 for j in drawn)
    assert not torch.equal(table, draw_blocks(16, 2, 3))
    first, second = (made(build_bigbird, block=2) for _ in range(2))
    assert torch.equal(first.table, second.table), "by torch.manual_seed"
    torch.manual_seed(8)
    other = build_bigbird(C, False, block=2)
    assert not torch.equal(other.table, first.table)
    other.load_state_dict(first.state_dict())
    assert_close(other.eval()(X), first(X), "kept with the weights")


def test_weights_can_be_looked_at() -> None:
    for name in ("Longformer", "BigBird"):
        encoder = stirred(TransformerEncoder(CATALOGUE[name].config(VOCAB, d_model=12, max_length=32)))
        tokens = torch.randint(0, VOCAB, (2, 32), generator=torch.Generator().manual_seed(0))
        with capture(encoder) as tape:
            seen = encoder(tokens)
        assert_close(seen, encoder(tokens), "watched or not")
        for layer, weights in zip(encoder.layers, tape.values(), strict=True):
            assert weights.shape == (2, 6, 32, 32)
            assert torch.equal(weights.amax((0, 1)) > 0, layer.attention.pattern(32))
            assert_close(weights.sum(-1), torch.ones(2, 6, 32), "sums")


def test_what_does_not_fit_is_named(plain_errors: None) -> None:
    part = CAUSAL["BigBird"]()
    with pytest.raises(ValueError, match=r"the text has 38 tokens .*this model knows 23 positions"):
        part(X, part(X)[1])
    with pytest.raises(TypeError, match="KeyValueCache of an earlier call, got int"):
        part(X, 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="the text has 24 tokens, this model knows 23 positions"):
        made(build_bigbird)(torch.zeros(1, 24, 10))
    with pytest.raises(ValueError, match=r"mask must say which tokens are real, \(2, 1, 1, 19\) here, got \(19, 19\)"):
        made(build_longformer)(X, torch.ones(N, N).tril().bool())
    with pytest.raises(ValueError, match=r"max_distance must lie in \[0, 4\], the block's size, got 5"):
        SparseAttention(C, 4, 1, max_distance=5)
