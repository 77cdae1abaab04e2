"""What a model would say at every depth: its own words on top, and the sizes of what goes along the pathway."""

import dataclasses
import re
from typing import Any

import numpy as np
import pytest
import torch

from lectures import widgets
from lectures.widgets.transformers import _read, lens_svg
from nlmcore.inspect import capture
from nlmcore.recurrent import RecurrentLM
from nlmcore.seq2seq import Seq2Seq
from nlmcore.tokens import CharTokenizer
from nlmcore.transformer import EncoderDecoder, TransformerConfig, TransformerEncoder, TransformerLM
from tests.pictures import nameless_in_html
from tests.transformer_grid import CONFIG as GRID
from tests.transformer_grid import lively, share_blocks

TEXT = "to be or not"


TOKENIZER = CharTokenizer.fit([TEXT + "\n"])


CONFIG = TransformerConfig(
    vocab_size=TOKENIZER.vocab_size, d_model=12, n_heads=2, n_layers=3, max_length=30, tie_embeddings=False
)


def model(**changes: Any) -> TransformerLM:
    return lively(TransformerLM(dataclasses.replace(CONFIG, **changes)), dtype=torch.float32)


def test_the_highest_row_is_what_the_model_says_and_the_lowest_what_the_embeddings_would() -> None:
    lm, tokens = model(), torch.tensor([TOKENIZER.encode(TEXT)])
    read = _read(lm, TOKENIZER, TEXT)
    assert read.depths == ["embeddings", "layer 0", "layer 1", "layer 2"]
    with torch.no_grad():
        for row, logits in ((-1, lm(tokens)[0]), (0, lm.output(lm.final_norm(lm.embed(tokens))))):
            chances, ids = logits[0].softmax(-1).max(-1)
            np.testing.assert_allclose(read.chances[row], chances.numpy(), rtol=1e-5)
            spelt = [TOKENIZER.decode([int(i)]) for i in ids]
            assert read.guesses[row] == [{" ": "␣", "\n": "↵"}.get(piece, piece) for piece in spelt]


def test_sizes_are_of_the_pathway_and_of_what_is_added() -> None:
    lm, tokens = model(), torch.tensor([TOKENIZER.encode(TEXT)])
    read = _read(lm, TOKENIZER, TEXT)
    assert set(read.sizes) == {"pathway", "added by attention", "added by feed forward"}
    assert all(line.shape == (7, len(TEXT)) for line in read.sizes.values()), "the embeddings and two per layer"
    with torch.no_grad():
        x = lm.embed(tokens)
        np.testing.assert_allclose(read.sizes["pathway"][0], x[0].square().mean(-1).sqrt().numpy(), rtol=1e-5)
        y, _ = lm.layers[0].attention(lm.layers[0].residual_attention.norm(x))
        for name, n, expected in (("added by attention", 1, y), ("pathway", 1, x + y)):
            np.testing.assert_allclose(read.sizes[name][n], expected[0].square().mean(-1).sqrt().numpy(), rtol=1e-5)
    assert np.isnan(read.sizes["added by attention"][[0, 2, 4, 6]]).all()
    assert np.isnan(read.sizes["added by feed forward"][[0, 1, 3, 5]]).all()


def test_post_norm_brings_the_pathway_back_to_one_size() -> None:
    torch.manual_seed(0)
    lm = TransformerLM(dataclasses.replace(CONFIG, norm_position="post"))  # gains of 1, biases of 0
    read = _read(lm, TOKENIZER, TEXT)
    assert read.sizes["pathway"][0].max() < 0.1, "the first weights are small"
    np.testing.assert_allclose(read.sizes["pathway"][1:], 1.0, atol=0.05)


def test_shared_layers_are_depths_of_their_own() -> None:
    read = _read(model(share=share_blocks), TOKENIZER, TEXT)
    assert read.depths == ["embeddings", "layer 0", "layer 1", "layer 2"]
    assert len({tuple(row) for row in read.chances.tolist()}) == 4


