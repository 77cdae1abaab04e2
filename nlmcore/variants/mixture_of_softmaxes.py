"""Mixture of softmaxes: the next token's distribution is a weighted mean of several.

    P(w | h) = Σ_k π_k softmax(E h_k)_w           Yang et al. (2018), section 2
    h_k = tanh(W_k h),   π = softmax(V h)

ln P of one softmax is E h minus a number for each context: for N contexts, a matrix (N, vocab) of rank d_model + 1 at
most, whatever h is. If language needs a higher rank, one softmax cannot be right, however well h is made: "the softmax
bottleneck". The logarithm of a mean of several is not linear in the h_k, and its rank has no such bound.

All softmaxes have the same E, which is the embedding's where they are tied. Every one more costs d_model² + d_model
parameters, and a product with all of E: K of them are K times the output's operations and memory. The paper has 15 on
its smaller corpora, and so has the row of Narang et al. (2021).

Gives ln P, which does for logits: it is its own log-softmax.

Departs from the paper: its W_k have a bias in the authors' code, none in the equations and here.
"""

from typing import Any

from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, door
from nlmcore.fast import Linear
from nlmcore.transformer.config import build_output


class MixtureOfSoftmaxes(nn.Module):
    """hidden -> ln Σ_k π_k softmax(E tanh(W_k h)); softmax: the map from vectors to logits, E."""

    @door
    def __init__(self, softmax: nn.Module, d_model: Size, n_softmaxes: Size = 15) -> None:
        super().__init__()
        self.softmax = softmax
        self.prior = nn.Linear(d_model, n_softmaxes, bias=False)
        self.views = Linear(d_model, n_softmaxes * d_model, bias=False)

    def forward(self, hidden: Float[Tensor, "batch time d_model"]) -> Float[Tensor, "batch time vocab"]:
        prior = self.prior(hidden).log_softmax(-1)  # (batch, time, k)
        views = self.views(hidden).tanh().unflatten(-1, (self.prior.out_features, -1))  # (batch, time, k, d_model)
        each = self.softmax(views).log_softmax(-1)  # (batch, time, k, vocab)
        return (prior.unsqueeze(-1) + each).logsumexp(-2)


def build_mixture_of_softmaxes(c: Any, embedding: nn.Module, n_softmaxes: int = 15) -> nn.Module:
    """A part `output`; E is tied as the configuration says, which also says what is raised where it cannot be."""
    return MixtureOfSoftmaxes(build_output(c, embedding), c.d_model, n_softmaxes)
