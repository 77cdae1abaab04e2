"""Widgets without a browser: controls are moved from Python, the picture must follow."""

import pytest
import torch

from lectures import widgets
from lectures.widgets.attention import all_attention
from nlmcore.attention import attend, causal_mask, dot_score
from nlmcore.pretrained import minilm
from tests.lectures.seen import seen

SENTENCES = ["The cat sat on the mat.", "Birds fly."]


def explorer(**options) -> widgets.Live:
    return widgets.attention_explorer(*minilm(), SENTENCES, **options)


def test_the_explorer_shows_the_heads_own_weights() -> None:
    widget = explorer(layer=0, head=2, token="cat")
    words, weights = all_attention(*minilm(), SENTENCES[0])
    row = weights[0, 2, words.index("cat")]
    assert f"cat looks most at {words[row.argmax()]}, weight {row.max():.2f}" in seen(widget)
    assert seen(widget) != seen(widget, head=3)
    assert "layer 0, head 3" in seen(widget)


def test_a_new_sentence_brings_new_words() -> None:
    widget = explorer(token="mat")
    assert "birds" in seen(widget, sentence=SENTENCES[1])
    assert widget.controls["selected"].value is None
    assert [name for name, _ in widget.controls["selected"].options][1:3] == ["[CLS]", "birds"]


def test_a_sentence_of_ones_own() -> None:
    widget = explorer()
    assert "&lt;" in seen(widget, own="Dogs and <b>dogs</b>")
    labels = [name for name, _ in widget.controls["selected"].options]
    assert "dogs" in labels
    assert "dogs (2)" in labels
    assert "birds" in seen(widget, sentence=SENTENCES[1])
    assert widget.controls["own"].value == "", "choosing a sentence takes precedence again"


def test_a_sentence_that_is_too_long_is_explained_and_forgiven() -> None:
    widget = explorer()
    assert "room for 40" in seen(widget, own="word " * 60)
    assert "mat" in seen(widget, own="")


def test_an_unknown_token_is_named() -> None:
    with pytest.raises(ValueError, match=r"'dog'.*cat"):
        explorer(token="dog")


def test_playgrounds_use_the_function_they_are_handed() -> None:
    calls = []

    def mine(scores, values, mask=None):
        calls.append(scores)
        return attend(scores, values, mask)

    softmax = widgets.softmax_playground(mine, [1.5, 0.9, 0.3, -0.5], ["a", "b", "c", "d"])
    assert ">0.50<" in seen(softmax)
    assert seen(softmax, scale=0.0).count(">0.25<") == 4
    keys = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    widgets.query_playground(mine, {"dot": dot_score}, keys, ["x", "y"]).controls["angle"].value = 90
    widgets.width_playground(mine).controls["divide"].value = True
    masks = {"none": torch.ones(2, 2, dtype=torch.bool), "causal": causal_mask(2)}
    mask = widgets.mask_playground(mine, ["a", "b"], torch.zeros(2, 2), masks)
    assert "×" in seen(mask, mask="causal")
    assert len(calls) >= 8


def test_yours_is_drawn_beside_the_reference_and_told_apart() -> None:
    def wrong(scores: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        weights = torch.sigmoid(scores)
        return weights @ values, weights

    def broken(scores: torch.Tensor, values: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        raise KeyError("<scores>")

    def forgetful(scores: torch.Tensor, values: torch.Tensor) -> None:
        torch.sigmoid(scores) @ values

    def shown(yours) -> str:
        return seen(widgets.softmax_playground(attend, [1.0, 2.0], ["a", "b"], yours=yours))

    assert "yours draws the same picture" in shown(attend)
    assert "yours draws a different picture" in shown(wrong)
    assert [shown(one).count("<svg ") for one in (attend, wrong)] == [1, 2], "the same picture is shown once"
    assert "yours raised an error" in shown(broken)
    assert "forgetful returned None: is its return missing?" in shown(forgetful)
    assert "KeyError: &#x27;&lt;scores&gt;&#x27;" in shown(broken)
    assert "yours" not in seen(widgets.softmax_playground(attend, [1.0, 2.0], ["a", "b"]))
