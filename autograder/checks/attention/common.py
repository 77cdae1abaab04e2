"""What the exercises on attention share."""

from torch import Tensor

from autograder.exercise.draw import Draw

REFERENCE_ITSELF = "nlmcore.attention"
"""Closed everywhere: it is what the student writes."""

FUSED = (
    REFERENCE_ITSELF,
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.MultiheadAttention",
    "torch.nn.functional.multi_head_attention_forward",
)


def mask_with_an_empty_row(draw: Draw, *shape: int) -> Tensor:
    """A mask like `Draw.mask` in which one query, and not every query, has no key allowed."""
    mask = draw.mask(*shape)
    mask[..., draw.integer(0, shape[-2] - 1), :] = False
    return mask
