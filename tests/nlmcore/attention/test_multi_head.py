"""What attention is given and cannot use is named: inputs, states, memories and positions of another kind or size."""

from typing import Any

import pytest
import torch

from nlmcore.attention import (
    CausalAttention,
    KeyValueCache,
    Memory,
    MultiHeadAttention,
    causal_mask,
    padding_mask,
    prefix_mask,
)
from nlmcore.positions import ALiBi, Rotary, SinusoidalPositions

X = torch.zeros(2, 3, 12)  # (batch, time, d_model)
ATTENTION, CAUSAL = MultiHeadAttention(12, 6, 2), CausalAttention(12, 6, 2)
NONE: Any = None


def cache() -> KeyValueCache:
    with torch.no_grad():
        return CAUSAL(X)[1]


def memory(*arguments: Any) -> Memory:
    """Of the sizes given, else of ATTENTION's own."""
    module = MultiHeadAttention(*arguments) if arguments else ATTENTION
    return module.project_source(torch.zeros(2, 5, module.d_model))


@pytest.mark.parametrize(
    ("x", "error", "words"),
    [
        (None, TypeError, "must be a tensor, got NoneType"),
        (X.double(), TypeError, "must have the dtype of the weights, torch.float32, got torch.float64"),
        (X[..., :5], ValueError, r"must have .*12.*, got .*\(2, 3, 5\)"),
        (X[:, :0], ValueError, "must have .* at least one position"),
    ],
)
def test_every_way_in_names_what_is_no_text(plain_errors: None, x: Any, error: type[Exception], words: str) -> None:
    ways = {
        "query": [lambda: ATTENTION(x), lambda: ATTENTION(x, memory())],
        "source": [lambda: ATTENTION.project_source(x)],
        "x": [lambda: CAUSAL(x), lambda: CAUSAL(x, cache())],
    }
    for name, calls in ways.items():
        for call in calls:
            with pytest.raises(error, match=f"^{name} {words}"):
                call()


@pytest.mark.parametrize("state", ["text", X, (X, X), 0, memory()])
def test_what_is_no_cache_is_named(plain_errors: None, state: Any) -> None:
    with pytest.raises(TypeError, match="state must be None or the KeyValueCache of an earlier call, got"):
        CAUSAL(X, state)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        (Memory(NONE, NONE), TypeError, "memory must hold tensors of torch.float32 as the model does, got NoneType"),
        (
            Memory(*(x.long() for x in memory())),
            TypeError,
            "hold tensors of .*got a torch.int64",
        ),
        (Memory(X, X), ValueError, r"shape \(2, 2, key, 2\), got \(2, 3, 12\)"),
        (memory(12, 6), ValueError, r"\(2, 2, key, 2\), got \(2, 6, 5, 2\)"),
        (memory(12, 2), ValueError, r"got \(2, 2, 5, 6\)"),
        (Memory(memory().keys[:1], memory().values[:1]), ValueError, r"got \(1, 2, 5, 2\).* another batch's"),
        (Memory(memory().keys, memory().values[:, :, :4]), ValueError, r"and \(2, 2, 4, 2\)"),
        (
            Memory(*(x.double() for x in memory())),
            TypeError,
            "tensors of torch.float32 as the model does, got a torch.float64",
        ),
    ],
)
def test_what_is_no_memory_is_named(plain_errors: None, given: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ATTENTION(X, given)


@pytest.mark.parametrize("positions", ["rotary", Rotary, ALiBi, SinusoidalPositions(9, 12), torch.nn.LayerNorm(2)])
def test_positions_without_a_method_are_not_passed_over(plain_errors: None, positions: Any) -> None:
    with pytest.raises(TypeError, match="positions must be None or a module with a method rotate, bias or values"):
        MultiHeadAttention(12, 6, positions=positions)


@pytest.mark.parametrize("positions", [None, Rotary(6, 2, 9, True), ALiBi(6, 2, 9, True)])
def test_mixed_precision_is_no_mistake(positions: Any) -> None:
    module, causal = (kind(12, 6, 2, positions=positions) for kind in (MultiHeadAttention, CausalAttention))
    with torch.autocast("cpu", torch.bfloat16), torch.no_grad():
        state = causal(X)[1]
        assert causal(X.bfloat16(), state)[0].dtype == torch.bfloat16
        assert module(X, module.project_source(X)).dtype == torch.bfloat16


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: ATTENTION(X, causal_mask(3)), TypeError, "source must .* got torch.bool; a mask is given by name"),
        (
            lambda: ATTENTION(torch.zeros(2, 5, 12), mask=padding_mask(torch.tensor([3, 5]))),
            ValueError,
            r"scores' shape \(2, 6, 5, 5\), got \(2, 5\); a padding mask .* is given as mask\[:, None, None, :\]",
        ),
        (
            lambda: ATTENTION(X, mask=prefix_mask(torch.tensor([3, 1]), 3)),
            ValueError,
            r"got \(2, 3, 3\); a mask \(batch, query, key\) is given as mask\[:, None\]",
        ),
        (lambda: ATTENTION(X, mask=causal_mask(4)), ValueError, r"scores' shape \(2, 6, 3, 3\), got \(4, 4\)$"),
        (
            lambda: ATTENTION(X, mask=causal_mask(3).int()),
            TypeError,
            r"got a torch.int32 .*; mask == 1 makes one of",
        ),
        (lambda: ATTENTION(X, mask=[True]), TypeError, "True = may attend, got list"),  # type: ignore[arg-type]
    ],
)
def test_what_stands_in_the_wrong_place_comes_with_its_way(
    plain_errors: None, call: Any, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        call()


def test_the_hints_are_right() -> None:
    """What an error tells the reader to write does what the reader meant."""
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([3, 5])
    alone = ATTENTION(x[:1, :3])
    assert torch.allclose(ATTENTION(x, mask=padding_mask(lengths)[:, None, None, :])[:1, :3], alone, atol=1e-6)
    causal = ATTENTION(x, mask=causal_mask(5))
    added = torch.zeros(5, 5).masked_fill(~causal_mask(5), -torch.inf)
    for numbers in (added == 0, causal_mask(5).float() == 1, prefix_mask(torch.tensor([0, 0]), 5)[:, None]):
        assert torch.equal(ATTENTION(x, mask=numbers), causal)


@pytest.mark.parametrize("time", [1, 2])
@pytest.mark.parametrize(("wrote", "reads"), [(2, None), (2, 4), (1, 2)])
def test_a_state_that_lacks_what_is_to_be_seen_is_refused(
    plain_errors: None, wrote: int, reads: int | None, time: int
) -> None:
    """A shorter window has thrown keys away: to go on without them would be a wrong answer without a word."""
    x = torch.zeros(2, 9, 12)
    with torch.no_grad():
        _, state = CausalAttention(12, 6, 2, window=wrote)(x)
        with pytest.raises(ValueError, match=rf"kept {wrote - 1} positions and forgotten .* {10 - wrote}: .* shorter"):
            CausalAttention(12, 6, 2, window=reads)(x[:, :time], state)


@pytest.mark.parametrize("time", [1, 2])
def test_a_state_of_a_longer_window_serves_a_shorter_one(time: int) -> None:
    x = torch.randn(2, 9, 12, generator=torch.Generator().manual_seed(0))
    long, short = (CausalAttention(12, 6, 2, window=window) for window in (4, 2))
    short.load_state_dict(long.state_dict())
    with torch.no_grad():
        expected, _ = short(x)
        _, state = long(x[:, :7])
        assert torch.allclose(short(x[:, 7 : 7 + time], state)[0], expected[:, 7 : 7 + time], atol=1e-6)
