"""What the functions of the lecture do, and what its cells and pictures show."""

import re

import pytest
import torch

from nlmcore.attention import attend
from tests.lectures.seen import seen


def test_the_widget_draws_the_keys_that_the_lecture_counts(ran: dict) -> None:
    playground = ran["widgets"].width_playground(attend)
    for d, divide in ((4, False), (512, False), (4, True), (512, True)):
        shown = re.search(r"random queries: ([\d.]+)", seen(playground, d=d, divide=divide))[1]
        assert shown == f"{ran['mean_largest'](d, divide):.2f}"


def test_the_picture_of_quality_shows_what_its_words_say(ran: dict) -> None:
    assert all(len(seeds) == 5 for of in ran["by_length"].values() for seeds in of.values())
    with_it, without = ran["with_attention"], ran["one_vector"]
    assert all(min(with_it[at]) > max(without[at]) for at in ran["lengths_of_numbers"][3:]), "the bands do not touch"


def test_a_query_or_a_tanh_finds_a_name_that_moves(ran: dict) -> None:
    found = ran["names_found"]
    assert found["fixed weights"][0] > 99, "where nothing moves, fixed weights suffice"
    assert found["a learned query"][1] > 99 > 60 > found["fixed weights"][1]
    assert min(ran["squashed"]) > 99, "of states that pass through a tanh the mean suffices"
    assert ran["looks_at"].flatten().argmax() == 0, "the picture shows Ram"


def test_the_alignment_crosses(ran: dict) -> None:
    picture = ran["translate"](465_721)
    for written, read in {"fünf": "five", "sechzig": "sixty", "ein": "one", "zwanzig": "twenty"}.items():
        assert f"{written} looks most at {read}, " in picture


def test_the_step_as_published(ran: dict) -> None:
    assert ran["step"](torch.zeros(1, 15), (torch.zeros(1, 6), torch.zeros(1, 6)))[0].shape == (1, 6)


def test_crossings_are_pairs(ran: dict) -> None:
    assert ran["crossings"]([0, 1, 2]) == 0
    assert ran["crossings"]([2, 1, 0]) == 3
    assert sorted(ran["answers"].values()) == [0, 1, 2, 3, 4, 6, 7], "each English word but 'the' is answered once"


def test_letters_to_sounds(ran: dict) -> None:
    measured = ran["heard"]["attention"]["phoneme_error_rate"]
    assert ran["speech_card"]["figures"]["test"]["phoneme_error_rate"] == measured


def test_a_word_that_is_none_is_refused_in_words(ran: dict) -> None:
    with pytest.raises(ValueError, match="one English word"):
        ran["spoken"]("box", "zwei Wörter")
