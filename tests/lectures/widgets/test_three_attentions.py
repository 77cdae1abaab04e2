"""The three attentions of an encoder-decoder, word by word."""

import dataclasses
import re
from typing import Any

import pytest
import torch

from lectures import widgets
from nlmcore.inspect import capture
from nlmcore.seq2seq import Seq2Seq
from nlmcore.transformer import EncoderDecoder
from tests.lectures.seen import seen
from tests.transformer_grid import CONFIG as GRID
from tests.transformer_grid import lively

PAIRS = [
    widgets.Pair(["a", "b", "c"], torch.tensor([3, 4, 5]), ["<bos>", "x", "y", "<eos>"], torch.tensor([1, 6, 7, 2])),
    widgets.Pair(["b", "a"], torch.tensor([4, 3]), ["<bos>", "y", "<eos>"], torch.tensor([1, 7, 2])),
]


def encoder_decoder(**changes: Any) -> EncoderDecoder:
    return lively(EncoderDecoder(dataclasses.replace(GRID, **changes)))


def cells(picture: str) -> list[tuple[str, str, str]]:
    """(row, column, weight) of every cell of the three tables."""
    return re.findall(r"<title>(.*?) → (\S+): (\S+?)</title>", picture.replace("&lt;", "<").replace("&gt;", ">"))


def test_every_cell_is_the_models_own_weight() -> None:
    given = encoder_decoder()
    player = widgets.source_and_target_player(given, PAIRS)
    shown = cells(seen(player, pair=1, layer=1, head=4))
    with torch.no_grad(), capture(given) as tape:
        given(torch.tensor([[1, 7]]), given.encode(torch.tensor([[4, 3]])))
    parts = ("encoder.layers.1.attention", "decoder.layers.1.attention", "decoder.layers.1.cross_attention")
    expected = [f"{weight:.3f}" for name in parts for weight in tape[name][0, 4].flatten().tolist()]
    assert expected[5] == "0.000"
    expected[5] = "masked"  # the decoder's first word, its second column
    assert [weight for _, _, weight in shown] == expected
    names = [(row, column) for row, column, _ in shown]
    assert names[:4] == [("b", "b"), ("b", "a"), ("a", "b"), ("a", "a")]
    assert names[4:8] == [(row, column) for row in ("<bos> → y", "y → <eos>") for column in ("<bos>", "y")]
    assert names[8:] == [(row, column) for row in ("<bos> → y", "y → <eos>") for column in ("b", "a")]


def test_the_framed_row_tells_what_the_model_says_next() -> None:
    given = encoder_decoder()
    player = widgets.source_and_target_player(given, PAIRS)
    with torch.no_grad():
        logits, _ = given(PAIRS[0].target_tokens[None], given.encode(PAIRS[0].source_tokens[None]))
    chance = logits[0, 1].softmax(-1)[7]
    assert f"having read &lt;bos&gt; x, it says &#x27;y&#x27; with {chance:.2f}" in seen(player, row=1)
    assert "having read &lt;bos&gt; y, it says" in seen(player, row=2, pair=1), "past the end: the last row"


def test_pairs_that_cannot_be_played_are_named() -> None:
    with pytest.raises(ValueError, match="at least one pair"):
        widgets.source_and_target_player(encoder_decoder(), [])
    for wrong, words in (
        (PAIRS[0]._replace(source=["a"]), r"got 1 words and tokens \(3,\) for the source"),
        (PAIRS[0]._replace(target=["<bos>"], target_tokens=torch.tensor([1])), r"1 words .* for the target"),
        (PAIRS[0]._replace(source_tokens=torch.tensor([[3, 4, 5]])), r"tokens \(1, 3\) for the source"),
    ):
        with pytest.raises(ValueError, match=words):
            widgets.source_and_target_player(encoder_decoder(), [wrong])
    attentive = Seq2Seq(11, 11, context="attention")
    with pytest.raises(ValueError, match="Seq2Seq has no encoder and decoder of one depth"):
        widgets.source_and_target_player(attentive, PAIRS)
    deeper = EncoderDecoder(GRID, dataclasses.replace(GRID, n_layers=3))
    with pytest.raises(ValueError, match="of one depth"):
        widgets.source_and_target_player(deeper, PAIRS)
