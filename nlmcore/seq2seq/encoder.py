"""The encoder: a recurrent network reads the source; its states are all that the decoder will know of it.

    h_i = encoder(e(x_i), h_{i-1}),   i = 1 … n              left to right: c = h_n
    h_i = encoder(e(x_i), h_{i+1}),   i = n … 1              reversed (Sutskever et al. 2014, section 3.3): c = h_1
    h_i = [forward_i ; backward_i]                           both (Bahdanau et al. 2015, section 3.2)

Reversing puts the first source words next to the first target words; the decoder starts with a fresh memory of
them. Outputs are always in the source's order, whichever way they were read.

Departs from the papers: each direction of a bidirectional encoder has half of d_hidden, so that h_i and the
decoder's state have one width (in 2015 h_i is twice as wide, and only the backward half starts the decoder).
"""

import torch.nn.functional as F
from jaxtyping import Bool, Int
from torch import Tensor, nn

from nlmcore.checks import Rate, Size, door
from nlmcore.language_model import check_tokens
from nlmcore.recurrent import Recurrent, RecurrentState
from nlmcore.recurrent.cell import each
from nlmcore.recurrent.recurrent import CellName


class Encoder(nn.Module):
    """`outputs, state = encoder(source, mask)`: h_1 … h_n, and the last states, (batch, layers, hidden) each.

    Raises ValueError for sizes below 1, an odd d_hidden for two directions, or a dropout outside [0, 1);
    TypeError for a size that is not an integer.
    """

    @door
    def __init__(
        self,
        vocab_size: Size,
        cell: CellName,
        d_embedding: Size,
        d_hidden: Size,
        n_layers: Size = 1,
        bidirectional: bool = False,
        reverse: bool = False,
        dropout: Rate = 0.0,
        fused: bool = True,
    ) -> None:
        super().__init__()
        if bidirectional and d_hidden % 2:
            raise ValueError(f"d_hidden must be even for a bidirectional encoder, got {d_hidden}")
        self.reverse, self.dropout = reverse, dropout
        self.embedding = nn.Embedding(vocab_size, d_embedding)
        nn.init.normal_(self.embedding.weight, std=0.1)
        width = d_hidden // 2 if bidirectional else d_hidden
        self.recurrent = Recurrent(
            cell, d_embedding, width, n_layers, bidirectional=bidirectional, dropout=dropout, fused=fused
        )

    @door
    def forward(
        self, source: Int[Tensor, "batch source"], mask: Bool[Tensor, "batch source"]
    ) -> tuple[Tensor, RecurrentState]:
        """mask: True = a real token; outputs (batch, source, hidden), zero at padding.

        A text without a real token leaves the state at zero.

        Raises TypeError or ValueError for a source that is not (batch, source) ids of the vocabulary, or another mask.
        """
        check_tokens(source, self.embedding.num_embeddings, "source")
        embedded = F.dropout(self.embedding(source), self.dropout, self.training)
        if self.reverse:
            outputs, state = self.recurrent(embedded.flip(1), mask=mask.flip(1))
            return outputs.flip(1), self._join(state)
        outputs, state = self.recurrent(embedded, mask=mask)
        return outputs, self._join(state)

    def _join(self, state: RecurrentState) -> RecurrentState:
        """(batch, layers · directions, width) to (batch, layers, hidden): a layer's directions side by side."""
        return each(lambda part: part.unflatten(1, (self.recurrent.n_layers, -1)).flatten(2), state)
