"""The numbers that the lecture\'s prose quotes are those that its own cells compute, or that its recipes stored."""

import re
from collections import Counter

import numpy as np
import pytest
import torch

from lectures import stored
from lectures.widgets.windows_and_convolutions import architecture


def test_parameters_are_counted(ran: dict, prose: str, said: str) -> None:
    assert "parameters: 3571" in said
    assert "3,571 parameters: $27 \\cdot 8 = 216$ in the embeddings, $24 \\cdot 64 + 64 = 1{,}600$" in prose
    assert 216 + 1600 + 1755 == 3571
    assert "window 4: 661,448 parameters" in said
    assert "The network has 661,448 parameters" in prose
    assert int(re.search(r"window 8: ([\d,]+)", said)[1].replace(",", "")) - 661_448 == 4 * 64 * 64 == 16_384
    assert "A window of 8 costs 16,384 more" in prose


def test_the_text_is_sparse(ran: dict, prose: str) -> None:
    assert 0.9e6 < len(ran["fivegrams"]) < 1e6, "'not quite a million'"
    counts = Counter(gram for play in ran["plays"] for gram in zip(*(play[i:] for i in range(5)), strict=False))
    assert sum(count == 1 for count in counts.values()) > 0.9 * len(counts), "'nearly all of them with a single count'"


def test_no_moral_is_drawn_from_a_network_that_is_not_trained(ran: dict, prose: str) -> None:
    """The text compares counts with a properly trained network, over five seeds."""
    assert len(ran["names"]["train"]) == 4641
    assert "4,641 first names" in prose
    assert round(ran["reached"], 1) == pytest.approx(8.2, abs=0.2)
    assert "reaches 8.2 after a second of training" in prose
    assert f"The 4-gram has {ran['counted'][4]:.1f}" in prose
    measured = stored("names_window")
    _, longer, wider = (row["test"] for row in measured["network"].values())
    assert len(longer) == len(wider) == 5
    assert f"with a decaying rate reach {min(longer):.2f} to {max(longer):.2f}" in prose
    assert f"larger batches {min(wider):.2f} to {max(wider):.2f}" in prose
    grams = measured["ngram"]["4"]
    assert grams == pytest.approx(ran["counted"][4], abs=0.01)
    assert f"{grams:.1f} against {min(wider):.1f} to {max(wider):.1f}" in prose
    assert max(wider) - grams < 0.15 * (ran["reached"] - grams) + 0.02, "'most of the gap was lack of training'"
    assert f"on {len(ran['names']['test'])} test names" in prose


def test_a_neighbour_in_place_of_a_word(ran: dict, prose: str) -> None:
    def lord(context: str, rank: int) -> list[float]:
        return [dict(best).get("lord", 0.0) for best in ran["continued"](context, rank).models.values()]

    def first(context: str, rank: int) -> list[str]:
        return [best[0][0] for best in ran["continued"](context, rank).models.values()]

    assert ran["contexts"] == ["O [my] most gracious", "How fares [my] gracious", "How fares my [noble]"]
    for context in ran["contexts"]:
        assert ran["continued"](context, 0).seen == "seen in training"
        assert first(context, 0) == ["lord", "lord"], "a content word is what follows"
    gracious = ran["contexts"][0]
    assert "with {:.2f}, the network with {:.2f}".format(*lord(gracious, 0)) in prose
    assert "[our]" in ran["continued"](gracious, 2).words
    assert "last 4" not in ran["continued"](gracious, 2).seen
    counted, network = lord(gracious, 2)
    assert f"gives *lord* {counted:.2f} and prefers *mistress*" in prose
    assert first(gracious, 2)[0] == "mistress"
    assert f"The network stays at {network:.2f}" in prose
    (was, before), (now, after) = lord("How fares [my] gracious", 0), lord("How fares [my] gracious", 2)
    assert f"the 5-gram goes from {was:.2f} to {now:.2f} and now expects *lady*" in prose
    assert first("How fares [my] gracious", 2) == ["lady", "lord"]
    assert f"the network goes from {before:.2f} to {after:.2f}" in prose
    noble = ran["contexts"][2]
    assert "[God]" in ran["continued"](noble, 1).words
    assert "lord" not in first(noble, 1)
    assert "[sweet]" in ran["continued"](noble, 2).words
    assert first(noble, 2)[1] == "lord"
    assert f"with {lord(noble, 2)[1]:.2f}" in prose


