"""Assignment "self_attention": sinusoids, rotations, biases, a window, the loss at all positions, heads that share.

The functions differ in form from `nlmcore.positions` and `nlmcore.attention`, which are modules with a cache: here each
function is one idea, on one text at a time.
"""

import functools

from torch import Tensor

from autograder.question.declare import exercises_in, holds, judged, question, shapes, values, ways
from autograder.question.draw import Draw
from autograder.question.judges import inputs_unchanged
from autograder.question.kinds import EQUAL
from autograder.question.laws.attention import boolean_mask
from autograder.question.laws.self_attention import (
    lengths_are_kept,
    output_of_shared_values,
    scores_depend_on_the_distance,
)
from autograder.question.sized import MAIN, ODD, at, beyond, largest, several, these
from autograder.question.special import at_points, experiment, formula, over_seeds, wrong_line
from autograder.question.specification import Case

# Attention, positions, the loss over a text.
_MODULES = ("attention", "convolutional", "fast", "feedforward", "metrics", "positions", "training")
CLOSED = (*(f"nlmcore.{name}" for name in _MODULES), "transformers")
ask = functools.partial(question, closed=CLOSED)

# --- 1. sinusoids, rotations, a bias for every distance --------------------------------------------------------


def sizes(draw: Draw, length: int, half: int) -> tuple[int, int]:
    return length, 2 * half


UNUSUAL = these(
    at("one position", length=1, half=2),
    at("two columns", length=largest(2), half=1),
    at("long", length=60, half=3),
    at("longer than 512", length=520, half=1),
)
SINUSOIDS = ask(
    "self_attention.sinusoids",
    returns=("table",),
    inputs=sizes,
    main=these(at("several positions", length=beyond(3)), at("one more pair", length=beyond(2), half=beyond(1))),
    properties=[
        shapes(0.25, name="one row per position"),
        values("the values", 2.75),
        values("short, narrow, long", 1, UNUSUAL),
    ],
    tolerance=1e-3,
    mistakes="""
in-two-blocks: Your sines fill the first half and your cosines the second. In this table they alternate: sine in column
2i, cosine in column 2i + 1. (Both layouts are in use; a model must keep to one.)
- [:, 0::2], table[:, 1::2] → [:, : d // 2], table[:, d // 2 :]
counted-from-one: Your first position is 1. It should be 0: its sines are 0 and its cosines 1.
- torch.arange(length)[:, None] → torch.arange(1, length + 1)[:, None]
half-the-exponent: Your exponent is i/d, where i is the number of the *pair*. It should be 2i/d, the number of the
column. Without the 2 the slow half of the waves is missing.
- torch.arange(0, d, 2) → torch.arange(d // 2)
twice-the-exponent: Your exponent is twice the column, over d. But i numbers the *pairs*, and 2i is the column already:
arange(0, d, 2) contains the 2.
- torch.arange(0, d, 2) → 2 * torch.arange(0, d, 2)
sine-and-cosine-exchanged: You swapped sine and cosine: the sine belongs in the even columns.
- angle.sin(), angle.cos() → angle.cos(), angle.sin()
each-column-its-own: Your exponent grows with every column. A sine and the cosine next to it share one wavelength:
together they are the hand of one clock.
+ column = torch.arange(d)
+ angle = torch.arange(length)[:, None] / 10_000 ** (column / d)
+ return torch.where(column % 2 == 0, angle.sin(), angle.cos())
degrees: Your angles are in degrees. The formula gives them in radians.
- angle.sin(), angle.cos() → angle.deg2rad().sin(), angle.deg2rad().cos()
last-wave-at-the-end: Your last pair has exactly the divisor 10,000, as in tensor2tensor's code. By the formula it has
10,000^((d − 2)/d).
- 10_000 ** (torch.arange(0, d, 2) / d) → 10_000 ** torch.linspace(0, 1, d // 2)
slowest-first: Your first pair is the slowest. Pair 0 has the divisor 1.
- (torch.arange(0, d, 2) / d) → (torch.arange(0, d, 2) / d).flip(0)
positions-as-parts: Your positions run from 0 to 1. They are integers: 0, 1, 2, …
- torch.arange(length)[:, None] → torch.linspace(0, 1, length)[:, None]
table-cut: Your table ends after 512 positions. Make as many rows as are asked for.
- return table → return table[:512]
""",
)


def vectors(draw: Draw, time: int, half: int, base: float = 10_000.0) -> tuple[Tensor, float]:
    return draw.normal(time + 1, 2 * half), base


