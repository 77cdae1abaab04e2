"""Mixture of softmaxes: the next token's distribution is a weighted mean of several.

    P(w | h) = Σ_k π_k softmax(h_k Eᵀ)_w           Yang et al. (2018), section 2
    h_k = tanh(h W_k),   π = softmax(h V)

ln P of one softmax has rank at most d_model + 1 ("the softmax bottleneck"), the logarithm of a mean of several has no
such bound. All have the same E, tied or not; each costs d_model² + d_model parameters and another product with E. There
are 15, as in Narang's row. The module returns ln P, which may be used as logits: it is its own log-softmax.

Symbols: the W_k are `views`, side by side; V is `prior`; E is in `softmax`.

Departs from the paper: W_k has a bias in the authors' code, but not in the equations or here.
"""

from typing import Any

from torch import nn

from nlmcore.checks import Size, checked
from nlmcore.fast import Linear
from nlmcore.transformer.config import build_output
from nlmcore.variants.parts import Logits, Vectors


class MixtureOfSoftmaxes(nn.Module):
    """ln Σ_k π_k softmax(tanh(h W_k) Eᵀ); E is tied, or refused, as in `build_output`."""

    @checked
    def __init__(self, c: Any, embedding: nn.Module, n_softmaxes: Size = 15) -> None:
        super().__init__()
        self.softmax = build_output(c, embedding)
        self.prior = nn.Linear(c.d_model, n_softmaxes, bias=False)
        self.views = Linear(c.d_model, n_softmaxes * c.d_model, bias=False)

    def forward(self, hidden: Vectors) -> Logits:
        prior = self.prior(hidden).log_softmax(-1)  # (batch, time, k)
        views = self.views(hidden).tanh().unflatten(-1, (self.prior.out_features, -1))  # (batch, time, k, d_model)
        each = self.softmax(views).log_softmax(-1)  # (batch, time, k, vocab)
        return (prior.unsqueeze(-1) + each).logsumexp(-2)
