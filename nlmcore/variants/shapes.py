"""What parts are given, by the names that their signatures use."""

from collections.abc import Sequence

from jaxtyping import Bool, Float, Int
from torch import Tensor

from nlmcore.attention import Memory

Vectors = Float[Tensor, "batch time d_model"]
Logits = Float[Tensor, "batch time vocab"]
Tokens = Int[Tensor, "batch time"]
Mask = Bool[Tensor, "..."] | None
"""True = may attend; of a padded text (batch, 1, 1, time), True = a real token."""
Memories = Sequence[Memory | None] | None
"""What each layer keeps of a source."""
