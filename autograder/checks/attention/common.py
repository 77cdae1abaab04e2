"""What the exercises on attention share: a right masked softmax for the mistakes to build on, a mask, two sentences."""

import torch
from torch import Tensor

from autograder.exercise.draw import Draw

REFERENCE_ITSELF = "nlmcore.attention"
"""Closed everywhere: it is what the student writes."""

NAN_SENTENCE = (
    "A query with no key allowed gives NaN: nothing is left of its exponentials, and the softmax divides 0 by 0. One"
    " NaN is enough to spoil a whole training run. Such a query should get zeros."
)
UNIFORM_SENTENCE = (
    "A query with no key allowed attends to every key alike. That is what a large negative number such as −1e9 in"
    " place of −∞ does: in a row where all scores are equal, the softmax is uniform. It should get zeros."
)


def softmax(scores: Tensor, mask: Tensor | None = None, dim: int = -1) -> Tensor:
    """A right masked softmax, written out, for the mistakes to be elsewhere."""
    filled = scores if mask is None else scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    e = torch.exp(filled - filled.amax(dim, keepdim=True))
    weights = e / e.sum(dim, keepdim=True)
    return weights if mask is None else weights * mask


def mask_with_an_empty_row(draw: Draw, *shape: int) -> Tensor:
    """A mask like `Draw.mask` in which one query, and not every query, has no key allowed."""
    mask = draw.mask(*shape)
    mask[..., draw.integer(0, shape[-2] - 1), :] = False
    return mask
