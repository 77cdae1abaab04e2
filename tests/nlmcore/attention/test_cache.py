"""The key-value cache: a value, against plain concatenation; doubling, windows, and what a step allocates."""

import dataclasses
from contextlib import AbstractContextManager, nullcontext
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from nlmcore.attention import KeyValueCache, MultiHeadAttention
from nlmcore.inspect import capture
from nlmcore.language_model import select
from nlmcore.positions import NoPositions, RelativeBias, Rotary
from nlmcore.transformer import EncoderDecoder, TransformerLM
from tests.laws import assert_close
from tests.transformer_grid import CONFIG, TOKENS, TOLERANCE, lively

MODES = {"no_grad": torch.no_grad, "inference": torch.inference_mode, "grad": torch.enable_grad}


def draw(batch: int, time: int, seed: int) -> tuple[Tensor, Tensor]:
    """keys and values (batch, 2 heads, time, 3)."""
    generator = torch.Generator().manual_seed(seed)
    keys, values = torch.randn(2, batch, 2, time, 3, generator=generator)
    return keys, values


def begun(time: int, batch: int = 4, window: int | None = None) -> KeyValueCache:
    with torch.no_grad():
        return KeyValueCache.start(*draw(batch, time, 1), window)


# --- against concatenation ------------------------------------------------------------------------------

