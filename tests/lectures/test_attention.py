"""The numbers that the lecture\'s prose quotes are those that its own cells compute."""

import math
import re
from statistics import mean

import pytest
import torch

from lectures import stored
from nlmcore.attention import attend, bilinear_score, dot_score
from nlmcore.inspect import capture


def test_one_vector_holds_few_words(ran: dict, prose: str) -> None:
    kept = {name: dict(zip(ran["lengths"], shares, strict=True)) for name, shares in ran["kept"].items()}
    middle = kept["one vector, d = 256"]
    assert "About eight. Of 32 words only a third are read back correctly" in prose
    assert [middle[n] for n in (1, 2, 4, 8)] == [1.0] * 4
    assert 0.28 < middle[32] < 0.38
    assert set(kept["all n vectors, d = 64"].values()) == {1.0}, "the last line does not fall"
    assert "Four times the dimensions buy about four times the words" in prose
    cliffs = [min(n for n, share in kept[f"one vector, d = {d}"].items() if share < 0.5) for d in (64, 256, 1024)]
    assert cliffs == [8, 32, 128]


def test_softmax_by_hand(prose: str) -> None:
    exponentials = [math.exp(s) for s in (1.5, 0.9, 0.3, -0.5)]
    total = sum(exponentials)
    assert f"${exponentials[0]:.2f} / {total:.2f} = {exponentials[0] / total:.2f}$" in prose
    assert f"${exponentials[3]:.2f} / {total:.2f} = {exponentials[3] / total:.2f}$" in prose


@pytest.mark.parametrize(
    ("name", "angle"), [("dot product: q·k", 265), ("bilinear: q·Wk, W a quarter turn", 355)], ids=["dot", "bilinear"]
)
def test_where_the_query_must_point_for_idea(ran: dict, prose: str, name: str, angle: int) -> None:
    keys = ran["plane_keys"]

    def weight(degrees: int) -> float:
        query = 1.5 * torch.tensor([math.cos(math.radians(degrees)), math.sin(math.radians(degrees))])
        score = dot_score(query, keys) if name.startswith("dot") else bilinear_score(query, keys, ran["quarter_turn"])
        return attend(score, keys)[1][3].item()

    assert max(range(0, 360, 5), key=weight) == angle
    assert f"({angle}°" in prose


def test_minilm_has_its_own_teacher(prose: str) -> None:
    """The released weights imitate a UniLM v2 (their model card); BERT lends the form and the tokens."""
    taught = prose.split("MiniLM is one, with 6 layers")[1].split("It does not translate")[0]
    assert "a UniLM v2 of the size of BERT base" in taught
    assert "every second of those layers" in taught
    assert "larger network, BERT" not in prose


def test_the_slope_of_softmax(ran: dict, prose: str) -> None:
    slopes = [ran["mean_slope"](d, True) for d in ran["widths"]]
    assert all(round(s, 2) == 0.12 for s in slopes)
    assert "flat at about 0.12" in prose
    undivided = ran["mean_slope"](512, False)
    assert f"fallen to {undivided:.3f} at $d = 512$" in prose
    assert round(slopes[-2] / undivided) in range(16, 17), "'sixteen times less'"


def test_what_the_heads_read(ran: dict, prose: str) -> None:
    with torch.no_grad(), capture(ran["encoder"]) as tape:
        ran["encoder"](ran["tokens"])
    words = ran["tokenizer"].pieces(ran["sentence"])
    weights = torch.cat(list(tape.values()))  # (layer, head, query, key)
    n = len(words)
    before = weights[0, 2, torch.arange(1, n), torch.arange(n - 1)]
    assert before.min() > 0.99
    assert "Layer 0, head 2 reads the previous word, with weight 1.00" in prose
    after = weights[:, :, torch.arange(n - 1), torch.arange(1, n)].mean(-1)
    assert divmod(int(after.argmax()), 12) == (1, 8)
    assert f"Layer 1, head 8 reads the next word with {after[1, 8]:.2f} on average" in prose
    assert weights[4, 5, :, 0].mean() > 0.85
    assert "Layer 4, head 5 and many others park on `[CLS]`" in prose
    seen = weights[3, 1, words.index("it"), words.index("animal")].item()
    assert f'links "it" to "animal" with weight {seen:.2f}' in prose