def everywhere(draw: Draw, half: int) -> Case:
    """The same query and the same key at every position, so their scores may depend only on the distance."""
    query_and_key = (draw.normal(1, 2 * half).expand(draw.largest + 3, -1).contiguous() for _ in range(2))
    return several(*((x, 10_000.0) for x in query_and_key))


SHIFTED = at("one query and one key at all positions", everywhere)
ROTATE = ask(
    "self_attention.rotate",
    returns=("rotated",),
    inputs=vectors,
    main=at("base 10,000"),
    odd=[
        at("base 500", time=3, half=2, base=500.0),
        at("base 20, the same sizes", time=3, half=2, base=20.0),
        at("one position", time=0, half=2),
        at("two columns", half=1, base=50.0),
    ],
    properties=[
        holds("lengths are preserved", 0.5, SHIFTED, lengths_are_kept, about=["rotated"]),
        holds("scores depend only on the distance", 1.5, SHIFTED, scores_depend_on_the_distance, about=["rotated"]),
        values("the values", 1.5, "rotated"),
        values("other bases, one position", 1, ODD, "rotated"),
        judged("x is unchanged", 0.5, SHIFTED, inputs_unchanged),
    ],
    mistakes="""
neighbours-as-pairs: Your pairs are neighbours, 2i and 2i + 1. That is the other layout. Here column i is paired with
column i + d/2, as in SmolLM2, whose weights make no sense with the wrong one.
- .chunk(2, dim=-1) → [:, 0::2], x[:, 1::2]
- cat([a * cos - b * sin, a * sin + b * cos], dim=-1) → stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(1)
or
- .chunk(2, dim=-1) → [:, 0::2], x[:, 1::2]
turned-backwards: You rotate in the wrong direction: the minus goes with the sine in the *first* half, −b sin.
- angle.sin() → -angle.sin()
minus-forgotten: The minus is missing: you return a cos + b sin and a sin + b cos. That is not a rotation: it changes
the lengths of the vectors.
- a * cos - b * sin → a * cos + b * sin
counted-from-one: Your first position is 1. It should be 0, so that the first vector is unchanged.
- torch.arange(time) → torch.arange(1, time + 1)
half-the-exponent: Your exponent is i/d. It should be 2i/d, where i is the number of the pair: the last pairs rotate
slowly.
- torch.arange(0, d, 2) → torch.arange(d // 2)
one-angle-for-all: You rotate all pairs by the same angle. Pair i rotates by position / base^(2i/d): the first fast, the
last slowly, like the hands of a clock.
- base ** (torch.arange(0, d, 2) / d) → torch.ones(d // 2)
new-a-for-b: You computed the second half from the new first half: once a is overwritten, its old values are gone.
Compute both from the old a and b.
- return torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
+ a = a * cos - b * sin
+ return torch.cat([a, a * sin + b * cos], dim=-1)
base-ignored: You always use base 10,000. The base is an argument: SmolLM2's is 100,000.
- base ** → 10_000.0 **
changes-its-input: The result is right, but x has changed: chunk and slices are views, and an assignment to x[...]
writes into the caller's tensor. Join the halves with torch.cat, or work on x.clone().
- torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
+ x.copy_(torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1))
slowest-first: Your first pair is the slowest. Pair 0 rotates by the position itself.
- (torch.arange(0, d, 2) / d) → (torch.arange(0, d, 2) / d).flip(0)
last-angle-at-the-end: Your last pair rotates by exactly position / base. Its exponent is (d − 2)/d, not 1.
- (torch.arange(0, d, 2) / d) → torch.linspace(0, 1, d // 2)
outermost-as-pairs: You pair the first column with the last. Column i is paired with column i + d/2.
- cat([a * cos - b * sin, a * sin + b * cos]
+ cat([a * cos - b.flip(1) * sin, (a * sin + b.flip(1) * cos).flip(1)]
reflected: Your second half has the wrong sign: a sin + b cos, not minus that. You reflect the pairs.
- , a * sin + b * cos] → , -a * sin - b * cos]
only-half-of-the-pairs: You rotate only the first pairs, as some models do. Here all rotate.
- cos, sin = angle.cos(), angle.sin()
+ angle[:, max(1, d // 4) :] = 0
+ cos, sin = angle.cos(), angle.sin()
counted-from-the-end: You count positions from the end. Row 0 is at position 0 and stays as it is.
- torch.arange(time)[:, None] → torch.arange(time - 1, -1, -1)[:, None]
angles-added: You add sines and cosines to x, as in 1a. Rotate: multiply by them.
- [a * cos - b * sin, a * sin + b * cos] → [a + sin, b + cos]
""",
)


