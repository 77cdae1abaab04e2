"""What students write for `attend`, and what to say about it. Each is wrong in one place.

No softmax of PyTorch here: it is closed in this question, and a mistake should cost what it costs.
"""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from autograder.checks.attention.common import NAN_SENTENCE, UNIFORM_SENTENCE, softmax
from autograder.exercise.specification import Misconception

Pair = tuple[Tensor, Tensor]


def _naive(scores: Tensor) -> Tensor:
    """The formula as it stands: right for moderate scores."""
    e = torch.exp(scores - scores.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


def _over_queries(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    weights = softmax(scores, mask, dim=-2)
    return weights @ values, weights


def _columns_divided(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    """The maximum of every row, and the sum of every column: one dim right, one wrong."""
    filled = scores if mask is None else scores.masked_fill(~mask, -math.inf)
    e = torch.exp(filled - filled.amax(-1, keepdim=True))
    weights = e / e.sum(-2, keepdim=True)
    return weights @ values, weights


def _mask_after(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    weights = _naive(scores)
    weights = weights if mask is None else weights * mask
    return weights @ values, weights


def _inverted(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    weights = softmax(scores, None if mask is None else ~mask)
    return weights @ values, weights


def _filled_with(
    masked_score: float, scores: Tensor, values: Tensor, mask: Tensor | None = None, invert: bool = False
) -> Pair:
    """What a mask puts in place of a score, and nothing more."""
    if mask is not None:
        scores = scores.masked_fill(mask if invert else ~mask, masked_score)
    weights = _naive(scores)
    return weights @ values, weights


def _ignored(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    return _filled_with(0.0, scores, values)


def _by_hand(scores: Tensor, values: Tensor, mask: Tensor | None, shift: Tensor | float) -> Pair:
    e = torch.exp(scores - shift)
    e = e if mask is None else torch.where(mask, e, 0.0)
    total = e.sum(-1, keepdim=True)
    weights = torch.where(total == 0, 0.0, e / total)
    return weights @ values, weights


def _overflow(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    return _by_hand(scores, values, mask, 0.0)


def _plain_formula(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    e = torch.exp(scores)
    e = e if mask is None else e * mask
    weights = e / e.sum(-1, keepdim=True)
    return weights @ values, weights


def _plain_formula_minus_infinity(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    e = torch.exp(scores if mask is None else scores.masked_fill(~mask, -math.inf))
    weights = e / e.sum(-1, keepdim=True)
    return weights @ values, weights


def _cleaned(attention: Callable[..., Pair], *arguments: Tensor | None) -> Pair:
    """The same, with NaN swept under zeros."""
    weights = attention(*arguments)[1].nan_to_num()
    assert arguments[1] is not None
    return weights @ arguments[1], weights


def _overall_max(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    return _by_hand(scores, values, mask, scores.max())


def _overall_max_plain(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    filled = scores if mask is None else scores.masked_fill(~mask, -1e9)
    e = torch.exp(filled - filled.max())
    weights = e / e.sum(-1, keepdim=True)
    return weights @ values, weights


def _max_over_masked(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    return _by_hand(scores, values, mask, scores.amax(-1, keepdim=True))


def _in_place(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    if mask is not None:
        scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)
    weights = softmax(scores, mask)
    return weights @ values, weights


def _mean(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    weights = softmax(scores, mask)
    return values.mean(-2, keepdim=True).expand(*scores.shape[:-1], values.shape[-1]), weights


def _swapped(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    weights = softmax(scores, mask)
    return weights, weights @ values


def _scores_as_weights(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    return scores @ values, softmax(scores, mask)


def _divided_only(scores: Tensor, values: Tensor, mask: Tensor | None = None) -> Pair:
    kept = scores if mask is None else scores * mask
    weights = kept / kept.sum(-1, keepdim=True)
    return weights @ values, weights


MISCONCEPTIONS = (
    Misconception(
        id="softmax-over-queries",
        sentence=(
            "Your result is what one gets with the softmax over the queries: each column of your weights sums to 1."
            " Each query shares out its attention among the keys, so each row should: the last axis, dim=-1."
        ),
        implementation=_over_queries,
        also=(_columns_divided,),
    ),
    Misconception(
        id="mask-after-softmax",
        sentence=(
            "The mask comes after the softmax: masked keys have weight 0, and the rest no longer sum to 1. Take"
            " masked keys out before you divide by the sum."
        ),
        implementation=_mask_after,
    ),
    Misconception(
        id="mask-inverted",
        sentence=(
            "The mask is read the wrong way round. Here True means “may attend”; you attend exactly where it says"
            " False."
        ),
        implementation=_inverted,
        also=(partial(_filled_with, -math.inf, invert=True), partial(_filled_with, -1e9, invert=True)),
    ),
    Misconception(
        id="masked-score-zero",
        sentence=(
            "You set the masked scores to 0. A score of 0 is an ordinary score: exp(0) = 1, so the key keeps a"
            " weight. Only −∞ (or a weight set to 0 before the division) takes it out."
        ),
        implementation=partial(_filled_with, 0.0),
    ),
    Misconception(
        id="mask-ignored",
        sentence="The mask changes nothing in your result: masked keys are attended like the others.",
        implementation=_ignored,
    ),
    Misconception(
        id="nan-where-nothing-is-allowed",
        sentence=NAN_SENTENCE,
        implementation=partial(_filled_with, -math.inf),
    ),
    Misconception(
        id="uniform-where-nothing-is-allowed",
        sentence=UNIFORM_SENTENCE,
        implementation=partial(_filled_with, -1e9),
    ),
    Misconception(
        id="overflow",
        sentence=(
            "exp overflows: e⁹⁰ is more than a float32 holds, and infinity divided by infinity is NaN. Subtract the"
            " largest score of each row first; the softmax does not change, since numerator and denominator shrink"
            " alike."
        ),
        implementation=_overflow,
        also=(
            _plain_formula,
            _plain_formula_minus_infinity,
            partial(_cleaned, _plain_formula),
            partial(_cleaned, _plain_formula_minus_infinity),
        ),
    ),
    Misconception(
        id="one-maximum-for-all",
        sentence=(
            "You subtract one maximum from all rows. In a row far below it, every exp is 0, and so is the sum. Each"
            " row needs its own maximum: amax(dim=-1, keepdim=True)."
        ),
        implementation=_overall_max,
        also=(_overall_max_plain,),
    ),
    Misconception(
        id="maximum-over-masked-keys",
        sentence=(
            "The maximum that you subtract is taken over masked keys too. If a masked score is the largest by far,"
            " the allowed ones vanish. Take the maximum after masking."
        ),
        implementation=_max_over_masked,
    ),
    Misconception(
        id="changes-its-input",
        sentence=(
            "The result is right, but the scores that you were given have changed: a function whose name ends in _"
            " (masked_fill_) or an assignment to scores[...] writes into the caller's tensor. Use the version without"
            " _."
        ),
        implementation=_in_place,
    ),
    Misconception(
        id="plain-mean",
        sentence="Your context is the plain mean of the values: the weights play no part in it. It should be Σⱼ αⱼ vⱼ.",
        implementation=_mean,
    ),
    Misconception(
        id="scores-as-weights",
        sentence="Your context sums the values with the scores, not with the weights that you computed from them.",
        implementation=_scores_as_weights,
    ),
    Misconception(
        id="divided-without-exp",
        sentence=(
            "You divided the scores by their sum and left out exp. Scores may be negative or sum to nearly 0; exp"
            " makes them positive first."
        ),
        implementation=_divided_only,
    ),
    Misconception(
        id="results-swapped",
        sentence="The two results are in the wrong order: return (context, weights).",
        implementation=_swapped,
    ),
)