def test_quality_against_length(ran: dict, prose: str) -> None:
    bleu = {
        kind: dict(zip(ran["lengths_of_numbers"], zip(*lines, strict=True), strict=True))
        for kind, lines in ran["five"].items()
    }
    assert all(len(lines) == 5 for lines in ran["five"].values()), "a band over five seeds, on every claim of the page"

    def spread(kind: str, at: str) -> str:
        values = bleu[kind][at]
        return f"{mean(values):.0f} ({min(values):.0f} to {max(values):.0f})"

    assert (
        f"at 15 to 17 words, it is {spread('one vector', '15-17')}, where attention has {spread('attention', '15-17')}"
        in prose
    )
    assert f"At 9 to 11 words it is {spread('one vector', '9-11')}, where attention has 100." in prose
    assert f"At 18 to 20 words it has {spread('attention', '18-20')}" in prose
    for at in ran["lengths_of_numbers"][2:]:
        assert min(bleu["attention"][at]) > max(bleu["one vector"][at]), "the bands do not touch"
    means = [mean(values) for values in bleu["one vector"].values()]
    assert means == sorted(means, reverse=True), "'falls from the start'"
    assert all(mean(bleu["attention"][at]) > 99 for at in ("3-5", "6-8", "9-11", "12-14")), (
        "'stays at 100 a little beyond'"
    )
    longer = [ran["measured"]["lines"][f"{kind}, trained on up to 20 words"]["18-20"]["bleu"] for kind in bleu]
    assert f"BLEU {longer[0]:.0f} with one vector and {longer[1]:.0f} with attention" in prose


def test_the_alignment_crosses(ran: dict) -> None:
    picture = ran["translate"](465_721)
    for written, read in {"fünf": "five", "sechzig": "sixty", "ein": "one", "zwanzig": "twenty"}.items():
        assert f"{written} looks most at {read}, " in picture


def test_softmax_sharpens(prose: str) -> None:
    scores = torch.tensor([1.0, 0.5, 0.0, -0.5])
    three, eight = (torch.softmax(factor * scores, dim=-1)[0].item() for factor in (3, 8))
    assert f"the first takes {three:.2f}, and at a factor of 8 it takes {eight:.2f}" in prose


def test_the_largest_weight_against_the_width(ran: dict, prose: str) -> None:
    playground = ran["widgets"].width_playground(attend)

    def mean(d: int, divide: bool) -> str:
        playground.controls["d"].value, playground.controls["divide"].value = d, divide
        return re.search(r"random queries: ([\d.]+)", playground.picture.value)[1]

    assert f"climbs from {mean(4, False)} to {mean(512, False)}" in prose
    assert {mean(d, True) for d in (4, 16, 64, 256, 512)} == {"0.41", "0.42", "0.43"}
    assert "stays between 0.41 and 0.43" in prose


def test_by_hand_and_parked(ran: dict, prose: str) -> None:
    words = ran["tokenizer"].pieces(ran["sentence"])
    assert round(ran["by_hand"][words.index("it"), words.index("animal")].item(), 2) == 0.69
    parked, others = ran["value_lengths"][0].item(), ran["value_lengths"][1:].median().item()
    assert f"nearly zero, with a length of {parked:.2f} against {others:.2f}" in prose


def test_ablating_the_head_changes_little(ran: dict, prose: str) -> None:
    assert f"{ran['without_head']:.3f} against {ran['other_word']:.3f} (1 is the same direction)" in prose


def test_scores_cost_more_from_twice_the_width_on(prose: str) -> None:
    d = 1_000
    assert 2 * 2_000 * d * d == 2_000 * 2_000 * d
    assert "as much as the steps at $n = 2d$, that is, at 2,000 words" in prose


def test_the_head_does_not_follow_the_meaning(ran: dict, prose: str) -> None:
    assert "the same noun in both sentences of each pair" in prose
    assert 'In the passive sentence it picks "street"' in prose
    preferred, ratios = [], []
    for text, first, second in ran["pairs"]:
        with torch.no_grad(), capture(ran["encoder"]) as tape:
            ran["encoder"](torch.tensor([ran["tokenizer"].encode(text)]))
        pieces = ran["tokenizer"].pieces(text)
        row = tape["layers.3.attention"][0, 1, pieces.index("it")]
        preferred.append(first if row[pieces.index(first)] > row[pieces.index(second)] else second)
        ratios.append((row[pieces.index(first)] / row[pieces.index(second)]).item())
    assert preferred == ["animal", "animal", "street", "bottle", "bottle"]
    assert [round(r) for r in ratios[:2]] == [13, 2], "'from thirteen times as much to twice as much'"


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 9
    assert 40 <= sum(minutes) <= 75