def biases(draw: Draw, heads: int, reach: int, more: int = 1) -> tuple[Tensor, int]:
    """Up to the distance `reach`, for a text that has `more` tokens."""
    return draw.normal(heads, 2 * reach + 1), reach + more


FAR = these(
    at("a text longer than the maximum distance", more=4),
    at("one position", reach=2, more=-1),
    at("one head", heads=1, more=2),
)
RELATIVE_BIAS = ask(
    "self_attention.relative_bias",
    returns=("bias",),
    inputs=biases,
    main=at("a text within the maximum distance"),
    properties=[
        shapes(0.25, name="one value per head, query and key"),
        values("up to the maximum distance", 1.75),
        values("larger distances, and one position", 1, FAR),
    ],
    mistakes="""
direction-reversed: You swapped before and after. The distance is key − query, so a key *before* the query has a
negative distance, on the left of the table.
- position[None, :] - position[:, None] → position[:, None] - position[None, :]
distance-without-sign: You use |key − query|, so a key before the query and one after it get the same bias. The table
has a column for each.
- position[None, :] - position[:, None] → (position[None, :] - position[:, None]).abs()
around-the-end: Beyond the maximum distance you wrap around to the other side of the table. All larger distances share
the outermost column: use `clamp`.
- distance.clamp(-reach, reach) + reach → (distance + reach) % table.shape[1]
nothing-beyond-the-reach: Beyond the maximum distance your bias is 0. All larger distances share the outermost column:
`clamp` the distance.
- + reach] → + reach].masked_fill(distance.abs() > reach, 0.0)
off-by-one: Your columns are off by one: distance 0 is the middle of the table, column (columns − 1) / 2.
- distance.clamp( → (distance + 1).clamp(
past-only: Your keys after the query have no bias. The table has columns for them as well.
- + reach] → + reach].tril()
column-not-shifted: You do not add r. Column 0 is distance −r, and a negative index counts from the end of the table.
- distance.clamp(-reach, reach) + reach → distance.clamp(-reach, reach)
limited-before-the-shift: You limit the distance to 0, …, 2r. Limit it to −r, …, r, then add r.
- distance.clamp(-reach, reach) + reach → distance.clamp(0, 2 * reach)
first-head-for-all: All heads get the bias of the first one.
- return table[:, → return table[:1].expand_as(table)[:,
heads-last: Your heads are the last axis. The shape is (head, query, key).
- return table[:, → return table.T[
as-wide-as-the-text: You take the table to be as wide as the text needs. Beyond r, distances share a column.
- distance.clamp(-reach, reach) + reach → (distance + time - 1).clamp(max=2 * reach)
""",
)

# --- 2 and 3. a window, the losses at all positions, heads that share keys and values --------------------------


def window(draw: Draw, time: int, window: int) -> tuple[int, int]:
    return time, window


SHORT = these(at("a window of 2", time=largest(2), window=2), at("a window of 3", time=largest(3), window=3))
WINDOWS = these(
    at("a window of 1: only the word itself", time=largest(1), window=1),
    at("a window longer than the text", time=largest(), window=largest(3)),
    at("one position", time=1, window=2),
)
WINDOW_MASK = ask(
    "self_attention.window_mask",
    returns=("mask",),
    inputs=window,
    main=SHORT,
    properties=[
        judged("a boolean mask", 0.5, MAIN, boolean_mask),
        values("short windows", 0.8),
        values("a window of one, and a long one", 0.7, WINDOWS),
    ],
    mistakes="""
one-too-far: Your window is one word too long: a window of w holds the word itself and the w − 1 words before it.
- back < window → back <= window
both-sides: Your window also reaches into the future. Queries look back only: key ≤ query.
- (back >= 0) & (back < window) → back.abs() < window
numbers-to-add: Your mask is one to add to the scores, 0 and −∞. Return a boolean one: True = may attend.
- return (back >= 0) & (back < window) → return torch.where((back >= 0) & (back < window), 0.0, -math.inf)
true-means-hidden: Your mask is inverted. True = may attend.
- return (back >= 0) & (back < window) → return ~((back >= 0) & (back < window))
rows-and-columns-exchanged: You swapped rows and columns: a row is a query and attends to keys on its left.
- return (back >= 0) & (back < window) → return ((back >= 0) & (back < window)).T
window-ignored: Your mask is the plain causal mask, which allows the whole past. Mask keys that are `window` or more
positions back.
- (back >= 0) & (back < window) → back >= 0
blocks-for-windows: You cut the text into blocks. A window moves with its query: always the last `window` words.
- return → return (position[:, None] // window == position // window) &
around-the-start: Your first words see the end of the text: the window goes around. There is nothing before word 0.
- (back >= 0) & (back < window) → back % time < window
ahead-not-hidden: Your mask limits how far back a query looks, but lets it look ahead.
- (back >= 0) & (back < window) → back < window
first-word-always-seen: Every query of yours sees the first word. Only the window counts.
- (back >= 0) & (back < window) → (back >= 0) & ((back < window) | (position == 0))
""",
)


