"""Funnel Transformer: a text that gets shorter, where it is pooled, and what becomes of padding."""

from typing import Any

import pytest
import torch
from torch import Tensor

from nlmcore.transformer import TransformerEncoder
from nlmcore.variants import CATALOGUE
from nlmcore.variants.funnel import pool, shorten
from tests.laws import assert_close
from tests.nlmcore.variants.test_catalogue import MASK, SIZES, SOURCE, TOKENS, VOCAB, build, stirred

FUNNEL = CATALOGUE["Funnel Transformer"]
TEXT = torch.randint(0, VOCAB, (3, 7), generator=torch.Generator().manual_seed(8))
LENGTHS = torch.tensor([7, 5, 2])
REAL = torch.arange(7) < LENGTHS[:, None]


def encoder(**sizes: Any) -> Any:
    torch.manual_seed(0)
    return stirred(TransformerEncoder(FUNNEL.config(VOCAB, **{**SIZES, **sizes})))


def test_neighbours_become_their_mean_and_padding_is_left_out() -> None:
    x = torch.tensor([[1.0, 3.0, 10.0, 20.0, 7.0], [1.0, 3.0, 10.0, 99.0, 99.0], [4.0, 99.0, 99.0, 99.0, 99.0]])
    real = torch.arange(5) < torch.tensor([5, 3, 1])[:, None]
    y, left = pool(x[..., None], real[:, None, None])
    assert y[..., 0].tolist() == [[2.0, 15.0, 7.0], [2.0, 10.0, 0.0], [4.0, 0.0, 0.0]]
    assert left[:, 0, 0].tolist() == [[True, True, True], [True, True, False], [True, False, False]]
    assert shorten(torch.tensor([False, True, False, False])).tolist() == [True, False]


@pytest.mark.parametrize(
    ("n_layers", "pooled"), [(12, (8, 16)), (6, (4, 8)), (5, (4, 8)), (4, (4,)), (3, (2, 4)), (2, (2,)), (1, ())]
)
def test_three_blocks_of_layers(n_layers: int, pooled: tuple[int, ...]) -> None:
    """Of 12 layers the attention of the fifth and of the ninth, which are layers 8 and 16 of the stack."""
    model = encoder(n_layers=n_layers)
    assert model.layers.pooled == pooled
    assert "".join("s" if hasattr(layer, "attention") else "f" for layer in model.layers) == "sf" * n_layers
    length = 7
    for _ in pooled:
        length = (length + 1) // 2
    assert model(TEXT).shape == (3, length, 20)


def by_hand(model: Any, text: Tensor) -> Tensor:
    """One text without padding, (time,), through 3 layers of which the second and the third pool."""
    x = model.embed(text[None])
    for i in range(3):
        s, f = model.layers[2 * i], model.layers[2 * i + 1]
        x = x + s.attention(s.residual_attention.norm(x))
        if i > 0:
            x = torch.stack([x[0, t : t + 2].mean(0) for t in range(0, x.shape[1], 2)])[None]
        x = x + f.feed_forward(f.residual_feed_forward.norm(x))
    return model.final_norm(x)[0]


def test_a_text_is_pooled_between_attention_and_feed_forward_network() -> None:
    model = encoder(n_layers=3)
    with torch.no_grad():
        whole = model(TEXT, REAL)
        for row, length, seen in zip(range(3), LENGTHS.tolist(), (2, 2, 1), strict=True):
            alone = by_hand(model, TEXT[row, :length])
            assert alone.shape == (seen, 20)
            assert_close(whole[row, :seen], alone, f"a text of {length} among longer ones")


def test_the_decoder_leaves_out_what_was_padding() -> None:
    model = stirred(build(FUNNEL, n_layers=3))
    with torch.no_grad():
        many, _ = model(TOKENS, model.encode(TEXT, REAL))
        for row, length in enumerate(LENGTHS.tolist()):
            alone, _ = model(TOKENS[row : row + 1], model.encode(TEXT[row : row + 1, :length]))
            assert_close(many[row : row + 1], alone, f"a source of {length}")
        assert model.encode(TEXT, REAL).memories[0].keys.shape[2] == 2


def test_a_source_of_padding_alone_stays_finite() -> None:
    model = stirred(build(FUNNEL, n_layers=3))
    nothing = MASK.clone()
    nothing[1] = False
    y, _ = model(TOKENS, model.encode(SOURCE, nothing))
    assert y.isfinite().all()
    y.sum().backward()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


def test_what_cannot_be_pooled_is_named(plain_errors: None) -> None:
    model = encoder()
    with pytest.raises(ValueError, match=r"mask must say which tokens are real, \(3, 1, 1, 7\) here, got \(7, 7\)"):
        model.layers(model.embed(TEXT), torch.ones(7, 7).bool())