def test_the_player_answers_its_controls() -> None:
    models = {"three": (model(), TOKENIZER), "two": (model(n_layers=2), TOKENIZER)}
    player = widgets.lens_player(models, [TEXT, "to be"])
    assert not nameless_in_html(player.picture.value)
    assert player.picture.value.count("layer 2, after") == len(TEXT)
    player.controls["model"].value = "two"
    assert "layer 2, after" not in player.picture.value
    player.controls["sentence"].value = "to be"
    assert re.search(r"After &#x27;e&#x27; the likeliest", player.picture.value), (
        "a place past the end is the last word"
    )
    player.controls["place"].value = 0
    assert re.search(r"After &#x27;t&#x27; the likeliest", player.picture.value)
    assert "sizes at &#x27;t&#x27;" in player.picture.value


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (TransformerEncoder(CONFIG), "TransformerEncoder has no output"),
        (RecurrentLM(9), "RecurrentLM has no final_norm"),
    ],
)
def test_what_has_no_depths_is_named(given: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        widgets.lens_player({"it": (given, TOKENIZER)}, [TEXT])


def test_a_lens_without_a_model_or_a_sentence_is_refused() -> None:
    models = {"it": (model(), TOKENIZER)}
    for nothing in (({}, [TEXT]), (models, [])):
        with pytest.raises(ValueError, match="at least one model and one sentence"):
            widgets.lens_player(*nothing)
    for text, n in (("", 0), (TEXT * 3, 36)):
        with pytest.raises(ValueError, match=f"the sentence has {n} tokens"):
            widgets.lens_player(models, [text])


def test_a_grid_that_does_not_fit_is_refused() -> None:
    grid: dict[str, Any] = {"words": ["a", "b"], "depths": ["low"], "guesses": [["x", "a long one"]]}
    picture = lens_svg(**grid, chances=[[0.1, 0.9]], selected=1)
    assert "likeliest next words are, from below: low: &#x27;a long one&#x27; 0.90" in picture
    with pytest.raises(ValueError, match=r"got chances \(1, 3\)"):
        lens_svg(**grid, chances=[[0.1, 0.9, 0.0]], selected=1)
    with pytest.raises(ValueError, match=r"rows of \[1\] guesses"):
        lens_svg(**{**grid, "guesses": [["x"]]}, chances=[[0.1, 0.9]], selected=1)
    with pytest.raises(ValueError, match="selected=2 is none of 2 columns"):
        lens_svg(**grid, chances=[[0.1, 0.9]], selected=2)


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
    for name, value in (("pair", 1), ("layer", 1), ("head", 4)):
        player.controls[name].value = value
    assert not nameless_in_html(player.picture.value)
    with torch.no_grad(), capture(given) as tape:
        given(torch.tensor([[1, 7]]), given.encode(torch.tensor([[4, 3]])))
    parts = ("encoder.layers.1.attention", "decoder.layers.1.attention", "decoder.layers.1.cross_attention")
    expected = [f"{weight:.3f}" for name in parts for weight in tape[name][0, 4].flatten().tolist()]
    assert expected[5] == "0.000"
    expected[5] = "masked"  # the decoder's first word, its second column
    assert [weight for _, _, weight in cells(player.picture.value)] == expected
    names = [(row, column) for row, column, _ in cells(player.picture.value)]
    assert names[:4] == [("b", "b"), ("b", "a"), ("a", "b"), ("a", "a")]
    assert names[4:8] == [(row, column) for row in ("<bos> → y", "y → <eos>") for column in ("<bos>", "y")]
    assert names[8:] == [(row, column) for row in ("<bos> → y", "y → <eos>") for column in ("b", "a")]


def test_the_framed_row_tells_what_the_model_says_next() -> None:
    given = encoder_decoder()
    player = widgets.source_and_target_player(given, PAIRS)
    player.controls["row"].value = 1
    with torch.no_grad():
        logits, _ = given(PAIRS[0].target_tokens[None], given.encode(PAIRS[0].source_tokens[None]))
    chance = logits[0, 1].softmax(-1)[7]
    assert f"having read &lt;bos&gt; x, it says &#x27;y&#x27; with {chance:.2f}" in player.picture.value
    player.controls["row"].value = 2
    player.controls["pair"].value = 1
    assert "having read &lt;bos&gt; y, it says" in player.picture.value, "past the end: the last row"


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
