"""Question 3: heads that share keys and values."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from autograder.draw import Draw
from autograder.judges import law, same_shapes, same_values
from autograder.laws.self_attention import output_of_shared_values
from autograder.specification import Case, Exercise, Misconception, Property

GROUPED = ("output", "weights")


def _grouped(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    group = len(q) // len(k)
    return _with(q, k.repeat_interleave(group, 0), v.repeat_interleave(group, 0))


def _with(
    q: Tensor, k: Tensor, v: Tensor, scale: float | None = None, causal: Callable[[Tensor], Tensor] = torch.tril
) -> tuple[Tensor, Tensor]:
    time = q.shape[1]
    scores = q @ k.mT / math.sqrt(q.shape[-1] if scale is None else scale)
    allowed = causal(torch.ones(time, time, dtype=torch.bool))
    weights = torch.softmax(scores.masked_fill(~allowed, -math.inf), -1)
    return weights @ v, weights


def _case(draw: Draw, groups: int, group: int, label: str) -> Case:
    time, d = draw.largest + 1, 3
    q, k, v = draw.normal(groups * group, time, d), draw.normal(groups, time, d), draw.normal(groups, time, d)
    return Case(label=label, calls=((q, k, v),), known=(v.repeat_interleave(group, 0),))


def _shared(draw: Draw) -> list[Case]:
    return [_case(draw, 2, 3, "six heads share two"), _case(draw, 3, 2, "six heads share three")]


def _extremes(draw: Draw) -> list[Case]:
    return [_case(draw, 1, 4, "all heads share one"), _case(draw, 3, 1, "every head has its own")]


def _taking_turns(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    group = len(q) // len(k)
    return _with(q, k.repeat(group, 1, 1), v.repeat(group, 1, 1))


def _first_for_all(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return _with(q, k[:1].expand(len(q), -1, -1), v[:1].expand(len(q), -1, -1))


def _no_mask(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    group = len(q) // len(k)
    k, v = k.repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    return _with(q, k, v, causal=lambda ones: ones)


def _all_heads_wide(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    group = len(q) // len(k)
    k, v = k.repeat_interleave(group, 0), v.repeat_interleave(group, 0)
    return _with(q, k, v, scale=q.shape[-1] * len(q) if len(q) > 1 else 4 * q.shape[-1])


def _not_scaled(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    group = len(q) // len(k)
    return _with(q, k.repeat_interleave(group, 0), v.repeat_interleave(group, 0), scale=1.0)


GROUPED_ATTENTION = Exercise(
    name="self_attention.grouped_attention",
    title="Heads that share",
    signature="grouped_attention(q, k, v)",
    arguments=("q", "k", "v"),
    returns=GROUPED,
    minutes=30,
    difficulty="hard",
    reference=_grouped,
    properties=(
        Property(name="the shapes are right", points=0.5, cases=_shared, judge=same_shapes(GROUPED)),
        Property(name="who reads which keys", points=2, cases=_shared, judge=same_values(GROUPED, [1]), outputs=(1,)),
        Property(name="the output, given your weights", points=1.5, cases=_shared, judge=law(output_of_shared_values)),
        Property(name="one for all, and one for each", points=1, cases=_extremes, judge=same_values(GROUPED)),
    ),
    misconceptions=(
        Misconception(
            id="taking-turns",
            sentence=(
                "Your heads take turns: head 0 gets keys 0, head 1 keys 1, … Neighbours share: with six heads and two"
                " sets, heads 0, 1, 2 read set 0. `repeat_interleave`, not `repeat`."
            ),
            implementation=_taking_turns,
        ),
        Misconception(
            id="first-for-all",
            sentence="All heads read the first set of keys and values. Head h reads set h // (heads per set).",
            implementation=_first_for_all,
        ),
        Misconception(
            id="future-not-hidden",
            sentence=(
                "The future is open: a word reads words that come after it. Mask them before the softmax, and the"
                " first row is 1, 0, 0, …"
            ),
            implementation=_no_mask,
        ),
        Misconception(
            id="scaled-by-all-heads",
            sentence=(
                "You divided by the root of the width of all heads together. Each head's products have `d_head` terms:"
                " divide by √d_head."
            ),
            implementation=_all_heads_wide,
        ),
        Misconception(
            id="not-scaled",
            sentence="The division by √d_head is missing.",
            implementation=_not_scaled,
        ),
    ),
    closed=("nlmcore.attention", "nlmcore.transformer", "torch.nn.functional.scaled_dot_product_attention"),
)
