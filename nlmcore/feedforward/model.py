"""Language models that read a window of words: the last `window` words are all that they see and must remember.

    tokens            a  b  c  d          window 3
    read      0  0 |  a  b  c  d          0 before the beginning
    windows   00a  0ab  abc  bcd          one per token, the newest last
    state     c  d                        the last window-1, for the next call

`FeedForwardLM` concatenates the words' vectors: the first neural language model. Bengio, Ducharme, Vincent & Jauvin
(2003), "A neural probabilistic language model", section 2.

    x = [C(w_{t-n+2}), …, C(w_t)]                    n-1 words in sequence
    y = b + x W + tanh(d + x H) U                    (1)      P(w_{t+1} | …) = softmax(y)

`BagOfWordsLM` averages them; for classification that is the deep averaging network of Iyyer et al. (2015), "Deep
unordered composition rivals syntactic methods for text classification".

    x = (C(w_{t-n+2}) + … + C(w_t)) / (n-1)
    y = b + U tanh(d + H x)

Symbols:    paper                   lectures (x=[x₁,x₂,x₃])     here
            C                       embedding                   embedding      (vocab, d_embedding)
            n-1                     3                           window
            H, d                    V, b₁                       hidden         (d_hidden, window · d_embedding)
            U, b                    W, b₂                       output         (vocab, d_hidden)
            W, direct connections   –                           direct         (vocab, window · d_embedding), or None

Departs from the papers: the oldest word comes first in x (Bengio's comes last); before the text there is id 0, whose
embedding is learned like any other; the average predicts a word, not a class.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nlmcore.checks import Size, check_tokens, checked, described


class WindowLM(nn.Module, ABC):
    """`logits, state = model(tokens, state)`; the state is the last window-1 tokens, (batch, window-1)."""

    def __init__(
        self, vocab_size: int, window: int, d_embedding: int, d_x: int, d_hidden: int, f: Callable[[Tensor], Tensor]
    ) -> None:
        super().__init__()
        self.vocab_size, self.window, self.activation = vocab_size, window, f
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.hidden = nn.Linear(d_x, d_hidden)
        self.output = nn.Linear(d_hidden, vocab_size)

    @abstractmethod
    def score(self, windows: Int[Tensor, "batch time window"]) -> Float[Tensor, "batch time vocab"]:
        """The logits y, for every window at once."""

    def forward(self, tokens: Tensor, state: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """tokens (batch, time), state (batch, window-1) -> logits (batch, time, vocab), new state."""
        check_tokens(tokens, self.vocab_size)
        shape = (len(tokens), self.window - 1)
        if state is None:
            state = tokens.new_zeros(shape)
        elif not isinstance(state, Tensor) or state.shape != shape:
            raise ValueError(f"state must have shape {shape}, (batch, window-1), got {described(state)}")
        elif state.numel():
            check_tokens(state, self.vocab_size, "state")
        read = torch.cat([state, tokens], dim=1)  # (batch, window-1 + time)
        windows = read.unfold(1, self.window, 1)  # (batch, time, window)
        return self.score(windows), read[:, tokens.shape[1] :].clone()

    def receptive_field(self) -> int:
        """How many tokens, the newest included, a prediction can depend on."""
        return self.window


class FeedForwardLM(WindowLM):
    """Concatenated words. `direct=True` adds the direct connections W from the words to the output."""

    @checked
    def __init__(
        self,
        vocab_size: Size,
        window: Size = 4,
        d_embedding: Size = 64,
        d_hidden: Size = 128,
        direct: bool = False,
        activation: Callable[[Tensor], Tensor] = torch.tanh,
    ) -> None:
        super().__init__(vocab_size, window, d_embedding, window * d_embedding, d_hidden, activation)
        self.direct = nn.Linear(window * d_embedding, vocab_size, bias=False) if direct else None

    def score(self, windows: Int[Tensor, "batch time window"]) -> Float[Tensor, "batch time vocab"]:
        """y = b + x W + tanh(d + x H) U."""
        x = self.embedding(windows).flatten(start_dim=2)  # (batch, time, window · d_embedding)
        y = self.output(self.activation(self.hidden(x)))
        return y if self.direct is None else y + self.direct(x)


class BagOfWordsLM(WindowLM):
    """Averaged words."""

    @checked
    def __init__(
        self,
        vocab_size: Size,
        window: Size = 4,
        d_embedding: Size = 64,
        d_hidden: Size = 128,
        activation: Callable[[Tensor], Tensor] = torch.tanh,
    ) -> None:
        super().__init__(vocab_size, window, d_embedding, d_embedding, d_hidden, activation)

    def score(self, windows: Int[Tensor, "batch time window"]) -> Float[Tensor, "batch time vocab"]:
        """y = b + U tanh(d + H x)."""
        x = self.embedding(windows).mean(dim=2)  # (batch, time, d_embedding)
        return self.output(self.activation(self.hidden(x)))