def batch(draw: Draw, time: int, lengths: tuple[int, ...] = (0, 0)) -> tuple[Tensor, Tensor]:
    """lengths: of the sentences, or by how much they are shorter than the time."""
    vocab = draw.largest + 3
    tokens = draw.integers(1, vocab - 1, len(lengths), time)
    for row, length in zip(tokens, lengths, strict=True):
        row[length if length > 0 else time + length :] = 0
    return draw.normal(len(lengths), time, vocab), tokens


def equal(draw: Draw) -> tuple[Tensor, Tensor]:
    return batch(draw, draw.largest + 3, (0,) * (draw.largest + 3))


def sure(draw: Draw) -> tuple[Tensor, Tensor]:
    """Token 2 is all but certain everywhere; the first prediction is wrong, the second right."""
    logits, tokens = batch(draw, draw.largest + 1)
    logits[..., 2] += 200
    tokens[:, 1], tokens[:, 2] = 1, 2
    return logits, tokens


PADDED = at("sentences of three lengths", time=largest(3), lengths=(0, 2, -2))
TINY = these(
    at("one prediction", time=2, lengths=(2,)),
    at("more padding than the longest needs", time=6, lengths=(3, 2)),
    at("a sentence of one token, with nothing to predict", time=4, lengths=(4, 1)),
)
WITH_A_LITTLE = "- torch.log_softmax(logits[:, :-1], dim=-1) → (torch.softmax(logits[:, :-1], dim=-1) + 1e-{}).log()"
NEXT_TOKEN_LOSS = ask(
    "self_attention.next_token_loss",
    returns=("loss", "losses"),
    inputs=batch,
    main=these(at("two sentences of equal length", time=largest(1)), at(EQUAL, equal)),
    properties=[
        shapes(0.25, name="one loss per prediction"),
        values("without padding: the losses", 1, "losses"),
        values("padding costs nothing", 1, PADDED, "losses"),
        values("the mean", 1, PADDED, "loss"),
        values("very short sentences", 0.25, TINY),
        values("a very confident model", 0.5, at("confident of one token everywhere, and mostly wrong", sure)),
    ],
    mistakes=f"""
not-shifted: You compare the logits at each position with the token at *that* position, which the model has just read.
They predict the next one: logits[:, t] belong to tokens[:, t + 1].
- tokens[:, 1:] → tokens[:, :-1]
or
- logits[:, :-1] → logits[:, 1:]
shifted-backwards: You shifted in the wrong direction: your logits are compared with the *previous* token. They predict
the next one.
- log_p = torch.log_softmax(logits[:, :-1], dim=-1)
- losses = -log_p.gather(-1, targets[..., None])[..., 0]
+ log_p = torch.log_softmax(logits[:, 1:], dim=-1)
+ losses = -log_p.gather(-1, tokens[:, :-1, None])[..., 0]
padding-counted: You also ask the model to predict padding (id 0). Padding is not a word: its loss is 0, and the mean
does not count it.
- losses = torch.where(targets == 0, 0.0, losses)
- return losses.sum() / (targets != 0).sum(), losses
+ return losses.mean(), losses
divided-by-all: The losses are right, but you divided by all positions, padding included: the same sentence costs less
if it is padded more. Divide by the number of predicted tokens.
- losses.sum() / (targets != 0).sum() → losses.mean()
mean-of-sentences: You averaged the per-sentence means, so a token of a short sentence counts more. Sum everything, then
divide once.
- losses.sum() / (targets != 0).sum() → (losses.sum(1) / (targets != 0).sum(1).clamp(min=1)).mean()
padding-of-what-was-read: You look for padding among the input tokens. Look among the *targets*, tokens[:, 1:]: after
its last word a sentence has nothing left to predict.
- torch.where(targets == 0, 0.0, losses) → torch.where(tokens[:, :-1] == 0, 0.0, losses)
- (targets != 0).sum() → (tokens[:, :-1] != 0).sum()
padding-not-zeroed: The mean is right, but the losses that you return are not 0 where the target is padding.
- .sum(), losses → .sum(), -log_p.gather(-1, targets[..., None])[..., 0]
summed: This is the sum of the losses. For the mean, divide it by the number of predicted tokens.
- losses.sum() / (targets != 0).sum() → losses.sum()
in-bits: Your losses are in bits, from log2. This course uses the natural logarithm.
- torch.log_softmax(logits[:, :-1], dim=-1) → torch.log_softmax(logits[:, :-1], dim=-1) / math.log(2)
logarithm-of-zero: You take the softmax first and then the logarithm. A very small probability is rounded to 0 on the
way, and its loss is lost: ln 0 is −∞, and ln(0 + a little) only says how little. log_softmax does both in one step:
ln softmax(z)ⱼ = zⱼ − ln Σ exp z.
- torch.log_softmax(logits[:, :-1], dim=-1) → torch.softmax(logits[:, :-1], dim=-1).log()
{ways(WITH_A_LITTLE, *range(6, 17))}
overflow: exp overflows: e⁹⁰ is more than a float32 holds. Use log_softmax, or first subtract from each row of logits
its largest.
- torch.log_softmax(logits[:, :-1], dim=-1)
+ (logits[:, :-1].exp() / logits[:, :-1].exp().sum(-1, keepdim=True)).log()
or
- torch.log_softmax(logits[:, :-1], dim=-1) → logits[:, :-1] - logits[:, :-1].exp().sum(-1, keepdim=True).log()
padding-out-of-the-softmax: You took id 0 out of the softmax. It is never a target, but its logit is in the denominator
like any other.
- log_p = torch.log_softmax(logits[:, :-1], dim=-1)
+ log_p = torch.log_softmax(torch.cat([logits[:, :-1, :1] - math.inf, logits[:, :-1, 1:]], dim=-1), dim=-1)
losses-limited: You limit the losses to 100. A model that is sure and wrong pays more.
- torch.where(targets == 0, 0.0, losses) → torch.where(targets == 0, 0.0, losses.clamp(max=100))
softmax-over-the-time: Your softmax runs over the positions. The words compete at each position: the last axis.
- logits[:, :-1], dim=-1 → logits[:, :-1], dim=1
softmax-twice: You took the softmax twice: `cross_entropy` and `log_softmax` want logits, not probabilities.
- torch.log_softmax(logits[:, :-1], dim=-1) → torch.log_softmax(torch.softmax(logits[:, :-1], dim=-1), dim=-1)
divided-by-the-sentences: You divided by the number of sentences. Divide by the number of predicted tokens.
- (targets != 0).sum() → len(tokens)
perplexity: Your first result is the perplexity, e to the power of the mean loss. Return the mean loss.
- losses.sum() / (targets != 0).sum() → (losses.sum() / (targets != 0).sum()).exp()
losses-of-0-not-counted: You count the losses above 0. A prediction that is right and sure has the loss 0, and it
counts.
- (targets != 0).sum() → (losses > 0).sum()
last-token-left-out: You leave out the last token of each sentence. It is predicted like any other.
- losses = torch.where(targets == 0, 0.0, losses)
- return losses.sum() / (targets != 0).sum(), losses
+ after = torch.cat([targets[:, 1:], torch.ones_like(targets[:, :1])], dim=1)
+ losses = torch.where((targets == 0) | (after == 0), 0.0, losses)
+ return losses.sum() / ((targets != 0) & (after != 0)).sum(), losses
""",
)


