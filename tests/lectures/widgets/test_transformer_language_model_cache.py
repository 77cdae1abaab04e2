"""The key-value cache drawn, and the player over it: what it shows is what the model's state holds."""

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
import torch

from lectures import widgets
from lectures.show.svg import diverging_rgb, png_address
from lectures.widgets.transformer_language_model.cache import cache_svg
from nlmcore.inspect import capture
from nlmcore.positions import NoPositions, Rotary
from nlmcore.recurrent import RecurrentLM
from nlmcore.transformer import TransformerConfig, TransformerLM
from tests.lectures.seen import seen

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


@pytest.fixture(scope="module")
def player() -> widgets.Live:
    """Reading the text costs most of it: one player for all."""
    return widgets.cache_player({"grouped": model(), "window": model(window=5)}, TOKENS, WORDS)


def test_it_draws_the_keys_and_weights_of_the_very_head(player: widgets.Live) -> None:
    lm = model()
    picture = seen(player, model="grouped", read=9, layer=1, head=4)
    with torch.no_grad(), capture(lm) as tape:
        _, state = lm(TOKENS[None, :9])
    cache = state.layers[1]
    for matrix in (cache.keys[0, 1, :9], cache.values[0, 1, :9]):  # heads 3, 4 and 5 read the second head's keys
        colours = diverging_rgb(matrix.T.numpy(), float(matrix.abs().max()))
        assert png_address(colours, level=1) in picture
    for weight in tape["layers.1.attention"][0, 4, -1].tolist():
        assert f"<title>{weight:.3f}</title>" in picture
    assert "3 heads share these keys and values" in picture
    assert "8 read as they were" in picture
    assert f"hold {2 * 2 * 2 * 9 * 2:,} values" in picture, "layers · (keys, values) · heads · words · d_head"


def test_a_window_forgets_what_no_later_word_sees(player: widgets.Live) -> None:
    assert "crossed out" not in seen(player, model="window", read=4)
    picture = seen(player, read=17)
    assert "crossed out: 13 forgotten" in picture
    assert "4 read as they were" in picture
    assert "17 words the keys and values of 17 are held" in seen(player, model="grouped")


@pytest.mark.parametrize("window", [1, 4])
def test_a_prompt_longer_than_the_window_is_seen(window: int) -> None:
    """Of what is read at once, a window keeps the last; the newest word has read more than is kept."""
    player = widgets.cache_player({"window": model(window=window)}, TOKENS[:9], WORDS[:9], prompt=8)
    assert f"crossed out: {8 - (window - 1)} forgotten" in seen(player, read=8)
    assert f"{window - 1} read as they were" in seen(player, read=9)


def products(picture: str) -> tuple[int, int]:
    found = re.search(r"this step: ([\d,]+) products reading all \d+ words again: ([\d,]+)", picture)
    assert found
    return int(found[1].replace(",", "")), int(found[2].replace(",", ""))


def test_products_are_those_of_the_matrices(player: widgets.Live) -> None:
    """By hand: projections, scores and sums of values, feed-forward, softmax over the vocabulary."""
    for read in (2, 9, 18):
        d, layers, heads, d_head = 12, 2, 6, 2
        per_word = layers * (d * (heads + 2 * 2) * d_head + heads * d_head * d + 2 * d * 4 * d) + d * 30
        per_pair = layers * 2 * heads * d_head
        picture = seen(player, model="grouped", read=read)
        assert products(picture) == (per_word + read * per_pair, read * per_word + read**2 * per_pair)
    total = sum(per_word + n * per_pair for n in range(1, 19))
    assert f"{total:,} with" in picture


def test_dropout_is_off_meanwhile_and_the_model_stays_as_it_was() -> None:
    lm = model(dropout=0.5).train()
    first, second = (seen(widgets.cache_player({"it": lm}, TOKENS[:3], WORDS[:3])) for _ in range(2))
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
    assert "one has the layers 0 to 0" in seen(player, layer=1, model="one")


def test_a_cache_that_does_not_fit_is_refused() -> None:
    keys = np.zeros((3, 2))
    with pytest.raises(ValueError, match=r"got \(3, 2\) and \(2, 2\) for 3 words"):
        cache_svg(["a", "b", "c"], keys, keys[:2], [1])
    with pytest.raises(ValueError, match="for 2 words"):
        cache_svg(["a", "b"], keys, keys, [1])
    with pytest.raises(ValueError, match=r"weights \(4,\) and new=1"):
        cache_svg(["a", "b", "c"], keys, keys, [0.25] * 4)
    with pytest.raises(ValueError, match="new=0"):
        cache_svg(["a", "b", "c"], keys, keys, [1], new=0)
