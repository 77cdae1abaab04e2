"""The encoder of Gehring et al. (2017), sections 3.1 and 3.2: gated convolutions that look both ways.

    e_j = C(x_j) + p_j        z⁰ = e
    z^l_j = √½ (z^{l-1}_j + GLU(W^l [z^{l-1}_{j-(k-1)/2}; …; z^{l-1}_{j+(k-1)/2}] + b^l))

Returned are what the decoder's attention compares with, z = z^L, and what it fetches, √½ (z + e).

Symbols: C is `embedding`, p is `positions`, W^l and b^l are `layers.{l-1}.linear`.

A padded position is zeros before every convolution, and positions count real tokens only, so a source means
the same however it is padded.

Departs from the paper: one width for embeddings and hidden vectors, hence no projections between them; z + e
is scaled by √½ as in the authors' code; the encoder's gradients are not divided by the number of attentions.
"""

import math

import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.convolutional.checks import check_mask, check_options
from nlmcore.convolutional.gated import GatedConvolution
from nlmcore.language_model import check_tokens

HALF = math.sqrt(0.5)
"""√½: the sum of two independent things of variance 1, times this, has variance 1."""


class ConvEncoder(nn.Module):
    """Ids and mask (batch, source) -> keys and values (batch, source, d_model). `kernel_size` must be odd.

    Raises ValueError for sizes below 1, an even kernel_size or a dropout outside [0, 1), TypeError for a size that is
    no whole number.
    """

    def __init__(
        self, vocab_size: int, d_model: int, n_layers: int, kernel_size: int, max_length: int, dropout: float
    ) -> None:
        super().__init__()
        check_options(
            dropout,
            vocab_size=vocab_size,
            d_model=d_model,
            n_layers=n_layers,
            kernel_size=kernel_size,
            max_length=max_length,
        )
        if kernel_size % 2 == 0:
            raise ValueError(f"kernel_size must be odd, to look equally far both ways, got {kernel_size}")
        self.dropout, self.overhang = dropout, (kernel_size - 1) // 2
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.positions = nn.Embedding(max_length, d_model)
        self.layers = nn.ModuleList(GatedConvolution(d_model, kernel_size, dropout=dropout) for _ in range(n_layers))
        for table in (self.embedding, self.positions):
            nn.init.normal_(table.weight, std=0.1)

    def forward(
        self, source: Tensor, mask: Tensor
    ) -> tuple[Float[Tensor, "batch source d_model"], Float[Tensor, "batch source d_model"]]:
        """source and mask (batch, source), True = a real token.

        Raises TypeError or ValueError for a source that is no (batch, source) ids of the vocabulary, a mask that is not
        booleans of its shape with a real token in every row, or more than max_length real tokens.
        """
        check_tokens(source, self.embedding.num_embeddings, "source")
        mask = check_mask(mask, source)
        length, longest = int(mask.sum(dim=1).max()), self.positions.num_embeddings
        if length > longest:
            raise ValueError(f"source must come to at most max_length = {longest} tokens, got {length}")
        places = (mask.cumsum(dim=1) - 1).clamp(min=0)  # 0, 1, 2, … over the real tokens
        e = F.dropout(self.embedding(source) + self.positions(places), self.dropout, self.training)
        real = mask.unsqueeze(-1)
        z = e = e * real
        for layer in self.layers:
            padded = F.pad(z, (0, 0, self.overhang, self.overhang))  # zeros before and after the text
            z = HALF * (z + layer(padded)) * real
        return z, HALF * (z + e)
