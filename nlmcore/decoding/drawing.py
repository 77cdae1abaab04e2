"""Drawing from a distribution by inverting its cumulative sum: one random number per row.

    u ~ U[0, 1),   w = the first word whose cumulative probability exceeds u

`torch.multinomial` draws a random number for every word of the vocabulary; with 50,000 words that is most of the
time of a sampling step. What has probability 0 is never drawn.
"""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def draw(weights: Float[Tensor, "row vocab"], generator: torch.Generator | None) -> Int[Tensor, " row"]:
    """One index per row, with probability proportional to its weight (not negative, at least one positive)."""
    cumulative = weights.cumsum(dim=-1, dtype=torch.float64)
    u = torch.rand(len(weights), 1, generator=generator, dtype=torch.float64, device=weights.device)
    found = torch.searchsorted(cumulative, u * cumulative[:, -1:], right=True)[:, 0]
    return found.clamp(max=weights.shape[1] - 1)  # only if rounding made u exactly 1
