"""What the exercises on attention share."""

from torch import Tensor

from autograder.exercise.draw import Draw

CLOSED = ("nlmcore.attention", "nlmcore.convolutional", "nlmcore.fast", "transformers")
"""Closed in every question with PyTorch: attention, and rooms with an attention of their own."""


def mask_with_an_empty_row(draw: Draw, *shape: int) -> Tensor:
    """A mask like `Draw.mask` in which one query, and not every query, has no key allowed."""
    mask = draw.mask(*shape)
    mask[..., draw.integer(0, shape[-2] - 1), :] = False
    return mask
