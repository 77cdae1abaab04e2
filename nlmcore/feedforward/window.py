"""The last `window` words: all that a feed-forward language model sees, and so all that it must remember.

    tokens            a  b  c  d          window 3
    read      0  0 |  a  b  c  d          0 before the beginning
    windows   00a  0ab  abc  bcd          one per token, the newest last
    state     c  d                        the last window-1, for the next call

Before the text begins the window is filled with id 0, `<pad>`. Its embedding is learned like any other and
comes to mean "no word here"; so a text's first words are predicted from a full window, as in Bengio et al.
"""

import torch
from torch import Tensor

from nlmcore.language_model import check_tokens


def read_windows(tokens: Tensor, state: Tensor | None, window: int, vocab_size: int) -> tuple[Tensor, Tensor]:
    """The window that ends at each token, (batch, time, window), and the state after them, (batch, window-1).

    Raises TypeError or ValueError for tokens that are no (batch, time) ids of the vocabulary, or a state that is
    not this text's.
    """
    check_tokens(tokens, vocab_size)
    batch, past = len(tokens), window - 1
    if state is None:
        state = tokens.new_zeros(batch, past)
    if not isinstance(state, Tensor) or state.dtype not in (torch.int64, torch.int32):
        raise TypeError(f"state must be None or a tensor of token ids, got {type(state).__name__}")
    if state.shape != (batch, past):
        raise ValueError(f"state must have shape {(batch, past)}, (batch, window-1), got {tuple(state.shape)}")
    if past:
        check_tokens(state, vocab_size, "state")
    read = torch.cat([state, tokens], dim=1)  # (batch, window-1 + time)
    return read.unfold(1, window, 1), read[:, read.shape[1] - past :].clone()


def check_activation(activation: object) -> None:
    """Refuse an activation that cannot be called, with TypeError."""
    if not callable(activation):
        raise TypeError(f"activation must be a function of a tensor, got {type(activation).__name__} {activation!r}")
