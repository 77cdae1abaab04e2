"""Questions 1a, 1b and 2: LayerNorm, RMSNorm, and a gated feed-forward network."""

import torch

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, Cases, case
from solutions.transformer.checks.common import CLOSED, network_weights

# --- norms ------------------------------------------------------------------------------------------------


def _vectors(draw: Draw) -> list[Case]:
    batch, time, d = draw.sizes(3)
    return [
        case("usual vectors", 1 + 2 * draw.normal(batch, time, d + 1), draw.normal(d + 1), draw.normal(d + 1), 1e-5)
    ]


def _damped(draw: Draw) -> list[Case]:
    batch, time, d = draw.sizes(3)
    x = draw.normal(batch, time, d + 1)
    return [case("an ε as large as the variance", x, draw.normal(d + 1), draw.normal(d + 1), 0.5)]


def _odd(draw: Draw) -> list[Case]:
    d = draw.size() + 1
    gain, shift = draw.normal(d), draw.normal(d)
    return [
        case("equal entries", draw.normal(2, 3, 1).expand(2, 3, d).contiguous(), gain, shift, 1e-3),
        case("a single token", draw.normal(1, 1, d), gain, shift, 1e-5),
        case("float64", draw.normal(2, 2, d, dtype=torch.float64), gain.double(), shift.double(), 1e-5),
    ]


LAYER_NORM_QUESTION = question(
    "transformer.layer_norm",
    minutes=10,
    difficulty="easy",
    returns=("normed",),
    properties=[
        shapes(0.1, _vectors),
        values("the values", 0.9, _vectors),
        values("where ε belongs", 0.5, _damped),
        values("equal entries, one token, float64", 0.5, _odd),
    ],
    numpy=True,
    mistakes="""
mean-kept: You do not subtract the mean. LayerNorm centres each vector first; only RMSNorm leaves that out.
- x - x.mean(-1, keepdims=True) → x

eps-outside: You add ε to the standard deviation, after the root. It belongs to the variance, inside the root.
- np.sqrt(variance + eps) → (np.sqrt(variance) + eps)

eps-forgotten: There is no ε in your result. Without it, a vector of equal entries is 0 divided by 0.
- variance + eps → variance

unbiased: Your variance divides by d − 1. That is the estimate for a sample, and PyTorch's default in `var` and `std`;
LayerNorm divides by d.
- (centred**2).mean(-1, keepdims=True) → (centred**2).sum(-1, keepdims=True) / (x.shape[-1] - 1)

over-time: You normalise over the tokens of a text. Each token is normalised alone, over the last axis, so that the
result does not depend on its neighbours.
* .mean(-1, keepdims=True) → .mean(1, keepdims=True)

over-everything: Your mean and variance are those of the whole batch. Each token's vector has its own.
* .mean(-1, keepdims=True) → .mean()

divided-by-variance: You divide by the variance. Divide by its root, the standard deviation.
- np.sqrt(variance + eps) → (variance + eps)

shift-before-gain: You add the shift first and multiply it by the gain as well. The gain comes first, then the shift.
- centred / np.sqrt(variance + eps) * gain + shift → (centred / np.sqrt(variance + eps) + shift) * gain

gain-or-shift-forgotten: Your vectors are normalised, but the gain, the shift or both are not used.
-  * gain + shift →
or
-  * gain + shift →  * gain
or
-  * gain + shift →  + shift
""",
)


def _without_shift(cases: Cases) -> Cases:
    """The same inputs without the shift."""

    def made(draw: Draw) -> list[Case]:
        return [case(c.label, x, gain, eps) for c in cases(draw) for x, gain, _, eps in c.calls]

    return made


def _in_part(cases: Cases) -> Cases:
    """The same inputs, once as they are and once with k. PyTorch's own norm knows no k."""

    def made(draw: Draw) -> list[Case]:
        plain = cases(draw)
        parts = [(c.label, *c.calls[0], draw.integer(1, c.calls[0][0].shape[-1] - 1)) for c in plain]
        return [*plain, *(case(f"{label}, the first k", *given) for label, *given in parts)]

    return made


_rms_damped = _without_shift(_damped)
_rms_vectors = _in_part(_without_shift(_vectors))


@_in_part
def _half(draw: Draw) -> list[Case]:
    d = draw.size() + 2
    x = (400 * (1 + draw.normal(2, 3, d).abs())).half()
    return [case("float16, entries of several hundred", x, draw.normal(d), 1e-5)]


@_in_part
def _rms_odd(draw: Draw) -> list[Case]:
    d = draw.size() + 1
    gain = draw.normal(d)
    return [
        case("a vector of zeros", torch.cat([draw.normal(1, 2, d), torch.zeros(1, 2, d)]), gain, 1e-3),
        case("a single token", draw.normal(1, 1, d), gain, 1e-5),
        case("float64", draw.normal(2, 2, d, dtype=torch.float64), gain.double(), 1e-5),
    ]


