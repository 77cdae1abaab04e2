"""The keys and values that attention has read: its memory of a text, and a state like any other.

    keys, values (batch, kv_head, capacity, d_head); the first `length` positions are filled

With them a Transformer reads the next token for the price of one token, not of the whole text (Vaswani et al. 2017 do
not say so; every implementation does). Appending gives [old; new], and no state changes when you continue from it.
`nlmcore.fast.growing` does this with one copy per doubling; here you may read `grow` as torch.cat. Departs from the
literature: nothing in what is computed.
"""

from dataclasses import dataclass, field

from jaxtyping import Float
from torch import Tensor

from nlmcore.attention.checks import check_cached
from nlmcore.fast.growing import GrowingPair, Ledger, forget, grow


@dataclass(frozen=True, eq=False, repr=False)
class KeyValueCache(GrowingPair):
    """What one attention layer has read. Rows (the batch) are gathered by `nlmcore.language_model.select`."""

    keys: Float[Tensor, "batch kv_head capacity d_head"]
    values: Float[Tensor, "batch kv_head capacity d_head"]
    length: int  # how many of `capacity` are filled
    first: int = 0  # the position in the text of the first key kept; a sliding window forgets those before
    ledger: Ledger = field(default_factory=lambda: Ledger(-1))  # who may write behind `length` in place

    @classmethod
    def start(cls, keys: Tensor, values: Tensor, window: int | None = None) -> "KeyValueCache":
        """The cache of a text just begun; it holds the tensors themselves, or what a sliding window keeps of them."""
        check_cached(keys, values)
        (keys, values), first = forget((keys, values), window)
        return cls(keys, values, keys.shape[2], first, Ledger(keys.shape[2]))

    @property
    def position(self) -> int:
        """How many tokens were read: the position of the next one."""
        return self.first + self.length

    def append(
        self, keys: Tensor, values: Tensor, window: int | None = None, recorded: bool = False
    ) -> "KeyValueCache":
        """The cache followed by the next keys and values (batch, kv_head, time, d_head).

        window: whenever old positions are copied, only the last window - 1 of them are. recorded: autograd may return
        to the keys though they need no gradient themselves (a learned bias on frozen keys).
        """
        check_cached(keys, values, self.keys)
        kept = self.length if window is None else min(self.length, window - 1)
        both, length, ledger = grow((self.keys, self.values), (keys, values), self.length, kept, self.ledger, recorded)
        return KeyValueCache(*both, length, self.position + keys.shape[2] - length, ledger)

    def read(self, last: int | None = None) -> tuple[Tensor, Tensor]:
        """Keys and values of the text so far, or of its last positions; views, (batch, kv_head, key, d_head)."""
        begin = 0 if last is None else max(0, self.length - last)
        return self.keys[:, :, begin : self.length], self.values[:, :, begin : self.length]
