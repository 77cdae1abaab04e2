"""Adaptive embeddings and softmax: rare tokens have narrow vectors, and are scored only where they may occur.

The vocabulary is cut into clusters V_1, V_2, …, the most frequent tokens first.

    E[w] = A_i[w] B_i,  w in V_i            A_i (|V_i|, d_i),  B_i (d_i, d_model)      Baevski & Auli (2019), section 3

    P(w | h) = head(w)                w in V_1                                         Grave et al. (2017), section 4
    P(w | h) = head(i) · tail_i(w)    w in V_i, i > 1
    head   = softmax over V_1 and one class for each further cluster
    tail_i = softmax of h B_iᵀ A_iᵀ over V_i

Where d_i = d_model there is no B_i; "without projection" has none at all. In training `adaptive_loss` scores V_i only
where a token of V_i follows. The rule here is that of Narang et al. (2021): clusters of 2,500, 6,000 and 23,628 tokens
in 32,128, and d_i = d_model, d_model / 3, d_model / 12. Ids must run from frequent to rare, as those of a
`WordTokenizer` do after its special tokens. `AdaptiveSoftmax` returns ln P, which may be used as logits: it is its own
log-softmax.

Departs from the papers: Baevski & Auli have d_model, d_model / 4, d_model / 16 (`narrowing=(1, 4, 16)`) and a B_1; in
Grave et al. the embedding has separate matrices; Narang's code has a fourth cluster for T5's 128 sentinels.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nlmcore.checks import Size, check_sizes, checked
from nlmcore.variants.factorised import FactorisedEmbedding
from nlmcore.variants.parts import Logits, Tokens, Vectors
from nlmcore.variants.variant import Times


@checked
def cluster_sizes(vocab_size: Size) -> tuple[int, int, int]:
    """How many tokens each cluster has: 7.8 %, 18.7 % and the rest, and at least one."""
    if vocab_size < 3:
        raise ValueError(f"vocab_size must be at least 3, one token for each cluster, got {vocab_size}")
    first, both = (Times(Fraction(tokens, 32_128))(vocab_size) for tokens in (2_500, 8_500))
    second = max(1, both - first)
    return first, second, vocab_size - first - second


class AdaptiveEmbedding(nn.Module):
    """A_i[w] B_i for every token w.

    sizes: tokens per cluster, None: `cluster_sizes`. narrowing: d_i is d_model / narrowing[i], rounded, at least 1.
    """

    @checked
    def __init__(
        self, vocab_size: Size, d_model: Size, sizes: Sequence[int] | None = None, narrowing: Sequence[int] = (1, 3, 12)
    ) -> None:
        super().__init__()
        self.sizes = cluster_sizes(vocab_size) if sizes is None else tuple(sizes)
        for name, given in (("sizes", self.sizes), ("narrowing", narrowing)):
            check_sizes(**{f"{name}[{i}]": size for i, size in enumerate(given)})
        if len(self.sizes) < 2 or sum(self.sizes) != vocab_size:
            raise ValueError(
                f"sizes must be of at least two clusters with {vocab_size} tokens together, got {self.sizes}"
            )
        if len(narrowing) != len(self.sizes):
            raise ValueError(f"narrowing must have {len(self.sizes)} numbers, one per cluster, got {tuple(narrowing)}")
        widths = [Times(Fraction(1, times))(d_model) for times in narrowing]
        self.clusters = nn.ModuleList(
            nn.Embedding(size, d_model) if width == d_model else FactorisedEmbedding(size, d_model, width)
            for size, width in zip(self.sizes, widths, strict=True)
        )
        self.starts = [sum(self.sizes[:i]) for i in range(len(self.sizes))]

    def forward(self, tokens: Tokens) -> Vectors:
        vectors = self.clusters[0](tokens.clamp(max=self.sizes[0] - 1))  # of all tokens; those of other clusters follow
        for cluster, size, start in list(zip(self.clusters, self.sizes, self.starts, strict=True))[1:]:
            theirs = cluster((tokens - start).clamp(0, size - 1))
            # Clusters rise with the ids: a later one replaces what an earlier one gave.
            vectors = torch.where((tokens >= start).unsqueeze(-1), theirs, vectors)
        return vectors

    def scores(self, hidden: Float[Tensor, "*any d_model"], i: int) -> Float[Tensor, "*any size"]:
        """h B_iᵀ A_iᵀ of the i-th cluster, counted from 0."""
        cluster: Any = self.clusters[i]
        return cluster.scores(hidden) if isinstance(cluster, FactorisedEmbedding) else hidden @ cluster.weight.T


class AdaptiveOutput(nn.Module):
    """h B_iᵀ A_iᵀ, cluster after cluster, with the matrices of the embedding, for one softmax over all tokens."""

    @checked
    def __init__(self, c: Any, embedding: AdaptiveEmbedding) -> None:
        super().__init__()
        self.embedding = embedding

    def forward(self, hidden: Vectors) -> Logits:
        return torch.cat([self.embedding.scores(hidden, i) for i in range(len(self.embedding.sizes))], -1)


class AdaptiveSoftmax(AdaptiveOutput):
    """ln P of every token, with the matrices of the embedding and one more row for each cluster after the first."""

    def __init__(self, c: Any, embedding: AdaptiveEmbedding) -> None:
        super().__init__(c, embedding)
        self.doors = nn.Linear(c.d_model, len(embedding.sizes) - 1, bias=False)  # head(i), a class for each tail

    def forward(self, hidden: Vectors) -> Logits:
        frequent, doors = self._head(hidden).split([self.embedding.sizes[0], self.doors.out_features], -1)
        each = enumerate(doors.split(1, -1), 1)
        tails = [door + self.embedding.scores(hidden, i).log_softmax(-1) for i, door in each]
        return torch.cat([frequent, *tails], -1)

    def log_prob(self, hidden: Vectors, tokens: Tokens) -> Float[Tensor, "batch time"]:
        """ln P(tokens[b, t] | hidden[b, t]): a cluster is scored only where the token belongs to it."""
        starts, frequent = self.embedding.starts, self.embedding.sizes[0]
        cluster = (tokens.unsqueeze(-1) >= tokens.new_tensor(starts[1:])).sum(-1)  # (batch, time), 0 for V_1
        entry = torch.where(tokens < frequent, tokens, frequent - 1 + cluster)  # of the head: the token, or its cluster
        log_p = self._head(hidden).gather(-1, entry.unsqueeze(-1)).squeeze(-1)
        for i, start in list(enumerate(starts))[1:]:
            inside = cluster == i
            tail = self.embedding.scores(hidden[inside], i).log_softmax(-1)  # (tokens of V_i, size)
            rest = tail.gather(-1, (tokens[inside] - start).unsqueeze(-1)).squeeze(-1)
            log_p = log_p.index_put((inside,), rest, accumulate=True)
        return log_p

    def _head(self, hidden: Tensor) -> Tensor:
        return torch.cat([self.embedding.scores(hidden, 0), self.doors(hidden)], -1).log_softmax(-1)


def adaptive_loss(model: Any, tokens: Tokens, state: Any = None) -> Float[Tensor, ""]:
    """Mean −ln P of every token but the first, for `fit(…, loss=adaptive_loss)`: `teacher_forcing_loss`, computed with
    fewer operations.
    """
    output = getattr(model, "output", None)
    if not isinstance(output, AdaptiveSoftmax):
        raise TypeError(f"model must have an AdaptiveSoftmax as its output, got {type(output).__name__}")
    if tokens.shape[1] < 2 or not len(tokens):
        raise ValueError(f"tokens must hold at least one text of two tokens, got shape {tuple(tokens.shape)}")
    hidden, _ = model.hidden_states(tokens[:, :-1], state)
    return -output.log_prob(hidden, tokens[:, 1:]).mean()
