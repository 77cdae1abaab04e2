"""Question 3: heads that share keys and values."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.exercise.draw import Draw
from autograder.exercise.judges import law, same_shapes, same_values
from autograder.exercise.laws.self_attention import output_of_shared_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

GROUPED = ("output", "weights")


def _grouped(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    group = len(q) // len(k)
    return _with(q, k.repeat_interleave(group, 0), v.repeat_interleave(group, 0))


def _with(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    scale: float | None = None,
    causal: Callable[[Tensor], Tensor] = torch.tril,
    normalise: Callable[[Tensor, Tensor], Tensor] = lambda scores, allowed: _softmax(-math.inf, scores, allowed),
) -> tuple[Tensor, Tensor]:
    """Right, but for the part that is given."""
    time = q.shape[1]
    scores = q @ k.mT / math.sqrt(q.shape[-1] if scale is None else scale)
    weights = normalise(scores, causal(torch.ones(time, time, dtype=torch.bool)))
    return weights @ v, weights


def _softmax(hidden: float, scores: Tensor, allowed: Tensor) -> Tensor:
    return torch.softmax(scores.masked_fill(~allowed, hidden), -1)


def _qkv(draw: Draw, groups: int, group: int) -> tuple[Tensor, Tensor, Tensor]:
    time, d = draw.largest + 1, 3
    return draw.normal(groups * group, time, d), draw.normal(groups, time, d), draw.normal(groups, time, d - 1)


def _case(draw: Draw, groups: int, group: int, label: str) -> Case:
    return case(label, *_qkv(draw, groups, group))


def _shared(draw: Draw) -> list[Case]:
    return [_case(draw, 2, 3, "six heads share two"), _case(draw, 3, 2, "six heads share three")]


def _outputs(draw: Draw) -> list[Case]:
    """Two calls that differ in their queries; known: the values that each head reads."""
    cases = []
    for label, groups, group in (("six heads share two", 2, 3), ("six heads share three", 3, 2)):
        q, k, v = _qkv(draw, groups, group)
        values = v.repeat_interleave(group, 0)
        cases.append(Case(label=label, calls=((q, k, v), (draw.normal(*q.shape), k, v)), known=(values, values)))
    return cases


def _large(draw: Draw) -> list[Case]:
    q, k, v = _qkv(draw, 2, 3)
    return [case("scores of a hundred and more", 60 * q, k, v)]


def _extremes(draw: Draw) -> list[Case]:
    return [_case(draw, 1, 4, "all heads share one"), _case(draw, 3, 1, "every head has its own")]


def _taking_turns(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    group = len(q) // len(k)
    return _with(q, k.repeat(group, 1, 1), v.repeat(group, 1, 1))


def _first_for_all(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return _with(q, k[:1].expand(len(q), -1, -1), v[:1].expand(len(q), -1, -1))


def _with_sets(**wrong: Any) -> Callable[..., tuple[Tensor, Tensor]]:
    """Every head reads the set that it should; one part is wrong."""

    def attention(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        group = len(q) // len(k)
        return _with(q, k.repeat_interleave(group, 0), v.repeat_interleave(group, 0), **wrong)

    return attention


def _by_hand(hide: Callable[[Tensor, Tensor], Tensor], scores: Tensor, allowed: Tensor) -> Tensor:
    e = hide(torch.exp(scores), allowed)
    return e / e.sum(-1, keepdim=True)


def _hidden_first(scores: Tensor, allowed: Tensor) -> Tensor:
    e = torch.exp(scores.masked_fill(~allowed, -math.inf))
    return e / e.sum(-1, keepdim=True)


def _value_width(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return _with_sets(scale=v.shape[-1])(q, k, v)


def _values_take_turns(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    group = len(q) // len(k)
    return _with(q, k.repeat_interleave(group, 0), v.repeat(group, 1, 1))


def _before_itself(ones: Tensor) -> Tensor:
    return torch.tril(ones, -1)


def _all_heads_wide(q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return _with_sets(scale=q.shape[-1] * len(q))(q, k, v)


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
        Property(
            name="the output, given your weights", points=1.25, cases=_outputs, judge=law(output_of_shared_values)
        ),
        Property(name="one for all, and one for each", points=0.75, cases=_extremes, judge=same_values(GROUPED)),
        Property(name="very large scores", points=0.5, cases=_large, judge=same_values(GROUPED, [1]), outputs=(1,)),
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
            implementation=_with_sets(causal=lambda ones: ones),
        ),
        Misconception(
            id="hidden-scores-zero",
            sentence=(
                "You set the scores of later words to 0. A score of 0 is an ordinary score: exp(0) = 1, so they keep a"
                " weight. Only −∞ takes them out."
            ),
            implementation=_with_sets(normalise=partial(_softmax, 0.0)),
            also=(_with_sets(normalise=lambda scores, allowed: torch.softmax(scores * allowed, -1)),),
        ),
        Misconception(
            id="hidden-after-the-softmax",
            sentence=(
                "Later words are taken out after the softmax: their weights are 0, and the rest no longer sum to 1."
                " Hide them before it."
            ),
            implementation=_with_sets(normalise=lambda scores, allowed: torch.softmax(scores, -1) * allowed),
        ),
        Misconception(
            id="not-even-itself",
            sentence=(
                "A word cannot read itself, and the first one has nothing to read at all. Each word reads itself and"
                " what comes before: the diagonal is allowed."
            ),
            implementation=_with_sets(causal=_before_itself),
            also=(
                _with_sets(causal=_before_itself, normalise=partial(_softmax, -1e9)),
                _with_sets(
                    causal=_before_itself, normalise=lambda s, allowed: _softmax(-math.inf, s, allowed).nan_to_num()
                ),
            ),
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
            implementation=_with_sets(scale=1.0),
        ),
        Misconception(
            id="root-of-value-width",
            sentence="You divided by the root of the values' width. d_head is the width of queries and keys.",
            implementation=_value_width,
        ),
        Misconception(
            id="values-take-turns",
            sentence=(
                "Your heads read the right keys, and their values take turns: head 0 gets values 0, head 1 values 1, …"
                " Keys and values belong together: the same set for both."
            ),
            implementation=_values_take_turns,
        ),
        Misconception(
            id="overflow",
            sentence=(
                "exp overflows: e⁹⁰ is more than a float32 holds, and infinity divided by infinity is NaN. Subtract the"
                " largest score of each row first, or take torch.softmax, which does."
            ),
            implementation=_with_sets(normalise=partial(_by_hand, lambda e, allowed: torch.where(allowed, e, 0.0))),
            also=(
                _with_sets(normalise=partial(_by_hand, lambda e, allowed: e * allowed)),
                _with_sets(normalise=_hidden_first),
            ),
        ),
    ),
    closed=("nlmcore.attention", "nlmcore.transformer", "torch.nn.functional.scaled_dot_product_attention"),
)
