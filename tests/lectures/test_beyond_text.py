"""What the functions of the lecture do, and what its cells compute."""

import pytest
import torch

from nlmcore.positions import relative_shift

pytest.importorskip("PIL")


def test_patches(ran: dict) -> None:
    assert ran["tokens_of"] == {16: 196, 8: 784}
    temple = torch.as_tensor(ran["pictures"]["temple"])
    tokens = {size: ran["to_patches"](temple[None], size).shape[1] for size in (1, 32)}
    assert tokens == {1: 6144, 32: 6}


def test_memory(ran: dict) -> None:
    assert ran["pair_bytes"] == 2048 * ran["table_bytes"]


def test_skewing(ran: dict) -> None:
    x = torch.randn(6, 6)
    for skew in (ran["skew"], ran["my_skew"]):
        assert torch.equal(skew(x).tril(), relative_shift(x))


def test_harmonies(ran: dict) -> None:
    assert torch.equal(ran["sung"][0, :, :, 0], ran["melodies"]), "the melody is put in"
    assert ran["agrees"].shape == (5, 3)
    assert ran["by_table"].shape == (3,)
    assert not ran["missing"]


def test_heads_look_three_back(ran: dict) -> None:
    assert int(ran["favourite"].argmax()) == 3
    assert len(ran["copying"]) >= 4


def test_the_checkpoints_are_small(ran: dict) -> None:
    names = ("chorales", "captions_convolutional", "captions_patches")
    assert sum(ran["checkpoint"](name).card["weights"]["bytes"] for name in names) < 2**20