step = st.tuples(
    st.integers(0, 100),  # which of the states so far is read on from
    st.sampled_from(["append", "append", "append", "select", "same rows"]),
    st.integers(1, 20),  # how many positions are appended
    st.sampled_from(["no_grad", "no_grad", "inference", "grad"]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(step, min_size=1, max_size=25), st.sampled_from([None, 1, 2, 7]), st.booleans())
def test_every_state_of_every_branch_holds_what_concatenation_holds(
    program: list[tuple[int, str, int, str]], window: int | None, weights_learn: bool
) -> None:
    """Any program of appends and selections, from any earlier state, in any mode; every state is looked at last."""
    keys, values = draw(3, 4, 0)
    states = [(KeyValueCache.start(keys, values, window), keys.clone(), values.clone())]
    for seed, (which, what, time, mode) in enumerate(program, start=1):
        cache, keys, values = states[which % len(states)]
        context: AbstractContextManager[Any] = MODES[mode]()
        with context:
            if what == "append":
                more = [x.requires_grad_(weights_learn and mode == "grad") for x in draw(len(keys), time, seed)]
                new = cache.append(more[0], more[1], window)
                joined = [torch.cat(pair, 2).detach() for pair in ((keys, more[0]), (values, more[1]))]
                states.append((new, joined[0], joined[1]))
            else:
                rows = torch.arange(len(keys)) if what == "same rows" else torch.tensor([len(keys) - 1, 0, 0])
                states.append((cache.select(rows), keys[rows], values[rows]))
    for cache, keys, values in states:
        assert cache.position == keys.shape[2]
        wanted = None if window is None else window - 1  # what the next token looks at, beside itself
        last = min(keys.shape[2], keys.shape[2] if wanted is None else wanted)
        held = cache.read(wanted)
        for kept, expected in zip(held, (keys, values), strict=True):
            assert kept.shape[2] == last, (kept.shape, last)
            assert torch.equal(kept.detach().clone(), expected[:, :, keys.shape[2] - last :].clone())


# --- who writes where -----------------------------------------------------------------------------------


def grow(cache: KeyValueCache, time: int = 1, seed: int = 2, window: int | None = None) -> KeyValueCache:
    with torch.no_grad():
        return cache.append(*draw(len(cache.keys), time, seed), window)


def test_the_newest_reader_writes_in_place_and_every_other_in_a_buffer_of_its_own() -> None:
    old = grow(begun(5))
    newest = grow(old)
    assert newest.keys.data_ptr() == old.keys.data_ptr(), "behind the newest there is room"
    branch = grow(old, seed=3)
    assert branch.keys.data_ptr() != old.keys.data_ptr(), "the place behind `old` is taken"
    further = grow(newest)
    assert further.keys.data_ptr() == newest.keys.data_ptr(), "a branch elsewhere does not make it move"
    assert grow(branch).keys.data_ptr() == branch.keys.data_ptr(), "a branch is the newest of its own buffer"


def test_a_given_tensor_is_never_written() -> None:
    keys, values = draw(2, 5, 0)
    before = keys.clone()
    with torch.no_grad():
        cache = KeyValueCache.start(keys, values)
        grow(grow(cache))
    assert torch.equal(keys, before)
    by_hand = KeyValueCache(torch.zeros(2, 2, 8, 3), torch.zeros(2, 2, 8, 3), length=5)
    grow(by_hand)
    assert not by_hand.keys.any(), "who made the buffer may be reading it"


def test_buffers_double() -> None:
    cache, buffers, copied = begun(1), [], 0
    for _ in range(1000):
        new = grow(cache)
        if new.keys.data_ptr() != cache.keys.data_ptr():
            buffers.append(new.keys.shape[2])
            copied += cache.length
        cache = new
    assert cache.length == 1001
    assert all(later >= 2 * earlier for earlier, later in pairwise(buffers)), buffers
    assert len(buffers) <= 8, buffers
    assert copied <= 2 * 1000, "each position is copied about once in all"
    assert cache.keys.shape[2] <= 4 * 1001, "half of the room is used, or more"


def test_selected_rows_are_read_on_from_in_place() -> None:
    cache = grow(begun(5))
    with torch.no_grad():
        rows = select(cache, torch.tensor([3, 1, 1]))
    assert rows.keys.shape == (3, 2, cache.keys.shape[2], 3), "room is kept"
    assert grow(rows).keys.data_ptr() == rows.keys.data_ptr()
    assert rows.keys.data_ptr() != cache.keys.data_ptr()


def test_the_same_rows_are_the_same_state() -> None:
    cache = grow(begun(5))
    assert cache.select(torch.arange(4)) is cache
    assert cache.select(torch.tensor([1, 0, 2, 3])) is not cache
    assert cache.select(torch.arange(3)) is not cache
    with pytest.raises(IndexError):
        cache.select(torch.tensor([0, 4]))
    with pytest.raises(IndexError):
        cache.select(torch.tensor([-1]))


@pytest.mark.parametrize("window", [1, 2, 5, 40])
def test_a_window_bounds_the_buffer(window: int) -> None:
    cache = begun(100, window=window)
    assert cache.keys.shape[2] == min(100, window - 1)
    for t in range(300):
        cache = grow(cache, seed=t, window=window)
        assert cache.keys.shape[2] <= max(16, 2 * window)
        assert cache.length >= window - 1
    assert cache.position == 400
    assert grow(cache, time=50, window=window).position == 450


def test_while_autograd_records_nothing_is_written() -> None:
    cache = grow(begun(5))
    keys, values = (x.requires_grad_() for x in draw(4, 2, 9))
    new = cache.append(keys, values)
    assert new.keys.shape[2] == new.length == 8
    assert new.keys.data_ptr() != cache.keys.data_ptr()
    newer = new.append(keys, values)
    (newer.keys.square().sum() + new.values.sum()).backward()
    assert_close(keys.grad, 4 * keys, "the keys stand in the later cache twice")
    assert_close(values.grad, torch.ones_like(values), "the values stand in the earlier one once")


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("window", [None, 4])
def test_a_learned_bias_on_frozen_keys_keeps_them_too(window: int | None, captured: bool) -> None:
    """The keys need no gradient, but the bias does, and its backward pass comes back to them."""
    attention = lively(MultiHeadAttention(12, 6, 2, positions=RelativeBias(6, 2, 9, True), window=window))
    attention.projection.requires_grad_(False)
    x = torch.randn(2, 8, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        _, begun = attention.step(x[:, :2])
        _, begun = attention.step(x[:, 2:3], begun)  # a buffer with room behind it
    whole = attention.step(x)[0][:, 3:].square().sum()
    (expected,) = torch.autograd.grad(whole, attention.positions.weight)
    state, loss = begun, torch.zeros((), dtype=torch.float64)
    with capture(attention) if captured else nullcontext():
        for t in range(3, 8):
            y, state = attention.step(x[:, t : t + 1], state)
            loss = loss + y.square().sum()
    (gradient,) = torch.autograd.grad(loss, attention.positions.weight)
    assert_close(gradient, expected, "token by token", TOLERANCE)


def test_a_state_of_inference_mode_can_be_read_on_from_elsewhere() -> None:
    """An inference tensor must not be written outside inference mode: PyTorch forbids it."""
    model = lively(TransformerLM(CONFIG))
    with torch.inference_mode():
        expected, _ = model(TOKENS)
        _, state = model(TOKENS[:, :3])
        _, state = model(TOKENS[:, 3:4], state)
    with torch.no_grad():
        assert_close(model(TOKENS[:, 4:], state)[0], expected[:, 4:], "without gradients", TOLERANCE)
        logits, new = model(TOKENS[:, 4:5], state)
        assert_close(model(TOKENS[:, 5:], new)[0], expected[:, 5:], "and on", TOLERANCE)
        rows = torch.tensor([2, 0])
        assert_close(model(TOKENS[rows, 4:], select(state, rows))[0], expected[rows, 4:], "rows", TOLERANCE)
    logits, _ = model(TOKENS[:, 4:], state)
    assert_close(logits, expected[:, 4:], "with gradients", TOLERANCE)
    logits.sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())
    with torch.inference_mode():
        assert_close(model(TOKENS[:, 4:], new)[0][:, 1:], model(TOKENS[:, 4:], new)[0][:, 1:], "and back", TOLERANCE)


def test_a_state_of_training_can_be_read_on_from_without_gradients() -> None:
    model = lively(TransformerLM(CONFIG))
    whole, _ = model(TOKENS)
    _, state = model(TOKENS[:, :4])
    with torch.no_grad():
        for t in range(4, 7):
            logits, state = model(TOKENS[:, t : t + 1], state)
            assert_close(logits, whole[:, t : t + 1], f"token {t}", TOLERANCE)
            assert not state.layers[0].keys.requires_grad


# --- what is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shape", "dtype", "error", "words"),
    [
        ((3, 2, 1, 3), torch.float32, ValueError, r"shape \(3, 2, time, 3\), got \(4, 2, 5, 3\)"),
        ((4, 1, 1, 3), torch.float32, ValueError, r"\(4, 1, time, 3\)"),
        ((4, 2, 1, 6), torch.float32, ValueError, r"\(4, 2, time, 6\)"),
        ((4, 2, 1, 3), torch.float64, TypeError, "state must hold torch.float64 as the model does, got torch.float32"),
    ],
)
def test_keys_of_another_model_are_named(
    plain_errors: None, shape: tuple[int, ...], dtype: torch.dtype, error: type[Exception], words: str
) -> None:
    keys = torch.zeros(shape, dtype=dtype)
    with torch.no_grad(), pytest.raises(error, match=words):
        begun(5).append(keys, keys)


