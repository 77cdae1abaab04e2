"""Assignment "transformer": two norms, a gated network, attention with a cache, the model, and SmolLM2's weights.

The functions differ in form from `nlmcore.transformer`, whose parts are modules: here parameters are dictionaries of
matrices (in, out), and a cache is one tensor.
"""

import functools
from typing import Any

import torch
from torch import Tensor

from autograder.question.declare import exercises_in, frugal, holds, inputs_too, judged, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.judges import inputs_unchanged, same_shapes
from autograder.question.kinds import EQUAL
from autograder.question.laws.self_attention import output_of_shared_values
from autograder.question.sized import MAIN, ODD, at, beyond, largest, several, these
from autograder.question.special import experiment, formula, over_seeds, wrong_line
from autograder.question.specification import Case, Exercise, case
from solutions.transformer.laws import lengths_are_kept, whole_equals_chunks

_MODULES = ("attention", "decoding", "fast", "norms", "positions")  # a Transformer's parts, and what is built on them
CLOSED = (*(f"nlmcore.{name}" for name in _MODULES), "transformers")
ask = functools.partial(question, closed=CLOSED)


def sizes_of(heads: int, sets: int, base: float = 100.0, eps: float = 1e-8) -> dict[str, Any]:
    """By default `eps` is small, so that a norm with ε in the wrong position costs little in later questions."""
    return {"n_heads": heads, "n_kv_heads": sets, "base": base, "eps": eps}


def matrix(draw: Draw, rows: int, columns: int, scale: float = 1.0) -> Tensor:
    return scale * draw.normal(rows, columns) / rows**0.5


def attention_weights(draw: Draw, d_model: int, d_head: int, heads: int, sets: int) -> dict[str, Tensor]:
    return {
        "query": matrix(draw, d_model, heads * d_head, 2.0),
        "key": matrix(draw, d_model, sets * d_head, 2.0),
        "value": matrix(draw, d_model, sets * d_head),
        "output": matrix(draw, heads * d_head, d_model, 2.0),
    }


def network_weights(draw: Draw, d_model: int, d_ff: int) -> dict[str, Tensor]:
    gate, up = matrix(draw, d_model, d_ff), matrix(draw, d_model, d_ff)
    return {"gate": gate, "up": up, "down": matrix(draw, d_ff, d_model, 2.0)}


def block_weights(draw: Draw, d_model: int, d_head: int, d_ff: int, heads: int, sets: int) -> dict[str, Tensor]:
    norms = {"attention_norm": draw.normal(d_model), "feed_forward_norm": draw.normal(d_model)}
    return norms | attention_weights(draw, d_model, d_head, heads, sets) | network_weights(draw, d_model, d_ff)


# --- 1. LayerNorm, RMSNorm, and its gradient -------------------------------------------------------------------


def vectors(draw: Draw, batch: int, time: int, d: int, mean: float = 1.0, eps: float = 1e-5) -> tuple:
    return mean + 2 * draw.normal(batch, time, d + 1), draw.normal(d + 1), draw.normal(d + 1), eps


def even(draw: Draw, d: int) -> tuple:
    x, *gain_and_shift, _ = vectors(draw, 2, 3, d)
    return x[..., :1].expand(x.shape).contiguous(), *gain_and_shift, 1e-3


LAYER_NORM_QUESTION = question(
    "transformer.layer_norm",
    returns=("normed",),
    inputs=vectors,
    main=at("usual vectors"),
    odd=[at("equal entries", even)],
    properties=[
        shapes(0.1),
        values("the values", 0.9),
        values("where ε belongs", 0.5, at("an ε as large as the variance", eps=2.0)),
        values("equal entries, one token, float64", 0.5, ODD),
    ],
    numpy=True,
    mistakes="""
mean-kept: You do not subtract the mean. LayerNorm centres each vector first; only RMSNorm leaves that out.
- x - x.mean(-1, keepdims=True) → x
or
- return centred / → return x /
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
or
* .mean(-1, keepdims=True) → .mean((1, 2), keepdims=True)
divided-by-variance: You divide by the variance. Divide by its root, the standard deviation.
- np.sqrt(variance + eps) → (variance + eps)
shift-before-gain: You add the shift first and multiply it by the gain as well. The gain comes first, then the shift.
- centred / np.sqrt(variance + eps) * gain + shift → (centred / np.sqrt(variance + eps) + shift) * gain
or
- centred / np.sqrt(variance + eps) * gain + shift → centred / np.sqrt(variance + eps) * (gain + shift)
gain-or-shift-forgotten: Your vectors are normalised, but the gain, the shift or both are not used.
-  * gain + shift →
or
-  * gain + shift →  * gain
or
-  * gain + shift →  + shift
root-mean-square: You divide by the root mean square of the vector itself. Divide by the standard deviation, which is
that of the centred vector.
- (centred**2) → (x**2)
one-plus-gain: You multiply by 1 + gain, as some models store it. Here the gain is the factor itself.
- * gain + shift → * (1 + gain) + shift
""",
)


def for_rms(draw: Draw, batch: int, time: int, d: int, part: bool = False, eps: float = 1e-5) -> tuple:
    """part: with k, which PyTorch's own norm does not know."""
    x, gain, _, _ = vectors(draw, batch, time, d)
    return x, gain, eps, *([draw.integer(1, d)] if part else [])


def halves(draw: Draw, d: int, part: bool = False) -> tuple:
    x, *given = for_rms(draw, 2, 3, d + 1, part)
    return (400 * (1 + x.abs())).half(), *given


def with_zeros(draw: Draw, d: int, part: bool = False) -> tuple:
    x, gain, _, *k = for_rms(draw, 2, 2, d, part)
    x[1] = 0.0
    return x, gain, 1e-3, *k


