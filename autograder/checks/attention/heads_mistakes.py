"""What students write for `multi_head_attention`, and what to say about it. Each is wrong in one part."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from autograder.checks.attention.common import NAN_SENTENCE, UNIFORM_SENTENCE, softmax
from autograder.exercise.specification import Misconception


def split(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def join(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)


Cut = Callable[[Tensor, int], Tensor]


def _with(
    split: Cut = split,
    join: Callable[[Tensor], Tensor] = join,
    scale: Callable[[Tensor, int], float] = lambda q, d_model: math.sqrt(q.shape[-1]),
    project: Callable[[Tensor, Tensor], Tensor] = lambda x, W: x @ W,
    output: Callable[[Tensor, Tensor], Tensor] = lambda x, W: x @ W,
    normalise: Callable[[Tensor, Tensor | None], Tensor] = softmax,
    keep: Callable[[Tensor], Tensor] = lambda weights: weights,
) -> Callable[..., tuple[Tensor, Tensor]]:
    """Multi-head attention, wrong in the one part that is given."""

    def attention(
        x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, n_heads: int, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        q, k, v = (split(project(x, W), n_heads) for W in (W_q, W_k, W_v))
        weights = normalise(q @ k.mT / scale(q, W_q.shape[-1]), mask)
        return output(join(weights @ v), W_o), keep(weights)

    return attention


def _reshape_only(x: Tensor, n_heads: int) -> Tensor:
    batch, time, d_model = x.shape
    return x.reshape(batch, n_heads, time, d_model // n_heads)


def _dealt_out(x: Tensor, n_heads: int) -> Tensor:
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


def _first_head(x: Tensor, n_heads: int) -> Tensor:
    return split(x, n_heads)[:, :1].expand(-1, n_heads, -1, -1)


def _interleaved(x: Tensor) -> Tensor:
    return x.permute(0, 2, 3, 1).flatten(2)


def _no_transpose(x: Tensor) -> Tensor:
    batch, n_heads, time, d_head = x.shape
    return x.reshape(batch, time, n_heads * d_head)


def _summed(x: Tensor) -> Tensor:
    return x.sum(1).repeat(1, 1, x.shape[1])


def _no_heads(
    x: Tensor, W_q: Tensor, W_k: Tensor, W_v: Tensor, W_o: Tensor, n_heads: int, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    output, weights = _with()(x, W_q, W_k, W_v, W_o, 1, mask)
    return output, weights.expand(-1, n_heads, -1, -1)


def _filled_with(masked_score: float, invert: bool, scores: Tensor, mask: Tensor | None) -> Tensor:
    if mask is not None:
        scores = scores.masked_fill(mask if invert else ~mask, masked_score)
    return torch.softmax(scores, -1)


def _mask_after(scores: Tensor, mask: Tensor | None) -> Tensor:
    weights = torch.softmax(scores, -1)
    return weights if mask is None else weights * mask


MISCONCEPTIONS = (
    Misconception(
        id="reshaped-without-transpose",
        sentence=(
            "Your heads mix words: (batch, time, d_model) was reshaped straight to (batch, head, time, d_head), so a"
            " head gets whole words in place of a part of every word. Reshape to (batch, time, head, d_head), then"
            " transpose."
        ),
        implementation=_with(split=_reshape_only),
    ),
    Misconception(
        id="heads-dealt-out",
        sentence=(
            "Your heads take every n-th dimension: you split d_model as (d_head, head). Head 0 is the first d_head"
            " dimensions, head 1 the next: split it as (head, d_head)."
        ),
        implementation=_with(split=_dealt_out),
    ),
    Misconception(
        id="one-head-repeated",
        sentence="All your heads are the same: each reads the first d_head dimensions. Head i has its own part.",
        implementation=_with(split=_first_head),
    ),
    Misconception(
        id="no-heads",
        sentence=(
            "You compute one head over all of d_model and show it n_heads times. Split queries, keys and values into"
            " heads first; each head then has its own softmax."
        ),
        implementation=_no_heads,
    ),
    Misconception(
        id="joined-without-transpose",
        sentence=(
            "The weights are right, and the heads are put back together wrongly: (batch, head, time, d_head) was"
            " reshaped straight to (batch, time, d_model). Transpose head and time first."
        ),
        implementation=_with(join=_no_transpose),
    ),
    Misconception(
        id="joined-interleaved",
        sentence=(
            "The weights are right, and the heads are put back together in the wrong order: their dimensions"
            " alternate. First all of head 0, then all of head 1."
        ),
        implementation=_with(join=_interleaved),
    ),
    Misconception(
        id="heads-summed",
        sentence="You added the heads up. They are laid side by side (concatenated), and W_o mixes them.",
        implementation=_with(join=_summed),
    ),
    Misconception(
        id="no-output-projection",
        sentence=(
            "W_o does not take part: what you return is the heads side by side. Without W_o they would never exchange"
            " anything."
        ),
        implementation=_with(output=lambda x, W: x),
    ),
    Misconception(
        id="scaled-by-d-model",
        sentence=(
            "You divided by √d_model. Each head's dot product has only d_head = d_model / n_heads terms: divide by"
            " √d_head."
        ),
        implementation=_with(scale=lambda q, d_model: math.sqrt(d_model)),
    ),
    Misconception(
        id="not-scaled",
        sentence="The division by √d_head is missing: every head's scores are plain dot products.",
        implementation=_with(scale=lambda q, d_model: 1.0),
    ),
    Misconception(
        id="matrices-transposed",
        sentence=(
            "The matrices are transposed: you computed x Wᵀ. That is how nn.Linear keeps its weight, as (out, in);"
            " here W is (in, out), and it is x W."
        ),
        implementation=_with(project=lambda x, W: x @ W.T),
    ),
    Misconception(
        id="mask-ignored",
        sentence="The mask changes nothing in your result. Every head needs it: is it handed on?",
        implementation=_with(normalise=lambda scores, mask: softmax(scores)),
    ),
    Misconception(
        id="mask-inverted",
        sentence="The mask is read the wrong way round: True means “may attend”.",
        implementation=_with(normalise=lambda scores, mask: softmax(scores, None if mask is None else ~mask)),
        also=(
            _with(normalise=partial(_filled_with, -math.inf, True)),
            _with(normalise=partial(_filled_with, -1e9, True)),
        ),
    ),
    Misconception(
        id="nan-where-nothing-is-allowed",
        sentence=NAN_SENTENCE,
        implementation=_with(normalise=partial(_filled_with, -math.inf, False)),
    ),
    Misconception(
        id="uniform-where-nothing-is-allowed",
        sentence=UNIFORM_SENTENCE,
        implementation=_with(normalise=partial(_filled_with, -1e9, False)),
    ),
    Misconception(
        id="softmax-over-queries",
        sentence="Your softmax runs over the queries; each row of the weights, one query, should sum to 1.",
        implementation=_with(normalise=lambda scores, mask: softmax(scores, mask, dim=-2)),
    ),
    Misconception(
        id="softmax-over-heads",
        sentence="Your softmax runs over the heads. Every head has its own softmax, over the keys: the last axis.",
        implementation=_with(normalise=lambda scores, mask: softmax(scores, mask, dim=1)),
    ),
    Misconception(
        id="weights-averaged",
        sentence=(
            "Your weights are averaged over the heads, as torch.nn.MultiheadAttention returns them by default. Asked"
            " for are those of every head: (batch, head, time, time)."
        ),
        implementation=_with(keep=lambda weights: weights.mean(1)),
        also=(_with(keep=lambda weights: weights.mean(1, keepdim=True).expand_as(weights)),),
    ),
    Misconception(
        id="mask-after-softmax",
        sentence=(
            "The mask comes after the softmax: masked keys have weight 0, and the rest no longer sum to 1. Take them"
            " out before it."
        ),
        implementation=_with(normalise=_mask_after),
    ),
)
