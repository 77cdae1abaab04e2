"""The values that the lecture's prose quotes are those that its own cells compute, or that are stored."""

import math
from statistics import mean

import pytest
import torch

from lectures import stored
from lectures.recipes.alignment import NEXT, READ, reference_alignment
from lectures.recipes.pairs import BOS, EOS, as_source, english, german
from lectures.trained import checkpoint
from nlmcore.attention import causal_mask
from nlmcore.decoding import greedy

SINUSOIDS, RELATIVE = "Transformer, sinusoids", "Transformer, relative positions"
ATTENTION, ONE, BASELINE = "recurrent, attention", "recurrent, one vector", "word by word"


def test_the_minutes_are_few_enough(prose: str) -> None:
    minutes = [int(n) for n in prose.split("| minutes |")[1].split("Every")[0].replace("|", " ").split()]
    assert len(minutes) == 8
    assert 60 <= sum(minutes) <= 75


def test_it_asks_and_lets_play_enough(cells: list) -> None:
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    assert code.count("show.predict(") >= 8
    assert code.count("widgets.") - code.count("widgets.Pair(") - code.count("widgets.Network(") >= 5


def test_paths(ran: dict) -> None:
    assert (ran["n"], ran["m"]) == (11, 11)
    assert ran["steps_between"] == {ONE: (22, 10), ATTENTION: (1, 10), "Transformer": (1, 1)}
    for name, network in ran["networks"].items():
        across, within = ran["steps_between"][name]
        assert (network.across(11, 11), network.within(11, 11)) == (across, within)


def test_shapes_and_masks(ran: dict) -> None:
    assert ran["shape"] == (4, 5)
    assert sum(key > query for query in range(6) for key in range(6)) == 15
    assert german(365).split() == ["drei", "hundert", "fünf", "und", "sechzig"]


def test_our_translator_is_the_library(ran: dict) -> None:
    assert ran["same"]
    for name in ("numbers_transformer", "pronunciation_transformer"):
        model = checkpoint(name).model
        draw = torch.Generator().manual_seed(1)
        source, tokens = (torch.randint(3, 25, (2, time), generator=draw) for time in (7, 5))
        real = torch.ones(2, 1, 1, 7, dtype=torch.bool)
        ours = ran["rebuilt"](model)
        with torch.no_grad():
            logits = ours(tokens, ours.encode(source, real), real, causal_mask(5))
            assert torch.allclose(logits, model(tokens, model.encode(source))[0], atol=1e-4)


def test_a_decoder_layer_is_a_third_larger(ran: dict) -> None:
    assert ran["sizes"]["decoder"] / ran["sizes"]["encoder"] == pytest.approx(4 / 3, abs=0.02)


def test_one_pass_trains_all_positions(ran: dict) -> None:
    assert len(ran["passes"]) == 1
    assert len(ran["one_step"][0].predicts) == 6
    known = dict(zip(ran["one_step"][0].predicts, ran["one_step"][0].probabilities, strict=True))
    assert known["hundert"] > known["fünf"] + 0.2


def test_leaks(ran: dict, prose: str) -> None:
    rows = stored("leaks")["rows"]
    told = {way: [row["loss"] for row in runs] for way, runs in rows.items()}
    assert all(len(runs) == 5 for runs in told.values())
    right, unshifted, unmasked = (f"{min(told[way]):.4f} to {max(told[way]):.4f}" for way in ran["ways"])
    assert (
        f"is {unshifted} over five seeds, where the right model has {right}. Without the mask it is {unmasked}" in prose
    )
    exact = [100 * row["exact"] for row in rows["shifted and masked"]]
    assert f"the right model writes {min(exact):.1f} to {max(exact):.1f} % without an error" in prose
    assert all(row["exact"] == 0 for way in ("not shifted", "not masked") for row in rows[way])
    assert ran["at_the_end"]["not shifted"] < ran["at_the_end"]["not masked"] < ran["at_the_end"]["shifted and masked"]
    assert ran["writes"]["shifted and masked"] == [german(365), german(148)]
    assert set(ran["writes"]["not shifted"][0].replace("<bos>", "B")) == {"B"}
    assert ran["writes"]["not masked"] == ["", ""]


