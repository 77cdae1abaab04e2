"""Eigenvalues and spectral radius of recurrent matrices."""

import math

import pytest
import torch
from torch import nn

from nlmcore.diagnostics import recurrent_matrices, rescale, spectrum
from nlmcore.recurrent import Recurrent

INPUT, HIDDEN = 3, 5


def test_a_rotation_neither_grows_nor_shrinks() -> None:
    angle = 0.3
    seen = spectrum(torch.tensor([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]))
    assert seen.radius == pytest.approx(1.0)
    assert seen.singular_values.tolist() == pytest.approx([1.0, 1.0])
    assert sorted(seen.eigenvalues.angle().abs().tolist()) == pytest.approx([angle, angle])


def test_eigenvalues_are_not_singular_values() -> None:
    seen = spectrum(torch.tensor([[0.5, 10.0], [0.0, 0.2]]))
    assert seen.eigenvalues.real.tolist() == pytest.approx([0.5, 0.2])
    assert float(seen.singular_values[0]) > 10


def test_rescaling_sets_the_radius() -> None:
    matrix = torch.randn(HIDDEN, HIDDEN)
    assert spectrum(rescale(matrix, 1.25)).radius == pytest.approx(1.25, rel=1e-5)
    with pytest.raises(ValueError, match="-1"):
        rescale(matrix, -1.0)
    with pytest.raises(ValueError, match="no eigenvalue"):
        rescale(torch.zeros(2, 2), 1.0)


def test_recurrent_matrices_of_ours_and_of_torchs() -> None:
    theirs = nn.LSTM(INPUT, HIDDEN, num_layers=2)
    ours = recurrent_matrices(Recurrent.from_torch(theirs))
    assert list(ours)[:5] == ["cells.0.input", "cells.0.forget", "cells.0.candidate", "cells.0.output", "cells.1.input"]
    for mine, other in zip(ours.values(), recurrent_matrices(theirs).values(), strict=True):
        assert torch.equal(mine, other)
    assert list(recurrent_matrices(nn.GRUCell(INPUT, HIDDEN))) == ["weight_hh.0", "weight_hh.1", "weight_hh.2"]


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"matrix must have shape \(n, n\)"):
        spectrum(torch.randn(2, 3))
    with pytest.raises(ValueError, match="finite"):
        spectrum(torch.full((2, 2), math.nan))
    with pytest.raises(ValueError, match="no recurrent matrix"):
        recurrent_matrices(nn.Linear(2, 2))
    for value in (math.nan, math.inf):
        with pytest.raises(ValueError, match="radius must be finite"):
            rescale(torch.eye(2), value)
