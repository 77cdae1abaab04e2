"""Small models that learn, with dropout and with states to carry; and an encoder-decoder."""

import torch
from torch import Tensor, nn


class TinyGRU(nn.Module):
    """A language model with dropout and tied weights; its state is (hidden (batch, d), a step count)."""

    def __init__(self, vocab_size: int = 11, d: int = 6, dropout: float = 0.3) -> None:
        super().__init__()
        torch.manual_seed(7)
        self.vocab_size = vocab_size
        self.embedding = nn.Embedding(vocab_size, d)
        self.gru = nn.GRU(d, d, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.readout = nn.Linear(d, vocab_size)
        self.readout.weight = self.embedding.weight

    def forward(self, tokens: Tensor, state: tuple[Tensor, int] | None = None) -> tuple[Tensor, tuple[Tensor, int]]:
        hidden, count = (None, 0) if state is None else (state[0][None], state[1])
        outputs, hidden = self.gru(self.dropout(self.embedding(tokens)), hidden)
        return self.readout(self.dropout(outputs)), (hidden[0], count + tokens.shape[1])


class TinySeq2Seq(TinyGRU):
    """Reads its source with the same GRU; padding is read too unless masked away."""

    def encode(self, source: Tensor, source_mask: Tensor | None = None) -> tuple[Tensor, int]:
        embedded = self.embedding(source)
        if source_mask is not None:
            embedded = embedded * source_mask[..., None]
        return self.gru(embedded)[1][0], 0


def text(rows: int, length: int, vocab_size: int = 11, seed: int = 0) -> Tensor:
    """Something to learn: each token follows from the one before, most of the time."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, vocab_size, (rows, length), generator=generator)
    for t in range(1, length):
        follows = torch.rand(rows, generator=generator) < 0.8
        tokens[follows, t] = (tokens[follows, t - 1] * 3 + 1) % vocab_size
    return tokens