def test_decoding(ran: dict) -> None:
    assert len(ran["encoder_runs"]) == 1
    translator, words = ran["translator"], ran["words"]
    source = torch.tensor([as_source(words.source.encode(english(365)))])
    theirs = greedy(translator, torch.tensor([[BOS]]), 40, eos=EOS, state=translator.encode(source)).tokens[0].tolist()
    assert ran["written"] == theirs
    assert words.target.decode(theirs[:-1]) == german(365)
    for number in (365, 4_723, 21_648):
        _, steps = ran["decoding_of"](number)
        assert [step.likely[0][0] for step in steps] == [*german(number).split(), "<eos>"]


def test_a_beam_of_two_saves_the_word(ran: dict, prose: str) -> None:
    for size, word in ((1, "D UW IY"), (2, "D OY")):
        tree = ran["tree_of"](size)
        end = max((node for node in tree.nodes if node.status == "finished"), key=lambda node: node.log_prob)
        sounds = [ran["sounds"].target.decode([i]) for i in tree.path(end)]
        assert " ".join(sound for sound in sounds if sound and sound != "<eos>") == word
        assert f"{math.exp(end.log_prob):.2f}" in prose.split("With $b = 1$ the search")[1].split("Is greedy")[0]


def test_phonemes(prose: str) -> None:
    rows = stored("pronunciation_transformer")["rows"]
    ours, theirs, one = (rows[name]["word_error_rate"] for name in ("Transformer", ATTENTION, ONE))
    assert f"gets {theirs} % of the words wrong" in prose
    assert f"and less time, {ours} %" in prose
    assert f"instead of attention it is {one} %" in prose
    assert "up to 1.6 points may be chance" in stored("pronunciation_transformer")["what_it_shows"]
    assert rows["Transformer"]["seconds"] < rows[ATTENTION]["seconds"]
    assert rows["Transformer"]["parameters"] == pytest.approx(rows[ATTENTION]["parameters"], rel=0.02)


def in_words(values: list[float]) -> str:
    return f"{mean(values):.0f} ({min(values):.0f} to {max(values):.0f})"


def test_heads(prose: str) -> None:
    found = stored("translators")
    seeds = found["seeds"][SINUSOIDS]
    best, late = ([100 * max(seed["heads"][what]) for seed in seeds] for what in (NEXT, READ))
    assert (
        f"partner of {mean(best):.1f} % of the next words ({min(best):.1f} to {max(best):.1f} over five seeds)" in prose
    )
    assert f"of the words just read {mean(late):.1f} % ({min(late):.1f} to {max(late):.1f})" in prose
    assert (
        f"over all eight heads is {100 * mean(share for seed in seeds for share in seed['heads'][NEXT]):.1f} %" in prose
    )
    assert f"finds {100 * found['word_by_word']['aligned']['9-11']:.0f} % in numbers of 9 to 11 words" in prose
    theirs = [100 * seed["heads"][READ][0] for seed in found["recurrent"]]
    assert all(seed["heads"][NEXT] == [1.0] for seed in found["recurrent"])
    told = f"and {mean(theirs):.1f} % ({min(theirs):.1f} to {max(theirs):.1f}) of the words just read"
    assert f"recurrent network finds 100 % of the next words with every seed, {told}" in prose
    assert min(seeds[0]["heads"][NEXT][4:]) > 0.91
    assert len(reference_alignment(465_721)) == 11


