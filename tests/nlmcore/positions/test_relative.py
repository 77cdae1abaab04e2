"""Positions that are told to attention as biases: each against its equation, one pair at a time."""

import copy
import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from nlmcore.positions import (
    ALiBi,
    LearnableSinusoidalDistances,
    MusicTransformerPositions,
    RelativeBias,
    ShawPositions,
    SinusoidalDistances,
    TransformerXLPositions,
    alibi_slopes,
    relative_bias,
    relative_buckets,
    relative_shift,
    sinusoidal,
)
from tests.laws import assert_close

HEADS, D_HEAD = 6, 4
CLOSE = {
    "alibi": ALiBi,
    "t5": partial(RelativeBias, n_buckets=8, max_distance=6),
    "shaw": partial(ShawPositions, max_distance=2),
    "music": partial(MusicTransformerPositions, max_distance=3),
    "music, all distances": MusicTransformerPositions,
    "transformer-xl": TransformerXLPositions,
    "sinusoids of distance": SinusoidalDistances,
    "learnable sinusoids of distance": LearnableSinusoidalDistances,
}
PAPERS = pytest.mark.parametrize("build", CLOSE.values(), ids=CLOSE)
DIRECTIONS = pytest.mark.parametrize("causal", [True, False], ids=["causal", "both"])


