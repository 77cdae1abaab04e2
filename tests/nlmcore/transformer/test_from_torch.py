"""PyTorch's attention and Transformer in ours: the same numbers in float64, with and without padding."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from nlmcore.attention import CausalAttention, MultiHeadAttention
from nlmcore.transformer import EncoderDecoder, TransformerEncoder, block_from_torch
from tests.laws import assert_close
from tests.transformer_grid import TOLERANCE, lively

X = torch.randn(3, 5, 12, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
SOURCE = torch.randn(3, 4, 12, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
REAL = torch.arange(4) < torch.tensor([4, 2, 3])[:, None]
TOKENS = torch.tensor([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10], [3, 1, 4, 1, 5]])
TEXT = torch.tensor([[4, 3, 2, 1], [5, 6, 0, 0], [7, 7, 1, 0]])
FUTURE = torch.ones(5, 5, dtype=torch.bool).triu(1)  # PyTorch's polarity: True = ignore
LAYERS: dict[str, dict[str, Any]] = {
    "post": {},
    "pre": {"norm_first": True},
    "GELU": {"activation": "gelu", "layer_norm_eps": 1e-3},
    "no bias": {"bias": False},
}


@pytest.mark.parametrize("bias", [True, False])
def test_attention_agrees_with_pytorch(bias: bool) -> None:
    theirs = lively(nn.MultiheadAttention(12, 3, bias=bias, batch_first=True))
    ours = MultiHeadAttention.from_torch(theirs)
    with torch.no_grad():
        expected, _ = theirs(X, SOURCE, SOURCE, key_padding_mask=~REAL)
        assert_close(ours(X, SOURCE, REAL[:, None, None, :]), expected, "cross-attention", TOLERANCE)
        causal, _ = CausalAttention.from_torch(theirs)(X)
        assert_close(causal, theirs(X, X, X, attn_mask=FUTURE)[0], "causal", TOLERANCE)
    assert not ours.training


@pytest.mark.parametrize(
    "options", [{"kdim": 5, "vdim": 5}, {"add_bias_kv": True}, {"add_zero_attn": True}], ids=lambda o: next(iter(o))
)
def test_what_ours_has_not_is_refused(plain_errors: None, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="module must have one width"):
        MultiHeadAttention.from_torch(nn.MultiheadAttention(12, 3, **options))
    with pytest.raises(TypeError, match="module must be a MultiheadAttention, got Linear"):
        MultiHeadAttention.from_torch(nn.Linear(2, 3))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", LAYERS)
def test_layers_agree_with_pytorch(name: str) -> None:
    encoder = lively(nn.TransformerEncoderLayer(12, 3, 20, batch_first=True, **LAYERS[name]))
    decoder = lively(nn.TransformerDecoderLayer(12, 3, 20, batch_first=True, **LAYERS[name]))
    with torch.no_grad():
        expected = encoder(SOURCE, src_key_padding_mask=~REAL)[REAL]  # its fast path zeroes the padding
        ours = block_from_torch(encoder)(SOURCE, REAL[:, None, None, :])[REAL]
        assert_close(ours, expected, "encoder", TOLERANCE)
        block = block_from_torch(decoder)
        y, _ = block(X, None, block.project_source(SOURCE), REAL[:, None, None, :])
        expected = decoder(X, SOURCE, tgt_mask=FUTURE, memory_key_padding_mask=~REAL)
        assert_close(y, expected, "decoder", TOLERANCE)


@pytest.mark.parametrize("norm", [None, nn.LayerNorm(12, eps=1e-4)])
@pytest.mark.parametrize("name", LAYERS)
def test_an_encoder_agrees_with_pytorch(name: str, norm: Any) -> None:
    layer = nn.TransformerEncoderLayer(12, 3, 20, batch_first=True, **LAYERS[name])
    theirs = lively(nn.TransformerEncoder(layer, 2, norm, enable_nested_tensor=False))
    embedding = lively(nn.Embedding(11, 12), 1)
    ours = TransformerEncoder.from_torch(theirs, embedding)
    with torch.no_grad():
        expected = theirs(embedding(TEXT), src_key_padding_mask=~REAL)
        assert_close(ours(TEXT, REAL)[REAL], expected[REAL], "hidden vectors", TOLERANCE)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor")
@pytest.mark.parametrize("name", LAYERS)
def test_an_encoder_decoder_agrees_with_pytorch(name: str) -> None:
    theirs = lively(nn.Transformer(12, 3, 2, 3, 20, batch_first=True, **LAYERS[name]))
    source, target = lively(nn.Embedding(8, 12), 1), lively(nn.Embedding(11, 12), 2)
    ours = EncoderDecoder.from_torch(theirs, source, target)

    def logits(tokens: Tensor) -> Tensor:
        masks = {"src_key_padding_mask": ~REAL, "memory_key_padding_mask": ~REAL}
        return theirs(source(TEXT), target(tokens), tgt_mask=FUTURE, **masks) @ target.weight.T

    with torch.no_grad():
        state = ours.encode(TEXT, REAL)
        first, state = ours(TOKENS[:, :2], state)
        whole = torch.cat([first, ours(TOKENS[:, 2:], state)[0]], 1)
        assert_close(whole, logits(TOKENS), "logits, in two pieces", TOLERANCE)
