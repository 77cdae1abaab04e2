"""Masks and the news that layers carry: counted by hand, and measured by the gradients of a real model."""

import re

import numpy as np
import pytest
import torch
from torch import Tensor

from lectures import show, widgets
from lectures.widgets.patterns import layers_needed
from nlmcore.attention import causal_mask, window_mask
from nlmcore.transformer import TransformerConfig, TransformerLM
from tests.pictures import nameless_in_html
from tests.transformer_grid import lively


def with_global(n: int, size: int) -> Tensor:
    """A window in both directions, and one position that reads all and is read by all: Beltagy et al. (2020)."""
    mask = window_mask(n, size) | window_mask(n, size).T
    mask[0] = mask[:, 0] = True
    return mask


def dilated(n: int, size: int) -> Tensor:
    """Every size-th key before, not itself unless it is one of them."""
    distance = torch.arange(n)[:, None] - torch.arange(n)
    return (distance > 0) & (distance % size == 0)


PATTERNS = {"window": window_mask, "global": with_global, "dilated": dilated, "causal": lambda n, size: causal_mask(n)}


@pytest.mark.parametrize("name", PATTERNS)
def test_layers_are_the_steps_of_the_shortest_path(name: str) -> None:
    mask, n = PATTERNS[name](9, 3), 9
    expected = np.full((n, n), np.nan)
    for i in range(n):
        known = {i}
        for layer in range(1, 4):
            news = {j for k in known for j in range(n) if mask[k, j]}
            for j in news:
                if np.isnan(expected[i, j]):
                    expected[i, j] = layer
            known |= news
    np.testing.assert_array_equal(layers_needed(mask, 3), expected)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_news_is_what_gradients_find(layers: int) -> None:
    """A word's vector changes with a far word's embedding exactly where the picture says that news has arrived."""
    config = TransformerConfig(
        vocab_size=10, d_model=8, n_heads=2, n_layers=layers, max_length=10, window=3, tie_embeddings=False
    )
    model = lively(TransformerLM(config))
    x = model.embed(torch.arange(10)[None]).detach().requires_grad_()
    hidden, _ = model.layers.read(x)
    found = np.stack([torch.autograd.grad(h.sum(), x, retain_graph=True)[0][0].abs().sum(-1) for h in hidden[0]])
    arrived = layers_needed(window_mask(10, 3), 3) <= layers
    np.testing.assert_array_equal(found > 1e-12, arrived)


def test_the_player_counts_pairs_and_news() -> None:
    play = widgets.pattern_playground(PATTERNS, 12, size=4, layers=5)
    assert not nameless_in_html(play.picture.value)
    assert f"One layer scores {4 * 12 - 6} of 144 pairs" in play.picture.value
    assert "position 11 reads 4 of 12; after 1 layer it has news of 4" in play.picture.value
    play.controls["layers"].value = 3
    assert "after 3 layers it has news of 10" in play.picture.value, "3 · (4 − 1) places far, and itself"
    play.controls["query"].value = 5
    assert "position 5 reads 4 of 12; after 3 layers it has news of 6" in play.picture.value
    play.controls["pattern"].value = "global"
    play.controls["layers"].value = 2
    assert "it has news of 12" in play.picture.value, "through the position that reads all"
    assert re.findall(r">(\d layers?|not yet)<", play.picture.value) == ["1 layer", "2 layers", "not yet"]


def test_a_students_pattern_is_drawn_beside_ours() -> None:
    def strict(n: int, size: int) -> Tensor:
        return window_mask(n, size).tril(-1)  # leaves the word itself out

    ours = {"window": window_mask}
    same = widgets.pattern_playground(ours, 12, yours={"window": window_mask})
    assert "yours draws the same picture" in same.picture.value
    other = widgets.pattern_playground(ours, 12, yours={"window": strict})
    assert "yours draws another picture" in other.picture.value


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        (lambda n, size: torch.ones(n, n), r"torch.float32 \(12, 12\)"),
        (lambda n, size: causal_mask(size), r"torch.bool \(6, 6\)"),
        (lambda n, size: [[True]], "list"),
    ],
)
def test_what_is_no_mask_is_said_in_the_pictures_place(pattern: widgets.Pattern, words: str) -> None:
    play = widgets.pattern_playground({"mine": pattern}, 12)
    assert re.search(f"mine must give back a boolean tensor .12, 12., got {words}", play.picture.value)


def test_a_pattern_that_does_not_fit_is_refused() -> None:
    mask, needed = np.ones((3, 3), dtype=bool), np.ones((3, 3))
    for wrong in ((mask[:2], needed, 0, 1), (mask, needed[:, :2], 0, 1), (mask, needed, 3, 1), (mask, needed, 0, 0)):
        with pytest.raises(ValueError, match=r"one of their rows and at least one layer, got \("):
            show.pattern_svg(*wrong[:3], layers=wrong[3])
