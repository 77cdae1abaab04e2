"""A language model that averages the last words: the weakest interaction that still reads all of them.

Source: the averaged counterpart of Bengio et al. (2003), as lectures set it beside concatenation; for
classification it is the deep averaging network of Iyyer et al. (2015), "Deep unordered composition rivals
syntactic methods for text classification".

    x̄ = (x₁ + … + x_n)/n        h = f(V x̄ + b₁)        ŷ = softmax(W h + b₂)

Symbols: V, b₁ are `hidden`; W, b₂ are `output`; n is `window`.

The order of the words inside the window is lost, and V no longer grows with it: (d_hidden, d_embedding)
against the (d_hidden, window · d_embedding) of `FeedForwardLM`.

Departs from the paper: it predicts the next word, not a class; before the beginning stands id 0, which counts
as a word like any other.
"""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import check_sizes
from nlmcore.feedforward.window import check_activation, read_windows


class BagOfWordsLM(nn.Module):
    """`logits, state = model(tokens, state)`; the state is the last window-1 tokens, (batch, window-1).

    Raises ValueError for a size below 1, TypeError for one that is no whole number or
    an activation that cannot be called.
    """

    def __init__(
        self,
        vocab_size: int,
        window: int = 4,
        d_embedding: int = 64,
        d_hidden: int = 128,
        activation: Callable[[Tensor], Tensor] = torch.tanh,
    ) -> None:
        super().__init__()
        check_sizes(vocab_size=vocab_size, window=window, d_embedding=d_embedding, d_hidden=d_hidden)
        check_activation(activation)
        self.vocab_size, self.window, self.activation = vocab_size, window, activation
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.hidden = nn.Linear(d_embedding, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)

    def forward(self, tokens: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """tokens (batch, time), state (batch, window-1) -> logits (batch, time, vocab), new state."""
        windows, state = read_windows(tokens, state, self.window, self.vocab_size)
        return self.score(windows), state

    def score(self, windows: Int[Tensor, "batch time window"]) -> Float[Tensor, "batch time vocab"]:
        """ŷ = W f(V x̄ + b₁) + b₂, for every window at once."""
        x = self.embedding(windows).mean(dim=2)  # (batch, time, d_embedding)
        return self.output(self.activation(self.hidden(x)))

    def receptive_field(self) -> int:
        """How many tokens, the newest included, a prediction can depend on."""
        return self.window
