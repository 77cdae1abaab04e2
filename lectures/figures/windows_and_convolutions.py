"""The opening picture of the lecture `windows_and_convolutions`: what a convolutional language model sees, drawn and measured by gradients."""

import torch

from nlmcore.convolutional import ConvLM

from lectures.widgets.windows_and_convolutions import architecture, reach_svg

WORDS = [
    "the",
    "cat",
    "that",
    "the",
    "dog",
    "had",
    "chased",
    "all",
    "day",
    "sat",
    "on",
    "the",
    "old",
    "red",
    "mat",
    ".",
]


def receptive_field() -> str:
    n, dilations = len(WORDS), (1, 2, 4)
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model = ConvLM(n + 1, 16, 3, 2, dilations)
    prediction = model(torch.arange(1, n + 1)[None])[0][0, -1]
    (gradient,) = torch.autograd.grad(prediction.square().sum(), model.embedding.weight)
    rows, edges = architecture("convolution", 3, 2, dilations, n)
    strength = gradient[1:].norm(dim=-1)
    return reach_svg(
        WORDS, rows, edges, (3, n - 1), strength, title="what follows the last word?"
    )


PICTURES = {"receptive_field": receptive_field}
