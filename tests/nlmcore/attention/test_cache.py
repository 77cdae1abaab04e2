"""The key-value cache: a value, whatever is read on from it; windows, gradients, inference mode, refusals."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from nlmcore.attention import CausalAttention, KeyValueCache
from nlmcore.inspect import capture
from nlmcore.language_model import select
from nlmcore.positions import RelativeBias
from nlmcore.transformer import TransformerLM
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


step = st.tuples(
    st.integers(0, 100),  # which of the states so far is read on from
    st.sampled_from(["extend", "extend", "extend", "select"]),
    st.integers(1, 20),  # how many positions follow
    st.sampled_from(["no_grad", "no_grad", "inference", "grad"]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(step, min_size=1, max_size=25), st.sampled_from([None, 1, 2, 7]), st.booleans())
def test_every_state_of_every_branch_holds_what_was_read(
    program: list[tuple[int, str, int, str]], window: int | None, weights_learn: bool
) -> None:
    """Any program of extensions and selections, from any earlier state, in any mode; every state is looked at last."""
    keys, values = draw(3, 4, 0)
    states = [(KeyValueCache.start(keys, values, window), keys.clone(), values.clone())]
    for seed, (which, what, time, mode) in enumerate(program, start=1):
        cache, keys, values = states[which % len(states)]
        context: AbstractContextManager[Any] = MODES[mode]()
        with context:
            if what == "extend":
                more = [x.requires_grad_(weights_learn and mode == "grad") for x in draw(len(keys), time, seed)]
                *seen, new = cache.extend(more[0], more[1], window)
                keys, values = (torch.cat(pair, 2).detach() for pair in ((keys, more[0]), (values, more[1])))
                n = keys.shape[2] if window is None else min(keys.shape[2], window - 1 + time)
                for found, whole in zip(seen, (keys, values), strict=True):
                    assert torch.equal(found, whole[:, :, keys.shape[2] - n :]), "what the new positions see"
                states.append((new, keys, values))
            else:
                rows = torch.tensor([len(keys) - 1, 0, 0])
                states.append((select(cache, rows), keys[rows], values[rows]))
    for cache, keys, values in states:
        assert cache.position == keys.shape[2]
        n = (
            keys.shape[2] if window is None else min(keys.shape[2], window - 1)
        )  # what the next token sees beside itself
        assert cache.length == n
        for kept, whole in zip((cache.keys, cache.values), (keys, values), strict=True):
            assert torch.equal(kept, whole[:, :, keys.shape[2] - n :])


def test_gradients_flow_through_a_state_to_all_that_it_was_made_of() -> None:
    keys, values = (x.requires_grad_() for x in draw(4, 2, 9))
    _, _, new = begun(5).extend(keys, values)
    _, _, newer = new.extend(keys, values)
    (newer.keys.square().sum() + new.values.sum()).backward()
    assert_close(keys.grad, 4 * keys, "the keys stand in the later cache twice")
    assert_close(values.grad, torch.ones_like(values), "the values stand in the earlier one once")


@pytest.mark.parametrize("captured", [False, True])
@pytest.mark.parametrize("window", [None, 4])
def test_a_learned_bias_on_frozen_keys_keeps_them_too(window: int | None, captured: bool) -> None:
    """The keys need no gradient, but the bias does, and its backward pass comes back to them."""
    attention = lively(CausalAttention(12, 6, 2, positions=RelativeBias(6, 2, 9, True), window=window))
    attention.projection.requires_grad_(False)
    x = torch.randn(2, 8, 12, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        _, begun = attention(x[:, :2])
        _, begun = attention(x[:, 2:3], begun)
    whole = attention(x)[0][:, 3:].square().sum()
    (expected,) = torch.autograd.grad(whole, attention.positions.weight)
    state, loss = begun, torch.zeros((), dtype=torch.float64)
    with capture(attention) if captured else nullcontext():
        for t in range(3, 8):
            y, state = attention(x[:, t : t + 1], state)
            loss = loss + y.square().sum()
    (gradient,) = torch.autograd.grad(loss, attention.positions.weight)
    assert_close(gradient, expected, "token by token", TOLERANCE)


def test_a_state_of_inference_mode_can_be_read_on_from_elsewhere() -> None:
    """PyTorch forbids to write an inference tensor outside inference mode, and to record it for autograd."""
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
        begun(5).extend(keys, keys)


@pytest.mark.parametrize("shape", [(1, 2, 1, 3), (4, 1, 1, 3), (4, 2, 1, 1), (4, 2, 2, 3), (2, 1, 3)])
def test_values_of_another_shape_are_not_broadcast(plain_errors: None, shape: tuple[int, ...]) -> None:
    keys, values = torch.zeros(4, 2, 1, 3), torch.zeros(shape)
    for call in (KeyValueCache.start, begun(5).extend):
        with torch.no_grad(), pytest.raises(ValueError, match="one shape") as raised:
            call(keys, values)
        assert str(shape) in str(raised.value)