def qkv(draw: Draw, sets: int, group: int, size: float = 1.0) -> tuple[Tensor, Tensor, Tensor]:
    """size: how large the queries are."""
    time = draw.largest + 1
    return size * draw.normal(sets * group, time, 3), draw.normal(sets, time, 3), draw.normal(sets, time, 2)


def two_texts(draw: Draw, sets: int, group: int) -> Case:
    """Two calls that differ in their queries; known: the values that each head reads."""
    q, k, v = qkv(draw, sets, group)
    read = v.repeat_interleave(group, 0)
    return several((q, k, v), (draw.normal(*q.shape), k, v), known=(read, read))


def below(draw: Draw) -> tuple[Tensor, Tensor, Tensor]:
    """A word's own score is −289, that of the first, its only one, −866: too far below the others for a float64."""
    _, k, v = qkv(draw, 2, 3)
    q = -500 * k / (k * k).sum(-1, keepdim=True)
    q[:, 0] *= 3
    return q.repeat_interleave(3, 0), k, v


OUTPUTS = these(
    at("six heads share two", two_texts, sets=2, group=3), at("six heads share three", two_texts, sets=3, group=2)
)
EXTREMES = these(at("all heads share one", sets=1, group=4), at("every head has its own", sets=3, group=1))
LARGE = these(at("scores of a hundred and more", sets=2, group=3, size=60.0), at("below minus a hundred", below))
GROUPED_ATTENTION = question(
    "self_attention.grouped_attention",
    returns=("output", "weights"),
    inputs=qkv,
    main=these(
        at("six heads share two", sets=2, group=3),
        at("six heads share three", sets=3, group=2),
        at(EQUAL, lambda draw: tuple(draw.normal(4, 4, 4) for _ in range(3))),
    ),
    properties=[
        shapes(0.5),
        values("which head reads which keys", 2, "weights"),
        holds("the output, given your weights", 1.25, OUTPUTS, output_of_shared_values),
        values("one set for all, and one for each", 0.75, EXTREMES),
        values("very large scores", 0.5, LARGE, "weights"),
    ],
    numpy=True,
    mistakes="""
taking-turns: Your heads take turns: head 0 gets keys 0, head 1 keys 1, … Neighbouring heads should share: with six
heads and two sets, heads 0, 1, 2 read set 0. Use `np.repeat`, not `np.tile`.
- repeat(k, group, axis=0), np.repeat(v, group, axis=0) → tile(k, (group, 1, 1)), np.tile(v, (group, 1, 1))
first-for-all: All your heads read the first set of keys and values. Head h reads set h // (heads per set).
- np.repeat(k, group, axis=0), np.repeat(v, group, axis=0) → k[[0] * len(q)], v[[0] * len(q)]
future-not-hidden: The future is open: a word attends to words after it. Mask them before the softmax; then the first
row is 1, 0, 0, …
- scores = np.where(np.tri(time, dtype=bool), scores, -math.inf) →
hidden-scores-zero: You set the scores of later words to 0. A score of 0 is an ordinary score: exp(0) = 1, so they keep
a weight. Only −∞ removes them.
- -math.inf → 0.0
hidden-after-the-softmax: You removed later words after the softmax: their weights are 0, but the rest no longer sum to
1. Mask them before it.
- scores = np.where(np.tri(time, dtype=bool), scores, -math.inf) →
- weights = e / e.sum(axis=-1, keepdims=True) → weights = e / e.sum(axis=-1, keepdims=True) * np.tri(time)
not-even-itself: A word cannot attend to itself, and the first one has nothing to attend to. Each word attends to itself
and to the words before it: the diagonal is allowed.
- np.tri(time, → np.tri(time, k=-1,
or
- (time, dtype=bool), scores, -math.inf → (time, k=-1, dtype=bool), scores, -1e9
or
- np.tri(time, → np.tri(time, k=-1,
- weights = e / e.sum(axis=-1, keepdims=True) → weights = np.nan_to_num(e / e.sum(axis=-1, keepdims=True))
scaled-by-all-heads: You divided by the square root of the width of all heads together. The dot products of one head
have `d_head` terms: divide by √d_head.
- math.sqrt(q.shape[-1]) → math.sqrt(q.shape[-1] * len(q))
not-scaled: The division by √d_head is missing.
-  / math.sqrt(q.shape[-1]) →
root-of-value-width: You divided by the square root of the values' width. d_head is the width of queries and keys.
- math.sqrt(q.shape[-1]) → math.sqrt(v.shape[-1])
values-take-turns: Your heads read the right keys, but their values take turns: head 0 gets values 0, head 1 values 1, …
Keys and values belong together: use the same set for both.
- np.repeat(v, group, axis=0) → np.tile(v, (group, 1, 1))
overflow: exp overflows: e⁹⁰ is more than a float32 holds, and infinity divided by infinity is NaN. First subtract the
largest score of each row.
- np.exp(scores - scores.max(axis=-1, keepdims=True)) → np.exp(scores)
hidden-not-far-enough: You hide later words with a number that allowed scores can fall below, such as −100. Use −∞.
- -math.inf → -100.0
or
- -math.inf → -50.0
or
- -math.inf → -10.0
largest-of-all-subtracted: You subtract one number from all rows, or a hidden score. In a row far below it, every
exponential is 0. Subtract from each row its own largest *allowed* score.
- scores.max(axis=-1, keepdims=True) → scores.max()
or
- scores = np.where(np.tri(time, dtype=bool), scores, -math.inf) →
- np.exp(scores - scores.max(axis=-1, keepdims=True))
+ np.exp(scores - scores.max(axis=-1, keepdims=True)) * np.tri(time)
scores-limited: You limit the scores, so large ones become equal. Subtract the largest of each row instead.
- scores = np.where(np.tri(time, dtype=bool), scores, -math.inf)
+ scores = np.where(np.tri(time, dtype=bool), np.clip(scores, -50, 50), -math.inf)
past-hidden: You hide the words *before* each word. It sees itself and those.
- scores = np.where(np.tri(time, dtype=bool), scores, -math.inf)
+ scores = np.where(np.tri(time, dtype=bool).T, scores, -math.inf)
weights-of-a-group-shared: The heads of a group share keys and values, not weights: each has its own queries.
- weights = e / e.sum(axis=-1, keepdims=True)
+ weights = e / e.sum(axis=-1, keepdims=True)
+ weights = np.repeat(weights.reshape(-1, group, time, time).mean(1), group, axis=0)
""",
)

