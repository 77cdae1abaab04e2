"""What the functions of the lecture do, and what its cells print."""

import pytest


def test_the_librarys_loss_is_the_mean_of_the_bars(ran: dict) -> None:
    _, paid, _ = ran["losses"](ran["line"])
    assert ran["library"].item() == pytest.approx(sum(paid) / len(paid), rel=1e-5)


def test_three_schedules_meet_at_one_half(ran: dict) -> None:
    for schedule in ran["schedules"].values():
        assert schedule(400, 400) == pytest.approx(0.5, abs=1e-6)


def test_the_language_of_two_sentences(ran: dict) -> None:
    for epsilon, share in ran["shares"].items():
        assert share == pytest.approx((1 + epsilon) / 2, abs=0.04)


def test_retrieve_and_edit(ran: dict) -> None:
    assert ran["done"] == ["what is the news", "where is my lady", "i will go to the king"]


def test_a_retrieved_document_brings_the_fact(ran: dict) -> None:
    assert len(ran["people"]) > 300
    for play, name, who in ran["asked_about"]:
        assert ran["retrieved"](play, name) == f"{play}: {name}, {who}.\n", "word overlap finds the right line"
    assert all(found < min(alone, unrelated) for alone, unrelated, found in ran["costs"])
