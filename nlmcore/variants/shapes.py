"""What parts are given, by the names in their signatures; which tokens of a text are real, and how many it may have."""

from collections.abc import Sequence

from jaxtyping import Bool, Float, Int
from torch import Tensor

from nlmcore.attention import Memory

Vectors = Float[Tensor, "batch time d_model"]
Logits = Float[Tensor, "batch time vocab"]
Tokens = Int[Tensor, "batch time"]
Mask = Bool[Tensor, "..."] | None  # True = may attend; of a padded text (batch, 1, 1, time), True = a real token
Memories = Sequence[Memory | None] | None  # what each layer keeps of a source


def real_tokens(x: Vectors, mask: Mask) -> Bool[Tensor, "batch time"] | None:
    """Where a token of a padded text is real; None: everywhere.

    Raises ValueError for a mask that hides some positions from some queries only.
    """
    shape = (len(x), 1, 1, x.shape[1])
    if mask is not None and mask.shape != shape:
        raise ValueError(f"mask must say which tokens are real, {shape} here, got {tuple(mask.shape)}")
    return None if mask is None else mask[:, 0, 0]


def without_padding(x: Vectors, mask: Mask) -> Vectors:
    """x with zeros where no token is real; mask and errors as in `real_tokens`."""
    real = real_tokens(x, mask)
    return x if real is None else x * real[:, :, None]


def check_length(x: Vectors, max_length: int, first: int = 0) -> int:
    """The length of a text that ends with x, `first` tokens before it. Raises ValueError if it exceeds max_length."""
    if first + x.shape[1] > max_length:
        raise ValueError(f"a text may have {max_length} positions, max_length, got {first + x.shape[1]}")
    return first + x.shape[1]