@pytest.mark.parametrize("shape", [(1, 2, 1, 3), (4, 1, 1, 3), (4, 2, 1, 1), (4, 2, 2, 3), (2, 1, 3)])
def test_values_of_another_shape_are_not_broadcast(plain_errors: None, shape: tuple[int, ...]) -> None:
    keys, values = torch.zeros(4, 2, 1, 3), torch.zeros(shape)
    for call in (KeyValueCache.start, begun(5).append):
        with torch.no_grad(), pytest.raises(ValueError, match="one shape") as raised:
            call(keys, values)
        assert str(shape) in str(raised.value)


# --- being looked at ------------------------------------------------------------------------------------


def test_a_state_prints_its_shape_and_compares_as_itself() -> None:
    cache = grow(begun(5))
    assert repr(cache) == "KeyValueCache(batch=4, kv_head=2, d_head=3, positions 0 to 5, room for 16)"
    assert repr(begun(20, window=3)) == "KeyValueCache(batch=4, kv_head=2, d_head=3, positions 18 to 19, room for 2)"
    model = EncoderDecoder(CONFIG)
    for state in (cache, model(TOKENS, model.encode(TOKENS))[1], TransformerLM(CONFIG)(TOKENS)[1]):
        assert len(repr(state)) < 600
        assert state == state
        assert state != select(state, torch.tensor([1, 0, 2]))


