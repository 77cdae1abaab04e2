"""The encoder against torch.nn with copied weights, and its laws."""

import dataclasses

import pytest
import torch
from torch import nn

from nlmcore.positions import SinusoidalPositions
from nlmcore.transformer import Block, TransformerConfig, TransformerEncoder
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient

CONFIG = TransformerConfig(vocab_size=11, d_model=12, n_heads=3, n_layers=2, max_length=8, d_ff=20)
TOKENS = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])


@pytest.mark.parametrize("norm_position", ["pre", "post"])
def test_a_block_agrees_with_pytorch(norm_position: str) -> None:
    ours = Block(dataclasses.replace(CONFIG, norm_position=norm_position)).eval()
    theirs = nn.TransformerEncoderLayer(
        12, 3, 20, dropout=0.0, activation="gelu", batch_first=True, norm_first=norm_position == "pre"
    ).eval()
    a = ours.attention
    weights = {
        "self_attn.in_proj_weight": torch.cat([a.query.weight, a.key.weight, a.value.weight]),
        "self_attn.in_proj_bias": torch.cat([a.query.bias, a.key.bias, a.value.bias]),
        "self_attn.out_proj": a.output,
        "linear1": ours.feed_forward.inner,
        "linear2": ours.feed_forward.outer,
        "norm1": ours.around_attention.norm,
        "norm2": ours.around_feed_forward.norm,
    }
    state = {}
    for name, part in weights.items():
        if isinstance(part, nn.Module):
            state |= {f"{name}.weight": part.weight, f"{name}.bias": part.bias}
        else:
            state[name] = part
    theirs.load_state_dict(state)
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0))
    real = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])
    with torch.no_grad():
        expected = theirs(x, src_key_padding_mask=~real)
        actual = ours(x, real[:, None, None, :])
    assert_close(actual[real], expected[real], "hidden vectors of real tokens")


@pytest.mark.parametrize("norm_position", ["pre", "post"])
def test_padding_changes_nothing(norm_position: str) -> None:
    model = TransformerEncoder(dataclasses.replace(CONFIG, norm_position=norm_position)).eval()
    alone = model(TOKENS[:, :3])
    padded = torch.cat([TOKENS[:, :3], torch.zeros(2, 4, dtype=torch.long)], dim=1)
    mask = torch.arange(7).expand(2, 7) < 3
    assert_close(model(padded, mask)[:, :3], alone, "real tokens, padded and not")
    assert (model(padded)[:, :3] - alone).abs().max() > 1e-3, "without a mask the padding must be seen"


def test_every_token_sees_every_other() -> None:
    model = TransformerEncoder(CONFIG).eval()
    changed = TOKENS.clone()
    changed[:, -1] = 1
    assert ((model(changed) - model(TOKENS)).abs().amax(-1) > 1e-5).all()


def test_parts_are_handed_in() -> None:
    config = dataclasses.replace(
        CONFIG,
        norm=nn.RMSNorm,
        positions=SinusoidalPositions,
        embedding_norm=nn.LayerNorm,
        scale_embeddings=True,
        n_kv_heads=1,
    )
    model = TransformerEncoder(config)
    assert isinstance(model.layers[0].around_attention.norm, nn.RMSNorm)
    assert isinstance(model.positions, SinusoidalPositions)
    for name, parameter in model.named_parameters():
        if name.endswith("key.bias"):  # softmax ignores a constant added to a row of scores
            parameter.requires_grad_(False)
    model.embedding.weight.requires_grad_(False)  # not every token of the vocabulary is in the text
    assert_every_parameter_gets_a_gradient(model, model(TOKENS))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"d_model": 10}, "d_model=10, n_heads=3"),
        ({"n_kv_heads": 2}, "n_heads=3, n_kv_heads=2"),
        ({"n_layers": 0}, "n_layers must be at least 1, got 0"),
        ({"dropout": 1.5}, r"dropout must lie in \[0, 1\), got 1.5"),
        ({"norm_position": "middle"}, "'pre' or 'post', got 'middle'"),
        ({"d_ff": 0}, "d_ff"),
    ],
)
def test_contradictions_are_named(plain_errors: None, change: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        dataclasses.replace(CONFIG, **change)


@pytest.mark.parametrize(
    "change", [{"n_layers": 1.5}, {"dropout": "x"}, {"norm": "layer"}, {"positions": None}, {"attention": 3}]
)
def test_a_part_must_be_callable_and_a_size_whole(plain_errors: None, change: dict) -> None:
    with pytest.raises(TypeError, match=next(iter(change))):
        dataclasses.replace(CONFIG, **change)


def test_bad_input_is_named(plain_errors: None) -> None:
    model = TransformerEncoder(CONFIG)
    with pytest.raises(ValueError, match=r"\[0, 11\)"):
        model(torch.tensor([[11]]))
    with pytest.raises(ValueError, match="9 tokens"):
        model(torch.ones(1, 9, dtype=torch.long))
    with pytest.raises(ValueError, match="mask must have"):
        model(TOKENS, torch.ones(2, 4, dtype=torch.bool))
    with pytest.raises(TypeError, match="float32"):
        model(TOKENS.float())
    with pytest.raises(TypeError, match="boolean"):
        model(TOKENS, torch.ones(2, 5))