def draw(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def behind(query_length: int, key_length: int, i: int, j: int) -> int:
    """How many places key j lies before query i; negative: ahead."""
    return key_length - query_length + i - j


def bucket(distance: int, n_buckets: int, bidirectional: bool, max_distance: int) -> int:
    """Raffel et al. (2020), by hand; distance is positive behind."""
    n = n_buckets // 2 if bidirectional else n_buckets
    ahead = n if bidirectional and distance < 0 else 0
    size = abs(distance) if bidirectional else max(0, distance)
    near = n // 2
    if size < near:
        return ahead + size
    return ahead + min(n - 1, near + int(math.log(size / near) / math.log(max_distance / near) * (n - near)))


def equation_alibi(module: ALiBi, q: Tensor, k: Tensor, head: int, distance: int) -> Tensor:
    return -alibi_slopes(HEADS)[head] * abs(distance)


def equation_t5(module: RelativeBias, q: Tensor, k: Tensor, head: int, distance: int) -> Tensor:
    return module.weight[bucket(distance, 8, not module.causal, 6), head]


def equation_shaw(module: ShawPositions, q: Tensor, k: Tensor, head: int, distance: int) -> Tensor:
    return q @ module.key_vectors[max(-2, min(2, -distance)) + 2] / math.sqrt(D_HEAD)


def equation_music(module: MusicTransformerPositions, q: Tensor, k: Tensor, head: int, distance: int) -> Tensor:
    far = module.max_distance
    return q @ module.weight[head, max(-far, min(far, -distance)) + far] / math.sqrt(D_HEAD)


def equation_xl(module: TransformerXLPositions, q: Tensor, k: Tensor, head: int, distance: int) -> Tensor:
    width = HEADS * D_HEAD
    PE = sinusoidal(abs(distance) + 1, width)[-1]
    if distance < 0:
        PE = PE * torch.tensor([-1.0, 1.0]).repeat(width // 2)  # sin(−x) = −sin x
    r = (module.projection.weight @ PE)[head * D_HEAD : (head + 1) * D_HEAD]
    u, v = module.u[head], module.v[head]
    return (q @ r + u @ k + v @ r) / math.sqrt(D_HEAD)


def equation_waves(module: SinusoidalDistances, q: Tensor, k: Tensor, head: int, distance: int) -> Tensor:
    angle = distance * 10_000.0 ** (-torch.arange(0, D_HEAD, 2) / D_HEAD)
    return q @ torch.stack([angle.sin(), angle.cos()], dim=1).flatten() / math.sqrt(D_HEAD)


EQUATIONS: dict[str, Callable] = {
    "alibi": equation_alibi,
    "t5": equation_t5,
    "shaw": equation_shaw,
    "music": equation_music,
    "music, all distances": equation_music,
    "transformer-xl": equation_xl,
    "sinusoids of distance": equation_waves,
    "learnable sinusoids of distance": equation_waves,
}


@DIRECTIONS
@pytest.mark.parametrize("kv_heads", [1, 2, 6])
@pytest.mark.parametrize(("query_length", "key_length"), [(5, 5), (3, 8), (1, 7), (1, 1), (2, 3)])
@pytest.mark.parametrize("name", CLOSE)
def test_biases_are_their_equation(name: str, causal: bool, kv_heads: int, query_length: int, key_length: int) -> None:
    module = CLOSE[name](HEADS, D_HEAD, 9, causal)
    q, k = draw(2, HEADS, query_length, D_HEAD), draw(2, kv_heads, key_length, D_HEAD)
    result = module.bias(q, k).expand(2, -1, -1, -1)
    assert result.shape == (2, HEADS, query_length, key_length)
    expected = torch.zeros_like(result)
    seen = torch.ones(query_length, key_length, dtype=torch.bool)
    for i in range(query_length):
        for j in range(key_length):
            distance = behind(query_length, key_length, i, j)
            if causal and distance < 0:
                seen[i, j] = False  # will be masked
                continue
            for b in range(2):
                for h in range(HEADS):
                    key = k[b, h // (HEADS // kv_heads), j]
                    expected[b, h, i, j] = EQUATIONS[name](module, q[b, h, i], key, h, distance)
    assert_close(result.where(seen, torch.zeros(())), expected, name)


@PAPERS
def test_longer_than_max_length_is_no_error(build: Callable[..., nn.Module]) -> None:
    module = build(HEADS, D_HEAD, 3, True)
    assert module.bias(draw(1, HEADS, 2, D_HEAD), draw(1, 2, 50, D_HEAD)).isfinite().all()


@PAPERS
def test_what_is_kept_serves_every_mode_and_dtype(build: Callable[..., nn.Module]) -> None:
    """Tables are shared between calls: one made in inference mode must not spoil a later training step."""
    module, q, k = build(HEADS, D_HEAD, 9, True), draw(1, HEADS, 4, D_HEAD), draw(1, 2, 17, D_HEAD)
    with torch.inference_mode():
        expected = module.bias(q, k).clone()
    again = module.bias(q.requires_grad_(), k.requires_grad_())
    (again.sum() + q.sum()).backward()
    assert_close(again.detach(), expected, "outside of inference mode")
    exact = copy.deepcopy(module).double().bias(q.double(), k.double())
    assert exact.dtype == torch.float64
    assert_close(exact.detach().float(), expected, "float64")


@PAPERS
def test_what_does_not_fit_is_refused(plain_errors: None, build: Callable[..., nn.Module]) -> None:
    module, q, k = build(HEADS, D_HEAD, 9, True), draw(2, HEADS, 3, D_HEAD), draw(2, 3, 5, D_HEAD)
    with pytest.raises(ValueError, match=r"q must have shape \(batch, 6, query, 4\)"):
        module.bias(q[:, :5], k)
    with pytest.raises(ValueError, match="number of heads that divides 6"):
        module.bias(q, draw(2, 4, 5, D_HEAD))
    with pytest.raises(ValueError, match=r"k must have shape \(2, kv_head, key, 4\)"):
        module.bias(q, k[:1])
    with pytest.raises(ValueError, match="query_length must not exceed key_length, got 3 and 2"):
        module.bias(q, k[:, :, :2])
    with pytest.raises(TypeError, match="k must have the dtype of q"):
        module.bias(q, k.double())


@given(query_length=st.integers(1, 6), past=st.integers(0, 5), both=st.booleans())
@settings(max_examples=40, deadline=None)
def test_shift_takes_each_score_to_its_key(query_length: int, past: int, both: bool) -> None:
    key_length = query_length + past
    x = draw(2, 3, query_length, key_length + (query_length - 1) * both)
    expected = torch.zeros(2, 3, query_length, key_length)
    for i in range(query_length):
        for j in range(key_length):
            column = key_length - 1 - behind(query_length, key_length, i, j)  # the farthest distance comes first
            if column < x.shape[-1]:
                expected[..., i, j] = x[..., i, column]
    assert torch.equal(relative_shift(x, key_length), expected)
    if not both:
        assert torch.equal(relative_shift(x), expected)
        assert torch.equal(relative_shift(x[0, 0]), expected[0, 0])


def test_shift_refuses_what_does_not_fit(plain_errors: None) -> None:
    with pytest.raises(ValueError, match=r"need 5 distances .* or 7 .*, got x of shape"):
        relative_shift(draw(3, 6), 5)
    with pytest.raises(ValueError, match="must not exceed key_length, got 3 and 2"):
        relative_shift(draw(3, 2))


@pytest.mark.parametrize(
    ("n_heads", "exponents"),
    [
        (1, [8]),
        (2, [4, 8]),
        (3, [4, 8, 2]),
        (6, [2, 4, 6, 8, 1, 3]),
        (8, [1, 2, 3, 4, 5, 6, 7, 8]),
        (12, [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5]),
    ],
)
def test_slopes_are_the_papers_or_those_of_the_authors_code(n_heads: int, exponents: list[float]) -> None:
    assert_close(alibi_slopes(n_heads), torch.tensor([2.0**-e for e in exponents]), f"{n_heads} heads", 1e-6)


# The distances at which the next bucket begins, from transformers 5.23.0, T5Attention._relative_position_bucket,
# with which all offsets from −600 to 600 were compared for eight settings.
BOTH_32 = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91]
CAUSAL_32 = [*range(17), 19, 21, 24, 27, 31, 35, 40, 46, 52, 59, 67, 77, 87, 99, 113]
BOTH_8 = [0, 1, 2, 7]


@pytest.mark.parametrize(
    ("n_buckets", "max_distance", "bidirectional", "begins"),
    [(32, 128, True, BOTH_32), (32, 128, False, CAUSAL_32), (8, 20, True, BOTH_8)],
)
def test_buckets_are_those_of_t5(n_buckets: int, max_distance: int, bidirectional: bool, begins: list[int]) -> None:
    distance = torch.arange(601)
    expected = torch.tensor([sum(begin <= d for begin in begins) - 1 for d in range(601)])
    assert relative_buckets(-distance, n_buckets, bidirectional, max_distance).tolist() == expected.tolist()
    ahead = (expected + len(begins)) * (distance > 0) if bidirectional else 0 * distance
    assert relative_buckets(distance, n_buckets, bidirectional, max_distance).tolist() == ahead.tolist()


def test_t5_refuses_what_does_not_fit(plain_errors: None) -> None:
    with pytest.raises(ValueError, match="even number of buckets, got 7"):
        relative_bias(draw(7, 3), 2, 5, True, 128)
    with pytest.raises(ValueError, match="at least 4 buckets are needed, got 2"):
        relative_bias(draw(2, 3), 2, 5, True, 128)
    with pytest.raises(ValueError, match="at least 2 buckets are needed, got 1"):
        relative_bias(draw(1, 3), 2, 5, False, 128)
    with pytest.raises(ValueError, match=r"max_distance must exceed 16.*got 16"):
        RelativeBias(HEADS, D_HEAD, 9, True, max_distance=16)
    for offset in (None, [1, 2], torch.tensor([1.5])):
        with pytest.raises(TypeError, match=r"offset must (be a tensor|hold integers), got"):
            relative_buckets(offset)  # type: ignore[arg-type]


@DIRECTIONS
@pytest.mark.parametrize(("query_length", "key_length"), [(5, 5), (2, 6), (1, 4)])
def test_values_are_the_equation(causal: bool, query_length: int, key_length: int) -> None:
    module = ShawPositions(3, D_HEAD, 9, causal, max_distance=2)
    weights = torch.softmax(draw(2, 3, query_length, key_length), dim=-1)
    if causal:
        weights = weights.tril(key_length - query_length)
    expected = torch.zeros(2, 3, query_length, D_HEAD)
    for b in range(2):
        for h in range(3):
            for i in range(query_length):
                for j in range(key_length):
                    offset = -behind(query_length, key_length, i, j)
                    if causal and offset > 0:
                        continue
                    vector = module.value_vectors[max(-2, min(2, offset)) + 2]
                    expected[b, h, i] = expected[b, h, i] + weights[b, h, i, j] * vector
    assert_close(module.values(weights), expected, "values")


@DIRECTIONS
def test_few_queries_and_many_get_the_same(causal: bool) -> None:
    """(q W) PEᵀ for one query, q (W PEᵀ) for many rows of it: the cheaper is taken, the numbers are equal."""
    module, q, k = TransformerXLPositions(HEADS, D_HEAD, 9, causal), draw(1, HEADS, 1, D_HEAD), draw(1, 2, 8, D_HEAD)
    many = module.bias(q.expand(9, -1, -1, -1), k.expand(9, -1, -1, -1))
    assert_close(many[5:6], module.bias(q, k), "alone and among nine")


def test_an_odd_width_has_no_sinusoids() -> None:
    with pytest.raises(ValueError, match="n_heads · d_head must be a positive even number"):
        TransformerXLPositions(3, 5, 9, True)
    with pytest.raises(ValueError, match="d_head must be a positive even number"):
        SinusoidalDistances(3, 5, 9, True)