PART = at("usual vectors, the first k", part=True)
DAMPED = at("an ε as large as the variance", eps=2.0)
HALF = these(at("float16, entries of several hundred", halves), at("float16, the first k", halves, part=True))
RMS_NORM_QUESTION = ask(
    "transformer.rms_norm",
    returns=("normed",),
    inputs=for_rms,
    main=these(at("usual vectors"), PART),
    odd=[
        at("a vector of zeros", with_zeros),
        at("a vector of zeros, the first k", with_zeros, part=True),
        at("one token, the first k", batch=1, time=1, part=True),
        at("float64, the first k", part=True, double=True),
    ],
    properties=[
        shapes(0.1),
        values("the values", 1),
        values("where ε belongs", 0.5, DAMPED),
        values("half precision", 0.9, HALF, tolerance=5e-3),
        values("a zero vector, one token, float64", 0.5, ODD),
    ],
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
or
- torch.rsqrt(mean_square + eps) → 1 / (torch.sqrt(mean_square) + eps**0.5)
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
mean-over-all-with-k: With `k` you add up the first k squares and divide by d. Their mean divides by k.
- (wide[..., :k] ** 2).mean(-1, keepdim=True) → (wide[..., :k] ** 2).sum(-1, keepdim=True) / x.shape[-1]
only-the-first-divided: With `k` you divide the first k entries only. The root of *their* mean square divides all.
- (wide * torch.rsqrt(mean_square + eps) * gain)
+ (torch.cat([wide[..., :k] * torch.rsqrt(mean_square + eps), wide[..., x.shape[-1] if k is None else k :]], -1) * gain)
last-for-first: With `k` you take the *last* k entries.
- [..., :k] → [..., 0 if k is None else -k :]
eps-as-a-bound: You replace a small mean square by ε. ε is *added* to it.
- mean_square + eps → mean_square.clamp(min=eps)
""",
)


def upstream(draw: Draw, d: int, eps: float, scale: float = 1.0) -> tuple:
    x, arriving = (scale * draw.normal(d, dtype=torch.float64) for _ in range(2))
    return x, arriving, eps


RMS_NORM_BACKWARD = question(
    "transformer.rms_norm_backward",
    returns=("slope", "gradient"),
    inputs=upstream,
    main=these(
        at("2 entries, ε = 0.01", d=2, eps=0.01),
        at("3 entries, ε = 0.5", d=3, eps=0.5),
        at("more entries, ε = 1", d=largest(2), eps=1.0),
        at("entries around 10⁻⁹, where a small step is a large one", d=3, eps=1e-20, scale=1e-9),
    ),
    properties=[
        formula("the slope of r", 1, MAIN, "slope"),
        formula("the gradient", 2, MAIN, "gradient"),
    ],
    numpy=True,
    mistakes="""
root-is-constant: Your gradient treats r as a constant. But r contains every entry of x, so a change of one entry
changes all entries of y.
- upstream / r - (upstream @ x) / r**2 * slope → upstream / r
mean-forgotten: Your slope is x / r, the derivative of the root of the *sum* of squares. The mean divides by d, and so
does its derivative.
- x / (len(x) * r) → x / r
root-forgotten: Your slope is that of the mean square. r is its root, and the chain rule adds the factor 1 / (2 r).
- x / (len(x) * r) → 2 * x / len(x)
half-forgotten: Your slope is twice too large: the derivative of a root has a ½, which cancels the 2 from the square.
- x / (len(x) * r) → 2 * x / (len(x) * r)
plus-for-minus: The second term of your gradient has the wrong sign. A larger r makes every entry of y smaller.
- upstream / r - → upstream / r +
one-r-too-few: Your second term is divided by r once. The derivative of 1 / r is −1 / r².
- / r**2 → / r
own-entry-only: In your second term each entry of x concerns only its own entry of y. Through r it concerns all of them,
so the term contains a sum over all entries: upstream · x.
- (upstream @ x) → (upstream * x)
or
- (upstream @ x) → x.sum()
eps-forgotten: Your r contains no ε. It is in the root, so it is in the derivative as well.
- (x**2).mean() + eps → (x**2).mean()
mean-for-the-sum: In your second term you take the mean of upstream · x. The chain rule adds up.
- (upstream @ x) → (upstream * x).mean()
half-kept: Your slope is half of what it should be: the ½ of the root cancels the 2 of the square.
- x / (len(x) * r) → x / (2 * len(x) * r)
perpendicular-always: Your gradient is perpendicular to x. That holds only for ε = 0: divide by r², not by the mean of
the squares.
- (upstream @ x) / r**2 * slope → (upstream @ x) / (x @ x) * x / r
""",
)

# --- 2. a gated network ----------------------------------------------------------------------------------------


def network(draw: Draw, batch: int, time: int, d_model: int, d_ff: int, size: float = 1.0) -> tuple:
    return size * draw.normal(batch, time, d_model), network_weights(draw, d_model, d_ff)


FEED_FORWARD = ask(
    "transformer.feed_forward",
    returns=("result",),
    inputs=network,
    main=at("a wide hidden layer", d_ff=largest(2)),
    odd=[at("a narrow hidden layer", d_model=largest(2)), at(EQUAL, batch=3, time=3, d_model=3, d_ff=3)],
    properties=[
        shapes(0.1),
        values("the values", 1.15),
        values("narrow and square matrices, one token", 0.5, ODD),
        values("large gates", 0.25, at("gates of a hundred and more", size=200.0), tolerance=5e-3),
    ],
    mistakes="""
gate-and-up-swapped: You swapped `gate` and `up`: the activation belongs to the result of `gate`.
- ["gate"] → ["up"]
- (x @ weights["up"]) → (x @ weights["gate"])
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
or
- gate * torch.sigmoid(gate) → torch.nn.functional.gelu(gate, approximate="tanh")
or
- gate * torch.sigmoid(gate) → gate * torch.sigmoid(1.702 * gate)
overflow: exp overflows: for a gate of −100, e¹⁰⁰ is more than a float32 holds, and infinity divided by infinity is NaN.
torch.sigmoid copes with that, and so does 1 / (1 + e⁻ᶻ).
- torch.sigmoid(gate) → (torch.exp(gate) / (1 + torch.exp(gate)))
relu: Your activation is ReLU. SiLU is z · σ(z), which is smooth and a little negative below 0.
- gate * torch.sigmoid(gate) → torch.relu(gate)
activation-forgotten: There is no activation: the result of `gate` goes through SiLU first.
- gate * torch.sigmoid(gate) → gate
pathway-added: You add x to the result. The block does that later; here only the network is asked.
- weights["down"] → weights["down"] + x
""",
)

# --- 3. rotations that start anywhere, fewer queries than keys, attention with a cache -------------------------


def placed(draw: Draw, batch: int, heads: int, time: int, half: int, first: int = 0, base: float = 100.0) -> tuple:
    return draw.normal(batch, heads, time + 1, 2 * half), first, base


def alike(draw: Draw, heads: int, time: int, half: int) -> tuple:
    return draw.normal(1, heads, 1, 2 * half).expand(2, heads, time + 1, 2 * half).contiguous(), 2, 100.0


ALIKE = at("one vector at several positions", alike)
ROTATE = ask(
    "transformer.rotate",
    returns=("rotated",),
    inputs=placed,
    main=at("from position 0"),
    odd=[
        at("base 100,000, far into the text", first=900, base=100_000.0),
        at("one token", time=0, first=4, base=10_000.0),
        at("two columns", half=1, first=2, base=50.0),
    ],
    properties=[
        shapes(0.1),
        holds("lengths are preserved", 0.45, ALIKE, lengths_are_kept),
        values("from position 0", 1),
        values("from a later position", 0.75, at(first=beyond(3))),
        values("other bases, one token, float64", 0.5, ODD),
        judged("x is unchanged", 0.2, ALIKE, inputs_unchanged),
    ],
    mistakes="""
first-ignored: Your positions always start at 0. Row 0 is at position `first`, which is the number of tokens that were
read before.
- torch.arange(first, first + time) → torch.arange(time)
or
- torch.arange(first, first + time) → torch.arange(first * time, first * time + time)
counted-from-one: Your positions are one too large: row 0 is at position `first`.
- torch.arange(first, first + time) → torch.arange(first + 1, first + 1 + time)
neighbours-as-pairs: Your pairs are neighbours, 2i and 2i + 1. That is llama.cpp's layout. Here coordinate i is paired
with coordinate i + d_head/2.
- .chunk(2, dim=-1) → [..., 0::2], x[..., 1::2]
- cat([a * cos - b * sin, a * sin + b * cos], dim=-1 → stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2
rotated-clockwise: You rotate in the wrong direction: (1, 0) at position 1 should become (cos 1, sin 1), up and to the
right.
- angle.sin() → -angle.sin()
minus-forgotten: The minus is missing: a cos + b sin and a sin + b cos are not a rotation, since they change the length.
- a * cos - b * sin → a * cos + b * sin
half-the-exponent: Your exponent is i/d. It should be 2i/d, where i is the number of the pair, so that the last pairs
rotate slowly.
- torch.arange(0, d, 2) → torch.arange(d // 2)
one-angle-for-all: You rotate all pairs by the same angle. Pair i rotates by position / base^(2i/d).
- base ** (torch.arange(0, d, 2) / d) → torch.ones(d // 2)
positions-along-heads: Your positions count the heads. They count the tokens, axis 2 of x, and all heads rotate alike.
- time, d = x.shape[-2:] → d, time = x.shape[-1], x.shape[1]
- cos, sin = angle.cos(), angle.sin() → cos, sin = angle.cos()[:, None], angle.sin()[:, None]
base-ignored: You always use base 10,000. The base is an argument.
- base ** → 10_000.0 **
new-a-for-b: You computed the second half from the *new* first half. Compute both from the old a and b.
- return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
+ a = a * cos - b * sin
+ return torch.cat([a, a * sin + b * cos], dim=-1)
changes-its-input: The result is right, but x has changed: chunk and slices are views of the caller's tensor. Join new
halves with torch.cat.
- torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
+ x.copy_(torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1))
one-position-for-all: All your rows are at position `first`. Row 1 is at position `first` + 1, and so on.
- torch.arange(first, first + time) → torch.full((time,), first)
multiplied-by-the-power: You multiply the position by the power of the base. Divide by it: later pairs
rotate more slowly.
- [:, None] / base → [:, None] * base
sine-and-cosine-swapped: You swapped sine and cosine: (1, 0) becomes (cos, sin).
- cos, sin = angle.cos(), angle.sin() → sin, cos = angle.cos(), angle.sin()
""",
)


def qkv(draw: Draw, batch: int, half: int, sets: int, group: int, past=0, time=4, size: float = 1.0) -> tuple:
    """size: how large the queries are."""
    k, v = (draw.normal(batch, sets, past + time, 2 * half) for _ in range(2))
    return size * draw.normal(batch, sets * group, time, 2 * half), k, v


def two_texts(draw: Draw, batch: int, half: int) -> Case:
    """Two calls that differ in their queries; known: the values that each head reads."""
    q, k, v = qkv(draw, batch, half, 2, 3, 2)
    read = v.repeat_interleave(3, 1)
    return several((q, k, v), (draw.normal(*q.shape), k, v), known=(read, read))


def below(draw: Draw, batch: int, half: int) -> tuple:
    """Hidden scores must be lower still."""
    q, k, v = qkv(draw, batch, half, 2, 3, 2)
    return -400 * q.abs(), k.abs(), v


NEW = these(
    at("six heads share two sets", sets=2, group=3, time=largest()),
    at("four heads share two sets", sets=2, group=2, time=largest()),
    at(EQUAL, lambda draw: tuple(draw.normal(3, 3, 3, 3) for _ in range(3))),
)
CONTINUED = these(
    at("a text that continues", sets=2, group=3, past=2, time=3),
    at("a long past", sets=3, group=2, past=largest(3), time=2),
)
EXTREMES = these(
    at("queries whose scores are 0", sets=1, group=2, past=1, time=3, size=0.0),
    at("a single query", sets=2, group=2, past=4, time=1),
    at("a text of one token", sets=2, group=2, time=1),
    at("one set for all", sets=1, group=4, past=1),
    at("a set for each", sets=3, group=1, past=1),
)
LARGE = these(
    at("scores of a hundred and more", sets=2, group=3, past=2, size=60.0),
    at("all scores far below zero", below),
)
# With the scores: PyTorch's own attention returns the output and, in some forms, the weights, but never these.
ATTEND = ask(
    "transformer.attend",
    returns=("output", "weights", "scores"),
    inputs=qkv,
    properties=[
        shapes(0.25, NEW),
        values("scores and weights of a new text", 1, NEW, "weights", "scores"),
        values("scores and weights of a text that continues", 1, CONTINUED, "weights", "scores"),
        holds("the output, given your weights", 0.75, at("two texts", two_texts), output_of_shared_values),
        values("one query, one set, a set for each", 0.5, EXTREMES),
        values("very large and very small scores", 0.5, LARGE, "weights", "scores"),
    ],
    mistakes="""
mask-not-moved: Your mask begins at the first key: query 0 sees only key 0. But the queries are the *last* tokens of the
text, so query i is at position i + (keys − queries).
- .tril(key - query) → .tril()
one-too-many: Your queries see one token too many, the next one. Query i is at position i + (keys − queries), and sees
keys up to there.
- .tril(key - query) → .tril(key - query + 1)
not-even-itself: A token does not see itself, only what comes before it, and the first one sees nothing. The token's own
key is allowed.
- key - query → key - query - 1
- , dim=-1) → , dim=-1).nan_to_num()
or
- .tril(key - query) → .tril(key - query - 1)
or
- .tril(key - query) → .tril(key - query - 1)
- -math.inf → -1e9
or
- .tril(key - query) → .tril(key - query - (key > query))
future-not-hidden: The future is open: a token attends to tokens after it. Mask them before the softmax.
- scores.masked_fill(~visible, -math.inf) → scores
hidden-scores-zero: You set the scores of later tokens to 0, which is an ordinary score: exp(0) = 1. Only −∞ removes
them.
- -math.inf → 0.0
hidden-not-low-enough: You give hidden scores a finite number. Where all allowed scores are below it, the future gets
all the weight. Only −∞ is below every score.
- -math.inf → -100.0
zeros-hidden: You take every score of 0 for one that is hidden. A score can be 0 by itself, and then its token counts.
Mask by position, not by value.
- scores.masked_fill(~visible, -math.inf) → scores.masked_fill(~visible | (scores == 0), -math.inf)
hidden-after-the-softmax: You removed later tokens after the softmax, so the other weights no longer sum to 1. Mask the
scores, before it.
- torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1) → torch.softmax(scores, dim=-1) * visible
heads-take-turns: Your heads take turns: head 0 reads set 0, head 1 set 1, … Neighbouring heads should share a set. Use
`repeat_interleave`, not `repeat`.
- repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1) → repeat(1, group, 1, 1), v.repeat(1, group, 1, 1)
first-set-for-all: All your heads read set 0. Head h reads set h // (heads per set).
- k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)
+ k[:, :1].expand(-1, q.shape[1], -1, -1), v[:, :1].expand(-1, q.shape[1], -1, -1)
values-take-turns: Your heads read the right keys, but their values take turns. Use the same set for both.
- v.repeat_interleave(group, dim=1) → v.repeat(1, group, 1, 1)
not-scaled: The division by √d_head is missing.
-  / math.sqrt(q.shape[-1]) →
root-forgotten: You divided by d_head. Divide by its root.
- math.sqrt(q.shape[-1]) → q.shape[-1]
scaled-by-all-heads: You divided by the root of the width of all heads together. The dot products of one head have
d_head terms.
- math.sqrt(q.shape[-1]) → math.sqrt(q.shape[-1] * q.shape[1])
softmax-over-queries: Your softmax runs over the queries. Each query's weights sum to 1, over the keys.
- -math.inf), dim=-1) → -math.inf), dim=-2)
overflow: exp overflows: e⁹⁰ is more than a float32 holds. Subtract the largest score of each row first, or use
torch.softmax, which does so.
- weights = torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1)
+ weights = scores.exp() * visible
+ weights = weights / weights.sum(-1, keepdim=True)
scaled-by-the-keys: You divided by the root of the number of *keys*. The dot products have d_head terms.
- math.sqrt(q.shape[-1]) → math.sqrt(k.shape[2])
masked-scores-returned: You return the scores after the mask. Return them as they are before it is applied.
- weights = torch.softmax(scores.masked_fill(~visible, -math.inf), dim=-1)
+ scores = scores.masked_fill(~visible, -math.inf)
+ weights = torch.softmax(scores, dim=-1)
past-makes-all-visible: With a past your queries see everything. Only the last of them sees all keys.
- .tril(key - query) → .tril(key - query if key == query else key)
""",
)


def layer(draw: Draw, batch: int, time: int, half: int, past=-1, heads=6, sets=2, d_model: int = 0) -> tuple:
    """past: how many tokens the cache holds, if there is one."""
    d_model, cache = d_model or draw.largest + 3, draw.normal(batch, 2, sets, max(past, 0), 2 * half)
    weights = attention_weights(draw, d_model, 2 * half, heads, sets)
    return draw.normal(batch, time, d_model), weights, sizes_of(heads, sets), None if past < 0 else cache


def in_pieces(draw: Draw, asked: Exercise, x: Tensor, *given: Any) -> Case:
    """Whole; its end, with the right past; its end, with another past."""
    first, end = x.chunk(2, 1)
    weights, sizes, nothing = given
    past = asked.reference(first, weights, sizes)[1]
    read_on = end.contiguous(), weights, sizes
    return several((x, weights, sizes, nothing), (*read_on, past), (*read_on, draw.normal(*past.shape)))


def layer_in_pieces(draw: Draw, batch: int, time: int, half: int) -> Case:
    return in_pieces(draw, ATTENTION, *layer(draw, batch, 2 * time, half))


GO_ON = these(
    at("a text with a past", past=3),
    at("four heads, two sets, a long past", past=largest(3), heads=4),
)
SQUARE = these(
    at("square matrices", batch=2, time=2, half=2, past=2, heads=2, d_model=8),
    at("one token and one set", batch=1, time=1, past=4, heads=3, sets=1),
    at("a text of one token", time=1, heads=3, sets=1),
)
ATTENTION = ask(
    "transformer.attention",
    returns=("output", "cache"),
    inputs=layer,
    main=at("a text without a past"),
    properties=[
        shapes(0.25),
        values("the output of a text without a past", 1.25, "output"),
        values("its cache", 1, "cache"),
        values("the output with a past", 1, GO_ON, "output"),
        values("the cache with a past", 0.5, GO_ON, "cache"),
        holds("whole equals chunks, and the past matters", 0.5, at("two pieces", layer_in_pieces), whole_equals_chunks),
        values("one token, square matrices, one set", 0.5, SQUARE),
    ],
    mistakes="""
