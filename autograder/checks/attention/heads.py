"""Question 4: several heads, as one function of the matrices."""

from typing import Any

from torch import Tensor

import nlmcore.attention as reference
from autograder.checks.attention.common import mask_with_an_empty_row
from autograder.checks.attention.heads_mistakes import MISCONCEPTIONS, join, split
from autograder.checks.attention.scaled import CLOSED
from autograder.exercise.draw import Draw
from autograder.exercise.judges import law, same_shapes, same_values
from autograder.exercise.laws.attention import (
    alone_as_in_a_batch,
    mask_renormalises,
    output_follows_over_heads,
    zero_where_nothing_is_allowed,
)
from autograder.exercise.specification import Case, Exercise, Property, case

RETURNS = ("output", "weights")
MASK = 6


def _reference(
    x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, n_heads: int, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    q, k, v = (split(x @ W, n_heads) for W in (W_q, W_k, W_v))
    mixed, weights = reference.scaled_dot_product_attention(q, k, v, mask)
    return join(mixed) @ W_o, weights


# --- inputs -----------------------------------------------------------------------------------------------


def _weights(draw: Draw, d_in: int, d_model: int, d_out: int) -> tuple[Tensor, ...]:
    shapes = [(d_in, d_model)] * 3 + [(d_model, d_out)]
    return tuple(draw.normal(*shape) / shape[0] ** 0.5 for shape in shapes)


def _square(draw: Draw, n_heads: int, batch: int = 2) -> tuple[Tensor | int, ...]:
    """Arguments in which every matrix is square; time and d_head differ from each other and from the heads."""
    time = draw.integer(4, max(4, draw.largest))
    d_head = 3 if n_heads == 2 else 2
    d_model = n_heads * d_head
    return draw.normal(batch, time, d_model), *_weights(draw, d_model, d_model, d_model), n_heads


def _one_head(draw: Draw) -> list[Case]:
    time, d = draw.sizes(2)
    return [
        case("one head", draw.normal(2, time, d), *_weights(draw, d, d, d), 1),
        case("one head, one word", draw.normal(1, 1, d), *_weights(draw, d, d, d), 1),
    ]


def _several_heads(draw: Draw) -> list[Case]:
    time, d_head, n_heads = draw.sizes(3)
    d_model = n_heads * d_head
    return [
        case("two heads", *_square(draw, 2)),
        case("three heads", *_square(draw, 3, batch=1)),
        case(
            "x narrower than d_model",
            draw.normal(2, time, d_model - 1),
            *_weights(draw, d_model - 1, d_model, 3),
            n_heads,
        ),
    ]


def _masked(draw: Draw) -> list[Case]:
    cases = []
    for label, batch, make in (
        ("one mask for all heads", 2, lambda time: draw.mask(2, 1, time, time)),
        ("one mask for all sentences and heads", 2, lambda time: draw.mask(time, time)),
    ):
        arguments = _square(draw, 2, batch)
        mask = make(arguments[0].shape[1])  # type: ignore[union-attr]
        cases.append(Case(label=label, calls=(arguments, (*arguments, mask))))
    return cases


def _empty_rows(draw: Draw) -> list[Case]:
    x, *rest = _square(draw, 2)
    assert isinstance(x, Tensor)
    return [case("a word with no key allowed", x, *rest, mask_with_an_empty_row(draw, 2, 1, x.shape[1], x.shape[1]))]


def _outputs(draw: Draw) -> list[Case]:
    arguments = _square(draw, 2)
    time = arguments[0].shape[1]  # type: ignore[union-attr]
    other = draw.normal(*arguments[0].shape)  # type: ignore[union-attr]
    return [
        _with_contributions("two heads", arguments, (other, *arguments[1:])),
        _with_contributions("two heads and a mask", (*arguments, draw.mask(2, 1, time, time))),
        _with_contributions("three heads", _square(draw, 3)),
    ]


def _with_contributions(label: str, *calls: tuple[Any, ...]) -> Case:
    """A case that knows what each key of each head adds to the output: (batch, head, key, d_out)."""
    known = []
    for x, _, _, W_v, W_o, n_heads, *_ in calls:
        values = split(x.double() @ W_v.double(), n_heads)
        known.append(values @ W_o.double().unflatten(0, (n_heads, -1)))
    return Case(label=label, calls=calls, known=tuple(known))


def _alone_and_together(draw: Draw) -> list[Case]:
    x, *rest = _square(draw, 2, batch=3)
    assert isinstance(x, Tensor)
    return [Case(label="a sentence alone and in a batch", calls=((x, *rest), (x[1:2], *rest)))]


MULTI_HEAD_ATTENTION = Exercise(
    name="attention.multi_head_attention",
    title="Several heads",
    signature="multi_head_attention(x, W_q, W_k, W_v, W_o, n_heads, mask=None)",
    arguments=("x", "W_q", "W_k", "W_v", "W_o", "n_heads", "mask"),
    returns=RETURNS,
    minutes=35,
    difficulty="hard",
    reference=_reference,
    properties=(
        Property(name="the shapes are right", points=0.5, cases=_several_heads, judge=same_shapes(RETURNS)),
        Property(name="with one head it is plain attention", points=1, cases=_one_head, judge=same_values(RETURNS)),
        Property(
            name="every head has its own weights",
            points=2,
            cases=_several_heads,
            judge=same_values(RETURNS, [1]),
            outputs=(1,),
        ),
        Property(name="heads are joined and mixed", points=1, cases=_outputs, judge=law(output_follows_over_heads)),
        Property(
            name="the mask holds for every head",
            points=0.5,
            cases=_masked,
            judge=law(mask_renormalises(MASK)),
            outputs=(1,),
        ),
        Property(
            name="a word with no key allowed gets weights of zero",
            points=0.5,
            cases=_empty_rows,
            judge=law(zero_where_nothing_is_allowed(MASK, output_too=False)),
            outputs=(1,),
        ),
        Property(
            name="a sentence alone gives what it gives in a batch",
            points=0.5,
            cases=_alone_and_together,
            judge=law(alone_as_in_a_batch(1)),
        ),
    ),
    misconceptions=MISCONCEPTIONS,
    closed=CLOSED,
)
