"""The numbers that the lecture\'s prose quotes are those that its own cells compute, or that are stored."""

import itertools
import math
from statistics import mean

import pytest

from lectures import stored


def test_what_words_cost(ran: dict, prose: str) -> None:
    shown, paid, _ = ran["losses"]("I have done the deed. Didst thou not hear a noise?")
    dear = shown.index("Didst")
    assert max(paid) == paid[dear]
    assert f'"Didst" costs most, {paid[dear]:.1f} nats' in prose
    assert f'"thou" after it costs {paid[dear + 1]:.1f}' in prose
    assert paid[dear + 1] == min(paid)
    mixed, straight = (ran["losses"](line)[1] for line in ("The lord my king dead is.", "My lord, the king is dead."))
    assert (len(mixed), len(straight)) == (7, 8)
    assert f"costs {sum(mixed):.1f} nats over seven predictions" in prose
    assert f"{sum(straight):.1f} over eight" in prose


def test_the_librarys_loss_is_the_mean_of_the_bars(ran: dict) -> None:
    _, paid, _ = ran["losses"](ran["line"])
    assert ran["library"].item() == pytest.approx(sum(paid) / len(paid), rel=1e-5)


def test_free_running_learns_positions_alone(ran: dict, prose: str) -> None:
    names = stored("free_running")
    end = {way: mean(line[-1] for line in row["held_out"]) for way, row in names["rows"].items()}
    assert f"Teacher forcing ends at {end['teacher forcing']:.2f} nats" in prose
    assert f"Free running ends at {end['free running']:.2f}" in prose
    assert f"letter frequencies by position at {names['by_place_alone']:.2f}" in prose
    assert abs(end["free running"] - names["by_place_alone"]) < 0.01
    for way in ("teacher forcing", "free running"):
        assert max(abs(nats - end[way]) for nats in ran["end"][way]) < 0.02, "'agree to 0.02 nats'"
    ms = {way: mean(row["ms_per_step"]) for way, row in names["rows"].items()}
    assert f"about {ms['free running']:.0f} ms per update. Teacher forcing" in prose
    assert f"takes {ms['teacher forcing']:.0f}." in prose
    varies = {way: mean(d / m for m, d in row["gradient_norm"]) for way, row in names["rows"].items()}
    assert f"varies by {100 * varies['free running']:.0f} % of its mean" in prose
    assert f"against {100 * varies['teacher forcing']:.0f} %." in prose
    scheduled = [mean(values) for values in zip(*names["rows"]["scheduled sampling"]["held_out"], strict=True)]
    assert names["at"][scheduled.index(min(scheduled))] == 250, "the picture's words: it falls until step 250"


def test_what_beats_what_has_five_seeds_that_do_not_overlap(ran: dict, prose: str) -> None:
    ways = ["teacher forcing", "scheduled sampling to 75 %", "scheduled sampling"]
    for better, worse in itertools.pairwise(ways):
        assert len(ran["end"][better]) == len(ran["triples"][better]) == 5
        assert max(ran["end"][better]) < min(ran["end"][worse])
        assert min(ran["triples"][better]) > max(ran["triples"][worse])
    told = [f"{100 * mean(ran['triples'][way]):.0f} %" for way in ways]
    assert f"{told[1]} known triples instead of {told[0]}, and {told[2]} when nearly all letters" in prose
    assert (
        f"held-out real names, {100 * ran['names']['known_triples_of_held_out']:.0f} % of the triples are known"
        in prose
    )