RMS_NORM_QUESTION = question(
    "transformer.rms_norm",
    minutes=15,
    difficulty="easy",
    returns=("normed",),
    properties=[
        shapes(0.1, _rms_vectors),
        values("the values", 1, _rms_vectors),
        values("where ε belongs", 0.5, _rms_damped),
        values("half precision", 0.9, _half, tolerance=5e-3),
        values("a zero vector, one token, float64", 0.5, _rms_odd),
    ],
    closed=CLOSED,
    mistakes="""
squares-overflow: Your function is right in single precision and fails in half precision: the square of 300 is more than
a float16 can hold, so the mean is infinite, and what you divide by it is 0. Convert x with `.float()` before you
square, not after it.
- wide = x.float() → wide = x
or
- (wide[..., :k] ** 2).mean → (x[..., :k] ** 2).float().mean

mean-subtracted: You subtract the mean, as in LayerNorm. RMSNorm leaves it in.
- wide = x.float() → wide = x.float() - x.float().mean(-1, keepdim=True)

summed-squares: You divide by the root of the *sum* of squares, the length of the vector. The mean square is that sum
divided by d.
- ** 2).mean( → ** 2).sum(

root-forgotten: You divide by the mean square. Divide by its root.
- torch.rsqrt(mean_square + eps) → 1 / (mean_square + eps)

eps-outside: You add ε after the root. It belongs to the mean square, inside the root.
- torch.rsqrt(mean_square + eps) → 1 / (torch.sqrt(mean_square) + eps)

eps-forgotten: There is no ε in your result. Without it, a zero vector is 0 divided by 0.
- mean_square + eps → mean_square

over-time: Your mean goes over the tokens of a text. Each token is normalised alone, over the last axis.
- .mean(-1, keepdim=True) → .mean(1, keepdim=True)

over-everything: Your mean square is that of the whole batch. Each token's vector has its own.
- .mean(-1, keepdim=True) → .mean()

gain-forgotten: The vectors are normalised, but not multiplied by the gain.
-  * gain) → )

k-ignored: Your mean square is always that of all entries. If `k` is given, it is that of the first k only.
- [..., :k] →
""",
)


# --- a gated network --------------------------------------------------------------------------------------


def _network(draw: Draw) -> list[Case]:
    batch, time, d_model, d_ff = draw.sizes(4)
    return [
        case("a wide hidden layer", draw.normal(batch, time, d_model), network_weights(draw, d_model, d_model + d_ff))
    ]


def _other_networks(draw: Draw) -> list[Case]:
    batch, time, d_model, d_ff = draw.sizes(4)
    return [
        case(
            "a narrow hidden layer",
            draw.normal(batch, time, d_model + d_ff),
            network_weights(draw, d_model + d_ff, d_ff),
        ),
        case(f"square matrices, {EQUAL}", draw.normal(d_ff, d_ff, d_ff), network_weights(draw, d_ff, d_ff)),
        case("one token", draw.normal(1, 1, d_model), network_weights(draw, d_model, d_ff)),
    ]


def _large(draw: Draw) -> list[Case]:
    d_model, d_ff = draw.sizes(2)
    return [case("gates of a hundred and more", 200 * draw.normal(2, 2, d_model), network_weights(draw, d_model, d_ff))]


FEED_FORWARD = question(
    "transformer.feed_forward",
    minutes=10,
    difficulty="easy",
    returns=("result",),
    properties=[
        shapes(0.1, _network),
        values("the values", 1.15, _network),
        values("narrow and square matrices, one token", 0.5, _other_networks),
        values("large gates", 0.25, _large),
    ],
    closed=CLOSED,
    mistakes="""
gate-and-up-swapped: You swapped `gate` and `up`: the activation belongs to the result of `gate`.
* "gate" → "other"
- "up" → "gate"
* "other" → "up"

sigmoid-only: Your gate is σ(z). SiLU multiplies it by z once more: z · σ(z).
- (gate * torch.sigmoid(gate) * → (torch.sigmoid(gate) *

up-forgotten: You do not use `up`. The activated gate is multiplied by a second projection of x.
-  * (x @ weights["up"])) → )

added: You add the two hidden vectors. A gate *multiplies*: entry by entry, it lets the other vector pass or not.
- torch.sigmoid(gate) * (x @ weights["up"]) → torch.sigmoid(gate) + (x @ weights["up"])

both-activated: You activate both hidden vectors. Only the gate goes through the activation; the other one stays linear.
- (x @ weights["up"])) → (x @ weights["up"]) * torch.sigmoid(x @ weights["up"]))

activated-at-the-end: You apply the activation to the product of both. It belongs to the gate, before the product.
- (gate * torch.sigmoid(gate) * (x @ weights["up"]))
+ ((gate * (x @ weights["up"])) * torch.sigmoid(gate * (x @ weights["up"])))

gelu: Your activation is GELU (GeGLU is a sibling of SwiGLU). SiLU is z · σ(z), with a plain sigmoid.
- gate * torch.sigmoid(gate) → torch.nn.functional.gelu(gate)

overflow: exp overflows: for a gate of −100, e¹⁰⁰ is more than a float32 holds, and infinity divided by infinity is NaN.
torch.sigmoid copes with that, and so does 1 / (1 + e⁻ᶻ).
- torch.sigmoid(gate) → (torch.exp(gate) / (1 + torch.exp(gate)))
""",
)