def test_what_nobody_has_seen(prose: str) -> None:
    result = stored("unseen_contexts")
    by_seen, overall = result["by_words_seen"], result["overall"]
    counted, network = "5-gram, Kneser–Ney", "feed-forward, window 4"
    assert list(by_seen) == ["1", "2", "3", "4"]
    assert f"({by_seen['4']['share']:.0%} of the words)".replace("%", " %") in prose
    assert f"{by_seen['4'][counted]:.1f} against {by_seen['4'][network]:.1f}" in prose
    assert f"{by_seen['1'][counted]:.1f} against {by_seen['1'][network]:.1f}" in prose
    assert f"{1 - by_seen['4']['share']:.0%} of all words".replace("%", " %") in prose
    assert f"Over all words the perplexities are {overall[counted]:.1f} against {overall[network]:.1f}" in prose
    gains = [by_seen[n][counted] / by_seen[n][network] for n in by_seen]
    assert gains == sorted(gains, reverse=True), "'the network gains most where the least was seen'"


def test_averaging_forgets_the_order(ran: dict, said: str) -> None:
    found = re.findall(r"(concatenated|averaged) +largest difference: dog bites man ([\d.]+), .* man ([\d.]+)", said)
    same = {name: [float(value) == 0 for value in values] for name, *values in found}
    assert same == {"concatenated": [False, False], "averaged": [True, False]}


def test_the_filter_by_hand(ran: dict, prose: str) -> None:
    x, y = np.array(ran["signal"]), ran["convolve"](np.array(ran["signal"]), np.array([-1.0, 1.0]))
    assert y.tolist() == [1, -1, 2, -1, -2, 4, -3]
    assert "$y = 1, -1, 2, -1, -2, 4, -3$" in prose
    for w in ran["filters"].values():
        assert np.allclose(ran["my_convolve"](x, np.array(w)), ran["convolve"](x, np.array(w)))


def test_which_letters_fire(ran: dict, prose: str) -> None:
    def pulls(text: str) -> dict[str, float]:
        found = ran["read"](text)
        strongest = {}
        for (width, answers), pull in zip(found.responses, found.pull, strict=True):
            place = int(answers.argmax())
            key = "".join(found.letters[place : place + width]).strip("· ")
            strongest[key] = max(strongest.get(key, 0.0), pull, key=abs)
        return strongest

    for text, letters in {
        "If Musicke be the food of Loue, play on": ("loue", "cke"),
        "And all our yesterdayes haue lighted Fooles": ("haue",),
        "Heere's the smell of the blood still": ("eere",),
    }.items():
        assert all(pulls(text)[group] > 1 for group in letters)
        assert ran["read"](text).probability > 0.8
    assert pulls("If music be the food of love, play on")["ove"] < -1
    universe = pulls("a virus in the universe")
    assert all(universe[group] < -1 for group in ("ive", "iver", "vers"))
    romeo = ran["read"]("O Romeo, Romeo, wherefore art thou Romeo?")
    assert romeo.probability < 0.5
    assert np.abs(romeo.pull).max() < 0.5, "'no filter fires strongly'"
    figures = ran["spelling_card"]["figures"]
    assert (
        f"right on {figures['test_accuracy']:.0%} of {figures['test_lines']:,} test lines".replace("%", " %") in prose
    )


def test_the_explorer_and_the_model_agree(ran: dict) -> None:
    """The filters' responses are checked one by one; together they must be what the network computes."""
    text = "And all our yesterdayes haue lighted Fooles"
    found, model = ran["read"](text), ran["spelling"]
    tokens = torch.tensor([ran["symbols"].encode(ran["plain"](text))])
    strongest = torch.tensor([answers.max() for _, answers in found.responses])
    assert torch.allclose(strongest, model.features(tokens)[0], atol=1e-5)
    difference = (model(tokens)[0, 1] - model(tokens)[0, 0]).item()
    bias = (model.output.bias[1] - model.output.bias[0]).item()
    assert found.pull.sum() + bias == pytest.approx(difference, abs=1e-4)