def test_the_step_as_published(ran: dict, prose: str) -> None:
    assert ran["h"].shape[:2] == (1, 5)
    assert (
        "$h$ is (1, 5, 12): 6 dimensions from each direction. $c$ is (1, 12), and $[x, c]$ has 15 dimensions" in prose
    )
    assert ran["step"](torch.zeros(1, 15), (torch.zeros(1, 6), torch.zeros(1, 6)))[0].shape == (1, 6)


def test_hindi_crosses_more_than_german(ran: dict, prose: str) -> None:
    assert ran["crossings"]([0, 1, 2]) == 0
    assert ran["crossings"]([2, 1, 0]) == 3
    assert sorted(ran["answers"].values()) == [0, 1, 2, 3, 4, 6, 7], "each English word but 'the' is answered once"
    _, _, weights = ran["aligned"](465_721)
    hindi, german = (
        ran["crossings"](read) for read in (list(ran["answers"].values()), weights[:-1].argmax(-1).tolist())
    )
    assert f"{hindi} against {german}." in prose


def test_letters_to_sounds(ran: dict, prose: str) -> None:
    measured = stored("pronunciation")["here"]
    with_it, without = (measured[kind]["phoneme_error_rate"] for kind in ("attention", "one vector"))
    assert (
        f"{with_it} % of its phonemes are wrong. A model with one vector instead of attention gets {without} % wrong"
        in prose
    )
    assert ran["speech_card"]["figures"]["test"]["phoneme_error_rate"] == with_it

    def reads(word: str) -> dict[str, str]:
        sounds, weights = ran["pronounce"](word)
        letters = [*word, "<eos>"]
        return {sound: letters[i] for sound, i in zip(sounds, weights.argmax(-1).tolist(), strict=True)}

    assert reads("box") == {"B": "b", "AA": "o", "K": "x", "S": "x", "<eos>": "<eos>"}
    assert reads("enough")["F"] == "g"
    assert "k" not in reads("knight").values()
    trained_on = {document.text for document in ran["corpora"].load("cmudict").splits["train"]}
    assert "box" not in trained_on


def test_a_word_that_is_none_is_refused_in_words(ran: dict) -> None:
    with pytest.raises(ValueError, match="one English word"):
        ran["spoken"]("box", "zwei Wörter")


def test_the_captioner_looks_where_the_digits_are(ran: dict, prose: str) -> None:
    right = ran["said"].argmax(-1) == ran["words_of_new"]
    looks = ran["looked"].argmax(-1) == ran["place"]
    assert "About nine words in ten are right, and nearly every look is at the digit" in prose
    assert 0.85 < right.float().mean() < 0.95
    assert looks.float().mean() > 0.98
    assert looks[~right].float().mean() > 0.9, "where a word is wrong, it looked at the right place"


def test_the_measured_cost(prose: str) -> None:
    cost = stored("source_and_target")
    doubled = {name: at["4096"] / at["2048"] for name, at in cost["seconds"].items()}
    assert f"the time without attention is {doubled['initial']:.1f} times as long" in prose
    assert (
        f"With attention it is {doubled['attention']:.1f} times as long, and for the Transformer"
        f" {doubled['transformer']:.1f} times" in prose
    )
    assert cost["multiply_adds"]["attention"]["nm"] == 256 == 2 * cost["sizes"]["d_model"]
    assert "nm" not in cost["multiply_adds"]["initial"]
    assert all(cost["seconds"]["attention"][n] > at for n, at in cost["seconds"]["transformer"].items())

    def products(kind: str, n: int) -> int:
        c = cost["multiply_adds"][kind]
        return (c["n"] + c["m"]) * n + (c["nm"] + c.get("n²", 0) + c.get("m²", 0)) * n * n

    assert all(products("attention", n) < products("transformer", n) for n in (64, 512, 4096)), "multiplies less"