# --- 4 to 6. a rotary score as a formula, a colleague's step with kept keys, and what is left at a distance ----

points = at_points(a=(-2.0, -0.5), b=(0.5, 2.0), c=(0.5, 2.0), e=(-2.0, -0.5), r=(2, 30), w=(0.1, 1.5))
ROTATED_SCORE = ask(
    "self_attention.rotated_score",
    returns=("score", "largest"),
    properties=[
        formula("the score", 1.25, points, "score"),
        formula("the largest score", 0.75, points, "largest"),
    ],
    mistakes="""
distance-reversed: You rotated by −r w. The key is r positions *after* the query, so seen from the query it is rotated
forwards.
- math.sin(r * w) → -math.sin(r * w)
terms-without-cross: You left out the mixed products of a with e and of b with c. A rotation mixes the two coordinates
of the key.
- a * (c * cos - e * sin) + b * (c * sin + e * cos) → (a * c + b * e) * cos
sign-of-one-term: The sign of one mixed product is wrong: the first coordinate of a rotated vector has −e sin, the
second has +c sin.
- c * cos - e * sin → c * cos + e * sin
one-step-only: You rotated by w, the angle of one step. Over r positions it is r w.
* r * w → w
angles-divided: You divided the angle by the distance. It grows with the distance.
* r * w → w / r
largest-at-distance-zero: Your second result is the score at distance 0. Another angle may give more: the largest dot
product of two vectors is the product of their lengths.
- math.sqrt((a**2 + b**2) * (c**2 + e**2)) → a * c + b * e
lengths-squared: Your second result is the product of the squared lengths.
- math.sqrt((a**2 + b**2) * (c**2 + e**2)) → (a**2 + b**2) * (c**2 + e**2)
lengths-added: A dot product is bounded by the *product* of the lengths, not by their sum.
- math.sqrt((a**2 + b**2) * (c**2 + e**2)) → math.sqrt(a**2 + b**2) + math.sqrt(c**2 + e**2)
amplitudes-added: You added the sizes of the cosine's and the sine's factor. They are not largest at the same angle.
- math.sqrt((a**2 + b**2) * (c**2 + e**2)) → abs(a * c + b * e) + abs(b * c - a * e)
products-added: You added the sizes of two products. That bounds no other angle: the largest dot product is the product
of the lengths.
- math.sqrt((a**2 + b**2) * (c**2 + e**2)) → abs(a * c) + abs(b * e)
mean-of-squares: You took the mean of the squared lengths. The largest dot product is the product of the lengths.
- math.sqrt((a**2 + b**2) * (c**2 + e**2)) → (a**2 + b**2 + c**2 + e**2) / 2
""",
)