def test_exposure_bias(prose: str) -> None:
    result = stored("exposure_bias")
    row = result["rows"]["teacher forcing"]
    assert f"{100 * row['forced'][7]:.1f} % are wrong after the true prefix, {100 * row['free'][7]:.1f} % when" in prose
    extra = [100 * (free - forced) for free, forced in zip(row["free"], row["forced"], strict=True)]
    assert (
        f"costs {mean(extra[:3]):.1f} points on average at the first three positions and {mean(extra[-3:]):.1f}"
        in prose
    )
    assert max(row["free"]) == row["free"][3]
    errors = [f"{way['test']['phoneme_error_rate']:.2f} %" for way in result["rows"].values()]
    assert f"which ranks nothing: {errors[0]} wrong sounds after teacher forcing, {errors[1]} with a schedule" in prose
    assert f"{errors[2]} with one that falls to 10 %" in prose


def test_texts_that_part(ran: dict, prose: str) -> None:
    assert mean(ran["agree"]) < 0.25, "'Mostly few agree'"
    assert ran["meet"] >= 1, "'now and then the two texts meet again'"


def test_a_slip_and_what_it_costs(ran: dict, prose: str) -> None:
    truth, slip = ([100 * (1 - share) for share in ran[name]] for name in ("after_truth", "after_slip"))
    assert f"half of the sounds are wrong, {slip[0]:.0f} % instead of {truth[0]:.0f} %" in prose
    assert f"the network recovers, to {slip[4]:.0f} % against {truth[4]:.0f} % at the eighth" in prose
    assert slip == sorted(slip, reverse=True)


def test_three_schedules_meet_at_one_half(ran: dict, prose: str) -> None:
    shares = {name: [schedule(i, 400) for i in (100, 400, 800)] for name, schedule in ran["schedules"].items()}
    assert all(line[1] == pytest.approx(0.5, abs=1e-6) for line in shares.values())
    first = [shares[name][0] for name in ("inverse sigmoid", "linear", "exponential")]
    assert f"The inverse sigmoid, {first[0]:.2f} against {first[1]:.2f} (linear) and {first[2]:.2f}" in prose
    assert shares["linear"][2] == 0
    assert shares["exponential"][2] > 0.2
    assert shares["inverse sigmoid"][2] > 0


def test_the_language_of_two_sentences(ran: dict) -> None:
    for epsilon, share in ran["shares"].items():
        assert share == pytest.approx((1 + epsilon) / 2, abs=0.04)


def test_retrieve_and_edit(ran: dict, prose: str) -> None:
    assert "$J = 3/5 = 0.6$" in prose
    card = ran["editor_card"]
    assert card["training"]["pairs"] == 16_556, "the number in the question"
    figures = card["figures"]["held_out"]
    nats = [figures[f"nats_{which}"] for which in ("with_another_prototype", "without_edit", "with_edit")]
    assert f"{nats[0]:.2f} with an unrelated sentence as the prototype, {nats[1]:.2f} with the nearest" in prose
    assert f"{nats[2]:.2f} with the nearest one and the edit vector" in prose
    assert f"{figures['right_word_for_word']} % of the new sentences are right word for word" in prose
    assert (
        f"is {figures['bleu']:.0f}, where the unchanged prototype has {figures['bleu_of_the_prototype']:.0f}" in prose
    )
    assert ran["done"] == ["what is the news", "where is my lady", "i will go to the king"]


def test_a_retrieved_document_brings_the_fact(ran: dict) -> None:
    assert len(ran["people"]) > 300
    for play, name, who in ran["asked_about"]:
        assert ran["retrieved"](play, name) == f"{play}: {name}, {who}.\n", "word overlap finds the right line"
    assert all(found < min(alone, unrelated) for alone, unrelated, found in ran["costs"]), (
        "for every one who is asked about"
    )
    assert ran["alone"] - ran["control"] < 1, "'an unrelated document hardly helps'"
    assert ran["with_document"] < ran["alone"] / 2


def test_the_answers_of_check_yourself(prose: str) -> None:
    assert f"4 ln 2 = {4 * math.log(2):.2f} nats; averaged over four predictions {math.log(2):.2f}" in prose
    assert f"i = ln 2 / 0.01005 = {math.log(2) / -math.log(0.99):.0f}." in prose
