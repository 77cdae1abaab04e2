"""Patches: which pixel goes where, and back."""

import pytest
import torch

from nlmcore.vision import from_patches, to_patches


def test_patches_are_read_row_by_row():
    images = torch.arange(2 * 4 * 6.0).reshape(2, 4, 6)
    patches = to_patches(images, 2)
    assert patches.shape == (2, 6, 4)
    for b in range(2):
        for k in range(6):
            for pixel in range(4):
                row, column = 2 * (k // 3) + pixel // 2, 2 * (k % 3) + pixel % 2
                assert patches[b, k, pixel] == images[b, row, column]


@pytest.mark.parametrize(("height", "width", "size"), [(4, 6, 2), (3, 9, 3), (5, 5, 5), (4, 6, 1)])
def test_and_back(height, width, size):
    images = torch.randn(3, height, width)
    assert torch.equal(from_patches(to_patches(images, size), height, width), images)


def test_what_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="size must divide height and width, got 4 for images of 4 × 6"):
        to_patches(torch.zeros(1, 4, 6), 4)
    with pytest.raises(ValueError, match="size must be at least 1"):
        to_patches(torch.zeros(1, 4, 6), 0)
    with pytest.raises(ValueError, match="squares that fill 4 × 6, got 5 pixels each"):
        from_patches(torch.zeros(1, 6, 5), 4, 6)
    with pytest.raises(ValueError, match="fill 4 × 6, got 5 of 2 × 2"):
        from_patches(torch.zeros(1, 5, 4), 4, 6)
