"""Assignment "memory": a matrix that is written, erased and read, by a loop and by chunks; gates, bytes, an experiment.

The functions differ in form from `nlmcore.recurrent.matrix_memory`: memories are one axis, and the questions
also ask for the values that are written, the equations of a chunk and its scores, which the library does not return.
"""

import functools
from typing import Any

import torch
from torch import Tensor

from autograder.question.declare import exercises_in, holds, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.sized import ODD, at, several, these
from autograder.question.special import at_points, formula, on_the_page, other_seeds, own_signs, predicted, wrong_line
from autograder.question.specification import Both, Case, case
from solutions.memory.laws import one_step_apart

CLOSED = ("nlmcore.recurrent",)
ask = functools.partial(question, closed=CLOSED)
Arguments = tuple[Any, ...]

# --- 1. token by token -------------------------------------------------------------------------------------------


def gate(draw: Draw, n: int, time: int, fixed: float | None) -> Tensor:
    """Between 0.2 and 0.95, or the same number everywhere."""
    if fixed is not None:
        return torch.full((n, time), fixed)
    return 0.2 + 0.75 * torch.sigmoid(1.5 * draw.normal(n, time))


def keys(draw: Draw, n: int, time: int, d_key: int) -> Tensor:
    """Of lengths around 1."""
    return draw.normal(n, time, d_key) / d_key**0.5


def text(
    draw: Draw,
    n: int,
    time: int,
    d_key: int,
    d_value: int,
    a: float | None = None,
    b: float | None = None,
    w: float | None = None,
) -> Arguments:
    """q, k, v, the gates and a matrix; gates are the given numbers, or any."""
    q, k, v = draw.normal(n, time, d_key), keys(draw, n, time, d_key), 2 * draw.normal(n, time, d_value)
    return q, k, v, *(gate(draw, n, time, fixed) for fixed in (a, b, w)), draw.normal(n, d_key, d_value)


added = at("nothing fades, nothing is erased", a=1.0, b=0.0, w=1.0)
faded = at("it fades", b=0.0)
erased = at("it erases, and nothing fades", a=1.0)
STEP_BY_STEP = ask(
    "memory.step_by_step",
    returns=("y", "u", "S"),
    inputs=text,
    odd=[at("gates of 0", a=0.0, b=0.0, w=0.0), at("gates of 1", a=1.0, b=1.0, w=1.0), at("one token", time=1)],
    properties=[
        shapes(0.25),
        values("it only adds", 0.5, added),
        values("it fades", 0.5, faded),
        values("it erases", 0.5, erased),
        values("all three gates: what is read", 0.5, "y"),
        values("all three gates: what is written", 0.5, "u"),
        values("all three gates: the last matrix", 0.25, "S"),
        values("odd sizes, gates of 0 and 1", 0.5, ODD),
    ],
    mistakes="""
read-before-written: Your queries read the matrix *before* their own token has written. y_t = q_t S_t contains token t.
-     outputs.append((q[:, t, None] @ S)[:, 0]) →
- held = (k[:, t, None] @ S)[:, 0]
+ held = (k[:, t, None] @ S)[:, 0]
+     outputs.append((q[:, t, None] @ S)[:, 0])
faded-after-writing: You let everything fade *after* the token has written, so its own value fades, too. First fading,
then writing.
-     S = a[:, t, None, None] * S
-     held = (k[:, t, None] @ S)[:, 0]
+     held = (k[:, t, None] @ S)[:, 0]
- S = S + k[:, t, :, None] * u[:, None] → S = a[:, t, None, None] * (S + k[:, t, :, None] * u[:, None])
erased-before-the-fading: You read under the key before the matrix has faded, so you erase more than is left. Read what
the fading leaves.
-     S = a[:, t, None, None] * S
-     held = (k[:, t, None] @ S)[:, 0]
+     held = (k[:, t, None] @ S)[:, 0]
- S = S + k[:, t, :, None] * u[:, None] → S = a[:, t, None, None] * S + k[:, t, :, None] * u[:, None]
never-fades: Nothing fades in your memory. Multiply the matrix by the gate a first.
-     S = a[:, t, None, None] * S →
never-erases: Nothing is erased. Subtract a part, b, of what is read under the key.
- - b[:, t, None] * held →
gate-of-erasing-forgotten: You subtract all of what is read under the key. Only the part b of it is erased.
- b[:, t, None] * held → held
erased-by-w: You erase as strongly as you write. Erasing has a gate of its own, b.
- b[:, t, None] * held → w[:, t, None] * held
written-by-b: You write as strongly as you erase. Writing has a gate of its own, w.
- w[:, t, None] * v[:, t] → b[:, t, None] * v[:, t]
w-on-both: You multiplied the whole difference by w, what is erased as well. Only the new value gets w.
- w[:, t, None] * v[:, t] - b[:, t, None] * held → w[:, t, None] * (v[:, t] - b[:, t, None] * held)
written-in-full: You write the value in full. Multiply it by w.
- w[:, t, None] * v[:, t] → v[:, t]
added-for-subtracted: You add what is read under the key, so the old value grows. Subtract it.
- - b[:, t, None] * held → + b[:, t, None] * held
read-with-the-query: You erase what is read with the *query*. What will be overwritten is read with the key.
- held = (k[:, t, None] @ S)[:, 0] → held = (q[:, t, None] @ S)[:, 0]
read-with-the-key: Your outputs are read with the key. Reading is done with the query.
- outputs.append((q[:, t, None] @ S)[:, 0]) → outputs.append((k[:, t, None] @ S)[:, 0])
value-for-what-is-written: You write the value and leave the old one in place. What goes under the key is u, the
difference.
- S = S + k[:, t, :, None] * u[:, None] → S = S + k[:, t, :, None] * (w[:, t, None] * v[:, t])[:, None]
begun-with-zeros: You begin with an empty memory. The text continues from the given matrix.
^ S = torch.zeros_like(S)
only-the-last-matrix: All your queries read the matrix after the last token, so they know the future. Query t reads S_t.
- return torch.stack(outputs, 1) → return torch.stack([(q[:, t, None] @ S)[:, 0] for t in range(q.shape[1])], 1)
keys-normalised: You gave the keys length 1. Here they are used as they are.
^ k = k / k.norm(dim=-1, keepdim=True)
scaled: You divided by the root of the dimension, as attention does. This memory does not.
- outputs.append((q[:, t, None] @ S)[:, 0]) → outputs.append((q[:, t, None] @ S)[:, 0] / q.shape[-1] ** 0.5)
gates-squashed: You put the gates through a sigmoid. They are gates already, between 0 and 1.
^ a, b, w = a.sigmoid(), b.sigmoid(), w.sigmoid()
one-memorys-gates-for-all: All memories get the gates of the first one. Each has its own.
^ a, b, w = (x[:1].expand_as(x) for x in (a, b, w))
gate-reversed: Your gate a is reversed: it is the part that is *kept*. With a = 1 nothing fades.
-     S = a[:, t, None, None] * S →     S = (1 - a[:, t, None, None]) * S
""",
)