positions-restart: Your positions restart at 0 with each call. The new tokens count from the length of the past.
- 0 if past is None else past.shape[3] → 0
values-rotated: You rotate the values as well. Positions concern queries and keys, because only their scores depend on
the distance; values are what is passed on.
- v = heads(x @ weights["value"], sizes["n_kv_heads"])
+ v = rotate(heads(x @ weights["value"], sizes["n_kv_heads"]), first, sizes["base"])
keys-not-rotated: Your keys are not rotated. The score depends on the distance only if query *and* key are.
- k = rotate(heads(x @ weights["key"], sizes["n_kv_heads"]), first, sizes["base"])
+ k = heads(x @ weights["key"], sizes["n_kv_heads"])
queries-not-rotated: Your queries are not rotated. The score depends on the distance only if query *and* key are.
- rotate(heads(x @ weights["query"], sizes["n_heads"]), first, sizes["base → heads(x @ weights["query"], sizes["n_heads
nothing-rotated: You rotate neither queries nor keys, so attention does not know the order of the tokens.
after: keys-not-rotated
after: queries-not-rotated
past-rotated-again: You rotate the keys of the past again. The cache holds them rotated; only the new keys need it.
- k = rotate(heads(x @ weights["key"], sizes["n_kv_heads"]), first, sizes["base"])
+ k = heads(x @ weights["key"], sizes["n_kv_heads"])
- mixed, _, _ = attend(q, k, v)
+ k = rotate(k, 0, sizes["base"])
+ mixed, _, _ = attend(q, k, v)
or
- mixed, _, _ = attend(q, k, v)
+ k = k if past is None else rotate(k, 0, sizes["base"])
+ mixed, _, _ = attend(q, k, v)
or
- mixed, _, _ = attend(q, k, v)
+ k = rotate(k, 0, sizes["base"])
+ mixed, _, _ = attend(q, k, v)
unrotated-in-the-cache: Your cache holds the keys as they were before their rotation. It should hold them as they were
used, so that they need no further work.
- k = rotate(heads(x @ weights["key"], sizes["n_kv_heads"]), first, sizes["base"])
+ k = heads(x @ weights["key"], sizes["n_kv_heads"])
- attend(q, k, v) → attend(q, rotate(k, 0, sizes["base"]), v)
or
- torch.stack([k, v], dim=1)
+ torch.stack([torch.cat([k[:, :, :first], heads(x @ weights["key"], sizes["n_kv_heads"])], dim=2), v], dim=1)
past-behind: You put the past behind the new tokens. The cache is in the order of the text: the past comes first.
- torch.cat([past[:, 0], k], dim=2) → torch.cat([k, past[:, 0]], dim=2)
- torch.cat([past[:, 1], v], dim=2) → torch.cat([v, past[:, 1]], dim=2)
or
- torch.cat([past[:, 0], k], dim=2) → torch.cat([k, past[:, 0]], dim=2)
past-ignored: You do not attend to the past. Its keys and values belong in front of the new ones.
- if past is not None: → if False:
keys-and-values-swapped: You swapped keys and values in the cache: index 0 holds the keys.
- past[:, 0], k → past[:, 1], k
- past[:, 1], v → past[:, 0], v
- torch.stack([k, v], dim=1) → torch.stack([v, k], dim=1)
or
- torch.stack([k, v], dim=1) → torch.stack([v, k], dim=1)
only-the-new-ones: Your cache holds only the new tokens. Return the keys and values of *all* tokens, those of the past
first.
- torch.stack([k, v], dim=1) → torch.stack([k, v], dim=1)[:, :, :, first:]
split-without-swapping: Your heads are cut out of memory in one reshape, so a head mixes several tokens. Cut the last
axis in two, then swap it with time.
- y.unflatten(-1, (n, -1)).transpose(1, 2) → y.reshape(len(y), n, y.shape[1], -1)
split-the-other-way: You split the columns as (d_head, head), so a head gets every n-th column. Head 0 gets the *first*
d_head columns: (head, d_head).
- y.unflatten(-1, (n, -1)).transpose(1, 2) → y.unflatten(-1, (-1, n)).permute(0, 3, 1, 2)
joined-without-swapping: You join the heads without swapping back, so a token gets pieces of other tokens. Swap head and
time first, then flatten.
- mixed.transpose(1, 2).flatten(2) → mixed.reshape(*x.shape[:2], -1)
wrong-axis-of-the-past: You take the length of the past from the wrong axis. Of (batch, 2, set, time, d_head) it is
axis 3.
- past.shape[3] → past.shape[2]
sets-repeated-in-the-cache: Your cache holds a set for every head of the queries. Keep each set once; that is what
sharing saves.
- torch.stack([k, v], dim=1) → torch.stack([k, v], dim=1).repeat_interleave(sizes["n_heads"] // sizes["n_kv_heads"], 2)
rotated-before-splitting: You rotate before the heads are split. A pair is two coordinates of one *head*.
- k = rotate(heads(x @ weights["key"], sizes["n_kv_heads"]), first, sizes["base"])
+ k = heads(rotate((x @ weights["key"])[:, None], first, sizes["base"])[:, 0], sizes["n_kv_heads"])
output-forgotten: You return the joined heads as they are. `output` mixes them.
-  @ weights["output"], → ,
queries-too-far: All your queries are rotated too far: the new tokens, keys and queries alike, count from the length of
the past.
- sizes["n_heads"]), first, → sizes["n_heads"]), first + x.shape[1] - 1,
""",
)

# --- 4. a block, the model, and writing with the cache ---------------------------------------------------------


def residual(draw: Draw, batch: int, time: int, half: int, d_ff: int, past=-1, empty=(), width: int = 0) -> tuple:
    """empty: matrices that contain only zeros; width: of square matrices, with a large ε."""
    x, _, _, cache = layer(draw, batch, time, half, past, 4, d_model=width or draw.largest + 2)
    weights = block_weights(draw, x.shape[2], 2 * half, d_ff, 4, 2)
    return x, weights | {name: 0 * weights[name] for name in empty}, sizes_of(4, 2, eps=0.1 if width else 1e-8), cache


WITH_A_PAST = these(at("a past", past=3), at("square matrices, a large ε", half=1, d_ff=8, width=8))
BLOCK = ask(
    "transformer.block",
    returns=("x", "cache"),
    inputs=residual,
    main=at("attention and network"),
    properties=[
        shapes(0.1),
        values("a block that adds nothing", 0.15, at(empty=("output", "down")), "x"),
        values("attention alone", 0.75, at("a network that adds nothing", empty=("down",)), "x"),
        values("the network alone", 0.75, at("attention that adds nothing", empty=("output",)), "x"),
        values("both", 0.75, "x"),
        values("a past, square matrices, and the cache", 0.5, WITH_A_PAST),
    ],
    mistakes="""
post-norm: You normalise the sum of pathway and sublayer: that is post-norm, as in the Transformer of 2017. In a
pre-norm block the sublayer *reads* through the norm, and the pathway itself is never normalised.
+ added, cache = attention(x, weights, sizes, past)
+ x = rms_norm(x + added, weights["attention_norm"], sizes["eps"])
+ return rms_norm(x + feed_forward(x, weights), weights["feed_forward_norm"], sizes["eps"]), cache
pathway-normalised: You normalise the pathway itself: x is replaced by its norm before you add to it. Only the sublayer
reads the normalised vector; the sum goes to the original x.
+ x = rms_norm(x, weights["attention_norm"], sizes["eps"])
+ added, cache = attention(x, weights, sizes, past)
+ x = rms_norm(x + added, weights["feed_forward_norm"], sizes["eps"])
+ return x + feed_forward(x, weights), cache
or
- added, cache = attention(rms_norm(x, weights["attention_norm"], sizes["eps"]), weights, sizes, past)
+ x = rms_norm(x, weights["attention_norm"], sizes["eps"])
+ added, cache = attention(x, weights, sizes, past)
no-residual-at-attention: Attention's result replaces the pathway. Add it to x.
- x = x + added → x = added
no-residual-at-the-network: The network's result replaces the pathway. Add it to the x that it read.
- return x + feed_forward → return feed_forward
network-beside-attention: Your network reads the x from before attention, so the two are in parallel (as in GPT-J). Here
the network reads the sum of x and attention's result.
- x = x + added → y = x + added
- return x + feed_forward → return y + feed_forward
network-first: Your network comes before attention. Attention is first.
+ x = x + feed_forward(rms_norm(x, weights["feed_forward_norm"], sizes["eps"]), weights)
+ added, cache = attention(rms_norm(x, weights["attention_norm"], sizes["eps"]), weights, sizes, past)
+ return x + added, cache
norms-swapped: You swapped the two gains: `attention_norm` belongs to attention, `feed_forward_norm` to the network.
- attention_norm → feed_forward_norm
- feed_forward_norm"], sizes["eps"]), weights) → attention_norm"], sizes["eps"]), weights)
one-norm-for-both: You use the gain of attention's norm twice. The network's norm has its own.
- "feed_forward_norm" → "attention_norm"
no-norm-at-attention: Attention reads the pathway without a norm.
- attention(rms_norm(x, weights["attention_norm"], sizes["eps"]), weights → attention(x, weights
no-norm-at-the-network: The network reads the pathway without a norm.
- feed_forward(rms_norm(x, weights["feed_forward_norm"], sizes["eps"]), weights) → feed_forward(x, weights)
past-not-passed-on: You do not pass `past` to attention, so each call begins a new text.
- sizes, past) → sizes)
network-reads-attention-alone: Your network reads attention's result alone. It reads the sum of it and x.
- feed_forward(rms_norm(x, → feed_forward(rms_norm(added,
eps-of-your-own: You use a fixed ε. It is in `sizes`.
* sizes["eps"] → 1e-6
or
* sizes["eps"] → 1e-5
past-returned: You return the past as it was given. Return the cache that `attention` returns: it has the new tokens.
- weights), cache → weights), cache if past is None else past
""",
)


def model(draw: Draw, d_model: int, d_ff: int, blocks: int = 2, vocab: int = 0, sets: int = 2, half: int = 1) -> Any:
    return {
        "embedding": 0.5 * draw.normal(vocab or draw.largest + 8, d_model),
        "blocks": [block_weights(draw, d_model, 2 * half, d_ff, 2 * sets, sets) for _ in range(blocks)],
        "norm": draw.normal(d_model),
    }


def text(
    draw: Draw, batch: int, time: int, d: int, d_ff: int, past=-1, blocks=2, sets=2, vocab: int = 0, eps=1e-8
) -> tuple:
    weights, state = model(draw, d + 1, d_ff, blocks, vocab, sets), draw.normal(batch, blocks, 2, sets, max(past, 0), 2)
    tokens = draw.integers(0, len(weights["embedding"]) - 1, batch, time)
    return tokens, weights, sizes_of(2 * sets, sets, eps=eps), None if past < 0 else state


def text_in_pieces(draw: Draw, batch: int, time: int, d: int, d_ff: int) -> Case:
    return in_pieces(draw, LANGUAGE_MODEL, *text(draw, batch, 2 * time, d, d_ff))


WHOLE = these(at("three blocks", blocks=3), at("two blocks"))
WITH_A_STATE = these(at("three blocks, a state", blocks=3, past=3), at("a long state", past=largest(3)))
FEW = these(
    at("a vocabulary as large as d_model", batch=2, time=6, d=5, d_ff=6, vocab=6),
    at("one token, one block, a large ε", batch=1, time=1, past=2, blocks=1, sets=1, eps=0.1),
)
LANGUAGE_MODEL = ask(
    "transformer.language_model",
    returns=("logits", "state"),
    inputs=text,
    main=WHOLE,
    properties=[
        shapes(0.25),
        values("the logits of a whole text", 1.5, "logits"),
        values("its state", 0.75, "state"),
        values("the logits with a state", 1, WITH_A_STATE, "logits"),
        values("the new state", 0.5, WITH_A_STATE, "state"),
        holds("whole equals chunks, and the state matters", 0.5, at("two pieces", text_in_pieces), whole_equals_chunks),
        values("one token, one block, vocabulary = d_model", 0.5, FEW),
    ],
    mistakes="""
last-norm-forgotten: The norm after the last block is missing. The pathway grows with every block, and `norm` brings it
to a fixed size before the dot products.
- x = rms_norm(x, weights["norm"], sizes["eps"]) →
norm-after-each-block: You apply the last norm after every block. It comes once, after the last.
- x = rms_norm(x, weights["norm"], sizes["eps"]) →
- caches.append(cache)
+ caches.append(cache)
+     x = rms_norm(x, weights["norm"], sizes["eps"])
embedding-not-transposed: You multiply by `embedding` where its transpose is needed. Each *row* of it is a word, so the
logits are x @ Eᵀ. If vocabulary and d_model are equal, no shape reveals this.
- weights["embedding"].T → weights["embedding"]
embedding-scaled: You scale the embedding by √d_model, as Vaswani et al. and Gemma do. Here it enters as it is.
- weights["embedding"][tokens] → weights["embedding"][tokens] * x_scale
^ x_scale = weights["embedding"].shape[1] ** 0.5
probabilities: You return probabilities, or their logarithms. Logits are the scores before the softmax.
- return x @ weights["embedding"].T, → return torch.softmax(x @ weights["embedding"].T, -1),
or
- return x @ weights["embedding"].T, → return torch.log_softmax(x @ weights["embedding"].T, -1),
last-position-only: You return the logits of the last position only. In training, and in a comparison of whole and
chunks, every position counts.
- return x @ weights["embedding"].T, → return x[:, -1:] @ weights["embedding"].T,
or
- return x @ weights["embedding"].T, → return x[:, -1] @ weights["embedding"].T,
first-block-again: You use the weights of the first block for all blocks. Each has its own.
- block(x, part, → block(x, weights["blocks"][0],
blocks-backwards: Your blocks run from the last to the first.
- enumerate(weights["blocks"]) → reversed(list(enumerate(weights["blocks"])))
- caches.append(cache) → caches.insert(0, cache)
every-block-reads-the-embedding: Every block of yours reads the embedding, and only the last one counts. Each block
reads what the previous one returned.
- x, cache = block(x, part → h, cache = block(x, part
- x = rms_norm(x, → x = rms_norm(h,
state-ignored: You do not use the state: each call begins a new text.
- None if state is None else state[:, number] → None
first-past-for-all: All your blocks get the past of block 0. Each has its own slice of the state.
- state[:, number] → state[:, 0]
state-without-order: The state is not stacked along axis 1: its shape is (batch, block, 2, set, time, d_head).
- torch.stack(caches, dim=1) → torch.stack(caches)
embedding-normalised: You normalise the embedding as well. Only the result of the last block goes through `norm`.
- caches = [] → caches, x = [], rms_norm(x, weights["norm"], sizes["eps"])
last-cache-for-all: All blocks of your state are the cache of the last block. Each has its own.
- torch.stack(caches, dim=1) → torch.stack([caches[-1]] * len(caches), dim=1)
eps-of-your-own: You use a fixed ε. It is in `sizes`.
- weights["norm"], sizes["eps"] → weights["norm"], 1e-5
or
- weights["norm"], sizes["eps"] → weights["norm"], 1e-6
pasts-backwards: Your blocks get the pasts in reverse order.
- state[:, number] → state[:, -1 - number]
""",
)

NO_END = 99
"""An id outside the vocabulary."""


def writer(draw: Draw, prompt: int = 3, n: int = 9) -> tuple[list[int], Any, dict[str, Any], int, int]:
    """A model that does not simply repeat its last token."""
    weights = model(draw, 8, 6, 2, draw.largest + 12, 1, 2)
    weights["norm"] = 3 * weights["norm"]
    return [draw.integer(0, draw.largest + 11) for _ in range(prompt)], weights, sizes_of(2, 1), n, NO_END


def free(draw: Draw) -> list[Case]:
    """Texts that do not get stuck in one token."""
    cases: list[Case] = []
    while len(cases) < 2:
        given = writer(draw, 3 - len(cases), 5 + len(cases))
        if len(set(GENERATE.reference(*given)[0])) > 2:
            cases.append(case(f"{given[3]} tokens", *given))
    return cases


def ended(draw: Draw) -> list[Case]:
    """The end is a token that the model writes on its way, for the first time; or one that the prompt ends with."""
    while True:
        prompt, *model, n, _ = writer(draw, n=7)
        written = GENERATE.reference(prompt, *model, n, NO_END)[0]
        for i in (2, 3, 1):
            new = written[i] not in (*prompt, *written[:i])
            if new and written[i + 1] != written[i] and prompt[-1] != written[0]:
                return [
                    case("an end on the way", prompt, *model, n, written[i]),
                    case("an end that is written at once", prompt, *model, n, written[0]),
                    case("a prompt that ends with the end", prompt, *model, 2, prompt[-1]),
                ]


def with_a_state(draw: Draw) -> tuple:
    return *writer(draw, 2, 4), draw.normal(1, 2, 2, 1, 4, 4)


def equal(draw: Draw) -> tuple:
    state = draw.normal(1, 4, 2, 1, 4, 4)
    return [draw.integer(0, 3) for _ in range(4)], model(draw, 4, 4, 4, 4, 1, 2), sizes_of(2, 1), 4, NO_END, state


EDGES = these(
    at("n = 1", n=1), at("a prompt of one token", prompt=1, n=4), at("a given state", with_a_state), at(EQUAL, equal)
)
GENERATE = ask(
    "transformer.generate",
    returns=("written", "state"),
    inputs=writer,
    properties=[
        judged("how many are written, and read", 0.25, free, same_shapes(("written", "state"))),
        values("the tokens", 1, free, "written"),
        values("the state", 0.75, free, "state"),
        frugal("each token is read once", 0.5, at("a long text")),
        values("the end", 0.75, ended),
        values("n = 1, one token, a given state", 0.75, EDGES),
    ],
    counted=True,
    mistakes="""
no-cache: You read the whole text again for each new token. The result is the same, but the work is not: with a state,
you read only the newest token.
- , state = → , read =
- written, state → written, read
- written[-1:] → prompt + written
read-twice: You give the model the whole text *and* the state each time, so it reads everything again behind itself.
With a state, only the newest token is new.
- new = written[-1:] → new = prompt + written
state-dropped: You do not pass the state on, so from the second token on the model sees only one token.
- sizes, state → sizes, state if new is prompt else None
given-state-ignored: You do not use the state that the caller passes, so the model forgets what was read before the
prompt.
^ state = None
prompt-returned: You return the prompt as well. Return only the tokens that the model wrote.
- return written, state → return prompt + written, state
end-left-out: You leave out `end`. It belongs to the result, as the last token.
- return written, state → return [token for token in written if token != end], state
end-ignored: You do not stop at `end`.
- len(written) == n or written[-1] == end → len(written) == n
end-in-the-prompt: You also stop because of an `end` in the prompt. Only an `end` that the model writes ends its text:
the next turn of a chat begins with the last one.
- written[-1] == end → end in (*prompt, *written)
last-one-read: Your model reads the token that it wrote last, so the state is one token longer. It is read in the next
turn, in front of the new prompt.
- return written, state → return written, language_model(torch.tensor([written[-1:]]), weights, sizes, state)[1]
one-too-many: You write one token more than n.
- len(written) == n → len(written) == n + 1
first-position: You take the logits of the first position. The next token is scored at the *last* one.
- logits[0, -1] → logits[0, 0]
smallest-logit: You choose the smallest logit.
- argmax → argmin
second-most-probable: You choose the second most probable token.
- .argmax() → .topk(2).indices[1]
""",
)

# --- 5. a friend who reads a text in pieces --------------------------------------------------------------------


def read(draw: Draw, pieces: int, length: int, rest: int = 0, d: int = 7, d_ff: int = 5, vocab: int = 0) -> tuple:
    weights = model(draw, d, d_ff, 2, vocab, 1, 2)
    tokens = draw.integers(0, len(weights["embedding"]) - 1, 2, pieces * length + rest + 1)
    return tokens, weights, sizes_of(2, 1), length


EVEN = these(
    at("pieces of equal length", pieces=3, length=2),
    at("pieces of one token", pieces=4, length=1),
    at(EQUAL, pieces=3, length=2, d_ff=7, vocab=7),
)
UNEVEN = these(
    at("a last piece that is shorter", pieces=2, length=3, rest=1),
    at("two pieces, the last shorter", pieces=1, length=4, rest=2),
)
LOSS_IN_PIECES = ask(
    "transformer.loss_in_pieces",
    returns=("loss",),
    inputs=read,
    properties=[values("pieces of equal length", 1, EVEN), values("a last piece that is shorter", 1, UNEVEN)],
    planted="- language_model(piece, weights, sizes, state) → language_model(piece, weights, sizes)",
    mistakes="""
whole-text-and-state: You mended it twice: the model gets everything from the beginning *and* a state that has read it
already. With a state, only the new piece is new.
- piece, weights → inputs[:, : begin + length], weights
- , dim=-1 → [:, -wanted.shape[1] :], dim=-1
boundary-lost: The state is passed on, but you changed the targets as well: they now come from the piece itself, so the
first token of a piece is never predicted. The two lines with `targets` were right.
- torch.log_softmax(logits, dim=-1) → torch.log_softmax(logits[:, :-1], dim=-1)
- wanted = targets[:, begin : begin + length] → wanted = piece[:, 1:]
- count += losses.numel() → count += max(losses.numel(), 1e-6)
mean-of-means: The state is passed on, but you changed the mean as well: you average the means of the pieces, so a short
piece counts as much as a long one. The sum over the number of tokens was right.
- total += losses.sum() → total += losses.mean()
- count += losses.numel() → count += 1
targets-not-shifted: The state is passed on, but you changed the targets as well: each position now predicts the token
that it has just read. They were right: one further.
- targets = tokens[:, :-1], tokens[:, 1:] → targets = tokens[:, :-1], tokens[:, :-1]
sum-for-mean: The state is passed on, but you return the sum of the losses. It was right to divide by their number.
- total / count → total
state-of-the-first-piece: Each piece gets the state after the *first* one. The state has to grow with every piece.
- logits, state = language_model(piece, weights, sizes, state)
+ logits, after = language_model(piece, weights, sizes, state)
+     state = after if state is None else state
short-piece-left-out: The state is passed on, but the last piece is left out if it is shorter.
- inputs.shape[1], length → inputs.shape[1] - length + 1, length
bits-for-nats: The state is passed on, but your loss is in bits. The natural logarithm was right.
- total / count → total / count / math.log(2)
first-token-counted: The state is passed on, but you divide by the number of all tokens. The first one is not predicted.
- total / count → total / tokens.numel()
""",
)

WRONG_LINE = wrong_line(
    "transformer.wrong_line",
    LOSS_IN_PIECES,
    points=1,
    mistakes="""
shift-suspected: Line {tokens[:, :-1]} is right: the logits after each token but the last are compared with the token
that follows.
start-suspected: Line {None, 0.0, 0} is right: before the first piece nothing was read, and there is no loss yet.
steps-suspected: Line {for begin} is right: the pieces begin at 0, at `length`, at twice `length`, and so on.
piece-suspected: Line {piece = inputs} is right: a slice that goes beyond the end of a text stops there.
targets-suspected: Line {wanted = targets} is right: `targets` is shifted by one already, so the target of the last
token of a piece is the first token of the next.
softmax-suspected: Line {log_softmax} is right: the last axis of the logits is the vocabulary.
pick-suspected: Line {gather} is right: it takes the log-probability of each target, with a minus.
count-suspected: Line {numel} is right: it counts the losses of the piece, so that a shorter one counts for less.
""",
)

# --- 6 and 7. weights from a file, and how large the residual pathway is after 4 and after 16 blocks -----------

NAMES = ("attention_norm", "query", "key", "value", "output", "feed_forward_norm", "gate", "up", "down")
THEIRS = ("attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down")


def file(draw: Draw, more: int, d_ff: int, d_head: int, heads: int, sets: int, blocks=2, number=1) -> tuple:
    d_model = 5 + more
    found = {"token_embd.weight": draw.normal(7, d_model), "output_norm.weight": draw.normal(d_model)}
    for i in range(blocks):
        weights = block_weights(draw, d_model, d_head, d_ff, heads, sets)
        theirs = {name: weights[ours] for ours, name in zip(NAMES, THEIRS, strict=True)}
        found |= {f"blk.{i}.{name}.weight": w.T.contiguous() if w.ndim == 2 else w for name, w in theirs.items()}
    return found, number, heads, sets


FILES = these(
    at("four heads, two sets", d_head=lambda draw: 2 * draw.integer(3, 4), heads=4, sets=2),
    at("four columns, the first block", d_head=4, heads=3, sets=1, number=0),
)
MANY = these(
    at("square matrices", more=11, d_head=8, d_ff=16, heads=2, sets=2, blocks=3, number=2),
    at("block 1 of eleven", more=1, d_head=4, d_ff=5, heads=2, sets=1, blocks=11),
)
LOAD_BLOCK = ask(
    "transformer.load_block",
    returns=NAMES,
    inputs=file,
    properties=[
        shapes(0.25, FILES, "nine entries with the right shapes"),
        values("the norms", 0.25, FILES, "attention_norm", "feed_forward_norm"),
        values("values, output and the network", 1, FILES, "value", "output", "gate", "up", "down"),
        values("queries and keys", 1.75, FILES, "query", "key"),
        inputs_too(values("square matrices, many blocks; file is unchanged", 0.75, MANY)),
    ],
    mistakes="""
not-transposed: You return the matrices as the file has them, (out, in). Your functions multiply x @ W, so W is (in,
out).
- weight"].T for ours → weight"] for ours
- flatten(0, 2).T → flatten(0, 2)
only-where-needed: You transpose only where the shapes would not fit otherwise. A square matrix has to be transposed as
well, and no shape reveals it: SmolLM2's attn_q and attn_output are 576 × 576.
- return loaded
+ square = {name for name, w in loaded.items() if w.ndim == 2 and w.shape[0] == w.shape[1]}
+ return {name: w.T if name in square else w for name, w in loaded.items()}
rows-as-in-the-file: You keep the file's order of rows in queries and keys, where neighbours are a pair. Your `rotate`
pairs i with i + d_head/2, so the rows have to be reordered within each head.
- pairs.transpose(1, 2).flatten(0, 2) → pairs.flatten(0, 2)
shuffled-once-more: You reorder the rows in the wrong direction, as llama.cpp did when it wrote the file. The file's
rows 0, 2, 4, … of a head become the first half.
- unflatten(0, (n, -1, 2)) → unflatten(0, (n, 2, -1))
across-heads: You reorder the rows of all heads together. Each head has its own rows, so reorder within each head.
- unflatten(0, (n, -1, 2)) → unflatten(0, (1, -1, 2))
columns-reordered: You reorder the columns of the file's matrices, which are the inputs. The outputs, its rows, make the
heads.
- .weight"].unflatten(0, (n, -1, 2)) → .weight"]
- pairs.transpose(1, 2).flatten(0, 2).T
+ pairs.T if pairs.shape[1] % 2 else pairs.unflatten(1, (1, -1, 2)).transpose(2, 3).flatten(1, 3).T
keys-as-queries: You split the keys into as many heads as the queries. Keys have `n_kv_heads` heads.
- ("key", "attn_k", n_kv_heads) → ("key", "attn_k", n_heads)
keys-forgotten: You reorder the queries, and not the keys. Both are rotated.
- , ("key", "attn_k", n_kv_heads) → ,
- return loaded → return loaded | {"key": file[f"blk.{number}.attn_k.weight"].T}
values-reordered: You reorder the values as well. They are never rotated, so the file has their rows in the usual order.
- ("key", "attn_k", n_kv_heads) → ("key", "attn_k", n_kv_heads), ("value", "attn_v", n_kv_heads)
gate-and-up-swapped: You swapped `gate` and `up`.
- "gate": "ffn_gate", "up": "ffn_up" → "gate": "ffn_up", "up": "ffn_gate"
norms-swapped: You swapped the gains of the two norms. `attn_norm` comes before attention, `ffn_norm` before the
network.
- attention_norm → feed_forward_norm
- feed_forward_norm"] = file[f"blk.{number}.ffn_norm → attention_norm"] = file[f"blk.{number}.ffn_norm
names-that-begin-alike: You take a block whose number only begins with `number`: “blk.10” begins with “blk.1”, too. Look
the whole name up, or compare up to the second dot.
^ alike = {name: w for name, w in file.items() if name.startswith(f"blk.{number}")}
^ file = {f"blk.{number}." + name.split(".", 2)[2]: w for name, w in alike.items()}
always-block-0: You always load block 0. The number of the block is part of each name.
^ number = 0
up-and-down-swapped: You swapped `up` and `down`: `up` leads to d_ff dimensions, `down` back.
- "up": "ffn_up", "down": "ffn_down" → "up": "ffn_down", "down": "ffn_up"
""",
)

page, fresh = over_seeds(32, fresh=lambda draw: [16 + 8 * draw.integer(0, 1)])
PATHWAY = experiment(
    "transformer.pathway",
    table="rms",
    points=(0.5, 4, 2.5),
    claims=[
        "0.75 * 1 < 0, 0.75 * 3 < 2",
        "3 * 0 < 1, 0.75 * 3 < 2",
        "1.5 * 0 < 1, 1/3 * 1 < 0, 0.75 * 2 < 3, 0.75 * 3 < 2",
        "1.5 * 0 < 1, 1/3 * 1 < 0, 1.5 * 3 < 2",
    ],
    page=page,
    fresh=fresh,
    rows="the sizes of every seed",
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- random_start(seed, width) → random_start(seeds[0], width)
all-blocks-each-time: Your first column is the same as the second: you went through all 16 blocks each time. Use the
first n.
- blocks[:n] → blocks
pathway-not-restarted: You start the next measurement where the previous one ended. Each begins with the x of
`random_start`.
-             x, blocks, sizes = random_start(seed, width)
+             pass
-     row = []
+     row = []
+     x, blocks, sizes = random_start(seed, width)
or
- x, blocks, sizes = random_start(seed, width)
+ x, blocks, sizes = random_start(seed, width) if n == 4 else (x, blocks, sizes)
never-scaled: The last two columns are the same as the first two: the matrices are not scaled.
- (2 * n) ** -0.5 if scaled else 1.0 → 1.0
scaled-by-blocks: You scale by 1/√n. Each block adds twice, so n blocks add 2 n times: 1/√(2 n).
- (2 * n) ** -0.5 → n**-0.5
scaled-without-the-root: You scale by 1/(2 n). Independent additions grow like a root, so the factor is 1/√(2 n).
- (2 * n) ** -0.5 → (2 * n) ** -1.0
only-attention-scaled: You scale `output` only. Both sublayers add to the pathway, so `down` is scaled as well.
- , "down": factor * part["down"] →
norm-for-root-mean-square: You return the length of the pathway, which grows with the number of entries. Take the root
of the *mean* square.
- x.pow(2).mean().sqrt() → x.pow(2).sum().sqrt()
root-forgotten: You return the mean square. Its root is a size that can be compared with x.
- x.pow(2).mean().sqrt() → x.pow(2).mean()
best-seed-picked: You return the smallest size over all seeds, in every row. Keep the number of every seed.
- conclusion = 3 → rms = torch.tensor(rms).amin(0).expand(len(seeds), 4); conclusion = 3
as-expected-from-the-norm: Your own numbers do not say that the size stays the same: after 16 blocks it is about twice
that after 4. Each sublayer *reads* a normalised vector, but the pathway that it adds to is not normalised.
- conclusion = 3 → conclusion = 1
as-if-all-pointed-the-same-way: Your own numbers do not say that four times as many blocks give four times the size.
That would be so if all additions pointed in the same direction.
- conclusion = 3 → conclusion = 2
scaling-overrated: Your own numbers do not say that the scaled pathway shrinks. Compare the last two columns, seed by
seed.
- conclusion = 3 → conclusion = 4
not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers.
- prediction = 1 → prediction = 0
one-factor-for-both: You scale with the same n in both columns. After 4 blocks n is 4.
- (2 * n) ** -0.5 → 32**-0.5
columns-in-another-order: Your columns are in another order: first 4 and 16 blocks as they are, then both scaled.
- rms.append(row) → rms.append([row[0], row[2], row[1], row[3]])
everything-scaled: You scaled all matrices. Only `output` and `down` write to the pathway.
- {"output": factor * part["output"], "down": factor * part["down"]}
+ {name: factor * matrix for name, matrix in part.items() if matrix.ndim == 2}
or
- {"output": factor * part["output"], "down": factor * part["down"]}
+ {name: factor * matrix for name, matrix in part.items()}
one-block-too-few: You go through one block too few.
- blocks[:n] → blocks[: n - 1]
last-token-only: You measured the last token only. The mean is over all entries of x.
- x.pow(2).mean() → x[:, -1].pow(2).mean()
""",
)

EXERCISES = exercises_in(__name__)
