"""The first neural language model: concatenate the last words' vectors, one hidden layer, a softmax.

Source: Bengio, Ducharme, Vincent & Jauvin (2003), "A neural probabilistic language model", section 2.

    x = [C(w_{t-n+2}), …, C(w_t)]                    n-1 words, one after the other
    y = b + W x + U tanh(d + H x)                    (1)      P(w_{t+1} | …) = softmax(y)

Symbols:    paper                   lectures (x=[x₁,x₂,x₃])     here
            C                       embedding                   embedding      (vocab, d_embedding)
            n-1                     3                           window
            H, d                    V, b₁                       hidden         (d_hidden, window · d_embedding)
            U, b                    W, b₂                       output         (vocab, d_hidden)
            W, direct connections   –                           direct         (vocab, window · d_embedding), or None

Every pair of positions and features meets in a hidden unit: the strongest interaction, and a matrix that
grows with the window. `BagOfWordsLM` is the other end.

Departs from the paper: the oldest word comes first in x (theirs comes last), so that a window reads like the
text; before the beginning stands id 0.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import check_sizes
from nlmcore.feedforward.window import check_activation, read_windows


class FeedForwardLM(nn.Module):
    """`logits, state = model(tokens, state)`; the state is the last window-1 tokens, (batch, window-1).

    `direct=True` adds the direct connections W from the words to the output.

    Raises ValueError for a size below 1, TypeError for one that is no whole number or
    an activation that cannot be called.
    """

    def __init__(
        self,
        vocab_size: int,
        window: int = 4,
        d_embedding: int = 64,
        d_hidden: int = 128,
        direct: bool = False,
        activation: Callable[[Tensor], Tensor] = torch.tanh,
    ) -> None:
        super().__init__()
        check_sizes(vocab_size=vocab_size, window=window, d_embedding=d_embedding, d_hidden=d_hidden)
        check_activation(activation)
        self.vocab_size, self.window, self.activation = vocab_size, window, activation
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.hidden = nn.Linear(window * d_embedding, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)
        self.direct = nn.Linear(window * d_embedding, vocab_size, bias=False) if direct else None

    def forward(self, tokens: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """tokens (batch, time), state (batch, window-1) -> logits (batch, time, vocab), new state."""
        windows, state = read_windows(tokens, state, self.window, self.vocab_size)
        return self.score(windows), state

    def score(self, windows: Int[Tensor, "batch time window"]) -> Float[Tensor, "batch time vocab"]:
        """y = b + W x + U tanh(d + H x), for every window at once."""
        x = self.embedding(windows).flatten(start_dim=2)  # (batch, time, window · d_embedding)
        y = self.output(self.activation(self.hidden(x)))
        return y if self.direct is None else y + self.direct(x)

    def receptive_field(self) -> int:
        """How many tokens, the newest included, a prediction can depend on."""
        return self.window