# --- 2. the gates of published models ----------------------------------------------------------------------------


def gating(draw: Draw, n: int, time: int, model: str = "delta") -> Arguments:
    alpha, beta = (0.1 + 0.8 * torch.sigmoid(draw.normal(n, time)) for _ in "ab")
    return model, alpha, beta, 0.1 + draw.normal(n, time).abs(), 0.1 + draw.normal(n).abs()


def of(*models: str) -> Any:
    return these(*(at(model, model=model) for model in models))


GATES = ask(
    "memory.gates",
    returns=("a", "b", "w"),
    inputs=gating,
    odd=[at("a single memory, retention", model="retention", n=1), at("linear", model="linear", n=1, time=1)],
    properties=[
        values("linear and retention", 0.5, of("linear", "retention")),
        values("rfa and selective", 0.5, of("rfa", "selective")),
        values("delta and gated delta", 0.75, at("delta"), of("gated delta")),
        values("gated writes", 0.25, of("gated writes")),
        values("odd sizes", 0.5, ODD),
    ],
    mistakes="""
heads-from-one: Your memories are numbered from 1. The first one is h = 0, and its γ is 1 − 2⁻⁵.
- (1 - 2 ** (-5 - head)) → (1 - 2 ** (-6 - head))
one-decay-for-all: All your memories have the same γ. It depends on h, the number of the memory.
- (1 - 2 ** (-5 - head)) → (1 - 2 ** (-5.0))
tokens-for-memories: In γ you took the number of the token for h. It is the number of the memory: γ is the same at all
tokens.
- torch.arange(len(beta), dtype=beta.dtype)[:, None] → torch.arange(beta.shape[1], dtype=beta.dtype)[None]
numbers-for-tables: A constant gate has the shape (n, time), too. `torch.ones_like(beta)` makes such a table.
- one, zero = torch.ones_like(beta), torch.zeros_like(beta) → one, zero = 1.0, 0.0
or
- ((1 - 2 ** (-5 - head)) * one, zero, one) → (1 - 2 ** (-5 - head), zero, one)
what-fades-for-what-stays: Your a for `retention` is what is lost. γ is what is kept, 1 − 2⁻⁵ at least.
- (1 - 2 ** (-5 - head)) → 2 ** (-5 - head)
decay-since-the-beginning: Your a for `retention` is γ to the power of t. Each step multiplies by γ once; the powers
arise by themselves.
- ((1 - 2 ** (-5 - head)) * one, zero, one),
+ (((1 - 2 ** (-5 - head)) * one).cumprod(1), zero, one),
nothing-kept: Your a is 0 where nothing fades. a is the part that is *kept*: with 0 the memory forgets everything.
- "linear": (one, zero, one) → "linear": (zero, zero, one)
- "delta": (one, beta, beta) → "delta": (zero, beta, beta)
- "gated writes": (one, zero, beta) → "gated writes": (zero, zero, beta)
linear-erases: Your `linear` attention erases. Its update contains the old matrix once and unchanged.
- "linear": (one, zero, one) → "linear": (one, one, one)
gates-of-rfa-swapped: For `rfa` the old matrix is multiplied by α, the new pair by 1 − α. You have them the other way
round.
- "rfa": (alpha, zero, 1 - alpha) → "rfa": (1 - alpha, zero, alpha)
rfa-written-in-full: For `rfa` the new pair has the factor 1 − α.
- "rfa": (alpha, zero, 1 - alpha) → "rfa": (alpha, zero, one)
one-gate-erases-and-keeps: For `rfa` you erase with 1 − α. That would touch one key; here *everything* is multiplied by
α.
- "rfa": (alpha, zero, 1 - alpha) → "rfa": (one, 1 - alpha, 1 - alpha)
first-order-only: For `selective` you used 1 − Δ A. That is near e to the power of −Δ A only while Δ A is small.
- torch.exp(-delta * rate[:, None]) → 1 - delta * rate[:, None]
rate-of-the-first: For `selective` all memories have the rate of the first one. Each has its own.
- torch.exp(-delta * rate[:, None]) → torch.exp(-delta * rate[0])
step-forgotten: For `selective` the Δ of the token is missing in the exponent.
- torch.exp(-delta * rate[:, None]) → torch.exp(-rate[:, None]) * one
rate-forgotten: For `selective` the rate A of the memory is missing in the exponent.
- torch.exp(-delta * rate[:, None]) → torch.exp(-delta)
growing: Your exponent for `selective` is positive, so the memory grows. a is e to the power of *minus* Δ A.
- torch.exp(-delta * rate[:, None]) → torch.exp(delta * rate[:, None])
selective-written-in-full: For `selective` the new pair has the factor Δ. The same Δ decides
how much is kept and written.
- zero, delta), → zero, one),
delta-erases-negatively: Your b of `delta` and `gated delta` is negative. Question 1 subtracts already: b is β.
- "delta": (one, beta, beta) → "delta": (one, -beta, beta)
- "gated delta": (alpha, beta, beta) → "gated delta": (alpha, -beta, beta)
delta-written-in-full: In `delta` the bracket has the factor β, so the value is written with β as well.
- "delta": (one, beta, beta) → "delta": (one, beta, one)
delta-not-erased: In `delta` multiply the bracket out: the term with the old matrix, − β M k kᵀ, erases.
- "delta": (one, beta, beta) → "delta": (one, zero, beta)
delta-erased-in-full: In `delta` the old value is erased with β, not in full.
- "delta": (one, beta, beta) → "delta": (one, one, beta)
delta-fades: In `delta` nothing fades: outside the direction of the key the old matrix is unchanged, so a is 1.
- "delta": (one, beta, beta) → "delta": (1 - beta, beta, beta)
alpha-in-the-erasing: In `gated delta` you put α into b. Question 1 erases a part of what the fading has *left*, so α is
in there already.
- "gated delta": (alpha, beta, beta) → "gated delta": (alpha, alpha * beta, beta)
gated-delta-does-not-fade: In `gated delta` everything is multiplied by α. That is a.
- "gated delta": (alpha, beta, beta) → "gated delta": (one, beta, beta)
alpha-on-the-value: In `gated delta` the new value has no α: it is written after the fading.
- "gated delta": (alpha, beta, beta) → "gated delta": (alpha, beta, alpha * beta)
control-erases: `gated writes` is the control: it writes like `delta` and erases nothing.
- "gated writes": (one, zero, beta) → "gated writes": (one, beta, beta)
""",
)

