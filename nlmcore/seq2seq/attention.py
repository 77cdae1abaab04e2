"""Attention of a recurrent decoder: a score with its own weights, over a source that is read many times.

    e_ij = score(s_{i-1}, h_j),   α_i = softmax(e_i),   c_i = Σ_j α_ij h_j

The scores are those of `nlmcore.attention`; the modules here hold their weights and compute what does not depend on the
query, h_j W, once per source (`project_source`), not once per target token.

Luong, Pham & Manning (2015), section 3.1: dot and bilinear ("general"); Bahdanau, Cho & Bengio (2015), section
A.1.2: additive. Departs from the papers: nothing in the scores; the decoder decides what is compared with what.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nlmcore.attention import attend, dot_score
from nlmcore.checks import Size, checked


class Score(nn.Module, ABC):
    """score(s, h_j) for every j, in two parts: `keys = project_source(h)` once, `score(s, keys)` for every query s."""

    @checked
    def __init__(self, d_hidden: Size) -> None:
        super().__init__()

    @abstractmethod
    def project_source(self, states: Tensor) -> Tensor:
        """Encoder states (batch, source, hidden) to keys (batch, source, d_key)."""

    @abstractmethod
    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        """Scores (batch, source) of one query (batch, hidden) per text."""


class DotScore(Score):
    """s · h_j. No weights: decoder and encoder must learn one space."""

    def project_source(self, states: Tensor) -> Tensor:
        return states

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return dot_score(query, keys)


class BilinearScore(DotScore):
    """s · W h_j, a dot product with the projected source."""

    def __init__(self, d_hidden: int) -> None:
        super().__init__(d_hidden)
        self.W = nn.Parameter(nn.init.xavier_uniform_(torch.empty(d_hidden, d_hidden)))

    def project_source(self, states: Tensor) -> Tensor:
        return states @ self.W.T


class AdditiveScore(Score):
    """v · tanh(W_query s + W_key h_j)."""

    def __init__(self, d_hidden: int) -> None:
        super().__init__(d_hidden)
        self.W_query = nn.Parameter(nn.init.xavier_uniform_(torch.empty(d_hidden, d_hidden)))
        self.W_key = nn.Parameter(nn.init.xavier_uniform_(torch.empty(d_hidden, d_hidden)))
        self.v = nn.Parameter(nn.init.uniform_(torch.empty(d_hidden), -(d_hidden**-0.5), d_hidden**-0.5))

    def project_source(self, states: Tensor) -> Tensor:
        return states @ self.W_key.T

    def forward(self, query: Tensor, keys: Tensor) -> Tensor:
        return torch.tanh((query @ self.W_query.T).unsqueeze(-2) + keys) @ self.v


SCORES: dict[str, Callable[[int], Score]] = {"dot": DotScore, "bilinear": BilinearScore, "additive": AdditiveScore}


class Attention(nn.Module):
    """context, weights = attention(query, keys, values, mask). `nlmcore.inspect.capture` sees its weights.

    A decoder asks once per target token and passes the weights of all of them to `recorder` at the end, as
    (batch, head, query, key) with one head.
    """

    def __init__(self, score: Score) -> None:
        super().__init__()
        self.score = score
        self.recorder: Callable[[Tensor], None] | None = None  # set by nlmcore.inspect.capture

    def forward(
        self,
        query: Float[Tensor, "batch hidden"],
        keys: Float[Tensor, "batch source d_key"],
        values: Float[Tensor, "batch source hidden"],
        mask: Bool[Tensor, "batch source"] | None,
    ) -> tuple[Float[Tensor, "batch hidden"], Float[Tensor, "batch source"]]:
        sizes = [len(query), len(keys), len(values)]
        if len(set(sizes)) > 1:
            raise ValueError(f"query, keys and values must have one batch, got {sizes}")
        return attend(self.score(query, keys), values, mask)
