"""A sentence classifier: filters of several widths, the strongest response of each anywhere in the text.

Source: Kim (2014), "Convolutional neural networks for sentence classification", section 2.

    c_i = f(w · [x_i; …; x_{i+h-1}] + b)        one filter of width h at position i    (2)
    ĉ = max_i c_i                               max over time, one value per filter     (4)
    y = W (z ∘ r) + b,   z = [ĉ₁, …, ĉ_m]       r drops features while training         (5, 6)

Symbols: h is one of `widths`; w and b are `filters`; m = len(widths) · n_filters; W, b are `output`;
f is the rectifier, as in the paper's experiments.

Padding does not change the answer: windows that touch no real token take no part in the maximum, and padding inside a
window counts as zeros. Windows may overhang both ends of the text by all but one token.

Departs from the paper: W's rows may be longer than 3, and there is one channel. For its static and non-static variants
copy pretrained vectors into `embedding.weight`, and freeze them or not.
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nlmcore.checks import Rate, Size, check_sizes, check_tokens, checked


class TextCNN(nn.Module):
    """`logits = model(tokens, mask)`: (batch, time) -> (batch, n_classes). Raises ValueError for no widths."""

    @checked
    def __init__(
        self,
        vocab_size: Size,
        n_classes: Size,
        d_embedding: Size = 128,
        widths: Sequence[int] = (3, 4, 5),
        n_filters: Size = 100,
        dropout: Rate = 0.0,
    ) -> None:
        super().__init__()
        if not widths:
            raise ValueError("widths must name at least one filter width, got none")
        check_sizes(**{f"widths[{i}]": width for i, width in enumerate(widths)})
        self.vocab_size, self.widths = vocab_size, tuple(widths)
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        self.filters = nn.ModuleList(nn.Conv1d(d_embedding, n_filters, width) for width in widths)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(n_filters * len(self.widths), n_classes)

    def forward(self, tokens: Tensor, mask: Tensor | None = None) -> Tensor:
        """tokens and mask (batch, time), True = a real token (None: all are) -> logits (batch, n_classes)."""
        return self.output(self.dropout(self.features(tokens, mask)))

    @checked
    def features(
        self, tokens: Int[Tensor, "batch time"], mask: Bool[Tensor, "batch time"] | None = None
    ) -> Float[Tensor, "batch feature"]:
        """z = [ĉ₁, …, ĉ_m]: every filter's strongest response, width by width; zeros for a text of padding."""
        check_tokens(tokens, self.vocab_size)
        mask = torch.ones_like(tokens, dtype=torch.bool) if mask is None else mask
        x = self.embedding(tokens) * mask.unsqueeze(-1)  # padding is zeros
        strongest = []
        for width, convolution in zip(self.widths, self.filters, strict=True):
            overhang = width - 1
            c = torch.relu(convolution(F.pad(x.mT, (overhang, overhang))))  # (batch, n_filters, window)
            real = F.pad(mask, (overhang, overhang)).unfold(1, width, 1).any(dim=-1)  # (batch, window)
            strongest.append((c * real.unsqueeze(1)).amax(dim=-1))  # c ≥ 0, so a window of padding never wins
        return torch.cat(strongest, dim=1)

    def receptive_field(self) -> int:
        """How many neighbouring tokens one feature can depend on: the widest filter."""
        return max(self.widths)