# --- 3. chunks ---------------------------------------------------------------------------------------------------


def fading(draw: Draw, n: int, time: int) -> Arguments:
    return (gate(draw, n, max(3, time), None),)


def forgetting(draw: Draw) -> Arguments:
    """Gates of 0 in the middle, and at the beginning."""
    (a,) = fading(draw, 3, 5)
    a[0, 2] = a[1, 0] = a[2, 1] = a[2, 3] = 0.0
    return (a,)


def almost_nothing(draw: Draw) -> Arguments:
    """What is left of the first tokens cannot be told from 0 in float32 at the end."""
    return (0.1 + 0.1 * torch.sigmoid(draw.normal(1, 64)),)


def neighbours(draw: Draw) -> Case:
    (a,) = fading(draw, 2, 5)
    return several((a,), known=(a,))


fading_away = these(at("a gate is 0", forgetting), at("a long chunk", almost_nothing))
DECAYS = ask(
    "memory.decays",
    returns=("within", "before"),
    inputs=fading,
    properties=[
        values("what is left of each token", 1, "within"),
        values("what is left of the matrix", 0.5, "before"),
        holds("each row fades from the one above it", 0.25, at("", neighbours), one_step_apart, about=("within",)),
        values("gates of 0, and a long chunk", 0.75, fading_away),
        values("a single token, float64", 0.5, at("one token", lambda draw: (gate(draw, 2, 1, None),)), ODD),
    ],
    mistakes="""
own-gate-counted: You let a token fade by its own gate. When it writes, the fading of that step is over: D on the
diagonal is 1.
- below = torch.ones(time, time, dtype=torch.bool).tril(-1) → below = torch.ones(time, time, dtype=torch.bool).tril()
own-gate-of-the-reader-missing: Your products end one token too early: what token i reads has faded by its own gate as
well.
- torch.where(below, a[:, :, None], 1.0).cumprod(1).tril()
+ torch.where(torch.ones(time, time).tril(-2).bool(), a.roll(1, 1)[:, :, None], 1.0).cumprod(1).tril()
columns-for-rows: Your table is transposed. Rows are the tokens that read, columns those that have written.
- .cumprod(1).tril() → .cumprod(1).tril().mT
future-not-deleted: Above the diagonal there should be zeros: nothing is left of a token that is yet to come.
- .cumprod(1).tril() → .cumprod(1)
diagonal-deleted: Your diagonal is 0. A token reads what it has written itself, in full.
- .cumprod(1).tril() → .cumprod(1).tril(-1)
quotient-of-products: You divided running products. After a gate of 0, or in a long chunk, that is 0 / 0, and no number
in its place is always right. Multiply the gates between both tokens instead.
+ left = a.cumprod(1)
+ return (left[:, :, None] / left[:, None, :]).tril(), left
or
+ left = a.cumprod(1)
+ return (left[:, :, None] / left[:, None, :]).tril().nan_to_num(0, 0, 0), left
or
+ left = a.cumprod(1)
+ below = (left[:, :, None] / left[:, None, :]).tril(-1).nan_to_num(0, 0, 0)
+ return below + torch.eye(a.shape[1], dtype=a.dtype), left
equal-gates: You took powers of one gate. Every token has its own.
- within = torch.where(below, a[:, :, None], 1.0).cumprod(1).tril()
+ steps = torch.arange(time)
+ within = (a[:, :, None] ** (steps[:, None] - steps).clamp(min=0)).tril()
difference-of-logarithms: You subtracted running sums of logarithms. The logarithm of a gate of 0 is −∞, and −∞ − (−∞)
is NaN. Multiply the gates between both tokens instead.
+ left = a.log().cumsum(1)
+ square = left[:, :, None] - left[:, None, :]
+ return square.exp().tril(), left.exp()
only-one-gate: Each entry contains a single gate. The parts of all tokens in between are multiplied.
- .cumprod(1).tril() → .tril()
running-sum: You added the gates. What is left of what is left is a product.
- torch.where(below, a[:, :, None], 1.0).cumprod(1).tril()
+ torch.where(below, a[:, :, None], 1.0).cumsum(1).tril()
before-shifted: What is left of the matrix lacks the newest gate. At the first token it has faded once already.
- return within, a.cumprod(1) → return within, torch.cat([torch.ones_like(a[:, :1]), a.cumprod(1)[:, :-1]], 1)
first-gate-missing: What is left of the matrix lacks the first gate. The matrix was there before the first token, so it
fades at that one, too.
- return within, a.cumprod(1) → return within, within[:, :, 0]
before-is-the-gates: What is left of the matrix is the product of *all* gates so far.
- return within, a.cumprod(1) → return within, a.clone()
before-from-the-end: You multiplied the gates from the end. At token i those up to i count.
- return within, a.cumprod(1) → return within, a.flip(1).cumprod(1).flip(1)
""",
)


