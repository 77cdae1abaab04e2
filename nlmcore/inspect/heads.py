"""What heads attend to, as one value per head: the mean weight from each position to one at a fixed distance.

    previous token   mean_t α[t, t − 1]
    induction        mean_t α[t, t − (P − 1)],  t ≥ P, on P random tokens and the same again
    first token      mean_t α[t, 0],  t ≥ 1

A text of P random tokens, repeated once, is predictable only by copying: the token after the previous occurrence of the
current one is the next token. A head that attends there is an induction head (Olsson et al. 2022, section "Defining
induction heads"; Elhage et al. 2021). A score says where a head looks, not what depends on it: ablate it
(`nlmcore.inspect.patch`). Departs from the papers: nothing.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from nlmcore.checks import Count, Size, checked

Weights = Float[Tensor, "batch head query key"]


@checked
def attention_at(weights: Weights, distance: Count, first: Count = 0) -> Float[Tensor, " head"]:
    """The mean weight from position t to t − distance, over the batch and t ≥ first. Raises ValueError if none is."""
    # Entry i of this diagonal is α[i + distance, i], the weight of query t = i + distance.
    diagonal = weights.diagonal(-distance, dim1=-2, dim2=-1)[..., max(0, first - distance) :]
    if not diagonal.shape[-1]:
        raise ValueError(f"distance must leave a query from {first} on, got {distance} in {weights.shape[-2]} queries")
    return diagonal.mean((0, 2))  # (batch, head, query) -> (head)


def previous_token_score(weights: Weights) -> Float[Tensor, " head"]:
    """How much each head attends to the token before, on average."""
    return attention_at(weights, 1)


def induction_score(weights: Weights, period: Size) -> Float[Tensor, " head"]:
    """Of weights on tokens that `repeated` made with this period."""
    return attention_at(weights, period - 1, period)


@checked
def first_token_score(weights: Weights) -> Float[Tensor, " head"]:
    """How much each head attends to the first token, on average over the later ones."""
    return weights[..., 1:, 0].mean((0, 2))


@checked
def repeated(
    ids: Int[Tensor, " choice"], batch: Size, period: Size, generator: torch.Generator | None = None
) -> Int[Tensor, "batch time"]:
    """`period` ids, each equally likely, and the same again: (batch, 2 · period)."""
    once = ids[torch.randint(len(ids), (batch, period), generator=generator)]
    return torch.cat([once, once], dim=1)
