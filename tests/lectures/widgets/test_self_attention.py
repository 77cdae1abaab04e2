"""Heads drawn: edges above a sentence, and one head step by step."""

import html
import re

import pytest
import torch
from torch import nn

from lectures import show, widgets
from nlmcore.attention import MultiHeadAttention
from nlmcore.inspect import capture
from tests.lectures.seen import seen


class Small(nn.Module):
    """Two layers of self-attention over embedded characters."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(128, 8)
        self.layers = nn.ModuleList(MultiHeadAttention(8, 2) for _ in range(2))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for layer in self.layers:
            x = x + layer(x)
        return x


class Words:
    def encode(self, text: str) -> list[int]:
        return [ord(word[0]) for word in text.split()]

    def pieces(self, text: str) -> list[str]:
        return text.split()


def test_edges_playground() -> None:
    torch.manual_seed(0)
    play = widgets.edges_playground({"small": (Small(), Words())}, ["[CLS] a b c", "d e f"])
    assert "small: layer 0, head 0; 9 edges of weight 0.05 or more" in seen(play, at_least=0.05)
    assert "[CLS]" not in seen(play)
    assert "layer 1, head 0" in seen(play, sentence="d e f", layer=1)
    with pytest.raises(ValueError, match="at least one"):
        widgets.edges_playground({}, ["a"])


def told(player: widgets.Live, **moved: object) -> str:
    return html.unescape(seen(player, **moved))


def test_a_head_in_slow_motion_has_the_models_own_numbers() -> None:
    model, text = Small(), "a b c d"
    player = widgets.head_player(model, Words(), text, layer=1, head=1, asks=2)
    assert player.controls["step"].value == 0
    opening = told(player)
    assert "Weights of" not in opening, "it opens before anything is known"
    assert told(player, mask="causal: no later token").count('fill="#636363"') == opening.count('fill="#636363"') + 1
    assert told(player, mask="none: every token can be read") == opening != told(player, number=3), "no control is dead"
    told(player, number=0)
    last = told(player, step=8)
    with torch.no_grad(), capture(model) as tape:
        ids = torch.tensor([Words().encode(text)])
        model(ids)
        x = model.embedding(ids)
        layer = model.layers[1]
        entering = x + model.layers[0](x)
    weights = tape["layers.1"][0, 1, 2]
    assert f"Weights of c: {', '.join(f'{w} {p:.2f}' for w, p in zip('abcd', weights.tolist(), strict=True))}." in last
    output = weights @ layer.value(entering)[0].unflatten(-1, (2, -1))[:, 1].detach()
    for i in range(4):
        assert f"= {output[i]:z.3f}".replace("-", "−") in told(player, number=i).rsplit("<p", 1)[1]


def test_a_head_fills_column_by_column_and_a_mask_takes_tokens_away() -> None:
    player = widgets.head_player(Small(), Words(), "a b c d", asks=1)
    columns = [told(player, step=step).count("<image") for step in range(9)]
    assert columns == [4, 8, 12, 16, 16, 16, 16, 16, 21], "a strip per token and vector, and the sum"
    assert "may read 4 of 4 tokens" in told(player, step=6)
    assert told(player, mask="causal: no later token").count(">−∞<") == 2
    assert re.search(r"c 0\.00, d 0\.00\.", told(player, step=8))
    with pytest.raises(ValueError, match="without positions"):
        widgets.head_player(nn.Linear(2, 2), Words(), "a")
    with pytest.raises(ValueError, match="step < 9"):
        show.head_html(show.Head("ab", *[torch.ones(2, 3).numpy()] * 4, torch.ones(2, 2).numpy() > 0), 0, 9)
    with pytest.raises(ValueError, match="a row of x"):
        show.Head("ab", *[torch.ones(3, 3).numpy()] * 4, torch.ones(2, 2).numpy() > 0)


def test_a_layer_that_another_model_lacks_is_said() -> None:
    short = Small()
    short.layers = short.layers[:1]
    play = widgets.edges_playground({"small": (Small(), Words()), "short": (short, Words())}, ["a b"], layer=1)
    assert "short has the layers 0 to 0" in seen(play, model="short")
