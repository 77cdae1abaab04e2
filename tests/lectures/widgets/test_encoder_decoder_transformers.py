"""A training step, a decoding, two attentions and the cost of two lengths, moved from Python."""

import re

import numpy as np
import pytest

from lectures import widgets
from lectures.widgets.encoder_decoder_transformers import aligned_svg, decoding_svg, step_svg
from tests.lectures.seen import seen

RIGHT = widgets.TrainingRow(["a", "b", "<eos>", "<pad>"], ["<bos>", "x", "y"], ["x", "y", "<eos>"], [0.5, 0.25, 1.0])
PADDED = widgets.TrainingRow(
    ["a", "<eos>", "<pad>", "<pad>"], ["<bos>", "x", "<eos>"], ["x", "<eos>", "<pad>"], [0.5, 0.5, 0.1]
)
UNSHIFTED = RIGHT._replace(reads=RIGHT.predicts)
UNMASKED = RIGHT._replace(causal=False)


def step_player(**options):
    return widgets.training_step_player({"right": [RIGHT, PADDED]}, **options)


def crosses(picture: str) -> int:
    return picture.count(": masked</title>")


@pytest.mark.parametrize(("stage", "masked"), [(0, 0), (1, 3), (2, 0), (3, 3), (4, 3), (5, 0), (6, 0)])
def test_each_stage_has_its_mask(stage, masked):
    """The encoder hides one padded word from each of four, the decoder the future, cross-attention the padding."""
    player = step_player(stage=stage)
    assert crosses(seen(player)) == (4 if stage == 1 else masked)


def test_the_loss_is_the_mean_over_what_counts():
    player = step_player(stage=6)
    terms = -np.log([0.5, 0.25, 1.0, 0.5, 0.5])  # the padding's 0.1 is not among them
    assert f"mean over 5 words of the batch: {terms.mean():.3f}" in seen(player, position=1)
    assert "−ln 0.250 = 1.386" in seen(player)
    assert "must predict nothing: padding does not count" in seen(player, pair=1, position=2)


def test_words_appear_with_their_stage():
    early, late = step_svg(RIGHT, 1, 0), step_svg(RIGHT, 2, 0)
    assert "reads:" not in early
    assert "reads: &lt;bos&gt; x y; predicts: x y &lt;eos&gt;" in late
    assert "0.250" not in late
    assert "0.250" in step_svg(RIGHT, 5, 0)


def test_a_leak_is_said_and_the_right_way_is_not():
    ways = {"right": [RIGHT], "not shifted": [UNSHIFTED], "not masked": [UNMASKED]}
    player = widgets.training_step_player(ways, stage=3)
    for way in ways:
        assert ("The answer is among the words it reads!" in seen(player, way=way)) == (way != "right")
    assert "must predict y" in seen(player)
    assert crosses(seen(player)) == 0, "without the mask nothing is hidden"


def test_an_earlier_equal_word_is_no_leak():
    row = widgets.TrainingRow(["a"], ["<bos>", "x", "y"], ["x", "y", "x"], [0.5, 0.5, 0.5])
    player = widgets.training_step_player({"right": [row]}, stage=3)
    assert "has read &lt;bos&gt; x y; it must predict x" in seen(player, position=2)
    assert "among the words" not in seen(player)


def test_a_row_of_other_lengths_is_refused():
    with pytest.raises(ValueError, match="a probability for each word that is read, got 3, 3 and 2"):
        step_svg(RIGHT._replace(probabilities=[0.5, 0.5]), 0, 0)


STEPS = [
    widgets.Decoding([0.75, 0.25], [("x", 0.5), ("y", 0.375)]),
    widgets.Decoding([0.125, 0.875], [("<eos>", 1.0), ("y", 0.0)]),
]


def test_decoding_runs_the_encoder_once_and_grows_one_cache():
    player = widgets.decoding_playback({"one": (["a", "<eos>"], STEPS)})
    assert "The encoder has read 2 tokens in one pass" in seen(player, step=0)
    assert "attends to 1 target token and to 2 source tokens" in seen(player, step=1)
    assert "attends to 2 target tokens" in seen(player, step=2)
    assert "having read &lt;bos&gt; x, the decoder attends most to &lt;eos&gt;, 0.88" in seen(player)
    assert "the decoder reads x" in seen(player)
    with pytest.raises(ValueError, match=r"one value per source word, 3, got \(2,\)"):
        decoding_svg(["a", "b", "c"], STEPS, 1)


def aligned(swap: bool, heads: int = 1) -> widgets.Aligned:
    weights = np.zeros((heads, 3, 2))
    weights[:, [0, 1, 2], [1, 0, 1] if swap else [0, 1, 1]] = 1
    return widgets.Aligned(["x", "y", "<eos>"], ["a", "b"], weights, [f"0.{i}" for i in range(heads)], [1, 0])


def test_what_a_head_finds_is_counted_and_framed():
    player = widgets.alignment_player(
        {"one": lambda number: aligned(True), "other": lambda number: aligned(False, 3)},
        widgets.slider(1, 1, 5, 1, "number"),
        head=2,
    )
    picture = seen(player)
    assert "one: 2 of 2 words found; other: 0 of 2 words found" in picture
    assert "other, head 0.2: x reads a most, 1.00" in picture
    assert "other, head 0.1" in seen(player, head=1)
    frames = re.findall(r"<rect [^>]*stroke-width=\"2.5\"", aligned_svg(aligned(True), 0))
    assert len(frames) == 2
    with pytest.raises(ValueError, match=r"shape \(1, 2\), got \(3, 2\)"):
        aligned_svg(aligned(True)._replace(written=["x"]), 0)


def test_without_a_reference_nothing_is_counted():
    player = widgets.alignment_player(
        {"one": lambda word: aligned(True, 2)._replace(reference=())}, widgets.menu(["ab", "ba"], "word")
    )
    assert "found" not in seen(player)


def test_costs_follow_both_lengths():
    network = widgets.Network(lambda n, m: 1e6 * n * m, lambda n, m: n + m, lambda n, m: n - 1, lambda n, m: 1)
    player = widgets.pair_cost_playground({"one": network})
    picture = seen(player, n=32, m=64)
    assert "million multiply-adds: one 2,048." in picture
    assert "in training: one 96." in picture
    assert "first to last source word: one 31." in picture
    assert "last target word: one 1." in picture
