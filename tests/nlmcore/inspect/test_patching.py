"""Interventions against plain torch hooks on the same weights, with the fused kernel, the cache and shared layers."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.inspect import capture, head, neurons, outputs, patch, pathway, restore_each
from nlmcore.norms import RMSNorm
from nlmcore.positions import NoPositions, Rotary
from nlmcore.recurrent import RecurrentLM
from nlmcore.transformer import EncoderDecoder, GatedFeedForward, TransformerLM
from tests.transformer_grid import CHANGES, CONFIG, TOKENS, config_of, lively

LLAMA = {
    "n_kv_heads": 2,
    "n_layers": 3,
    "norm": RMSNorm,
    "positions": NoPositions,
    "attention_positions": Rotary,
    "feed_forward": partial(GatedFeedForward, bias=False),
}


@pytest.fixture(params=["GPT", "Llama"])
def model(request: pytest.FixtureRequest) -> Any:
    return lively(TransformerLM(config_of("pre", **(LLAMA if request.param == "Llama" else {"n_layers": 3}))))


@contextmanager
def hook(module: nn.Module, edit: Callable[[Tensor], None], before: bool = False) -> Iterator[None]:
    """An independent intervention: PyTorch's own hook, which edits a copy."""

    def copied(x: Tensor) -> Tensor:
        x = x.clone()
        edit(x)
        return x

    if before:
        handle = module.register_forward_pre_hook(lambda _, given: (copied(given[0]), *given[1:]))
    else:
        handle = module.register_forward_hook(lambda _, given, result: copied(result))
    yield
    handle.remove()


def same(model: Any, changes: Any, positions: Any, module: nn.Module, edit: Any, before: bool = False) -> None:
    plain = model(TOKENS)[0]
    with patch(model, changes, positions):
        ours = model(TOKENS)[0]
    with hook(module, edit, before=before):
        theirs = model(TOKENS)[0]
    assert torch.allclose(ours, theirs, atol=1e-12)
    assert not torch.allclose(ours, plain, atol=1e-4)
    assert torch.equal(model(TOKENS)[0], plain)
    assert not {"forward", "step", "hidden_states"} & {name for part in model.modules() for name in vars(part)}


def test_a_head_is_ablated_as_by_a_hook(model: Any) -> None:
    def edit(x: Tensor) -> None:
        x[..., 2 * 2 : 3 * 2] = 0  # d_head is 2

    same(model, {head(model, "layers.1.attention", 2): 0}, None, model.layers[1].attention.output, edit, before=True)


def test_a_sublayer_is_replaced_at_some_positions_as_by_a_hook(model: Any) -> None:
    value = torch.arange(12.0, dtype=torch.float64)

    def edit(x: Tensor) -> None:
        x[:, [1, 6]] = value

    same(model, {"layers.0.feed_forward": value}, [1, -1], model.layers[0].feed_forward, edit)


def test_neurons_are_set_as_by_a_hook(model: Any) -> None:
    values = torch.tensor([[1.0, -2.0], [3.0, 4.0]], dtype=torch.float64)  # (position, unit)

    def edit(x: Tensor) -> None:
        x[:, 2, [3, 7]], x[:, 4, [3, 7]] = values[0], values[1]

    outer = model.layers[2].feed_forward.outer
    same(model, {neurons("layers.2.feed_forward", [3, 7]): values}, [2, 4], outer, edit, before=True)


def test_the_pathway_is_steered_as_by_a_hook_on_the_sublayer_before(model: Any) -> None:
    direction = torch.linspace(-1, 1, 12, dtype=torch.float64)

    def edit(x: Tensor) -> None:
        x[:, 3] += 5 * direction

    same(model, {"layers.1": lambda x: x + 5 * direction}, 3, model.layers[1].feed_forward.outer, edit)


def test_a_step_by_hand_of_the_replaced_pathway(model: Any) -> None:
    other = model.embed(TOKENS.flip(1))
    with patch(model, {"layers.0": other}):
        ours = model(TOKENS)[0]
    x = other
    for layer in model.layers[1:]:
        x, _ = layer(x)
    assert torch.equal(ours, model.output(model.final_norm(x)))


def test_the_fused_kernel_the_recorded_weights_and_the_cache_agree(model: Any) -> None:
    change = {head(model, "layers.0.attention", 1): lambda x: -x, "layers.1": torch.ones(2, 12, dtype=torch.float64)}
    with patch(model, change, [2, 5]):
        whole = model(TOKENS)[0]
        with capture(model):
            explicit = model(TOKENS)[0]
        pieces, state = [], None
        for chunk in TOKENS.split([4, 1, 1, 1], dim=1):
            logits, state = model(chunk, state)
            pieces.append(logits)
    assert torch.allclose(whole, explicit, atol=1e-10)
    assert torch.allclose(whole, torch.cat(pieces, 1), atol=1e-10)


