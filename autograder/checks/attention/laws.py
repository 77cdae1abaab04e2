"""Laws that attention weights obey whatever the scores are.

They judge one step by the step before it as the student computed it, so that a mistake in the scores does
not cost the points for the mask or for the sum.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from autograder.draw import Draw
from autograder.judges import close
from autograder.outcome import Outcome
from autograder.specification import Case

Rule = Callable[[Case, Sequence[Outcome]], str | None]


def weighted_sum_of(values: int) -> Rule:
    """output = weights @ values, with the weights that came back; `values` is that argument's number."""

    def rule(case: Case, got: Sequence[Outcome]) -> str | None:
        for arguments, outcome in zip(case.calls, got, strict=True):
            output, weights = outcome.outputs
            if not bool((weights != 0).any()):
                return "the weights are all zero"
            if not close(output, weights.to(torch.float64) @ arguments[values].to(torch.float64)):
                return "the output is not the sum of the values with your own weights"
        return None

    return rule


def mask_renormalises(mask: int) -> Rule:
    """Two calls, without and with a mask: the second's weights are the first's, cut down to the allowed keys and
    rescaled to sum to 1. `mask` is that argument's number; it allows every query something."""

    def rule(case: Case, got: Sequence[Outcome]) -> str | None:
        free, masked = got[0].outputs[1].double(), got[1].outputs[1].double()
        allowed = case.calls[1][mask].expand(free.shape)
        if masked.isnan().any():
            return "the weights contain NaN"
        if bool((masked[~allowed].abs() > 1e-6).any()):
            return "a key that is masked has a weight"
        kept = torch.where(allowed, free, 0.0)
        if not close(masked, kept / kept.sum(-1, keepdim=True)):
            return "the weights of the allowed keys are not their softmax: among themselves they should sum to 1"
        return None

    return rule


def zero_where_nothing_is_allowed(mask: int, output_too: bool = True) -> Rule:
    """A query without a single allowed key gets weights of exactly zero; nobody gets NaN. `output_too`: the same
    of the output, whose rows are then the queries. `mask` is that argument's number."""

    def rule(case: Case, got: Sequence[Outcome]) -> str | None:
        for arguments, outcome in zip(case.calls, got, strict=True):
            output, weights = outcome.outputs
            if weights.isnan().any() or (output_too and output.isnan().any()):
                return "there is NaN"
            nothing: Tensor = ~arguments[mask].expand(weights.shape).any(-1)
            if bool((weights[nothing] != 0).any()):
                return "a query with no key allowed still has weights"
            if output_too and bool((output[nothing] != 0).any()):
                return "a query with no key allowed still has an output"
            if not bool((weights[~nothing] != 0).any()):
                return "the other queries have lost their weights"
        return None

    return rule


def mask_with_an_empty_row(draw: Draw, *shape: int) -> Tensor:
    """A mask like `Draw.mask` in which one query, and not every query, has no key allowed."""
    mask = draw.mask(*shape)
    mask[..., draw.integer(0, shape[-2] - 1), :] = False
    return mask
