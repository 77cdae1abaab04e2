"""Heads as edges, and shuffled sentences."""

from itertools import permutations

import pytest
import torch
from torch import nn

from lectures import show, widgets
from lectures.show.edges import _levels
from nlmcore.attention import MultiHeadAttention, causal_mask


def test_strong_edges_are_kept_and_marks_are_left_out() -> None:
    weights = [[0.1, 0.9, 0.0], [0.5, 0.2, 0.3], [0.7, 0.3, 0.0]]
    edges = show.strongest_edges(weights, at_least=0.3, skip=[0])
    assert [(e.reads, e.read, e.label) for e in edges] == [(1, 2, "0.30"), (2, 1, "0.30")]
    with pytest.raises(ValueError, match="query, key"):
        show.strongest_edges([0.5, 0.5])


def test_an_edge_runs_above_the_shorter_ones_under_it() -> None:
    pairs = [(0, 5), (1, 2), (2, 3), (1, 3), (4, 4)]
    levels = dict(zip(pairs, _levels([show.Edge(a, b, 1.0) for a, b in pairs]), strict=True))
    assert levels == {(1, 2): 1, (2, 3): 1, (1, 3): 2, (4, 4): 1, (0, 5): 3}


def test_edges_are_said_in_words() -> None:
    picture = show.edges_svg(["dog", "bites", "man"], [show.Edge(1, 2, 0.8, "0.80")], title="a head")
    assert 'aria-label="a head: 1 edges. bites reads man, 0.80."' in picture
    with pytest.raises(ValueError, match="there are 1 words"):
        show.edges_svg(["dog"], [show.Edge(0, 1, 1.0)])


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
    play = widgets.edges_playground({"small": (Small(), Words())}, ["[CLS] a b c", "d e f"])
    play.controls["at_least"].value = 0.05
    assert "small: layer 0, head 0; 9 edges of weight 0.05 or more" in play.picture.value
    assert "[CLS]" not in play.picture.value
    play.controls["sentence"].value = "d e f"
    play.controls["layer"].value = 1
    assert "layer 1, head 0" in play.picture.value
    with pytest.raises(ValueError, match="at least one"):
        widgets.edges_playground({}, ["a"])


def test_a_layer_that_another_model_lacks_is_said() -> None:
    short = Small()
    short.layers = short.layers[:1]
    play = widgets.edges_playground({"small": (Small(), Words()), "short": (short, Words())}, ["a b"], layer=1)
    play.controls["model"].value = "short"
    assert "short has the layers 0 to 0" in play.picture.value


@pytest.mark.parametrize("masked", [False, True])
def test_shuffling_moves_vectors_and_leaves_the_mean_unless_there_is_a_mask(masked: bool) -> None:
    layer, vectors = MultiHeadAttention(6, 2), torch.randn(3, 6, generator=torch.Generator().manual_seed(0))
    mask = causal_mask(3) if masked else None
    play = widgets.shuffle_playground({"layer": lambda order: layer(vectors[list(order)][None], mask=mask)[0]}, "abc")
    for order in range(1, len(list(permutations("abc")))):
        play.controls["order"].value = order
        unchanged = "differ by at most 0.00" in play.picture.value and "differs by at most 0.00" in play.picture.value
        assert unchanged != masked
