"""What the lecture `features_and_harms` computes itself must be what its stored runs say."""

import pytest


def test_the_live_toy_is_one_of_the_stored_kind(ran: dict) -> None:
    stored = ran["at"][0.9]["ReLU"]
    assert ran["kept_live"] in stored["kept"]
    shares = ran["dimensionality"](ran["toy"].weight.detach())[0]
    assert float(shares.sum()) == pytest.approx(2, abs=0.05)


def test_the_live_replies_are_the_stored_ones(ran: dict) -> None:
    arms = ran["arms"]
    for live, arm in (("page", "the page alone"), ("order", "an order"), ("correction", "a false correction")):
        assert ran["answers"][live] == arms[arm]["shown"][0]


def test_secrets_are_ten_for_each_number_of_copies(ran: dict) -> None:
    assert {len(ranks) for ranks in ran["ranks"].values()} == {10}
    assert {len(ranks) for ranks in ran["after"].values()} == {10}


def test_every_arm_asks_the_same_forty_facts(ran: dict) -> None:
    assert {len(row["taken"]) for row in ran["arms"].values()} == {40}
