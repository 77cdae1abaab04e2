"""What the functions and stored results of the lecture `language_models` must do."""

import pytest

from lectures.recipes.guessing import entropy_bounds


def test_all_models_have_one_vocabulary(ran: dict) -> None:
    assert ran["checkpoint"]("word_lstm").tokenizer.vocabulary == ran["tokenizer"].vocabulary


def test_the_sentence_by_hand(ran: dict) -> None:
    assert ran["unigram"] == pytest.approx(4 / 19 * 3 / 19 * 3 / 19)
    assert ran["bigram"] == pytest.approx(3 / 4 * 2 / 4 * 2 / 3)


def test_lengths_share_one_distribution(ran: dict) -> None:
    for p, told in ((0.5, 0.984375 + 0.0078125), (0.05, 1 - 0.95**7)):
        assert sum(ran["of_length"](n, p) for n in range(7)) == pytest.approx(told)


def test_no_passage_of_the_game_is_told_before_it(ran: dict, cells: list) -> None:
    opening = cells[0].source.partition("*")[2].partition("*")[0].strip()[:20]
    assert opening
    assert not any(opening in passage.text for passage in ran["passages"].values())


def test_the_perplexity_computed_here_is_the_stored_one(ran: dict) -> None:
    assert round(ran["losses"].mean().exp().item(), 1) == ran["measured"]["ngram"]["kneser_ney"]["3"]


def test_stored_bounds_are_those_of_the_guesses(ran: dict) -> None:
    for player in ran["players"].values():
        ranks = [i for i, count in enumerate(player["guesses"], 1) for _ in range(count)]
        assert entropy_bounds(ranks) == pytest.approx(tuple(player["bounds"]), abs=6e-4)


def test_the_passages_are_of_the_test_plays_and_begin_where_they_say(ran: dict) -> None:
    for name, passage in ran["passages"].items():
        assert any(passage.text in play.text for play in ran["shakespeare"].test), name
        assert 30 < passage.given < 100 < len(passage.text)
    assert ran["passages"]["Sir Toby"].text[50:].startswith("To be\nup after midnight")
