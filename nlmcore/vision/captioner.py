"""Captions: an LSTM that looks at a part of the image before it writes each word.

    a_1 … a_n = encoder(image)                                   a vector for every location
    h_0 = tanh(W_h ā + b_h),   c_0 = tanh(W_c ā + b_c)           ā the mean of the a_j
    e_ij = v · tanh(W_query h_{i−1} + W_key a_j),   α_i = softmax(e_i),   z_i = Σ_j α_ij a_j
    h_i = LSTM([y_{i−1}; z_i], h_{i−1}),   logits from tanh(W [z_i; h_i])
                                                       Xu et al. (2015), sections 3.1 and 4.2, soft attention

It is `nlmcore.seq2seq`'s decoder; only the source is an image. For `capture`, tape["decoder.attention"] is (batch, 1,
word, location).

**Doubly stochastic attention** (section 4.2.1). Weights sum to 1 over the locations for each word. A penalty asks that
they sum to about 1 over the words for each location as well, so that no location is ignored:

    λ Σ_j (1 − Σ_i α_ij)²

Departs from the paper: our two encoders instead of a trained VGG; no gate β on the context; y_{i−1} reaches the logits
only through h_i; initial states are one layer.
"""

from typing import Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.checks import Rate, Size, checked
from nlmcore.recurrent import LSTMState
from nlmcore.seq2seq import Seq2Seq


class ImageReader(nn.Module):
    """`outputs, state = reader(images, mask)`: what `Seq2Seq` asks of an encoder. The class token is left out."""

    @checked
    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        d: int = encoder.d_model  # type: ignore[assignment]
        self.first = 1 if encoder.class_token else 0
        self.encoder, self.initial_h, self.initial_c = encoder, nn.Linear(d, d), nn.Linear(d, d)

    def forward(
        self, images: Float[Tensor, "batch row column"], mask: Bool[Tensor, "batch location"] | None = None
    ) -> tuple[Float[Tensor, "batch location d_model"], LSTMState]:
        """The a_j, and (h_0, c_0), each (batch, 1, d_model)."""
        locations = self.encoder(images, mask)[:, self.first :]
        mean = locations.mean(1, keepdim=True)
        return locations, LSTMState(torch.tanh(self.initial_h(mean)), torch.tanh(self.initial_c(mean)))


class Captioner(Seq2Seq):
    """`state = model.encode(images)`, then `logits, state = model(tokens, state)`, as wide as the encoder."""

    @checked
    def __init__(
        self,
        encoder: nn.Module,
        vocab_size: Size,
        d_embedding: Size = 32,
        score: Literal["dot", "bilinear", "additive"] = "additive",
        dropout: Rate = 0.0,
    ) -> None:
        d_hidden: int = encoder.d_model  # type: ignore[assignment]
        reader = ImageReader(encoder)
        super().__init__(None, vocab_size, "lstm", d_embedding, d_hidden, score=score, dropout=dropout, encoder=reader)


@checked
def doubly_stochastic(
    weights: Float[Tensor, "batch time location"], mask: Bool[Tensor, "batch time"] | None = None
) -> Float[Tensor, ""]:
    """Σ_j (1 − Σ_i α_ij)², the mean over images; mask: True = a real word."""
    counted = weights if mask is None else weights * mask.unsqueeze(-1)
    return (1 - counted.sum(1)).square().sum(1).mean()
