"""Convolution and pooling by naive loops and by PyTorch's, and the encoder made of them."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from nlmcore.vision import ConvEncoder, ImageClassifier, convolve, max_pool
from tests.laws import assert_close, assert_every_parameter_gets_a_gradient


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("size", [1, 3, 5])
def test_it_is_pytorchs(size):
    theirs = nn.Conv2d(3, 7, size, padding=size // 2)
    x = torch.randn(2, 3, 6, 5)
    assert_close(convolve(x, theirs.weight, theirs.bias), theirs(x), "convolution")


def test_pooling_is_pytorchs():
    x = torch.randn(2, 3, 6, 9)
    assert torch.equal(max_pool(x, 3), F.max_pool2d(x, 3))
    assert torch.equal(max_pool(x, 1), x)


def test_the_encoder_is_its_parts():
    encoder = ConvEncoder((4, 6), pools=(2, 1), kernel_size=3)
    images = torch.rand(2, 8, 4)
    x = F.max_pool2d(torch.relu(F.conv2d(images[:, None], encoder.weights[0], encoder.biases[0], padding=1)), 2)
    x = torch.relu(F.conv2d(x, encoder.weights[1], encoder.biases[1], padding=1))
    found = encoder(images)
    assert found.shape == (2, 4 * 2, 6)
    for r in range(4):
        for c in range(2):
            assert_close(found[:, 2 * r + c], x[:, :, r, c], f"location {r}, {c}")


def test_coordinates_are_two_more_maps():
    encoder = ConvEncoder((4,), pools=(1,), coordinates=True)
    images = torch.rand(2, 3, 5)
    maps = torch.empty(2, 3, 3, 5)
    for r in range(3):
        for c in range(5):
            maps[:, 0, r, c], maps[:, 1, r, c], maps[:, 2, r, c] = images[:, r, c], r - 1, c / 2 - 1
    found = torch.relu(F.conv2d(maps, encoder.weights[0], encoder.biases[0], padding=1))
    assert_close(encoder(images), found.flatten(2).mT, "vectors")


def test_every_parameter_gets_a_gradient():
    model = ImageClassifier(ConvEncoder((4, 6)), 3)
    assert_every_parameter_gets_a_gradient(model, model(torch.rand(5, 8, 8)))


def test_what_is_refused():
    with pytest.raises(ValueError, match="W must have an odd kernel size, so that it has a middle, got 2"):
        convolve(torch.zeros(1, 1, 4, 4), torch.zeros(1, 1, 2, 2), torch.zeros(1))
    with pytest.raises(ValueError, match="size must divide height and width, got 3 for maps of 4 × 6"):
        max_pool(torch.zeros(1, 1, 4, 6), 3)
    with pytest.raises(ValueError, match="one entry per convolution"):
        ConvEncoder((4, 6), pools=(2,))
    with pytest.raises(ValueError, match=r"channels\[1\] must be at least 1, got 0"):
        ConvEncoder((4, 0))
