"""Laws that attention weights obey whatever the scores are.

They judge one step by the student's own previous step, so a mistake in the scores does not cost the points for the mask
or the sum.
"""

import torch
from torch import Tensor

from autograder.question.judges import Outcomes, close, same_shapes
from autograder.question.specification import Case
from autograder.question.travel import travels


def _nothing(weights: Tensor) -> bool:
    """Whether all weights are practically zero, since zeros obey every law."""
    return not bool((weights.double().abs() > 1e-2).any())


def _uniform(weights: Tensor) -> bool:
    """Whether there is a query that attends to several keys, and every such query attends to all of them equally."""
    weights = weights.double()
    seen = weights.abs() > 1e-3
    several = seen.sum(-1) > 1
    most, least = weights.masked_fill(~seen, -torch.inf).amax(-1), weights.masked_fill(~seen, torch.inf).amin(-1)
    return bool(several.any()) and bool(((most - least)[several] < 1e-2).all())


def _deaf(got: Outcomes) -> bool:
    """Whether a second call, with different scores, got the weights of the first."""
    return len(got) > 1 and close(got[0].outputs[1], got[1].outputs[1], 1e-2)


DEAF = "different scores gave the same weights"
UNIFORM = "the weights are all alike, whatever the scores"


@travels
def weighted_sum_of(case: Case, got: Outcomes, values: int) -> str | None:
    """output = weights @ values, with the returned weights; `values` is that argument's index. A second call, if any,
    has different scores."""
    if _deaf(got):
        return DEAF
    for arguments, outcome in zip(case.calls, got, strict=True):
        output, weights = outcome.outputs
        if _nothing(weights):
            return "the weights are all zero"
        if not close(output, weights.to(torch.float64) @ arguments[values].to(torch.float64)):
            return "the output is not the sum of the values with your own weights"
    return None


@travels
def mask_renormalises(case: Case, got: Outcomes, mask: int) -> str | None:
    """Two calls, without and with a mask: the second's weights are the first's, cut down to the allowed keys and
    rescaled to sum to 1. `mask` is that argument's index; it allows every query something."""
    free, masked = got[0].outputs[1].double(), got[1].outputs[1].double()
    allowed = case.calls[1][mask].expand(free.shape)
    if _uniform(free):
        return UNIFORM
    if bool((masked[~allowed].abs() > 1e-6).any()):
        return "a key that is masked has a weight"
    kept = torch.where(allowed, free, 0.0)
    if not close(masked, kept / kept.sum(-1, keepdim=True)):
        return "the weights of the allowed keys are not their softmax: among themselves they should sum to 1"
    return None


@travels
def zero_where_nothing_is_allowed(case: Case, got: Outcomes, mask: int, output_too: bool = True) -> str | None:
    """A query without a single allowed key gets weights of exactly zero; no query gets NaN. `output_too`: the same
    of the output, whose rows are then the queries. `mask` is that argument's index."""
    for arguments, outcome in zip(case.calls, got, strict=True):
        output, weights = outcome.outputs
        nothing: Tensor = ~arguments[mask].expand(weights.shape).any(-1)
        if bool((weights[nothing] != 0).any()):
            return "a query with no key allowed still has weights"
        if output_too and bool((output[nothing] != 0).any()):
            return "a query with no key allowed still has an output"
        if _nothing(weights[~nothing]):
            return "the other queries have lost their weights"
        if _uniform(weights[~nothing]):
            return UNIFORM
    return None


def output_follows_over_heads(case: Case, got: Outcomes) -> str | None:
    """output[b, q, o] = Σ_h Σ_k weights[b, h, q, k] M[b, h, k, o], with the returned weights. One M per call is known:
    what each key of each head contributes. A second call, if any, has different scores."""
    if _deaf(got):
        return DEAF
    for mixed, outcome in zip(case.known, got, strict=True):
        output, weights = outcome.outputs[:2]
        if _nothing(weights):
            return "the weights are all zero"
        if not close(output, torch.einsum("bhqk,bhko->bqo", weights.double(), mixed)):
            return (
                "the output is not that of your own weights: each head sums its values, the heads are joined, W_o mixes"
            )
    return None


def boolean_mask(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """A judge: a boolean mask of the reference's shape that allows something and forbids something, and does not
    alternate: every row allows one stretch of keys, or forbids one."""
    if (complaint := same_shapes(("mask",), boolean=True)(case, got, expected)) is not None:
        return complaint
    if any(len(outcome.outputs[0].unique()) == 1 for outcome in got):
        return "the mask is the same for every query and key"
    if any(o.outputs[0].int().diff(dim=-1).abs().sum(-1).max() > 2 for o in got):
        return "the mask allows a key here and there, not one stretch of keys"
    return None


def last_row_is_known(case: Case, got: Outcomes) -> str | None:
    """The last query of a mask (batch, 1, query, key) sees the whole past: only padding is hidden from it. Known: the
    keys that are words, (batch, key)."""
    return (
        None if torch.equal(got[0].outputs[0][:, 0, -1, :].bool(), case.known[0]) else "padding is not what is hidden"
    )


@travels
def alone_as_in_a_batch(case: Case, got: Outcomes, row: int) -> str | None:
    """Two calls, with a batch and with just its row `row`: they agree, and the sentences do not all get the same
    output."""
    together, alone = got
    if any(close(a[row], a[row - 1]) for a in together.outputs):
        return "different sentences get the same result"
    pairs = zip(together.outputs, alone.outputs, strict=True)
    same = all(close(a[row : row + 1], b) for a, b in pairs)
    return None if same else "a sentence's result depends on the other sentences"