# --- memory ---------------------------------------------------------------------------------------------


class Allocations(TorchDispatchMode):
    """Counts the bytes of every storage that an operation makes anew."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        old = {x.untyped_storage().data_ptr() for x in flat((args, kwargs)) if isinstance(x, Tensor)}
        for x in flat(result):
            if isinstance(x, Tensor) and x.untyped_storage().data_ptr() not in old:
                self.bytes += x.untyped_storage().nbytes()
        return result


def flat(thing: Any) -> list[Any]:
    if isinstance(thing, dict):
        thing = list(thing.values())
    return [y for x in thing for y in flat(x)] if isinstance(thing, list | tuple) else [thing]


def cache_bytes(state: Any) -> int:
    return sum(cache.keys.untyped_storage().nbytes() * 2 for cache in state.layers)


LONG = dataclasses.replace(
    CONFIG, n_layers=1, n_kv_heads=2, positions=NoPositions, attention_positions=Rotary, max_length=4000
)


@pytest.mark.parametrize("window", [None, 20])
def test_decoding_2000_tokens_allocates_the_same_for_each(plain_errors: None, window: int | None) -> None:
    """All that grows is the cache, and it grows at its doublings alone: a peak flat apart from the cache."""
    model = TransformerLM(dataclasses.replace(LONG, window=window)).eval()
    token, state, sizes, usual = torch.tensor([[3]]), None, [], []
    with torch.inference_mode():
        for t in range(2000):
            with Allocations() if t % 20 in (7, 8, 9) else nullcontext(Allocations()) as step:
                _, state = model(token, state)
            sizes.append(cache_bytes(state))
            if step.bytes and sizes[-1] == sizes[-2]:
                usual.append(step.bytes)
    assert len(usual) > 250
    if window is None:
        assert sum(later > earlier for earlier, later in pairwise(sizes)) <= 8
        assert max(usual) <= 1.5 * min(usual), f"{min(usual)} to {max(usual)} bytes: something grows beside the cache"
        assert sizes[-1] <= 4 * 2000 * (2 * 2 * 2 * 4), "at most four times what is held: keys, values, 2 heads of 2"
    else:
        assert max(sizes) == sizes[100] == sizes[-1], "the window's buffer is of one size from the start"
        assert max(usual) <= 1.5 * min(usual) + sizes[-1], "whenever it is full it moves, and is no larger"


def test_the_counter_sees_what_concatenation_costs() -> None:
    """The control: a cache that is concatenated allocates more with every token."""
    attention = MultiHeadAttention(24, 6)
    x = torch.randn(1, 1, 24)
    counted = []
    for grad in (False, True):
        with torch.no_grad():
            _, state = attention.step(torch.randn(1, 200, 24))
            _, state = attention.step(x, state)
        with torch.set_grad_enabled(grad), Allocations() as step:
            attention.step(x, state)
        counted.append(step.bytes)
    assert counted[1] > counted[0] + 2 * 200 * 24 * 4, counted


def test_an_encoder_decoder_keeps_one_memory_of_its_source() -> None:
    model = lively(EncoderDecoder(CONFIG))
    with torch.no_grad():
        state = model.encode(TOKENS)
        places = [memory.keys.data_ptr() for memory in state.memories]
        for t in range(7):
            _, state = model(TOKENS[:, t : t + 1], state)
    assert [memory.keys.data_ptr() for memory in state.memories] == places