@pytest.mark.parametrize("name", [name for name in CHANGES if name not in ("one layer",)])
def test_of_every_transformer_a_head_can_be_ablated(name: str) -> None:
    model = lively(TransformerLM(config_of(name)))
    place = head(model, "layers.1.attention", 0)
    with outputs(model, place) as seen, pathway(model) as before:
        plain = model(TOKENS)[0]
    assert seen[0].shape == (3, 7, model.config.head_size)
    with patch(model, {place: 0}), pathway(model) as branches:
        ablated = model(TOKENS)[0]
    assert not torch.equal(plain, ablated)
    turn = next(branch for branch in branches if branch.name == "layers.1.residual_attention")
    written = seen[0] @ model.layers[1].attention.output.weight[:, : model.config.head_size].T
    if name != "shared blocks":  # there layer 0 is the same module, but only the turn of layer 1 counts
        assert torch.allclose(before[2].y - turn.y, written)
    assert torch.equal(before[1].result, branches[1].result)
    assert torch.equal(model(TOKENS)[0], plain)


def test_a_cross_attention_and_a_recurrent_layer_are_places_too() -> None:
    model = lively(EncoderDecoder(CONFIG))
    with patch(model, {"decoder.layers.0.cross_attention": 0}):
        ours, _ = model(TOKENS, model.encode(TOKENS))
    with hook(model.decoder.layers[0].cross_attention.output, lambda x: x.zero_()):
        theirs, _ = model(TOKENS, model.encode(TOKENS))
    assert torch.equal(ours, theirs)
    with patch(model, {"decoder.layers.0": 0}, 5):  # positions of the target, read in two calls
        state = model(TOKENS[:, :4], model.encode(TOKENS))[1]
        pieces = model(TOKENS[:, 4:], state)[0]
        whole = model(TOKENS, model.encode(TOKENS))[0]
    assert torch.allclose(whole[:, 4:], pieces)

    lstm = lively(RecurrentLM(11, d_embedding=6, d_hidden=6))
    inner = next(name for name, part in lstm.named_modules() if type(part).__name__ == "Recurrent")
    with patch(lstm, {inner: 0}, 2):
        logits, _ = lstm(TOKENS)
    assert torch.allclose(logits[:, 2], lstm.output(torch.zeros(3, 6, dtype=torch.float64)))


def test_the_model_is_as_before_after_an_error(model: Any) -> None:
    with pytest.raises(RuntimeError, match="midway"), patch(model, {"layers.0": 0}, 1), patch(model, {"layers.1": 0}):
        raise RuntimeError("midway")
    assert not {"forward", "step", "hidden_states"} & {name for part in model.modules() for name in vars(part)}


def test_what_cannot_be_patched_is_said(model: Any, plain_errors: None) -> None:
    def fails(changes: Any, positions: Any = None) -> None:
        with patch(model, changes, positions):
            model(TOKENS)

    with pytest.raises(ValueError, match=r"has no module 'layer\.1'; close: layers\.1"):
        fails({"layer.1": 0})
    with pytest.raises(ValueError, match=r"number must be a head in \[0, 6\), got 6"):
        head(model, "layers.1.attention", 6)
    with pytest.raises(ValueError, match=r"must name a multi-head attention, got 'layers\.1\.feed_forward'"):
        head(model, "layers.1.feed_forward", 0)
    with pytest.raises(ValueError, match=r"changes\['layers\.1'\] must have shape \(3, 2, 12\), .* got \(3,\)"):
        fails({"layers.1": torch.zeros(3, dtype=torch.float64)}, [0, 1])
    with pytest.raises(TypeError, match="must be a number, a tensor or a function, got str"):
        fails({"layers.1": "zero"})
    with pytest.raises(ValueError, match=r"'layers\.1' must run inside the `with`, .*not at \{99\}"):
        fails({"layers.1": 0}, [1, 99])
    with pytest.raises(ValueError, match="must run inside the `with`"), patch(model, {"layers.1": 0}):
        pass
    with pytest.raises(TypeError, match="model must be a torch module, got str"), patch("gpt", {"layers.1": 0}):  # type: ignore[arg-type]
        pass


def test_each_row_restores_one_position(model: Any) -> None:
    clean, corrupted = TOKENS[0], TOKENS[0].clone()
    corrupted[1] = 9
    found = restore_each(model, clean, corrupted, "layers.1")
    for t in range(7):
        x, good = model.embed(corrupted[None]), model.embed(clean[None])
        for layer in model.layers[:2]:
            (x, _), (good, _) = layer(x), layer(good)
        x[:, t] = good[:, t]
        x, _ = model.layers[2](x)
        assert torch.allclose(found[t], model.output(model.final_norm(x))[0, -1])
    assert torch.allclose(found[0], model(corrupted[None])[0][0, -1])  # both texts begin alike
    last = restore_each(model, clean, corrupted, "layers.2", [6])
    assert torch.allclose(last[0], model(clean[None])[0][0, -1])


def test_texts_of_different_lengths_are_refused(model: Any, plain_errors: None) -> None:
    with pytest.raises(ValueError, match="equal lengths, got 7 and 6"):
        restore_each(model, TOKENS[0], TOKENS[1, :6], "layers.1")