def chunk(
    draw: Draw, n: int, time: int, d_key: int, d_value: int, a: float | None = None, b: float | None = None
) -> Arguments:
    """At least two tokens, without queries."""
    return text(draw, n, max(2, time), d_key, d_value, a, b)[1:]


SYSTEM = ask(
    "memory.system",
    returns=("L", "R"),
    inputs=chunk,
    odd=[at("nothing is erased", b=0.0), at("a gate of 0", a=0.0)],
    properties=[
        shapes(0.25),
        values("nothing fades", 0.75, at("nothing fades", a=1.0)),
        values("the left side", 0.75, "L"),
        values("the right side", 0.75, "R"),
        values("odd sizes, gates of 0", 0.5, ODD),
    ],
    mistakes="""
diagonal-kept: Your L has a diagonal. A token does not erase what it is just writing: the sum runs over j < i.
- .tril(-1) → .tril()
ones-included: Your L contains the ones of I. They are written apart, in (I + L) u = R.
- .tril(-1) → .tril(-1) + torch.eye(k.shape[1], dtype=k.dtype)
future-in-the-equations: Your equations know the future: entries above the diagonal are not 0.
- (b[:, :, None] * within * (k @ k.mT)).tril(-1)
+ b[:, :, None] * (k @ k.mT) * (within + within.tril(-1).mT) * (1 - torch.eye(k.shape[1], dtype=k.dtype))
sign-of-the-left-side: Your L has the wrong sign. In the equation for u the sum is subtracted; on the left side it is
added.
- (b[:, :, None] * within * (k @ k.mT)).tril(-1) → -(b[:, :, None] * within * (k @ k.mT)).tril(-1)
gate-of-the-writer: You multiplied the columns of L by b. How much is erased is decided by the token that reads, i.
- b[:, :, None] * within → b[:, None, :] * within
nothing-fades-in-between: In L what token j has written should fade until token i. D is missing.
- within * (k @ k.mT) → (k @ k.mT)
erasing-missing-on-the-left: L lacks b. Only a part of what the earlier tokens have written is erased.
- b[:, :, None] * within * (k @ k.mT) → within * (k @ k.mT)
keys-not-compared: L lacks the dot products of the keys: what is written under an orthogonal key is not disturbed.
- within * (k @ k.mT) → within
matrix-forgotten: The right side lacks what the keys read in the matrix before the chunk.
- - (b * before)[:, :, None] * (k @ S) →
matrix-does-not-fade: On the right side the matrix before the chunk does not fade. At token i only D_i0 of it is left.
- (b * before)[:, :, None] → b[:, :, None]
matrix-erased-in-full: On the right side b is missing. A part of what is read in the matrix is erased.
- (b * before)[:, :, None] → before[:, :, None]
one-step-of-fading: On the right side the matrix has faded by one gate only. It fades at every token of the chunk.
- (b * before)[:, :, None] → (b * a)[:, :, None]
sign-of-the-right-side: On the right side what the keys read in the matrix is *subtracted*.
- - (b * before)[:, :, None] → + (b * before)[:, :, None]
written-in-full: On the right side the values lack their gate, w.
- w[:, :, None] * v → v
w-on-both: On the right side you multiplied what is read in the matrix by w as well. Only the new value gets w.
- w[:, :, None] * v - (b * before)[:, :, None] * (k @ S) → w[:, :, None] * (v - (b * before)[:, :, None] * (k @ S))
solved-already: You return the solution u. Return the right side R; the equations are solved in 3c.
- return lower, w[:, :, None] * v - (b * before)[:, :, None] * (k @ S)
+ right = w[:, :, None] * v - (b * before)[:, :, None] * (k @ S)
+ return lower, torch.linalg.solve_triangular(lower, right, upper=False, unitriangular=True)
cosines-for-products: Your L contains cosines. Here keys are used as they are: take dot products.
- (k @ k.mT) → (torch.nn.functional.normalize(k, dim=2) @ torch.nn.functional.normalize(k, dim=2).mT)
values-fade: You let the new values fade. They are written after the fading of their own token.
- w[:, :, None] * v → (w * before)[:, :, None] * v
""",
)

