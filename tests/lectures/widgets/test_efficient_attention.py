"""The key-value cache drawn, and the player over it: what it shows is what the model's state holds."""

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from lectures import widgets
from lectures.show.svg import diverging_rgb, png_address
from lectures.widgets.efficient_attention import cache_svg, layers_needed, pattern_svg
from nlmcore.attention import causal_mask, window_mask
from nlmcore.inspect import capture
from nlmcore.positions import NoPositions, Rotary
from nlmcore.recurrent import RecurrentLM
from nlmcore.transformer import TransformerConfig, TransformerLM
from tests.pictures import nameless_in_html
from tests.transformer_grid import lively

CONFIG = TransformerConfig(
    vocab_size=30,
    d_model=12,
    n_heads=6,
    n_kv_heads=2,
    n_layers=2,
    max_length=40,
    positions=NoPositions,
    attention_positions=Rotary,
)


WORDS = [f"w{i}" for i in range(18)]


TOKENS = torch.arange(18)


def model(**changes: Any) -> TransformerLM:
    torch.manual_seed(0)
    return TransformerLM(dataclasses.replace(CONFIG, **changes))


def drawn(player: widgets.Live, **values: Any) -> str:
    for name, value in values.items():
        player.controls[name].value = value
    return player.picture.value


@pytest.fixture(scope="module")
def player() -> widgets.Live:
    """Reading the text costs most of it: one player for all."""
    return widgets.cache_player({"grouped": model(), "window": model(window=5)}, TOKENS, WORDS)


def test_it_draws_the_keys_and_weights_of_the_very_head(player: widgets.Live) -> None:
    lm = model()
    picture = drawn(player, model="grouped", read=9, layer=1, head=4)
    assert not nameless_in_html(picture)
    with torch.no_grad(), capture(lm) as tape:
        _, state = lm(TOKENS[None, :9])
    cache = state.layers[1]
    for matrix in (cache.keys[0, 1, :9], cache.values[0, 1, :9]):  # heads 3, 4 and 5 read the second head's keys
        colours = diverging_rgb(matrix.T.numpy(), float(matrix.abs().max()))
        assert png_address(colours, level=1) in picture
    for weight in tape["layers.1.attention"][0, 4, -1].tolist():
        assert f"<title>{weight:.3f}</title>" in picture
    assert "3 heads share these keys and values" in picture
    assert "8 read as they were; 7 places empty" in picture
    assert f"hold {2 * 2 * 2 * 9 * 2:,} numbers" in picture, "layers · (keys, values) · heads · words · d_head"


def test_a_window_forgets_when_the_buffer_is_full(player: widgets.Live) -> None:
    picture = drawn(player, model="window", read=16)
    assert "faded: 11 held until the buffer is full" in picture
    assert "crossed out" not in picture
    picture = drawn(player, read=17)
    assert "crossed out: 12 forgotten" in picture
    assert "faded" not in picture
    assert "4 read as they were" in picture
    assert "17 words the keys and values of 17 are held" in drawn(player, model="grouped")


@pytest.mark.parametrize("window", [1, 4])
def test_a_prompt_longer_than_the_window_is_drawn(window: int) -> None:
    """Of what is read at once, a window keeps the last; the newest word has read more than is kept."""
    player = widgets.cache_player({"window": model(window=window)}, TOKENS[:9], WORDS[:9], prompt=8)
    assert f"crossed out: {8 - (window - 1)} forgotten" in drawn(player, read=8)
    assert f"{window - 1} read as they were" in drawn(player, read=9)


def products(picture: str) -> tuple[int, int]:
    found = re.search(r"this step: ([\d,]+) products; reading all \d+ words again: ([\d,]+)", picture)
    assert found
    return int(found[1].replace(",", "")), int(found[2].replace(",", ""))


def test_products_are_those_of_the_matrices(player: widgets.Live) -> None:
    """By hand: projections, scores and sums of values, feed-forward, softmax over the vocabulary."""
    for read in (2, 9, 18):
        d, layers, heads, d_head = 12, 2, 6, 2
        per_word = layers * (d * (heads + 2 * 2) * d_head + heads * d_head * d + 2 * d * 4 * d) + d * 30
        per_pair = layers * 2 * heads * d_head
        picture = drawn(player, model="grouped", read=read)
        assert products(picture) == (per_word + read * per_pair, read * per_word + read**2 * per_pair)
    total = sum(per_word + n * per_pair for n in range(1, 19))
    assert f"{total:,} with" in picture


def test_dropout_is_off_meanwhile_and_the_model_stays_as_it_was() -> None:
    lm = model(dropout=0.5).train()
    first, second = (widgets.cache_player({"it": lm}, TOKENS[:3], WORDS[:3]).picture.value for _ in range(2))
    assert first == second
    assert lm.training


class Forgetful(TransformerLM):
    def forward(self, tokens: torch.Tensor, state: Any = None) -> Any:
        return super().forward(tokens)[0], None


def test_what_cannot_be_played_is_named() -> None:
    lm = model()
    with pytest.raises(ValueError, match="17 words and prompt=1"):
        widgets.cache_player({"it": lm}, TOKENS, WORDS[1:])
    with pytest.raises(ValueError, match="prompt=18"):
        widgets.cache_player({"it": lm}, TOKENS, WORDS, prompt=18)
    with pytest.raises(ValueError, match="at least one model"):
        widgets.cache_player({}, TOKENS, WORDS)
    with pytest.raises(ValueError, match="RecurrentLM has no attention"):
        widgets.cache_player({"it": RecurrentLM(30)}, TOKENS, WORDS)
    with pytest.raises(ValueError, match="the state of Forgetful has no key-value cache per layer"):
        widgets.cache_player({"it": Forgetful(CONFIG)}, TOKENS, WORDS)
    player = widgets.cache_player({"two": lm, "one": model(n_layers=1)}, TOKENS[:3], WORDS[:3])
    assert "one has the layers 0 to 0" in drawn(player, layer=1, model="one")


def test_a_cache_that_does_not_fit_is_refused() -> None:
    keys = np.zeros((3, 2))
    with pytest.raises(ValueError, match=r"got \(3, 2\) and \(2, 2\) for 3 words"):
        cache_svg(["a", "b", "c"], keys, keys[:2], [1], capacity=4)
    for words, capacity in ((["a", "b"], 4), (["a", "b", "c"], 2)):
        with pytest.raises(ValueError, match=f"for {len(words)} words and a capacity of {capacity}"):
            cache_svg(words, keys, keys, [1], capacity=capacity)
    with pytest.raises(ValueError, match=r"weights \(4,\) and new=1"):
        cache_svg(["a", "b", "c"], keys, keys, [0.25] * 4, capacity=4)
    with pytest.raises(ValueError, match="new=0"):
        cache_svg(["a", "b", "c"], keys, keys, [1], capacity=4, new=0)


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
    hidden, _ = model.layers.step(x)
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
    assert "yours draws a different picture" in other.picture.value


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
    assert re.search(f"mine must return a boolean tensor .12, 12., got {words}", play.picture.value)


def test_a_pattern_that_does_not_fit_is_refused() -> None:
    mask, needed = np.ones((3, 3), dtype=bool), np.ones((3, 3))
    for wrong in ((mask[:2], needed, 0, 1), (mask, needed[:, :2], 0, 1), (mask, needed, 3, 1), (mask, needed, 0, 0)):
        with pytest.raises(ValueError, match=r"one of their rows and at least one layer, got \("):
            pattern_svg(*wrong[:3], layers=wrong[3])
