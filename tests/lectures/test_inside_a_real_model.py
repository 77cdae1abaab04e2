"""What the cells of the lecture compute."""

import pytest


def test_shares_add_up(ran: dict) -> None:
    logits = ran["logits"]
    assert sum(ran["parts"].values()) == pytest.approx(float(logits[ran["paris"]] - logits[ran["rome"]]), abs=0.01)
    assert len(ran["parts"]) == 1 + 30 * 10