whole = at("all at once")
ONE_CHUNK = ask(
    "memory.one_chunk",
    returns=("P", "y", "S"),
    inputs=text,
    odd=[at("one token", time=1), at("a gate of 0", a=0.0), at("a longer chunk", time=40, n=2, d_key=8, d_value=3)],
    properties=[
        shapes(0.25),
        values("the scores", 0.5, "P"),
        values("the outputs, nothing erased", 0.5, faded, "y"),
        values("the outputs", 0.75, "y"),
        values("the matrix, nothing erased", 0.5, faded, "S"),
        values("the matrix after the chunk", 0.5, "S"),
        values("one token, longer chunks, a gate of 0", 0.5, ODD),
    ],
    mistakes="""
own-token-not-read: Your queries read only what *earlier* tokens have written. A query also reads what its own token has
written, so the diagonal of P counts.
- scores = within * (q @ k.mT) → scores = (within * (q @ k.mT)).tril(-1)
or
- scores @ u → scores.tril(-1) @ u
scores-do-not-fade: Your P does not fade: multiply the dot products by D.
- within * (q @ k.mT) → (q @ k.mT).tril()
queries-for-keys: Your P is k · q instead of q · k. Rows belong to queries, columns to keys.
- within * (q @ k.mT) → within * (k @ q.mT)
future-read: Your queries read the future: above the diagonal P should be 0.
- scores = within * (q @ k.mT) → scores = (within + within.tril(-1).mT) * (q @ k.mT)
keys-for-queries: Your P compares keys with keys. It is the *queries* that read.
- within * (q @ k.mT) → within * (k @ k.mT)
softmax-taken: You took a softmax. This memory has none: P are dot products, also negative ones.
- scores = within * (q @ k.mT)
+ scores = (q @ k.mT).masked_fill(within == 0, -1e9).softmax(-1)
scaled: You divided by the root of the dimension. This memory does not.
- within * (q @ k.mT) → within * (q @ k.mT) / q.shape[-1] ** 0.5
not-solved: You used R as if it were u. Solve (I + L) u = R: what a token erases depends on what the earlier ones have
written.
- u = torch.linalg.solve_triangular(lower, right, upper=False, unitriangular=True) → u = right
one-step-of-the-solution: Your u is R − L R, or has one more term. These are the first steps towards a solution. Row i
needs the final rows above it: solve the system.
- u = torch.linalg.solve_triangular(lower, right, upper=False, unitriangular=True) → u = right - lower @ right
or
- u = torch.linalg.solve_triangular(lower, right, upper=False, unitriangular=True)
+ u = right - lower @ right + lower @ (lower @ right)
solved-without-the-identity: You solved L u = R, or a system with the wrong sign. It is (I + L) u = R.
- solve_triangular(lower, right, → solve_triangular(-lower, right,
values-for-what-is-written: You read or store the values, with or without their gate w. What is written is u.
- u = torch.linalg.solve_triangular(lower, right, upper=False, unitriangular=True) → u = w[:, :, None] * v
or
- u = torch.linalg.solve_triangular(lower, right, upper=False, unitriangular=True) → u = v
or
- (k * within[:, -1, :, None]).mT @ u → (k * within[:, -1, :, None]).mT @ v
matrix-not-read: Your outputs lack what the queries read in the matrix before the chunk.
- before[:, :, None] * (q @ S) + scores @ u → scores @ u
matrix-read-without-fading: Your queries read the matrix before the chunk as if it had not faded.
- before[:, :, None] * (q @ S) → q @ S
old-matrix-lost: The matrix after the chunk lacks what is left of the one before it.
- return scores, y, before[:, -1, None, None] * S + added → return scores, y, added
old-matrix-does-not-fade: In the matrix after the chunk the old one has not faded.
- return scores, y, before[:, -1, None, None] * S + added → return scores, y, S + added
nothing-added: You return the old matrix, faded. The chunk has also written.
- return scores, y, before[:, -1, None, None] * S + added → return scores, y, before[:, -1, None, None] * S
added-without-fading: What the chunk has written does not fade until its end. Use the last row of D.
- (k * within[:, -1, :, None]).mT @ u → k.mT @ u
quotients-at-the-end: For the matrix you divided what is left of the old matrix. After a gate of 0 that is 0 / 0: use
the last row of D.
- within[:, -1, :, None] → (before[:, -1:] / before)[:, :, None]
first-row-for-the-last: For the matrix you used the first row of D, where only the first token has written. Use the
last.
- within[:, -1, :, None] → within[:, 0, :, None]
""",
)

# --- 4. an old value, on paper -----------------------------------------------------------------------------------

