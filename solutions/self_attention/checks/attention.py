"""Questions 2a, 2b and 3: a window, the losses at all positions, heads that share keys and values."""

from torch import Tensor

from autograder.exercise.declare import holds, judged, question, shapes, values, ways
from autograder.exercise.draw import Draw
from autograder.exercise.kinds import EQUAL
from autograder.exercise.laws.attention import boolean_mask
from autograder.exercise.laws.self_attention import output_of_shared_values
from autograder.exercise.specification import Case, case
from solutions.self_attention.checks.common import CLOSED


def _short_windows(draw: Draw) -> list[Case]:
    return [case("a window of 2", draw.largest + 2, 2), case("a window of 3", draw.largest + 3, 3)]


def _other_windows(draw: Draw) -> list[Case]:
    return [
        case("a window of 1: only the word itself", draw.largest + 1, 1),
        case("a window longer than the text", draw.largest, draw.largest + 3),
        case("one position", 1, 2),
    ]


WINDOW_MASK = question(
    "self_attention.window_mask",
    minutes=10,
    difficulty="easy",
    returns=("mask",),
    properties=[
        judged("a boolean mask", 0.5, _short_windows, boolean_mask),
        values("short windows", 0.8, _short_windows),
        values("a window of one, and a long one", 0.7, _other_windows),
    ],
    closed=CLOSED,
    mistakes="""
one-too-far: Your window is one word too long: a window of w holds the word itself and the w − 1 words before it.
- back < window → back <= window

both-sides: Your window also reaches into the future. Queries look back only: key ≤ query.
- (back >= 0) & (back < window) → back.abs() < window

true-means-hidden: Your mask is inverted. True = may attend.
- return (back >= 0) & (back < window) → return ~((back >= 0) & (back < window))

rows-and-columns-exchanged: You swapped rows and columns: a row is a query and attends to keys on its left.
- return (back >= 0) & (back < window) → return ((back >= 0) & (back < window)).T

window-ignored: Your mask is the plain causal mask, which allows the whole past. Mask keys that are `window` or more
positions back.
- (back >= 0) & (back < window) → back >= 0
""",
)


# --- the loss of all positions ----------------------------------------------------------------------------


def _batch(draw: Draw, lengths: list[int], time: int, label: str) -> Case:
    vocab = draw.largest + 3
    tokens = draw.integers(1, vocab - 1, len(lengths), time)
    for row, length in enumerate(lengths):
        tokens[row, length:] = 0
    return case(label, draw.normal(len(lengths), time, vocab), tokens)


def _full(draw: Draw) -> list[Case]:
    time = draw.largest + 1
    size = draw.largest + 3  # of the vocabulary
    return [
        _batch(draw, [time, time], time, "two sentences of equal length"),
        _batch(draw, [size] * size, size, EQUAL),
    ]


def _padded(draw: Draw) -> list[Case]:
    time = draw.largest + 3
    return [_batch(draw, [time, 2, time - 2], time, "sentences of three lengths")]


def _tiny(draw: Draw) -> list[Case]:
    return [
        _batch(draw, [2], 2, "one prediction"),
        _batch(draw, [3, 2], 6, "more padding than the longest needs"),
        _batch(draw, [4, 1], 4, "a sentence of one token, with nothing to predict"),
    ]


def _sure(draw: Draw) -> list[Case]:
    """Token 2 is all but certain everywhere; the first prediction is wrong, the second right."""
    time = draw.largest + 1
    made = _batch(draw, [time, time], time, "confident of one token everywhere, and mostly wrong")
    logits, tokens = made.calls[0]
    logits[..., 2] += 200
    tokens[:, 1], tokens[:, 2] = 1, 2
    return [made]


WITH_A_LITTLE = "- torch.log_softmax(logits[:, :-1], dim=-1) → (torch.softmax(logits[:, :-1], dim=-1) + 1e-{}).log()"

NEXT_TOKEN_LOSS = question(
    "self_attention.next_token_loss",
    minutes=25,
    difficulty="medium",
    returns=("loss", "losses"),
    properties=[
        shapes(0.25, _full, "one loss per prediction"),
        values("without padding: the losses", 1, _full, "losses"),
        values("padding costs nothing", 1, _padded, "losses"),
        values("the mean", 1, _padded, "loss"),
        values("very short sentences", 0.25, _tiny),
        values("a very confident model", 0.5, _sure),
    ],
    closed=CLOSED,
    mistakes=f"""
not-shifted: You compare the logits at each position with the token at *that* position, which the model has just read.
They predict the next one: logits[:, t] belong to tokens[:, t + 1].
- tokens[:, 1:] → tokens[:, :-1]

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
""",
)


# --- heads that share -------------------------------------------------------------------------------------


def _qkv(draw: Draw, sets: int, group: int) -> tuple[Tensor, Tensor, Tensor]:
    time, d = draw.largest + 1, 3
    return draw.normal(sets * group, time, d), draw.normal(sets, time, d), draw.normal(sets, time, d - 1)


SHARED = (("six heads share two", 2, 3), ("six heads share three", 3, 2))


def _shared(draw: Draw) -> list[Case]:
    q, k, v = (draw.normal(4, 4, 4) for _ in range(3))
    return [*(case(label, *_qkv(draw, sets, group)) for label, sets, group in SHARED), case(EQUAL, q, k, v)]


def _outputs(draw: Draw) -> list[Case]:
    """Two calls that differ in their queries; known: the values that each head reads."""
    cases = []
    for label, sets, group in SHARED:
        q, k, v = _qkv(draw, sets, group)
        read = v.repeat_interleave(group, 0)
        cases.append(Case(label=label, calls=((q, k, v), (draw.normal(*q.shape), k, v)), known=(read, read)))
    return cases


def _extremes(draw: Draw) -> list[Case]:
    return [case("all heads share one", *_qkv(draw, 1, 4)), case("every head has its own", *_qkv(draw, 3, 1))]


def _large(draw: Draw) -> list[Case]:
    q, k, v = _qkv(draw, 2, 3)
    below = (-500 * k / (k * k).sum(-1, keepdim=True)).repeat_interleave(3, 0)  # a word's own score is −289
    return [
        case("scores of a hundred and more", 60 * q, k, v),
        case("scores below minus a hundred", below, k, v),
    ]


GROUPED_ATTENTION = question(
    "self_attention.grouped_attention",
    minutes=30,
    difficulty="hard",
    returns=("output", "weights"),
    properties=[
        shapes(0.5, _shared),
        values("which head reads which keys", 2, _shared, "weights"),
        holds("the output, given your weights", 1.25, _outputs, output_of_shared_values),
        values("one set for all, and one for each", 0.75, _extremes),
        values("very large scores", 0.5, _large, "weights"),
    ],
    numpy=True,
    mistakes="""
taking-turns: Your heads take turns: head 0 gets keys 0, head 1 keys 1, … Neighbouring heads should share: with six
heads and two sets, heads 0, 1, 2 read set 0. Use `np.repeat`, not `np.tile`.
* np.repeat → np.tile
* , group, axis=0) → , (group, 1, 1))

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
- np.tri(time, → np.tri(time, k=-1,
- -math.inf → -1e9
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
""",
)
