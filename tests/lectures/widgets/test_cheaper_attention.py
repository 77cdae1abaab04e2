"""The widgets of the lecture on cheaper attention: what they draw is what the masks, matrices and results say."""

import re

import numpy as np
import pytest
import torch
from torch import Tensor

from lectures import stored, widgets
from lectures.widgets.cheaper_attention.patterns import layers_needed, pattern_svg
from nlmcore.attention import causal_mask, window_mask
from nlmcore.transformer import TransformerConfig, TransformerLM
from tests.lectures.seen import seen
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
    hidden, _ = model.layers(x)
    found = np.stack([torch.autograd.grad(h.sum(), x, retain_graph=True)[0][0].abs().sum(-1) for h in hidden[0]])
    arrived = layers_needed(window_mask(10, 3), 3) <= layers
    np.testing.assert_array_equal(found > 1e-12, arrived)


def test_the_player_counts_pairs_and_news() -> None:
    play = widgets.pattern_playground(PATTERNS, 12, size=4, layers=5)
    assert f"One layer scores {4 * 12 - 6} of 144 pairs" in seen(play)
    assert "position 11 reads 4 of 12; after 1 layer it has information from 4" in seen(play)
    assert "after 3 layers it has information from 10" in seen(play, layers=3), "3 · (4 − 1) places far, and itself"
    assert "position 5 reads 4 of 12; after 3 layers it has information from 6" in seen(play, query=5)
    assert "it has information from 12" in seen(play, pattern="global", layers=2), "through the position that reads all"
    assert re.findall(r">(1 layer|1 to \d layers|not yet)<", seen(play)) == ["1 to 2 layers", "not yet"]


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
    assert re.search(f"mine must return a boolean tensor .12, 12., got {words}", seen(play))


def test_a_pattern_that_does_not_fit_is_refused() -> None:
    mask, needed = np.ones((3, 3), dtype=bool), np.ones((3, 3))
    for wrong in ((mask[:2], needed, 0, 1), (mask, needed[:, :2], 0, 1), (mask, needed, 3, 1), (mask, needed, 0, 0)):
        with pytest.raises(ValueError, match=r"one of their rows and at least one layer, got \("):
            pattern_svg(*wrong[:3], layers=wrong[3])


def test_everything_is_reached_after_so_many_layers() -> None:
    play = widgets.pattern_playground(PATTERNS, 12, size=4, layers=5)
    assert "every earlier position reached: after 4 layers" in seen(play), "11 / (4 − 1), rounded up"
    assert "every position reached: after 2 layers" in seen(play, pattern="global")
    assert "every earlier position reached: not within" in seen(play, pattern="dilated")
    assert f"{128 * int(dilated(12, 4).sum()):,} multiplications per head" in seen(play)


def shift(n: int) -> np.ndarray:
    return np.eye(n, k=-1)


def test_ranks_of_known_matrices() -> None:
    even = np.full((20, 20), 1 / 20)
    play = widgets.rank_player({"known": np.stack([[even, np.eye(20)]])}, {"known": lambda matrix: np.eye(20)})
    assert "rank 4 of 20 holds 100% of the squares; error 0%; 90 % need 1 values, shuffled 18" in seen(play)
    assert "rank 4 of 20 holds 20% of the squares; error 89%; 90 % need 18 values" in seen(play, head=1)
    assert "holds 100% of the squares; error 0%" in seen(play, rank=20)


def test_ranks_that_cannot_be_drawn_are_named() -> None:
    with pytest.raises(ValueError, match="a shuffle for flat"):
        widgets.rank_player({"flat": np.eye(3)}, {"flat": lambda matrix: matrix})
    play = widgets.rank_player(
        {"one": np.ones((1, 1, 4, 4)), "two": np.ones((2, 3, 4, 4))}, dict.fromkeys(("one", "two"), lambda m: m)
    )
    assert "one has the layers 0 to 0" in seen(play, layer=1)


def test_costs_are_told_as_multiples_of_the_kernel() -> None:
    result = stored("sparse_cost")
    play = widgets.cost_explorer(result, "full, fused")
    ratio = result["seconds"]["BigBird"]["16384"] / result["seconds"]["full, fused"]["16384"]
    assert f"BigBird {ratio:.2f}" in seen(play)
    assert "as written" not in seen(play).rsplit("<p", 1)[1], "too long to be measured"
    play.controls["measure"].value, play.controls["n"].value = "memory", 1024
    ratio = result["bytes"]["full, as written"]["1024"] / result["bytes"]["full, fused"]["1024"]
    assert f"full, as written {ratio:.2f}" in seen(play)


def test_a_cache_is_counted() -> None:
    def count(layers: int, kv_heads: int, d_head: int, held: int) -> float:
        return 2.0 * layers * kv_heads * d_head * held

    play = widgets.memory_playground(count, {"it": (5, 8, 2, 10)}, [100, 1000, 10_000], [100, 1000], yours=count)
    told = seen(play)
    assert "keys and values for every head 0.8 MB, 2 shared heads 0.2 MB" in told
    assert "every head, window of 100 0.1 MB, 2 shared, window of 100 0.0 MB" in told
    assert "yours draws the same picture" in told
    assert "8.0 MB with all heads, 0.2 MB with shared heads and a window" in seen(play, n=10_000, window=1000)


CARDS = {
    "bin": 10,
    "layers": 2,
    "ranks": 8,
    "rows": {
        "full": {"right": [1.0, 0.8], "by_distance": [[1.0, 0.9], [0.9, 0.7]], "by_layers": [[0.9, None, None]] * 2},
        "window": {"right": [0.5, 0.3], "by_distance": [[0.8, 0.2], [0.6, 0.1]], "by_layers": [[0.9, 0.4, 0.1]] * 2},
    },
}


def test_cards_by_distance_and_by_way() -> None:
    play = widgets.needle_explorer(CARDS)
    assert "full 90 % right (80 to 100 over the seeds); window 40 % right (30 to 50 over the seeds)" in seen(play)
    assert "window: no path 10 % (10 to 10)" in seen(play, by="layers on the path")
    assert "full: 2 layers" not in seen(play), "every way of full attention takes one layer"
    assert "window" not in seen(play, second="full")
