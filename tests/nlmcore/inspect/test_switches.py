"""Parts switched off: every set gives what `patch` gives on the whole model, whatever was off before."""

import random
from typing import Any

import pytest
import torch

from nlmcore.attention import window_mask
from nlmcore.inspect import Part, Switches, ablation, capture, head, outputs, patch, sizes
from nlmcore.positions import NoPositions
from nlmcore.transformer import TransformerEncoder, TransformerLM
from tests.nlmcore.inspect.test_patching import LLAMA
from tests.transformer_grid import TOKENS, config_of, lively

TEXT = TOKENS[:1]


@pytest.fixture(params=["pre", "Llama"])
def model(request: pytest.FixtureRequest) -> TransformerLM:
    return lively(TransformerLM(config_of("pre", **(LLAMA if request.param == "Llama" else {"n_layers": 3}))))


@torch.no_grad()
def on_the_whole(model: TransformerLM, parts: set[Part]) -> torch.Tensor:
    """Each part by itself, nested, on a whole forward pass."""
    places = [f"layers.{i}.feed_forward" if k is None else head(model, f"layers.{i}.attention", k) for i, k in parts]
    with patch(model, dict.fromkeys(places, 0)):
        return model(TEXT)[0][0, -1].log_softmax(-1)


def test_a_walk_of_switches_is_as_good_as_beginning_anew(model: TransformerLM) -> None:
    choose, switches, off = random.Random(3), Switches(model, TEXT), set[Part]()
    layers, heads = len(model.layers), model.config.n_heads
    for _ in range(25):
        off ^= {(choose.randrange(layers), choose.choice([None, *range(heads)]))}
        assert torch.allclose(switches.off(off), on_the_whole(model, off), atol=1e-9)
    assert torch.allclose(switches.off([]), on_the_whole(model, set()), atol=1e-9)


def test_what_is_below_the_switch_is_not_computed_again(model: TransformerLM) -> None:
    switches = Switches(model, TEXT)
    with outputs(model, "layers.0") as below, outputs(model, "layers.1") as at:
        switches.off({(1, 0), (2, None)})
        switches.off({(2, None)})
        assert (len(below), len(at)) == (0, 2)
        switches.off({(2, None)})
        assert len(at) == 2, "nothing has changed"


def test_of_an_encoder_a_hidden_token_is_asked_for() -> None:
    encoder: Any = lively(TransformerEncoder(config_of("pre", n_layers=3)))
    encoder.hidden_states = encoder.__call__
    encoder.output = torch.nn.Linear(encoder.config.d_model, 7).to(encoder.embedding.weight)
    switches = Switches(encoder, TEXT, position=1)
    for off in ({(1, 0), (2, None)}, {(0, 1)}, set[Part]()):
        with torch.no_grad(), patch(encoder, ablation(encoder, off)):
            expected = encoder.output(encoder(TEXT))[0, 1].log_softmax(-1)
        assert torch.allclose(switches.off(off), expected, atol=1e-9)


def test_each_part_alone_in_one_batch(model: TransformerLM) -> None:
    switches, heads = Switches(model, TEXT), range(model.config.n_heads)
    switches.off({(0, 0)})  # `each` begins with everything on
    for layer in range(len(model.layers)):
        alone = [{(layer, k)} for k in (*heads, None)] + [{(layer, k) for k in (*heads, None)}]
        found = switches.each(layer)
        assert all(
            torch.allclose(row, on_the_whole(model, off), atol=1e-9) for row, off in zip(found, alone, strict=True)
        )


def test_heads_look_elsewhere_when_something_below_is_off(model: TransformerLM) -> None:
    switches, off = Switches(model, TEXT), {(0, None)}
    switches.off(off)
    with torch.no_grad(), patch(model, ablation(model, off)), capture(model) as tape:
        model(TEXT)
    assert torch.allclose(switches.weights(1), tape["layers.1.attention"][0])
    with pytest.raises(ValueError, match="a head in"):
        switches.off({(1, 99)})


@torch.no_grad()
def test_through_a_mask_only_what_it_allows_is_read(model: TransformerLM) -> None:
    n = TEXT.shape[1]
    switches, whole = Switches(model, TEXT), on_the_whole(model, set())
    assert torch.allclose(switches.off([], window_mask(n, None)), whole, atol=1e-9)
    told = switches.off([], window_mask(n, 1))
    assert not torch.allclose(told, whole, atol=1e-3)
    if model.config.positions is NoPositions:  # rotations cancel where a token reads itself only
        assert torch.allclose(told, Switches(model, TEXT[:, -1:]).off([]), atol=1e-9)
    assert torch.allclose(switches.weights(1), torch.eye(n, dtype=told.dtype).expand(model.config.n_heads, n, n))
    assert torch.allclose(switches.off({(1, 0)}), on_the_whole(model, {(1, 0)}), atol=1e-9), "the mask is gone"


@torch.no_grad()
def test_a_direction_is_added_at_the_last_token(model: TransformerLM) -> None:
    switches, push = (
        Switches(model, TEXT),
        torch.randn(model.config.d_model, generator=torch.Generator().manual_seed(1)),
    )
    for off in (set[Part](), {(0, 0), (2, None)}):
        with patch(model, {"layers.1": lambda x: x + push}, -1):
            wanted = on_the_whole(model, off)
        assert torch.allclose(switches.off(off, steer=(1, lambda x: x + push)), wanted, atol=1e-9)
    assert torch.allclose(switches.off([]), on_the_whole(model, set()), atol=1e-9)


def test_the_lens_ends_in_what_the_model_says_with_what_is_off(model: TransformerLM) -> None:
    switches, off = Switches(model, TEXT), {(1, None)}
    with torch.no_grad():
        first = model.output(model.final_norm(switches.depths[0]))[0].log_softmax(-1)
    for parts in (off, set[Part]()):
        told = switches.off(parts)
        read = switches.lens()
        assert read.shape == (len(model.layers) + 1, TEXT.shape[1], told.shape[-1])
        assert torch.allclose(read[-1, -1], told, atol=1e-9)
        assert torch.allclose(read[0], first, atol=1e-9), "no part is below the embedding"


def test_what_a_head_brings_adds_up_to_what_it_adds(model: TransformerLM) -> None:
    found, place = sizes(model, TEXT), head(model, "layers.1.attention", 1)
    with torch.no_grad(), outputs(model, place) as z, outputs(model, "layers.1") as after:
        model(TEXT)
    W = model.layers[1].attention.output.weight[:, list(place.features or ())]
    length = after[0][0].norm(dim=-1)
    assert torch.allclose(found.heads[1, 1], (z[0][0] @ W.T).norm(dim=-1) / length)
    first = found.brought[1, 1, 0]  # the first position looks at nothing but itself
    assert torch.allclose(first, torch.eye(len(first))[0].double() * found.heads[1, 1, 0])
    assert (found.brought.sum(-1) >= found.heads - 1e-9).all(), "vectors together are not longer than one by one"
