"""What the functions of the lecture do, and what its cells compute."""

import pytest
import torch

from nlmcore.variants.linformer import LinformerAttention
from nlmcore.variants.sparse import build_longformer


def test_doubling_the_text_takes_four_times_as_long(ran: dict) -> None:
    assert ran["twice"] == pytest.approx(4, rel=0.15)


def test_needed_counts_squares(ran: dict) -> None:
    assert int(ran["needed"](torch.diag(torch.tensor([3.0, 1.0])))) == 1  # 9 of 10
    assert int(ran["needed"](torch.diag(torch.tensor([3.0, 1.1])))) == 2
    assert int(ran["needed"](torch.eye(20))) == 18


def test_shuffled_rows_keep_their_weights_and_their_mask(ran: dict) -> None:
    weights = torch.rand(6, 6).tril().numpy()
    mixed = torch.from_numpy(ran["shuffled"](True)(weights))
    assert not mixed.triu(1).any()
    assert torch.equal(mixed.sort(-1).values, torch.from_numpy(weights).sort(-1).values)


def test_linformer_is_the_librarys_and_leaks(ran: dict) -> None:
    torch.manual_seed(0)
    part, x = LinformerAttention(ran["sizes"], k=5), torch.randn(1, 32, 16)
    q, k, v = part.attention.projection(x)[0].split(16, dim=-1)
    ours = part.attention.output(ran["linformer"](q, k, v, part.E, part.F))
    assert torch.allclose(ours, part(x)[0], atol=1e-5)
    assert bool(ran["moved"].all())


def test_patterns(ran: dict) -> None:
    for size in (2, 4, 8):
        part = build_longformer(ran["TransformerConfig"](**SIZES), False, window=2 * size)
        assert torch.equal(ran["longformer"](48, size), part.pattern(48))
    assert ran["alone"] == 12
    assert ran["with_global"] == 2
    assert torch.equal(ran["bigbird"](48, 4)[0], torch.ones(48, dtype=torch.bool))


SIZES = {"vocab_size": 9, "d_model": 16, "n_heads": 1, "n_layers": 1, "max_length": 48}


def test_scores_cost_as_much_as_the_matrices(ran: dict) -> None:
    assert ran["equal"] == pytest.approx(3072)
    assert ran["writer"].config.window is None
    products = ran["count"](12, 2, 5, 7)[1]
    assert products["attention, scores"] == 2 * 7 * 12 * 2


def test_a_students_pattern(ran: dict) -> None:
    mine = ran["my_pattern"](48, 6)
    assert not mine.triu(1).any()
    assert (((mine.float() @ mine.float()) > 0) == torch.ones(48, 48).tril().bool()).all()