points = at_points(a=(0.4, 0.95), b=(0.1, 1.9), w=(0.3, 1.5), s=(0.4, 1.8), n=(2, 6))
REWRITTEN = question(
    "memory.rewritten",
    returns=("old", "new", "limit"),
    numpy=True,
    properties=[
        formula("what is left of the old value", 1, points, "old"),
        formula("what there is of the new one", 1, points, "new"),
        formula("the largest b", 1, points, "limit"),
    ],
    mistakes="""
old-without-its-write: The old value was written with w, too, and is read with a key of squared length s: w s is
missing.
- old = w * s * r**n → old = r**n
length-forgotten: A value is read with a key of squared length s, so what is read has a factor s.
- old = w * s * r**n → old = w * r**n
or
- new = w * s * (1 - r**n) / (1 - r) → new = w * (1 - r**n) / (1 - r)
or
- old = w * s * r**n → old = w * r**n
- new = w * s * (1 - r**n) / (1 - r) → new = w * (1 - r**n) / (1 - r)
never-erased: The old value only fades in your formula. Each write also erases a part, b s, of it.
- old = w * s * r**n → old = w * s * a**n
never-fades: The old value is only erased in your formula. It also fades at each step, by a.
- old = w * s * r**n → old = w * s * (1 - b * s) ** n
erased-before-the-fading: Your r is a − b s, as if the memory read under the key before the fading. It reads what the
fading leaves: r = a (1 − b s).
- r = a * (1 - b * s) → r = a - b * s
- limit = (1 + 1 / a) / s → limit = (1 + a) / s
one-step-too-many: You let the old value shrink n + 1 times. The step that writes it does not erase it, and n
more follow.
- old = w * s * r**n → old = w * s * r ** (n + 1)
one-step-too-few: You let the old value shrink n − 1 times. It is followed by n steps.
- old = w * s * r**n → old = w * s * r ** (n - 1)
added-up: You added n equal parts. What was written early has shrunk since: a geometric series.
- new = w * s * (1 - r**n) / (1 - r) → new = w * s * n
rest-of-the-old: The new value does not simply fill what the old one leaves. It would, if w s were 1 − r.
- new = w * s * (1 - r**n) / (1 - r) → new = w * s - old
or
- new = w * s * (1 - r**n) / (1 - r) → new = 1 - r**n
or
- new = w * s * (1 - r**n) / (1 - r) → new = 1 - old
series-without-end: You added up the series to its end. It has n terms.
- new = w * s * (1 - r**n) / (1 - r) → new = w * s / (1 - r)
one-term-too-many: Your series has n + 1 terms. There are n new writes.
- new = w * s * (1 - r**n) / (1 - r) → new = w * s * (1 - r ** (n + 1)) / (1 - r)
absolute-r: Your r is never negative. If b s is above 1, a write erases more than is there, and r changes the sign.
- r = a * (1 - b * s) → r = abs(a * (1 - b * s))
last-term-only: You count the last write only. What earlier ones have written is still there in part.
- new = w * s * (1 - r**n) / (1 - r) → new = w * s
series-from-one: Your series begins with r. The last write has not shrunk at all: it begins with 1.
- new = w * s * (1 - r**n) / (1 - r) → new = w * s * r * (1 - r**n) / (1 - r)
erases-all-at-once: With this b the old value is gone in one step. It may be larger: r may be negative, down to −1.
- limit = (1 + 1 / a) / s → limit = 1 / s
fading-beforehand: Your limit belongs to r = a − b s, as if the memory read before the fading. It reads after
it: r = a (1 − b s).
- limit = (1 + 1 / a) / s → limit = (1 + a) / s
wrong-end: Your limit is where r reaches 1, with a negative b. If b grows, r falls: it leaves the interval at −1.
- limit = (1 + 1 / a) / s → limit = (1 - 1 / a) / s
fading-left-out: Your limit is that of a = 1. Fading makes larger b possible.
- limit = (1 + 1 / a) / s → limit = 2 / s
length-left-out: Your limit is that of keys of length 1. It depends on s: long keys erase more.
- limit = (1 + 1 / a) / s → limit = 1 + 1 / a
length-for-its-square: You used the length of the key. In k kᵀ it is squared: s.
- limit = (1 + 1 / a) / s → limit = (1 + 1 / a) / s**0.5
""",
)

# --- 5. a layer that knows the future ----------------------------------------------------------------------------


def layer(draw: Draw, time: int, d_model: int, heads: int, d_key: int, d_value: int) -> Arguments:
    time = max(2, time)
    W_qk, W_v = draw.normal(2, d_model, heads * d_key), draw.normal(d_model, heads * d_value)
    return draw.normal(time, d_model), W_qk, W_v, heads