def test_what_was_measured(ran: dict, prose: str) -> None:
    bleu = {
        name: {at: [row["by_length"][at]["bleu"] for row in rows] for at in ran["lengths"]}
        for name, rows in ran["quality"].items()
    }
    assert all(len(of) == 5 for by in bleu.values() for of in by.values())
    baseline = {at: row["bleu"] for at, row in ran["baseline"]["by_length"].items()}
    assert all(min(bleu[name]["9-11"]) > 99.9 for name in (ATTENTION, SINUSOIDS, RELATIVE))
    assert f"One vector has {in_words(bleu[ONE]['9-11'])}, word by word {baseline['9-11']:.0f}." in prose
    old, new = bleu[ATTENTION], bleu[SINUSOIDS]
    assert (
        f"it has {in_words(new['15-17'])}, where the recurrent network with attention has {in_words(old['15-17'])}"
        in prose
    )
    assert f"at 24 to 26 words {in_words(new['24-26'])} against {in_words(old['24-26'])}" in prose
    assert all(max(new[at]) < min(old[at]) for at in ("15-17", "24-26"))
    other = bleu[RELATIVE]
    assert f"BLEU is {in_words(other['15-17'])} at 15 to 17 words" in prose
    assert f"and {in_words(other['24-26'])} at 24 to 26." in prose
    assert min(other["15-17"]) > max(new["15-17"])
    beams = [row["beams"]["15-17"]["bleu"] for row in ran["five"][SINUSOIDS]]
    assert f"changes from {mean(new['15-17']):.1f} to {mean(beams):.1f}" in prose
    found = {at: mean(row["aligned"][at] for row in ran["five"][SINUSOIDS]) for at in ran["lengths"]}
    before = stored("translators")["recurrent"]
    assert len(before) == 5
    theirs = {at: mean(row["aligned"][at] for row in before) for at in ran["lengths"]}
    for told in (
        f"finds {found['9-11']:.0%} of the words at 9 to 11 words and {found['24-26']:.0%} at 24 to 26",
        f"network finds {theirs['9-11']:.0%} and {theirs['24-26']:.0%}.",
        f"place to lose, finds {ran['baseline']['aligned']['24-26']:.0%} at 24 to 26",
    ):
        assert told.replace("%", " %") in prose
    one = bleu[ONE]["24-26"]
    assert f"word by word has {baseline['24-26']:.0f}, and one vector {in_words(one)}" in prose
    assert max(one) < baseline["24-26"] < min(new["24-26"])
    longer = stored("numbers_transformer")["lines"]
    for name in (SINUSOIDS, ATTENTION):
        assert longer[f"{name}, trained on up to 20 words"]["18-20"]["bleu"] == 100


def test_the_table_of_costs(prose: str) -> None:
    costs, rows = stored("numbers_transformer")["costs"], stored("translators")["seeds"]
    for name in (ONE, ATTENTION, SINUSOIDS, RELATIVE):
        cost = costs[f"{name}, trained on up to 12 words"]
        assert f"| {name} | {cost['parameters']:,} | {cost['seconds']:.0f} |" in prose
        assert cost["steps"] == 2500
        assert all(row["parameters"] == cost["parameters"] for row in rows.get(name, []))


def test_what_two_lengths_cost(ran: dict, prose: str) -> None:
    cost, d = ran["cost"], 128
    assert cost["multiply_adds"]["transformer"]["n"] == 14 * d**2
    assert cost["multiply_adds"]["transformer"]["m"] == 14 * d**2 + 64 * d  # and the unembedding
    assert cost["multiply_adds"]["transformer"]["nm"] == 2 * d
    ours, theirs = (ran["networks"][name].products(256, 256) for name in ("Transformer", ONE))
    assert f"multiplies {ours / theirs:.1f} times as much" in prose
    seconds = cost["seconds"]
    assert f"({1000 * seconds['transformer']['256']:.1f} against {1000 * seconds['initial']['256']:.1f} ms)" in prose
    assert f"({seconds['initial']['4096']:.2f} against {seconds['transformer']['4096']:.2f} s)" in prose
    assert min(seconds, key=lambda name: seconds[name]["4096"]) == "initial"
    for kind, name in (("initial", ONE), ("attention", ATTENTION), ("transformer", "Transformer")):
        terms = {"n": 32, "m": 8, "nm": 256, "n²": 1024, "m²": 64}
        wanted = sum(count * terms[term] for term, count in cost["multiply_adds"][kind].items())
        assert ran["networks"][name].products(32, 8) == wanted
