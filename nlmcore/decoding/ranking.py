"""The k highest, with ties broken by the lower index.

`torch.topk` leaves ties to the device. Smoothed n-gram models give exact ties all the time, and without a rule
for them a beam of 1 would not be greedy search, nor a batch the same as each prompt alone.
"""

from jaxtyping import Float, Int
from torch import Tensor


def highest(values: Float[Tensor, "row candidate"], k: int) -> Int[Tensor, "row k"]:
    """Indices of the min(k, all) highest of each row, best first; equal values by lower index."""
    k = min(k, values.shape[-1])
    if k == 1:
        return values.argmax(dim=-1, keepdim=True)  # argmax gives the first of equals
    if k == values.shape[-1]:
        return values.sort(dim=-1, descending=True, stable=True).indices
    top = values.topk(k, dim=-1)
    if ((values >= top.values[:, -1:]).sum(dim=-1) > k).any():  # a tie across the edge: rare, so sort it all
        return values.sort(dim=-1, descending=True, stable=True).indices[:, :k]
    by_index = top.indices.sort(dim=-1)
    in_order = top.values.gather(-1, by_index.indices)
    return by_index.values.gather(-1, in_order.sort(dim=-1, descending=True, stable=True).indices)