CUBE = at("all sizes equal", time=3, d_model=3, heads=3, d_key=3, d_value=3)
VECTORS = ask(
    "memory.vectors",
    returns=("q", "k", "v"),
    inputs=layer,
    properties=[
        values("queries and keys of several heads", 1, at("several heads"), "q", "k"),
        values("values too, one head, one dimension", 1, at("one head", heads=1), at("one dimension", d_key=1), CUBE),
    ],
    planted="- both.norm(dim=3, keepdim=True) → both.norm(dim=2, keepdim=True)",
    mistakes="""
over-the-heads: Your vectors have length 1 over the heads. Each head has a key of its own, with its own length.
- both.norm(dim=3, keepdim=True) → both.norm(dim=1, keepdim=True)
all-heads-together: You gave all heads together length 1. Then the key of one head is shorter, and erases too little.
- both.norm(dim=3, keepdim=True) → both.norm(dim=(1, 3), keepdim=True)
queries-with-keys: You gave queries and keys together length 1. Each of them has its own length.
- both.norm(dim=3, keepdim=True) → both.norm(dim=(0, 3), keepdim=True)
over-the-text-too: You gave each head one length for the whole text. Every token has its own, or it knows the future.
- both.norm(dim=3, keepdim=True) → both.norm(dim=(2, 3), keepdim=True)
largest-for-length: You divided by the largest value. The length is the root of the sum of squares.
- both.norm(dim=3, keepdim=True) → both.abs().amax(3, keepdim=True)
one-number: You divided by one number for the whole text. Every token has its own length, or it knows the future.
- both.norm(dim=3, keepdim=True) → both.norm(keepdim=True)
squared: You divided by the squared length. The length is its root.
- both.norm(dim=3, keepdim=True) → both.square().sum(3, keepdim=True)
sum-for-length: You divided by the sum of the absolute values. The length is the root of the sum of squares.
- both.norm(dim=3, keepdim=True) → both.abs().sum(3, keepdim=True)
mean-for-sum: You divided by the root of the *mean* of squares. The length is the root of their sum.
- both.norm(dim=3, keepdim=True) → both.square().mean(3, keepdim=True).sqrt()
values-normalised: You gave the *values* length 1 as well. Only queries and keys have it.
- return q, k, v.transpose(0, 1) → return q, k, (v / v.norm(dim=2, keepdim=True)).transpose(0, 1)
not-normalised: Your vectors keep their lengths. They should have length 1.
- both.norm(dim=3, keepdim=True) → torch.ones(())
""",
)

WRONG_LINE = wrong_line(
    "memory.wrong_line",
    VECTORS,
    mistakes="""
time-suspected: Line {time = } is right: the rows of x are the tokens.
view-suspected: Line {view(2} is right: the dimensions of a head lie side by side in the columns of W.
transpose-suspected: Line {both.transpose} is right: it swaps the axes of the text and the heads. What has that changed
for the next line?
division-suspected: Line {clamp} is right: it divides each vector by its length, if that is its length.
values-suspected: Line {(x @ W_v)} is right: values are split like queries and keys, and are not normalised.
return-suspected: Line {return} is right: the values get the same order of axes as queries and keys.
""",
)

# --- 6. when is erasing a mistake? -------------------------------------------------------------------------------

page = on_the_page("the five seeds of the page", 16, 0.95, [[4, 1], [4, 2], [32, 1]], [0, 1, 2, 3, 4])


def situations(draw: Draw) -> list[Case]:
    """Few dimensions, and stronger fading; then a load at which both rules are nearly alike, and seeds differ."""
    some = [[draw.integer(2, 3), 3], [draw.integer(20, 30), 2]]
    return [
        case("other situations", draw.integer(6, 8), 0.9, some, other_seeds(draw)),
        case("rules that are nearly alike", 16, 0.95, [[16, 1], [17, 1], [18, 1]], other_seeds(draw)),
    ]


