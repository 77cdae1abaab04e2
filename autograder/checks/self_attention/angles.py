"""What sinusoids and rotations share."""

import torch
from torch import Tensor

REFERENCE_ITSELF = ("nlmcore.positions",)
"""Closed: it is what the student writes."""


def angles(length: int, d: int, base: float = 10_000.0, first: int = 0, step: int = 2) -> Tensor:
    """position / base^(step · i / d), (length, d/2)."""
    position = torch.arange(first, first + length, dtype=torch.float64)[:, None]
    return position / base ** (step * torch.arange(d // 2) / d)