def test_padding_and_the_future(ran: dict, prose: str) -> None:
    assert ran["changed_places"]((2, 0)) == [6, 7, 8, 9, 10]
    assert ran["changed_places"]((1, 1)) == [4, 5, 6, 7, 8]
    assert "With zeros in front, the outputs at 6 to 10 change." in prose
    assert "With zeros on both sides those at 4 to 8 change" in prose


def test_reach_and_gates(ran: dict, prose: str, said: str) -> None:
    assert "dilations [1, 1, 1, 1]: 5 words" in said
    assert "dilations [1, 2, 4, 8]: 16 words" in said
    assert "GLU:        0.500" in said
    assert "gated tanh: 0.005" in said
    assert re.search(r"without positions +largest difference 0\.00", said)
    assert not re.search(r"with positions +largest difference 0\.00", said)
    assert ran["without"][4].equal(ran["without"][10]) or (ran["without"][4] - ran["without"][10]).abs().max() < 1e-6


@pytest.mark.parametrize("kind", ["convolution", "window", "recurrent", "attention"])
def test_what_is_drawn_is_what_is_measured(ran: dict, kind: str) -> None:
    n = len(ran["sentence"])
    for layers, kernel, dilated, at in ((1, 3, False, 15), (3, 2, True, 15), (2, 4, False, 7), (4, 2, True, 9)):
        dilations = tuple(2**i if dilated else 1 for i in range(layers))
        rows, edges = architecture(kind, layers, kernel, dilations, n)
        lit, stack = {(len(rows), at)}, [(len(rows), at)]
        while stack:
            end = stack.pop()
            new = {source for source, to in edges if to == end} - lit
            lit |= new
            stack += new
        drawn = {time for row, time in lit if row == 0}
        measured = {t for t, value in enumerate(ran["measure"](kind, layers, kernel, dilations, at)) if value > 0}
        assert drawn == measured


def test_who_sees_the_cat(ran: dict, prose: str) -> None:
    cat = ran["sentence"].index("cat")
    assert len(ran["sentence"]) - 1 - cat == 14
    seen = {
        (layers, kernel): ran["measure"]("convolution", layers, kernel, tuple(2**i for i in range(layers)), 15)[cat] > 0
        for layers in (1, 2, 3)
        for kernel in (2, 3, 4)
    }
    assert [setting for setting, sees in seen.items() if sees] == [(3, 3), (3, 4)]
    assert ran["measure"]("convolution", 4, 4, (1, 1, 1, 1), 15)[cat] == 0
    far, near = (ran["measure"]("recurrent", 1, 2, (1,), 15)[i] for i in (0, -1))
    assert 15_000 < near / far < 25_000
    *others, last = ran["measure"]("attention", 1, 2, (1,), 15)
    assert max(others) < 2.5 * min(others), "'about equally strong'"
    assert 50 < last / np.mean(others) < 200, "'a hundred times stronger'"


def test_the_table(ran: dict, prose: str) -> None:
    rows = ran["rows"]
    averaged, side, deep = rows["averaged, window 4"], rows["concatenated, window 4"], rows["convolutions, 9 words"]
    two, five = rows["2-gram, Kneser–Ney"], rows["5-gram, Kneser–Ney"]
    assert f"The averaged window has {averaged:.1f}, where a 2-gram, which sees one word, has {two:.1f}" in prose
    assert f"The concatenated window has {side:.1f} and the 5-gram {five:.1f}" in prose
    assert f"the convolutions have {deep:.1f}, with fewer parameters" in prose
    assert "We made one run of each model and tuned nothing" in prose
    neural = ran["table"]["neural"]
    fewer, more = (neural[name]["parameters"] for name in ("convolutional (9)", "feed-forward (4)"))
    assert f"({fewer:,} against {more:,} for the concatenated one)" in prose
    other = ran["result"]
    assert other["network"]["passes"] == 3, "'for three epochs'"
    assert f"of section 2, with {other['overall']['feed-forward, window 4']:.1f}, was trained for three epochs" in prose


def test_how_far_the_tickets_are(prose: str) -> None:
    story = re.search(r"\*(When she tried.*?printed her) …\*", prose)[1]
    words = re.findall(r"\w+", story)
    assert len(words) - words.index("tickets") == 24
    assert "is 24 words wide" in prose
