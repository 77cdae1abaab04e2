"""The parts of the recipes about rounding and distillation."""

import pytest
import torch

from lectures.recipes import distillation, rounding
from nlmcore.compression import rounded
from nlmcore.transformer import TransformerConfig, TransformerLM


def matrix(seed: int = 0) -> torch.Tensor:
    return torch.randn(6, 50, generator=torch.Generator().manual_seed(seed))


def test_windows_touch_and_begin_at_one_character(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounding, "START", 3)
    found = rounding.windows(["abcdefghijklm" * 9, "nopqrstuvwxyz" * 9], lambda text: [ord(c) for c in text], 2, 4)
    assert ["".join(map(chr, row)) for row in found.tolist()] == ["defg", "ghij", "qrst", "tuvw"]


def test_stretches_are_means_of_neighbours() -> None:
    rise = torch.arange(2 * 70.0).view(2, 70)
    assert rounding.stretches(rise) == [15.5, 47.5, 85.5, 117.5]


def test_spared_weights_are_exact_and_the_others_get_a_smaller_step() -> None:
    w = matrix()
    w[2, 3] = 40.0
    out = rounding.sparing("w", w, 4, 1 / 300)
    assert out[2, 3] == 40.0
    assert (out - w).abs().max() < 0.5 < (rounded(w, 4, w.numel()) - w).abs().max()
    random = rounding.sparing("w", w, 4, 0.1, torch.Generator().manual_seed(1))
    assert int((random == w).sum()) >= 30


def test_noise_has_the_size_of_the_error() -> None:
    w = matrix(3).repeat(40, 32)
    noise = rounding.with_noise("w", w, 3, torch.Generator().manual_seed(2)) - w
    assert float(noise.std()) == pytest.approx(float((rounded(w, 3) - w).std()), rel=0.02)


def test_the_controls_keep_the_errors_but_not_their_signs_or_places() -> None:
    w = matrix(4).repeat(1, 32)
    error = rounded(w, 3) - w
    assert torch.allclose(rounding.error_reversed("w", w, 3) - w, -error, atol=1e-6)
    moved = rounding.error_moved("w", w, 3, torch.Generator().manual_seed(1)) - w
    assert torch.allclose(moved.flatten().sort().values, error.flatten().sort().values, atol=1e-6)
    assert not torch.allclose(moved, error, atol=1e-3)


def test_a_share_of_the_blocks_is_rounded() -> None:
    w = matrix(5).repeat(20, 16)
    out = rounding.some_blocks("w", w, 2, 0.25, torch.Generator().manual_seed(0)).view(-1, 32)
    kept, changed = (out == w.view(-1, 32)).all(1), (out == rounded(w, 2).view(-1, 32)).all(1)
    assert bool((kept | changed).all())
    assert 0.2 < float(changed.float().mean()) < 0.3


def test_random_pruning_leaves_out_as_many() -> None:
    out = rounding.without("w", matrix(), 0.3, torch.Generator().manual_seed(0))
    assert int((out == 0).sum()) == 90


def test_layers_are_chosen_by_their_number() -> None:
    where = rounding.in_layers({1, 12})
    assert [where(f"layers.{i}.attention.output.weight") for i in (1, 2, 12)] == [True, False, True]


def test_batches_of_the_arms_are_the_same_windows() -> None:
    tokens = torch.arange(40).view(8, 5)
    log_p = torch.zeros(8, 4, 3) + torch.arange(8.0)[:, None, None]
    plain = [rows for rows, _ in distillation.Windows(tokens, None, 3, 1)(2)]
    taught = list(distillation.Windows(tokens, log_p, 3, 1)(2))
    assert [rows.tolist() for rows in plain] == [rows.tolist() for rows, _ in taught]
    assert all(torch.equal(p[:, 0, 0], (rows[:, 0] / 5).float()) for rows, p in taught if p is not None)
    assert len(plain) == 2


def tiny(seed: int) -> TransformerLM:
    torch.manual_seed(seed)
    return TransformerLM(TransformerConfig(vocab_size=7, d_model=8, n_heads=2, n_layers=1, max_length=32)).eval()


def test_a_model_accepts_all_that_it_drafts_itself() -> None:
    teacher, tokens = tiny(0), torch.randint(7, (4, 9), generator=torch.Generator().manual_seed(0))
    held = {"test": (tokens, distillation.log_probs(teacher, tokens))}
    assert distillation.measured(teacher, held)["accepted"] == pytest.approx(1, abs=1e-3)
    assert distillation.measured(tiny(1), held)["accepted"] < 1


def test_drafting_counts_the_calls_of_the_teacher() -> None:
    teacher = tiny(0)
    found = distillation.drafting(teacher, tiny(0), torch.zeros(1, 2, dtype=torch.long), 10, lookahead=4)
    assert found["plain"]["calls"] == 1
    assert found["draft"]["calls"] < 0.5
    assert not teacher._forward_hooks
