"""The picture of a Transformer is drawn from the model: what the model has is in it, for every row of the catalogue."""

import html
import re

import pytest
import torch
from torch import nn

from lectures import widgets
from lectures.show import Branch, Piece, Tower, architecture_svg
from nlmcore.inspect import pathway
from nlmcore.positions import Rotary
from nlmcore.tokens import CharTokenizer
from nlmcore.transformer import EncoderDecoder, TransformerConfig, TransformerEncoder, TransformerLM
from nlmcore.variants import CATALOGUE
from tests.lectures.seen import seen

SIZES = {"vocab_size": 30, "d_model": 24, "n_heads": 3, "n_layers": 2, "max_length": 16}


def words(svg: str) -> list[str]:
    return [html.unescape(found) for found in re.findall(r"<text[^>]*>([^<]*)</text>", svg)]


def height(svg: str, said: str) -> float:
    (found,) = re.findall(rf'<text x="[^"]*" y="([^"]*)"[^>]*>{re.escape(html.escape(said))}</text>', svg)
    return float(found)


def test_a_language_model_shows_its_parts_from_the_bottom_up() -> None:
    model = TransformerLM(TransformerConfig(**SIZES, d_ff=50, n_kv_heads=1))
    svg = widgets.architecture(model)
    parts = ["embedding", "+ positions", "causal attention", "feed-forward network", "unembedding"]
    heights = [height(svg, part) for part in parts]
    assert heights == sorted(heights, reverse=True)
    assert {"× 2", "30 tokens × 24", "3 heads of 8, 1 of keys", "24 → 50 → 24"} <= set(words(svg))
    assert f"{sum(weight.numel() for weight in model.parameters()):,} parameters" in svg


@pytest.mark.parametrize("place", ["pre", "post"])
def test_the_norm_stands_where_the_model_has_it(place: str) -> None:
    svg = widgets.architecture(TransformerEncoder(TransformerConfig(**SIZES, norm_position=place)))
    norms = [float(y) for y in re.findall(r'y="([^"]*)"[^>]*>LayerNorm</text>', svg)]
    below = sum(y > height(svg, "feed-forward network") + 30 for y in norms)  # further from the top: earlier
    assert (len(norms), below) == ((3, 1) if place == "pre" else (2, 1))
    assert "self-attention" in words(svg)
    assert "causal attention" not in words(svg)


def test_two_towers_have_three_attentions_and_the_source_has_no_scores() -> None:
    svg = widgets.architecture(EncoderDecoder(TransformerConfig(**SIZES)))
    found = words(svg)
    assert [found.count(word) for word in ("self-attention", "causal attention", "cross-attention")] == [1, 1, 1]
    assert found.count("embedding") == 2
    assert found.count("unembedding") == 1


@pytest.mark.parametrize("row", CATALOGUE)
def test_every_row_of_the_catalogue_can_be_drawn(row: str) -> None:
    svg = widgets.architecture(CATALOGUE[row].build(**SIZES))
    assert "embedding" in words(svg)


def test_what_is_not_lit_is_pale() -> None:
    model = EncoderDecoder(TransformerConfig(**SIZES))
    pale = {lit: widgets.architecture(model, lit=[lit]).count('opacity="0.3"') for lit in ("network", "unembedding")}
    assert pale["network"] < pale["unembedding"]  # of the first there are two
    assert 'opacity="0.3"' not in widgets.architecture(model)
    with pytest.raises(ValueError, match="lit must name parts of the picture"):
        widgets.architecture(model, lit=["attentoin"])


def test_the_player_shows_what_each_sublayer_adds() -> None:
    torch.manual_seed(0)
    coder = CharTokenizer.fit("the sea is deep")
    config = TransformerConfig(**{**SIZES, "vocab_size": coder.vocab_size}, attention_positions=Rotary)
    model = TransformerLM(config)
    play = widgets.architecture_player({"ours": (model, coder)}, "the sea")
    with torch.no_grad(), pathway(model) as branches:
        logits, _ = model(torch.tensor([coder.encode("the sea")]))
    for layer, branch in (("first", branches[1]), ("last", branches[3])):
        sizes = (float(x[0, -1].square().mean().sqrt()) for x in (branch.y, branch.x))
        assert "adds size {:.2f} to size {:.2f}".format(*sizes) in seen(play, layer=layer)
    assert f"likeliest next: “{coder.decode([int(logits[0, -1].argmax())])}”" in html.unescape(seen(play))
    said = [seen(play, part=part).partition('role="status"')[2] for part in range(play.controls["part"].max + 1)]
    assert len(set(said)) > 5


def test_what_cannot_be_drawn_is_said() -> None:
    with pytest.raises(ValueError, match="only a Transformer of nlmcore can be drawn, got Linear"):
        widgets.architecture(nn.Linear(2, 2))
    with pytest.raises(ValueError, match="at least one model"):
        widgets.architecture_player({}, "the sea")
    with pytest.raises(ValueError, match="at least one tower"):
        architecture_svg([], alt="nothing")
    tower = Tower("in", [Piece("e", "table", "embedding")], [Branch("plus", [Piece("a", "other", "a")])], "× 1")
    with pytest.raises(ValueError, match="lit must name pieces of the picture"):
        architecture_svg([tower], alt="one", lit=["b"])


def test_a_menu_lights_the_parts_of_its_entry() -> None:
    model = TransformerLM(TransformerConfig(**SIZES))
    play = widgets.architecture_parts(model, {"all": ((), "Every part."), "one": (["network"], "The network.")})
    assert 'opacity="0.3"' not in seen(play)
    assert 'opacity="0.3"' in seen(play, entry="one")
    assert "The network." in seen(play)
    with pytest.raises(ValueError, match="lit must name parts of the picture"):
        widgets.architecture_parts(model, {"wrong": (["netwrok"], "")})