WHICH_FORGETS = ask(
    "memory.which_forgets",
    returns=("prediction", "errors", "signs"),
    properties=[
        predicted(0.25, page, 4),
        values("the errors of every seed", 4.25, page, situations, "errors", tolerance=1e-3),
        own_signs("errors", 2.5, Both((page, situations)), "errors", "pairs"),
    ],
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- random_texts(d, keys, times, seed) → random_texts(d, keys, times, seeds[0])
one-situation-repeated: Your situations are all the same. Each has its own number of keys, and of writes.
- random_texts(d, keys, times, seed) → random_texts(d, *situations[0], seed)
rules-swapped: In each situation your columns are in the wrong order: first erase, then fade.
- for a, b in ((1.0, 1.0), (keep, 0.0)) → for a, b in ((keep, 0.0), (1.0, 1.0))
columns-by-rule: You put all situations of *erase* first, then those of *fade*. Each situation has its two columns
side by side.
- errors.append(row) → errors.append(row[0::2] + row[1::2])
- range(0, len(row), 2)] for row in errors]
+ range(len(row) // 2)] for row in errors]
- row[i] < row[i + 1] → row[i] < row[i + len(row) // 2]
erase-also-fades: Your rule *erase* fades as well. Its a is 1.
- ((1.0, 1.0), (keep, 0.0)) → ((keep, 1.0), (keep, 0.0))
fade-also-erases: Your rule *fade* erases as well. Its b is 0.
- ((1.0, 1.0), (keep, 0.0)) → ((1.0, 1.0), (keep, 1.0))
nothing-fades: Your rule *fade* does not fade. Its a is `keep`.
- ((1.0, 1.0), (keep, 0.0)) → ((1.0, 1.0), (1.0, 0.0))
page-only: You used the numbers of the page, `keep` = 0.95 or d = 16. Both are arguments.
- (keep, 0.0)) → (0.95, 0.0))
or
^ d, keep = 16, 0.95
fade-writes-less: Your rule *fade* writes with 1 − a. Its w is 1.
- a * one, b * one, one, empty) → a * one, b * one, (1.0 if b else 1 - a) * one, empty)
not-emptied: Your second rule goes on with the matrix of the first one. Each begins with zeros.
-         for a, b in ((1.0, 1.0), (keep, 0.0)):
-             _, _, S = step_by_step(k, k, v, a * one, b * one, one, empty)
+         S = empty
+         for a, b in ((1.0, 1.0), (keep, 0.0)):
+             _, _, S = step_by_step(k, k, v, a * one, b * one, one, S)
sum-for-mean: Your errors are sums over the dimensions. Take the mean over texts, keys and dimensions.
- .square().mean() → .square().sum(-1).mean()
root-taken: You took the root. The error is the mean *squared* difference.
- float((asked @ S - newest).square().mean()) → float((asked @ S - newest).square().mean().sqrt())
absolute-difference: You took absolute differences. The error is the mean *squared* difference.
- .square().mean() → .abs().mean()
outputs-for-asked: You compared what is read while the text is written. Ask after its end, with `asked` and the last
matrix.
- _, _, S = step_by_step(k, k, v, a * one, b * one, one, empty)
+ y, _, S = step_by_step(k, k, v, a * one, b * one, one, empty)
- float((asked @ S - newest).square().mean()) → float((y - v).square().mean())
signs-of-the-errors: Your signs are those of the errors, which are always positive. Compare the two rules.
- 1 if row[i] < row[i + 1] else -1 → 1 if row[i] > 0 else -1
signs-reversed: Your signs are reversed: 1 means that *erase* has the lower error.
- 1 if row[i] < row[i + 1] else -1 → -1 if row[i] < row[i + 1] else 1
compared-with-zero-memory: You compared erasing with the memory that returns zero. Compare it with fading.
- row[i] < row[i + 1] → row[i] < 1
neighbours-compared: You compared every column with the next one, also across situations. Compare the two rules of one
situation.
- range(0, len(row), 2) → range(len(row) // 2)
ones-and-zeros: You wrote 0 where fading has the lower error. It is −1.
- else -1 → else 0
not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 3 → prediction = 0
""",
)

# --- 7. bytes ----------------------------------------------------------------------------------------------------


def sizes(draw: Draw, longer: bool = True, every: int = 0) -> Arguments:
    """A text that is longer than the window, or shorter; a mixture with several layers of each kind."""
    every = every or draw.integer(3, 5)
    shared = draw.integer(2, 4)
    window = draw.integer(10, 20)
    n = draw.integer(50, 90) if longer else draw.integer(3, 8)
    layers, heads = every * draw.integer(2, 4), shared * draw.integer(2, 3)
    heads += shared * (heads == layers)
    return n, layers, heads, shared, 2 * draw.integer(4, 9) + 1, window, every


long = at("a long text", sizes)
HELD = ask(
    "memory.held",
    returns=("cache", "window", "matrices", "mixture", "even"),
    properties=[
        values("the cache", 0.5, long, "cache"),
        values("the window", 0.25, long, at("a short text", sizes, longer=False), "window"),
        values("the matrices", 0.5, long, "matrices"),
        values("the mixture", 0.75, long, at("every second layer", sizes, every=2), "mixture"),
        values("the break-even", 0.5, long, "even"),
    ],
    mistakes="""
keys-only: Your cache holds keys or values. It holds both.
- 2 * 2 * shared * d → 2 * shared * d
all-heads-cached: Your cache has keys and values for every query head. Only the `shared` ones are stored.
- 2 * 2 * shared * d → 2 * 2 * heads * d
numbers-for-bytes: You counted numbers. One of a cache takes 2 bytes, one of a matrix 4.
- token, matrix = 2 * 2 * shared * d, 4 * heads * d * d → token, matrix = 2 * shared * d, heads * d * d
single-precision-cache: Your cache has 4 bytes per number. It is kept in half precision.
- 2 * 2 * shared * d → 4 * 2 * shared * d
half-precision-matrices: Your matrices have 2 bytes per number. They are kept in single precision.
- 4 * heads * d * d → 2 * heads * d * d
matrices-for-shared-heads: Your matrices are those of the shared heads. Every query head has one.
- 4 * heads * d * d → 4 * shared * d * d
one-matrix-for-all-heads: Your layers have one matrix for all heads together. Each head has its own, of d × d.
- 4 * heads * d * d → 4 * (heads * d) ** 2
one-row-for-a-matrix: Your matrices have d numbers. They have d × d.
- 4 * heads * d * d → 4 * heads * d
one-layer: You counted one layer. The cache and the matrices are there in every layer.
- return layers * token * n, layers * token * min(n, window), layers * matrix
+ return token * n, token * min(n, window), matrix
window-always-full: Your window is full even if the text is shorter. It holds the smaller of both numbers of tokens.
- min(n, window) → window
window-never-full: Your window grows like the cache. It holds `window` tokens at most.
- layers * token * min(n, window) → layers * token * n
layers-swapped: In your mixture the two kinds of layer are swapped: one of `every` has a *cache*.
- full * token * n + (layers - full) * matrix → (layers - full) * token * n + full * matrix
both-in-every-layer: In your mixture the layers with a cache have matrices, too. A layer has one or the other.
- full * token * n + (layers - full) * matrix → full * token * n + layers * matrix
one-cache-in-all: Your mixture has a single cache. One of `every` layers has one.
- full = layers // every → full = 1
every-is-the-number: You gave `every` layers a cache. One of `every` layers has one.
- full = layers // every → full = every
still-equal: At your number of tokens both take the same. Return the first number at which the cache takes *more*.
- matrix // token + 1 → matrix // token
or
- matrix // token + 1 → -(-matrix // token)
half-precision-compared: Your number of tokens would be right if the numbers of a matrix had 2 bytes. They have 4.
- matrix // token + 1 → matrix // (2 * token) + 1
whole-mixture-compared: You left out that the mixture has caches, too. They grow as fast as the same layers of the
cache, so only the other layers count.
- matrix // token + 1 → (layers - full) * matrix // (layers * token) + 1
""",
)

EXERCISES = exercises_in(__name__)
