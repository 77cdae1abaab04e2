"""What a decoder remembers: what it has read of the target, and what the encoder left it of the source."""

import dataclasses

from jaxtyping import Bool, Float
from torch import Tensor

from nlmcore.recurrent import RecurrentState


@dataclasses.dataclass(frozen=True)
class Seq2SeqState:
    """A state of `Seq2Seq`; every tensor's first dimension is the batch, so `select` works on it."""

    recurrent: RecurrentState
    """The decoder's own state, each tensor (batch, layers, hidden)."""
    constant: Float[Tensor, "batch constant"] | None = None
    """What is fed to the decoder at every step beside the token's embedding."""
    keys: Float[Tensor, "batch source d_key"] | None = None
    """Attention: the encoder states as the score compares them."""
    values: Float[Tensor, "batch source hidden"] | None = None
    """Attention: the encoder states h_1 … h_n, "a read-only memory"."""
    mask: Bool[Tensor, "batch source"] | None = None
    """Attention: True where the source has a real token."""

    def batches(self) -> set[int]:
        """The first dimensions of all its tensors: one number, unless parts of two batches were put together."""
        recurrent = self.recurrent if isinstance(self.recurrent, tuple) else (self.recurrent,)
        return {len(t) for t in (*recurrent, self.constant, self.keys, self.values, self.mask) if t is not None}

    @property
    def batch(self) -> int:
        return len(self.recurrent[0] if isinstance(self.recurrent, tuple) else self.recurrent)