def step(draw: Draw, heads: int, time: int, d: int) -> tuple[Tensor, ...]:
    newest = (2 * draw.normal(heads, d) for _ in range(3))
    return *newest, draw.normal(heads, time, d), draw.normal(heads, time, d)


EDGES = these(at("one earlier token", heads=2, time=1, d=5), at("a single head", heads=1, time=4, d=3))
NEXT_TOKEN = ask(
    "self_attention.next_token",
    returns=("output",),
    inputs=step,
    main=at("several earlier tokens", time=beyond(3)),
    properties=[values("several earlier tokens", 1), values("one earlier token, and a single head", 1, EDGES)],
    planted="- q.shape[-1] → keys.shape[1]",
    mistakes="""
not-divided: Your scores are not divided at all. Divide them by the root of the width.
- / scale →
width-for-its-root: You divide by the width itself. Divide by its root.
- math.sqrt(q.shape[-1]) → q.shape[-1]
divided-by-the-heads: You divide by the root of the number of heads. The width is the last size.
- q.shape[-1] → q.shape[0]
itself-left-out: The newest token no longer reads itself: its own key and value belong to the others.
- keys = torch.cat([keys, k[:, None]], dim=1) → keys = keys
- values = torch.cat([values, v[:, None]], dim=1) → values = values
softmax-over-heads: Your softmax runs over the heads. Each head shares its weight among the tokens.
- torch.softmax(scores, dim=-1) → torch.softmax(scores, dim=0)
keys-read: You return a sum of keys. The weights belong to the values.
- weights, values) → weights, keys)
width-of-all-heads: You divide by the root of the width of all heads together. Each dot product has the width of one.
- math.sqrt(q.shape[-1]) → math.sqrt(q.numel())
orders-differ: The newest key comes first in your keys and last in your values. A weight then meets another's value.
- [keys, k[:, None]] → [k[:, None], keys]
""",
)

