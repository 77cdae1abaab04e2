"""Question 2b: queries, keys and values, and the division by √d that keeps the softmax from saturating."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

import nlmcore.attention as reference
from autograder.checks.attention.common import (
    NAN_SENTENCE,
    REFERENCE_ITSELF,
    UNIFORM_SENTENCE,
    mask_with_an_empty_row,
    softmax,
)
from autograder.exercise.draw import Draw
from autograder.exercise.judges import law, same_shapes, same_values
from autograder.exercise.laws.attention import mask_renormalises, weighted_sum_of, zero_where_nothing_is_allowed
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

RETURNS = ("output", "weights")
VALUES, MASK = 2, 3

CLOSED = (
    REFERENCE_ITSELF,
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.MultiheadAttention",
    "torch.nn.functional.multi_head_attention_forward",
)


def _qkv(draw: Draw, *leading: int) -> tuple[Tensor, Tensor, Tensor]:
    query, key, d = draw.sizes(3)
    return draw.normal(*leading, query, d), draw.normal(*leading, key, d), draw.normal(*leading, key, d + 1)


def _one_sentence(draw: Draw) -> list[Case]:
    n, d = draw.sizes(2)
    return [
        case("one sentence", *_qkv(draw)),
        case("as many queries as keys", draw.normal(n, d), draw.normal(n, d), draw.normal(n, d)),
        case("a single query and a single key", draw.normal(1, d), draw.normal(1, d), draw.normal(1, n)),
    ]


def _leading(draw: Draw) -> list[Case]:
    n, d = draw.sizes(2)
    return [
        case("a batch", *_qkv(draw, 2)),
        case("a batch with heads, float64", *(x.double() for x in _qkv(draw, 2, 3))),
        case(
            "a batch of slices of larger tensors", draw.strided(2, n, d), draw.strided(2, n, d), draw.strided(2, n, d)
        ),
    ]


def _sums(draw: Draw) -> list[Case]:
    q, k, v = _qkv(draw, 2)
    other = draw.normal(*q.shape)
    return [
        Case(label="a batch", calls=((q, k, v), (other, k, v))),
        case("a batch with a mask", q, k, v, draw.mask(2, q.shape[1], k.shape[1])),
    ]


def _masked(draw: Draw) -> list[Case]:
    cases = []
    for label, leading in (("one sentence", ()), ("one mask for a whole batch", (2,))):
        q, k, v = _qkv(draw, *leading)
        cases.append(Case(label=label, calls=((q, k, v), (q, k, v, draw.mask(q.shape[-2], k.shape[-2])))))
    return cases


def _empty_rows(draw: Draw) -> list[Case]:
    q, k, v = _qkv(draw, 2)
    return [case("a query with no key allowed", q, k, v, mask_with_an_empty_row(draw, 2, q.shape[-2], k.shape[-2]))]


Scale = Callable[[Tensor, Tensor, Tensor], Tensor]


def _with(
    scores: Scale, after: float | None = None, use_mask: bool = True, invert: bool = False
) -> Callable[..., object]:
    """Attention with these scores, right in everything else."""

    def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        seen = mask if use_mask else None
        weights = softmax(scores(q, k, v), ~seen if invert and seen is not None else seen)
        if after is not None:
            weights = weights * q.shape[-1] ** after
        return weights @ v, weights

    return attention


def _scaled(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return q @ k.mT / math.sqrt(q.shape[-1])


def _over_queries(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    weights = softmax(_scaled(q, k, v), mask, dim=-2)
    return weights @ v, weights


def _mask_after(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    weights = softmax(_scaled(q, k, v))
    weights = weights if mask is None else weights * mask
    return weights @ v, weights


def _mask_added(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    scores = _scaled(q, k, v)
    weights = softmax(scores if mask is None else scores + mask)
    return weights @ v, weights


def _swapped(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
    weights = softmax(_scaled(q, k, v), mask)
    return weights, weights @ v


def _filled_with(masked_score: float, invert: bool = False) -> Callable[..., tuple[Tensor, Tensor]]:
    """Right, but for what a mask puts in place of a score."""

    def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> tuple[Tensor, Tensor]:
        scores = _scaled(q, k, v)
        if mask is not None:
            scores = scores.masked_fill(mask if invert else ~mask, masked_score)
        weights = torch.softmax(scores, -1)
        return weights @ v, weights

    return attention


SCALED_DOT_PRODUCT_ATTENTION = Exercise(
    name="attention.scaled_dot_product_attention",
    title="Queries, keys and values",
    signature="scaled_dot_product_attention(q, k, v, mask=None)",
    arguments=("q", "k", "v", "mask"),
    returns=RETURNS,
    minutes=15,
    difficulty="easy",
    reference=lambda q, k, v, mask=None: reference.scaled_dot_product_attention(q, k, v, mask),
    properties=(
        Property(name="the shapes are right", points=0.25, cases=_one_sentence, judge=same_shapes(RETURNS)),
        Property(
            name="the weights are right for one sentence",
            points=1.75,
            cases=_one_sentence,
            judge=same_values(RETURNS, [1]),
            outputs=(1,),
        ),
        Property(
            name="the output is the weighted sum of the values",
            points=0.5,
            cases=_sums,
            judge=law(weighted_sum_of(VALUES)),
        ),
        Property(
            name="the mask is obeyed", points=0.5, cases=_masked, judge=law(mask_renormalises(MASK)), outputs=(1,)
        ),
        Property(
            name="a query with no key allowed gets zeros",
            points=0.5,
            cases=_empty_rows,
            judge=law(zero_where_nothing_is_allowed(MASK)),
        ),
        Property(name="any number of leading axes", points=0.5, cases=_leading, judge=same_values(RETURNS)),
    ),
    misconceptions=(
        Misconception(
            id="not-scaled",
            sentence=(
                "The division by √d is missing: these are the weights of the plain dot products. With wide vectors"
                " they pile up on a single key, and the gradient vanishes."
            ),
            implementation=_with(lambda q, k, v: q @ k.mT),
        ),
        Misconception(
            id="divided-by-d",
            sentence=(
                "You divided by d, and it should be √d. The dot product of d independent numbers has standard"
                " deviation √d."
            ),
            implementation=_with(lambda q, k, v: q @ k.mT / q.shape[-1]),
        ),
        Misconception(
            id="multiplied-by-root-d",
            sentence="You multiplied by √d, and it should be divided.",
            implementation=_with(lambda q, k, v: q @ k.mT * math.sqrt(q.shape[-1])),
        ),
        Misconception(
            id="root-of-value-width",
            sentence=(
                "You divided by the root of the values' width. d is the width of queries and keys: the number of"
                " products in each score."
            ),
            implementation=_with(lambda q, k, v: q @ k.mT / math.sqrt(v.shape[-1])),
        ),
        Misconception(
            id="root-of-key-count",
            sentence="You divided by the root of the number of keys. d is the width of a query, its last axis.",
            implementation=_with(lambda q, k, v: q @ k.mT / math.sqrt(k.shape[-2])),
        ),
        Misconception(
            id="scaled-after-softmax",
            sentence=(
                "You divided the weights by √d, after the softmax; so they no longer sum to 1. Divide the scores,"
                " before it."
            ),
            implementation=_with(lambda q, k, v: q @ k.mT, after=-0.5),
        ),
        Misconception(
            id="queries-and-keys-swapped",
            sentence=(
                "Queries and keys have changed places: row i of your scores belongs to key i. Scores are Q Kᵀ: one"
                " row per query."
            ),
            implementation=_with(lambda q, k, v: k @ q.mT / math.sqrt(q.shape[-1])),
        ),
        Misconception(
            id="softmax-over-queries",
            sentence=(
                "Your result is what one gets with the softmax over the queries. Each row of the weights, one query,"
                " should sum to 1."
            ),
            implementation=_over_queries,
        ),
        Misconception(
            id="mask-ignored",
            sentence="The mask changes nothing in your result. Is it handed on to attend?",
            implementation=_with(_scaled, use_mask=False),
        ),
        Misconception(
            id="mask-inverted",
            sentence="The mask is read the wrong way round: True means “may attend”.",
            implementation=_with(_scaled, invert=True),
            also=(_filled_with(-math.inf, invert=True), _filled_with(-1e9, invert=True)),
        ),
        Misconception(
            id="mask-after-softmax",
            sentence=(
                "The mask comes after the softmax: masked keys have weight 0, and the rest no longer sum to 1. Take"
                " them out before it."
            ),
            implementation=_mask_after,
        ),
        Misconception(
            id="mask-added",
            sentence=(
                "You added the mask to the scores: True counts as 1, so what may be attended gets 1 more, and nothing"
                " is taken out. Put −∞ where the mask is False."
            ),
            implementation=_mask_added,
        ),
        Misconception(
            id="results-swapped",
            sentence="The two results are in the wrong order: return (output, weights).",
            implementation=_swapped,
        ),
        Misconception(
            id="nan-where-nothing-is-allowed",
            sentence=NAN_SENTENCE,
            implementation=_filled_with(-math.inf),
        ),
        Misconception(
            id="uniform-where-nothing-is-allowed",
            sentence=UNIFORM_SENTENCE,
            implementation=_filled_with(-1e9),
        ),
    ),
    closed=CLOSED,
)