WRONG_LINE = wrong_line(
    "self_attention.wrong_line",
    NEXT_TOKEN,
    points=1,
    mistakes="""
keys-suspected: Line {keys = torch.cat} is right: the newest key joins the earlier ones at the end of the time axis.
values-suspected: Line {values = torch.cat} is right: the newest token reads its own value as well.
scores-suspected: Line {scores = } is right: one dot product per head and token, all divided by the same number.
softmax-suspected: Line {torch.softmax} is right: the last axis is the time, and no token lies in the future.
sum-suspected: Line {weights, values} is right: it adds up the values of each head with its weights.
""",
)

page, fresh = over_seeds(count=3)
NEAR = "1 < 0, 4 < 3"
FADING = experiment(
    "self_attention.fading",
    table="left",
    points=(0.5, 4.5, 3),
    claims=[f"{NEAR}, 2 < 1, 5 < 4", f"{NEAR}, 2 ~ 1, 5 ~ 4", f"{NEAR}, 2 < 1, 5 ~ 4", "0 ~ 1, 1 ~ 2, 3 ~ 4, 4 ~ 5"],
    page=page,
    fresh=fresh,
    rows="what is left for every seed",
    closed=CLOSED,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- vector(seed) → vector(seeds[0])
score-not-divided: Your numbers are the scores themselves. Divide each by the score at distance 0, so that vectors of
different lengths can be compared.
- / (x @ x) →
one-base-for-both: Your last three columns are those of base 100.
- x.repeat(65, 1), base → x.repeat(65, 1), 100.0
positions-doubled: You rotated the rotated rows once more, so every distance counts twice.
- rotate(x.repeat(65, 1), base) → rotate(rotate(x.repeat(65, 1), base), base)
distance-off-by-one: Position 0 exists: the row at distance r from row 0 is row r.
- turned[r] → turned[r - 1]
best-seed-picked: You return the largest numbers over all seeds, in every row. A result that may choose its seed looks
better than it is: keep the numbers of every seed.
- conclusion = 2 → left = torch.tensor(left).amax(0).expand(len(seeds), 6); conclusion = 2
bound-believed: From 16 to 64 your own numbers do not fall for every seed, with either base, and the mean difference is
within what chance explains. A bound that falls does not make the score fall.
- conclusion = 2 → conclusion = 1
small-base-believed: With base 100 the score falls from 16 to 64 for some of your seeds, not for all, and the mean
difference is within what chance explains.
- conclusion = 2 → conclusion = 3
nothing-seen: From 4 to 16 your own numbers decide it: the score falls for every seed, with both bases.
- conclusion = 2 → conclusion = 4
divided-by-the-length: You divided by the length of the vector. The score at distance 0 is its square.
- / (x @ x) → / x.norm()
bases-side-by-side: Your columns alternate between the bases. First come the three distances of base 100.
- left.append(row) → left.append([row[k] for k in (0, 3, 1, 4, 2, 5)])
signs-lost: You return absolute values. What is left may be below 0.
- float(turned[0] → abs(float(turned[0]
- / (x @ x)) for → / (x @ x))) for
what-is-lost: Your numbers are what is lost, 1 minus what is left.
- float(turned[0] → 1 - float(turned[0]
""",
)

EXERCISES = exercises_in(__name__)
