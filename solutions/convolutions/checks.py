"""Assignment "convolutions": averaged words, CBOW by hand, causal convolutions, Kim's classifier, and its training.

The functions differ in form from `nlmcore.convolutional`, whose layers are modules: here weights are plain tensors with
the width as their first axis, texts are given with their lengths, and a text's windows lie inside it.
"""

import functools
import re
from typing import Any

import torch
from torch import Tensor

from autograder.question.declare import exercises_in, holds, judged, question, shapes, values
from autograder.question.draw import Draw
from autograder.question.judges import and_inputs_unchanged, same_values
from autograder.question.kinds import EQUAL
from autograder.question.sized import ODD, at, these
from autograder.question.special import at_points, concluded, formula, on_the_page, predicted, wrong_line
from autograder.question.specification import Both, Case, case
from nlmcore.corpora.folio import align_play
from solutions.convolutions.laws import nothing_before, same_or_empty

CLOSED = (
    "nlmcore.convolutional",
    "nlmcore.feedforward",
    "nlmcore.word2vec",
    "nlmcore.recurrent",
    "nlmcore.training",
    "gensim",
    "sklearn",
)
"""Classifiers and what they are made of, and their training."""

with_torch = functools.partial(question, closed=CLOSED)
with_numpy = functools.partial(question, numpy=True)
Arguments = tuple[Any, ...]

# --- 1. averages, and CBOW ---------------------------------------------------------------------------------------


def lengths_below(draw: Draw, batch: int, time: int, shortest: int = 1) -> Tensor:
    """One length per text: the first is `time`, the last is shorter, unless all are `shortest`."""
    lengths = draw.integers(shortest, time, batch)
    lengths[0], lengths[-1] = time, draw.integer(shortest, max(shortest, time - 2))
    return lengths


def averages(draw: Draw, vocab: int, d: int, batch: int, full: bool = False) -> Arguments:
    tokens = draw.integers(0, vocab - 1, batch, batch + 3)
    return draw.normal(vocab, d), tokens, lengths_below(draw, batch, batch + 3, batch + 3 if full else 1)


def three_times(draw: Draw, vocab: int, d: int) -> Arguments:
    a, b = draw.integers(0, 10**6, vocab + 2).argsort().clamp(max=vocab - 1).tolist()[:2]
    return draw.normal(vocab, d), torch.tensor([[a, b, a, a], [b, a, a, b]]), torch.tensor([4, 2])


def one_word(draw: Draw, vocab: int, d: int) -> Arguments:
    return draw.normal(vocab, d), draw.integers(0, vocab - 1, 3, 2), torch.tensor([1, 1, 2])


equal_lengths = at("texts of equal length", full=True)
AVERAGE_WORDS = with_torch(
    "convolutions.average_words",
    returns=("means",),
    inputs=at("texts of several lengths", averages),
    odd=[at("a word that occurs three times", three_times), at("texts of one word", one_word)],
    properties=[
        shapes(0.2, equal_lengths, "one vector per text"),
        values("texts of equal length", 0.55, equal_lengths),
        values("padding takes no part", 0.75),
        values("repeated words, texts of one word", 0.5, ODD),
    ],
    mistakes="""
padding-averaged: Your mean includes the padding: its vectors are added, and its positions are counted. A short text in
a batch with a long one then looks like padding.
^ lengths = torch.full_like(lengths, tokens.shape[1])
divided-by-all-positions: Your sum leaves out the padding, but you divide by the number of *all* positions. Divide by
the number of words of each text.
- / lengths[:, None] → / tokens.shape[1]
padding-in-the-sum: You divide by the length of the text, but your sum includes the vectors of the padding.
- (table[tokens] * real[..., None]) → table[tokens]
sum-for-mean: That is the sum of the vectors. Divide it by the number of words, or long texts get long vectors.
-  / lengths[:, None] →
last-word-missing: You left out the last word of each text. A text has `lengths` words, at the positions 0 to lengths −
1.
^ lengths = (lengths - 1).clamp(min=1)
id-0-for-padding: You took id 0 for padding. Here only `lengths` says where a text ends: id 0 is a word like any other,
and padding can have any id.
- torch.arange(tokens.shape[1]) < lengths[:, None] → tokens != 0
- / lengths[:, None] → / real.sum(dim=1, keepdim=True).clamp(min=1)
or
- torch.arange(tokens.shape[1]) < lengths[:, None] → tokens != 0
one-position-too-many: You count one position of padding in every text that is shorter than the batch: a text of length
n has the positions 0 to n − 1. Use `<`, not `<=`.
- < lengths → <= lengths
words-counted-once: You averaged the *different* words of a text. A word that occurs three times counts three times.
+ means = [table[tokens[n, :length].unique()].mean(dim=0) for n, length in enumerate(lengths.tolist())]
+ return torch.stack(means)
maximum-for-mean: That is the largest value of each dimension. This question asks for the mean.
- (table[tokens] * real[..., None]).sum(dim=1) / lengths[:, None]
+ table[tokens].masked_fill(~real[..., None], -math.inf).amax(dim=1)
""",
)


def different(draw: Draw, count: int) -> Tensor:
    return draw.integers(0, 10**9, count).argsort()


def repeated(draw: Draw, time: int, vocab: int) -> Tensor:
    """Ids of a text of which one occurs twice, with another between them."""
    words = draw.integers(0, vocab - 1, time)
    words[2], words[1] = words[0], (words[0] + 1) % vocab
    return words


def tables(draw: Draw, words: Tensor, m: int, vocab: int, d: int) -> Arguments:
    return words, m, draw.normal(vocab, d), draw.normal(vocab, d)


def all_different(draw: Draw, d: int, m: int) -> Arguments:
    """No row of E is used twice at one position."""
    return tables(draw, different(draw, 2 * m + 3)[:-1], m, 2 * m + 3, d)


def large_scores(draw: Draw, vocab: int, d: int) -> Arguments:
    words, m, E, U = tables(draw, repeated(draw, 4, vocab), 1, vocab, d)
    return words, m, 300 * E.double(), 10 * U.double()


again = at("words that occur again", lambda draw, vocab, d: tables(draw, repeated(draw, 7, vocab), 2, vocab, d))
CBOW = with_numpy(
    "convolutions.cbow",
    returns=("loss", "d_E", "d_U"),
    inputs=at("words that are all different", all_different),
    odd=[
        at("a text of two words", lambda draw, d: tables(draw, different(draw, 2), 1, 2, d)),
        at("a window wider than the text", lambda draw, n, d: tables(draw, draw.integers(0, n - 1, 3), 5, n, d)),
        at("scores of thousands, float64", large_scores),
        at("square tables", lambda draw, d: tables(draw, draw.integers(0, d - 1, 5), 2, d, d)),
    ],
    properties=[
        shapes(0.25, name="each gradient has its table's shape"),
        values("the loss", 1, "loss"),
        values("the gradient of U", 1, "d_U"),
        values("the gradient of E", 1.25, "d_E"),
        values("words that occur again", 0.75, again),
        values("two words, a wide window, large scores", 0.75, ODD),
    ],
    mistakes="""
centre-averaged: Your average includes the word at position t itself. It is the word to predict, so the model can see
the answer, and the loss gets far too small.
- (apart > 0) & (apart <= m) → apart <= m
divided-by-2m: You divide by 2m everywhere. Near the ends of the text a context has fewer positions: divide by the
number that it has.
- near / near.sum(axis=1, keepdims=True) → near / (2 * m)
sum-for-mean: Your h is the sum of the context's vectors. CBOW here takes their mean: otherwise the size of h depends
on the position in the text.
- near / near.sum(axis=1, keepdims=True) → near.astype(float)
one-side-only: Your context has only the words before position t, or the first one has none and you took that as zeros.
CBOW looks to both sides.
- (apart > 0) & → (positions[:, None] > positions) &
- near.sum(axis=1, keepdims=True) → near.sum(axis=1, keepdims=True).clip(min=1)
equal-words-left-out: You left out the neighbours that are the same *word* as the centre. Only its own *position* is
left out; the same word two positions later is a neighbour like any other.
- (apart > 0) & (apart <= m) → (apart > 0) & (apart <= m) & (words[:, None] != words)
- near.sum(axis=1, keepdims=True) → near.sum(axis=1, keepdims=True).clip(min=1)
gradient-not-shared: Every word of a context gets the whole gradient of h. In the mean each of n words counts 1/n, so
each gets 1/n of it.
- average.T @ → near.T @
shared-by-the-wrong-count: You divide by the number of neighbours of the word that *receives* the gradient. What counts
is the size of the context in which it was averaged, so the matrix of the averages is transposed on the way back.
- average.T @ → average @
repeated-rows-overwritten: Where a word occurs several times, your row of E keeps the gradient of only one occurrence:
`d_E[words] = …` and `d_E[words] += …` write a repeated row only once. Add them all: `np.add.at`.
- np.add.at(d_E, words, d_x) → d_E[words] += d_x
or
- np.add.at(d_E, words, d_x) → d_E[words[::-1]] = d_x[::-1]
one-hot-forgotten: Your gradient of the scores is the softmax. Subtract 1 for the true word: the gradient of each
position's scores sums to 0.
- d_score[positions, words] -= 1 →
mean-forgotten-in-the-gradient: Your loss is a mean over the positions, but your gradients are those of the sum. They
are T times as large as they should be.
- d_score = d_score / len(words) →
sum-of-the-losses: You added the losses of the positions. L is their mean.
- .mean() → .sum()
- d_score = d_score / len(words) →
sign: Your gradients have the wrong sign: they point uphill. It is softmax minus one-hot.
- d_score / len(words) → -d_score / len(words)
u-not-its-context: For U you multiplied the gradient of the scores by the vector of the word at t. Its partner in the
score is h, the average of the context.
- d_score.T @ h → d_score.T @ E[words]
bits: Your loss is in bits. Use ln, as the gradients do.
- loss = -log_p[positions, words].mean() → loss = -log_p[positions, words].mean() / math.log(2)
e-and-u-swapped: You swapped the two gradients, or the two tables. The averages are made of E, and U has the rows that
they are compared with.
- return loss, d_E, d_score.T @ h → return loss, d_score.T @ h, d_E
or
^ E, U = U, E
""",
)

# --- 2. causal convolutions --------------------------------------------------------------------------------------


def convolved(draw: Draw, batch: int, d_in: int, d_out: int, k: int = 3, dilation: int = 1, time: int = 0) -> Arguments:
    x = draw.normal(batch, time or batch + 2 * dilation + 1, d_in)
    return x, draw.normal(k, d_in, d_out), draw.normal(d_out), dilation


def dilated(draw: Draw, batch: int, d_in: int, d_out: int) -> Arguments:
    return convolved(draw, batch, d_in, d_out, draw.integer(2, 3), draw.integer(2, 4))


def another_end(draw: Draw, batch: int, d_in: int, d_out: int) -> Case:
    start = draw.integer(2, 4)
    x, *rest = convolved(draw, batch, d_in, d_out, dilation=2)
    other = x.clone()
    other[:, start:] += draw.normal(*x[:, start:].shape) + 3
    return Case(label="", calls=((x, *rest), (other, *rest)), known=(torch.tensor(start),))


dilations = these(
    at("a dilation", dilated), at("as many features as outputs", lambda draw, n, d: dilated(draw, n, d, d))
)
CAUSAL_CONVOLUTION = with_numpy(
    "convolutions.causal_convolution",
    returns=("y",),
    inputs=at("width 3", convolved),
    odd=[
        at("a text shorter than the filter", batch=2, k=4, dilation=2, time=3),
        at("one word", batch=1, k=4, dilation=3, time=1),
    ],
    properties=[
        shapes(0.25, name="the output is as long as the input"),
        values("width 1", 0.5, at("width 1", k=1)),
        values("width 3", 1),
        holds(
            "nothing leaks from the future",
            0.5,
            at("a text, and the same with another end", another_end),
            nothing_before,
        ),
        values("dilations", 1, dilations),
        values("a text shorter than the filter", 0.75, ODD),
    ],
    mistakes="""
filter-flipped: Your filter is flipped: `weight[0]` meets the newest position. Here `weight[k - 1]` does, and
`weight[0]` the oldest.
- @ weight[j] → @ weight[len(weight) - 1 - j]
zeros-on-both-sides: You put the zeros on both sides, as libraries for images do, so an output sees positions to its
right. For a language model this is the answer. Put all zeros in front.
+ k, time = len(weight), x.shape[1]
+ left = (k - 1) * dilation // 2
+ zeros = np.zeros((len(x), (k - 1) * dilation, x.shape[2]))
+ padded = np.concatenate([zeros[:, :left], x, zeros[:, left:]], axis=1)
+ return sum(padded[:, j * dilation : j * dilation + time] @ weight[j] for j in range(k)) + bias
dilation-not-in-the-padding: You put k − 1 zeros in front and forgot the dilation there: a filter reaches (k − 1)·δ
back. With fewer zeros there are fewer outputs, or they see the future.
- (len(weight) - 1) * dilation → len(weight) - 1
- time = x.shape[1]
+ time = max(x.shape[1] - (len(weight) - 1) * (dilation - 1), 0)
dilation-ignored: You never use the dilation, so all windows consist of neighbours. With dilation δ the k positions of
a window are δ apart.
^ dilation = 1
dilation-as-stride: You skip outputs. A dilation leaves out positions *inside* a window, and every position of the text
still has its own output. What you did is called a stride.
^ stride, dilation = dilation, 1
- return y → return y[:, ::stride]
no-padding: Your output is shorter than the input, because there are no zeros in front. The first positions need them.
- return y → return y[:, zeros.shape[1] :]
zeros-behind: All your zeros are behind the text, so every output sees only positions to its right. A causal layer has
them in front.
- [zeros, x] → [x, zeros]
future-for-past: Your filters look to the right: each output sees what comes *after* its position.
^ x = x[:, ::-1]
- return y → return y[:, ::-1]
too-few-zeros: You put k − 1 zeros in front, which is enough for dilation 1 only. The oldest matrix reaches back by
(k − 1) δ.
- zeros = np.zeros((len(x), (len(weight) - 1) * dilation, x.shape[2]), x.dtype)
- padded = np.concatenate([zeros, x], axis=1)
+ zeros = np.zeros((len(x), (len(weight) - 1) * dilation, x.shape[2]), x.dtype)
+ padded = np.concatenate([zeros[:, : len(weight) - 1], x, zeros], axis=1)
around-the-end: The start of your text sees its end: `np.roll` and negative indices go around. Before the start
there are zeros.
- zeros = np.zeros((len(x), (len(weight) - 1) * dilation, x.shape[2]), x.dtype)
- padded = np.concatenate([zeros, x], axis=1)
- y = bias
- for j in range(len(weight)):
-     start = j * dilation
-     y = y + padded[:, start : start + time] @ weight[j]
+ y = bias
+ for j in range(len(weight)):
+     y = y + np.roll(x, (len(weight) - 1 - j) * dilation, axis=1) @ weight[j]
first-word-repeated: Before the start of a text you repeat its first word. Put zeros there.
- np.zeros((len(x), (len(weight) - 1) * dilation, x.shape[2]), x.dtype)
+ np.repeat(x[:, :1], (len(weight) - 1) * dilation, axis=1)
bias-k-times: You add the bias once per matrix, k times in all. It is added once.
- @ weight[j] → @ weight[j] + bias * (j > 0)
bias-forgotten: You left out the bias.
- y = bias → y = 0
shifted-by-one: Your outputs are one position too late: at t you use t − 1 and older positions, and never the current
one.
- [zeros, x] → [zeros, np.zeros_like(x[:, :1]), x]
""",
)

ZEROS: dict[str, Any] = {
    "none": slice(0),
    "oldest": 0,
    "first feature": (slice(None), 0),
    "first output": (0, slice(None), 0),
}


def stack(
    draw: Draw,
    d: int,
    time: int,
    t: int,
    widths: tuple[int, ...],
    dilations: tuple[int, ...],
    more: int = 0,
    zero: str = "none",
) -> Arguments:
    """A stack in which every difference is clear, or nothing. Its last dilation is up to `more` larger."""
    apart = [*dilations[:-1], dilations[-1] + draw.integer(0, more)]
    while True:
        x = draw.normal(time, d)
        signs = [draw.normal(k, d, d).sign() / (k * d) ** 0.5 for k in widths]
        weights = [sign * (0.5 + draw.normal(*sign.shape).abs() / 2) for sign in signs]
        weights[0][ZEROS[zero]] = 0.0
        h = torch.cat([x[None], x + torch.eye(time)[..., None]]).double()
        for weight, dilation in zip(weights, apart, strict=True):
            padded = torch.cat([h.new_zeros(len(h), (len(weight) - 1) * dilation, d), h], dim=1)
            h = torch.tanh(sum(padded[:, j * dilation :][:, :time] @ one.double() for j, one in enumerate(weight)))
        moved = (h[1:, t] - h[0, t]).abs().amax(-1)
        if bool(((moved > 1e-4) | (moved == 0)).all()):
            return x, weights, apart, t


stacks = these(
    at("two layers", time=10, t=7, widths=(3, 2), dilations=(1, 1), more=1),
    at("three layers of width 2", time=14, t=11, widths=(2, 2, 2), dilations=(1, 2, 3), more=1),
)
gaps = these(
    at("one layer with a dilation", time=9, t=7, widths=(3,), dilations=(2,), more=1),
    at("two layers that leave gaps", time=11, t=9, widths=(2, 2), dilations=(2, 4)),
)
zeros = these(
    at("a layer whose oldest weights are zero", time=8, t=6, widths=(3, 2), dilations=(1, 1), zero="oldest"),
    at("a layer that does not use the first feature", time=6, t=4, widths=(2,), dilations=(2,), zero="first feature"),
    at("only some outputs see the older position", time=6, t=4, widths=(2,), dilations=(2,), zero="first output"),
)
ends = these(
    at("near the start of the text", time=7, t=2, widths=(3, 2), dilations=(1, 2)),
    at("one layer of width 1", time=4, t=2, widths=(1,), dilations=(30,)),
    at("a text of one word", time=1, t=0, widths=(3,), dilations=(2,)),
    at(EQUAL, d=3, time=3, t=2, widths=(3,), dilations=(1,)),
)
RECEPTIVE_FIELD = with_numpy(
    "convolutions.receptive_field",
    returns=("size", "sees"),
    inputs=stack,
    properties=[
        values("the size", 1, stacks, "size"),
        values("what a stack sees", 1, stacks, "sees"),
        values("gaps", 0.75, gaps, "sees"),
        values("weights that are zero", 0.75, zeros),
        values("the start of a text, width 1", 0.5, ends),
    ],
    mistakes="""
widths-multiplied: You multiplied the widths of the layers. Each layer adds to the reach what it reaches back itself.
- size = 1 + sum((len(weight) - 1) * dilation for weight, dilation in zip(weights, dilations, strict=True))
+ size = math.prod(len(weight) for weight in weights)
or
- size = 1 + sum((len(weight) - 1) * dilation for weight, dilation in zip(weights, dilations, strict=True))
+ size = math.prod((len(weight) - 1) * dilation + 1 for weight, dilation in zip(weights, dilations, strict=True))
whole-widths-added: You add k·δ per layer. One of the k positions is the one that a layer starts from: it reaches (k −
1)·δ back.
- (len(weight) - 1) * dilation → len(weight) * dilation
or
- 1 + sum((len(weight) - 1) * dilation → sum(len(weight) * dilation
position-counted-per-layer: You count the position itself once per layer. All layers start from the same one: add 1
once.
- 1 + sum((len(weight) - 1) * dilation → sum((len(weight) - 1) * dilation + 1
position-itself-forgotten: Your size is one too small: it is how far back the stack reaches. The position itself is
part of the receptive field.
- 1 + sum( → sum(
dilations-forgotten-in-the-size: Your size takes no notice of the dilations. A layer of width k with dilation δ reaches
(k − 1)·δ back.
- (len(weight) - 1) * dilation for → (len(weight) - 1) for
counted-for-computed: Your size is the number of positions that you measured. The size follows from the shapes: it
counts gaps, and takes no notice of zero weights or of the start of the text.
- return size, sees → return int(sees.sum()), sees
drawn-for-measured: You marked all positions of the receptive field. Run the stack and look what changes: dilations
leave gaps, and weights can be zero.
- return size, sees
+ return size, [t - size < s <= t for s in range(len(x))]
forwards: You changed position t and looked where the output changes. That tells who sees t. The question is what t
sees: change the other positions, one by one, and look at t.
- return h[:, t] → return h
- np.abs(run(changed) - run(x[None])).max(axis=-1) > 1e-6
+ np.abs(run(changed) - run(x[None])).max(axis=-1)[t] > 1e-6
any-output: You compare all outputs. Every position changes some output, at least its own; look at the output at t
only.
- return h[:, t] → return h.reshape(len(h), -1)
first-feature-only: You changed only the first feature of each position. A layer may not use it: change the whole
vector.
- [..., None] → [..., None] * (np.arange(x.shape[1]) == 0)
first-output-only: You compared only the first feature of the output at t. A position is seen if any of them changes.
- np.abs(run(changed) - run(x[None])).max(axis=-1) > 1e-6 → np.abs(run(changed) - run(x[None]))[:, 0] > 1e-6
changes-kept: You never undo a change, so after the first position that is seen, all seem to be. Change one position at
a time, each in a fresh copy.
- np.eye(len(x)) → np.tri(len(x))
convolution-leaks: Your stack sees positions to the right of t. Then the zeros of your convolution, in 2a, are on both
sides: mend that first.
- h = np.tanh(causal_convolution(h, weight, np.zeros(h.shape[-1]), dilation))
+ R = (len(weight) - 1) * dilation - (len(weight) - 1) * dilation // 2
+         longer = np.concatenate([h, np.zeros((len(h), R, h.shape[2]))], axis=1)
+         h = np.tanh(causal_convolution(longer, weight, np.zeros(h.shape[-1]), dilation))[:, R:]
dilations-forgotten-in-the-stack: Your stack runs without its dilations: the marked positions are neighbours.
- np.zeros(h.shape[-1]), dilation) → np.zeros(h.shape[-1]), 1)
""",
)

points = at_points(k=(2, 5), r=(2, 4), L=(2, 7), n=(30, 900))
DILATED_STACK = with_torch(
    "convolutions.dilated_stack",
    returns=("size", "layers"),
    properties=[formula("the size", 1, points, "size"), formula("the number of layers", 1, points, "layers")],
    mistakes="""
one-layer-too-many: The dilations of L layers end with r to the power L − 1, because the first one is 1. Your sum has
one term too many.
- r**L → r ** (L + 1)
- / math.log(r) → / math.log(r) - 1
whole-widths: A layer of width k reaches k − 1 dilations back, not k: one of the k positions is the one that it starts
from.
* (k - 1) → k
position-itself-forgotten: The receptive field contains the position itself: add 1 to the reach, and subtract it from
n.
- 1 + (k → (k
- (n - 1) → n
final-layer-only: That is what the final layer reaches. The layers below it reach further back still: add all of them
up.
- (r**L - 1) / (r - 1) → r ** (L - 1)
- math.log(1 + (n - 1) * (r - 1) / (k - 1)) / math.log(r) → 1 + math.log((n - 1) / (k - 1)) / math.log(r)
sum-not-divided: Multiplied by r − 1, the sum 1 + r + … is r to the power L, minus 1. So the sum itself is that divided
by r − 1.
- (r**L - 1) / (r - 1) → (r**L - 1)
- (n - 1) * (r - 1) / (k - 1) → (n - 1) / (k - 1)
natural-logarithm: Your second result is a natural logarithm. The power has the base r: divide by ln r.
-  / math.log(r) →
two-for-r: You wrote 2 for r. Each dilation is r times the previous one.
- size = 1 + (k - 1) * (r**L - 1) / (r - 1) → size = 1 + (k - 1) * (2**L - 1)
- layers = math.log(1 + (n - 1) * (r - 1) / (k - 1)) / math.log(r)
+ layers = math.log(1 + (n - 1) / (k - 1)) / math.log(2)
rounded-up: You rounded the number of layers. Return it as it is: where it is not an integer, no stack has exactly this
size.
- math.log(1 + (n - 1) * (r - 1) / (k - 1)) / math.log(r)
+ math.ceil(math.log(1 + (n - 1) * (r - 1) / (k - 1)) / math.log(r))
dilations-added: Your dilations grow by a constant, or not at all. Each is r times the previous one.
- (k - 1) * (r**L - 1) / (r - 1) → (k - 1) * (L + r * L * (L - 1) / 2)
or
- (k - 1) * (r**L - 1) / (r - 1) → (k - 1) * L
- math.log(1 + (n - 1) * (r - 1) / (k - 1)) / math.log(r) → (n - 1) / (k - 1)
or
- (k - 1) * (r**L - 1) / (r - 1) → (k - 1) * r * L
- math.log(1 + (n - 1) * (r - 1) / (k - 1)) / math.log(r) → (n - 1) / (k - 1) / r
""",
)


def gated(draw: Draw, batch: int, more: int, d: int, k: int = 3, dilation: int = 1, zeros: bool = False) -> Arguments:
    """A text with so many more words than the past."""
    reach = (k - 1) * dilation
    x, past = draw.normal(batch, reach + more, d), draw.normal(batch, reach, d)
    weight, bias = draw.normal(k, d, 2 * d) / (k * d) ** 0.5, draw.normal(2 * d) / 2
    return x, torch.zeros_like(past) if zeros else past, weight, bias, dilation


def chunks(draw: Draw, batch: int, d: int) -> Case:
    x, past, *layer = gated(draw, batch, 5, d, 2, 2)
    both = torch.cat([past, x], dim=1)
    calls = tuple((both[:, a + 2 : b + 2], both[:, a : a + 2], *layer) for a, b in [(0, 3), (3, 4), (4, 7)])
    return Case(label="", calls=((x, past, *layer), *calls))


going_on = at("a past of real inputs", lambda draw, batch, d: gated(draw, batch, batch, d, 3, draw.integer(2, 3)))
GATED_BLOCK = with_numpy(
    "convolutions.gated_block",
    returns=("output", "new_past"),
    inputs=at("zeros as the past", gated, zeros=True),
    odd=[
        at("a chunk shorter than the past", more=-2, dilation=2),
        at("width 1, an empty past", k=1, dilation=2),
        at("one text, one word", batch=1, more=-2, k=2, dilation=3),
    ],
    properties=[
        shapes(0.25),
        values("the output of a text", 1, "output"),
        values("a past of real inputs", 0.75, going_on, "output"),
        values("the new past", 0.75, going_on, "new_past"),
        values("chunks give what the whole text gives", 0.5, at("a text and its chunks", chunks), "output"),
        judged("a short chunk, an empty past", 0.75, ODD, same_or_empty(("output", "new_past"))),
    ],
    mistakes="""
gate-and-value-swapped: You swapped the halves: the first half are the values, and the sigmoid is for the second.
- value, gate = → gate, value =
residual-forgotten: You left out the residual connection: add the block's own input.
- x + value → value
sigmoid-forgotten: You multiplied the values by the gate's scores. The sigmoid of a score is between 0 and 1, so a gate
lets a part of the value through.
- 1 / (1 + np.exp(-gate)) → gate
tanh-for-sigmoid: Your gate is a tanh, which can be negative. A gate lets a part between 0 and 1 pass: use the sigmoid.
- 1 / (1 + np.exp(-gate)) → np.tanh(gate)
highway: You weight the input with 1 − gate, as a highway layer or a GRU does. Here the whole input is added.
- x + value * passes → (1 - passes) * x + value * passes
tanh-of-the-values: You took the tanh of the values. In a GLU they stay as they are: that leaves a path for the
gradient along which nothing saturates.
- value * → np.tanh(value) *
input-gated-as-well: You gate the sum of input and values. The gate is for the values only; the input passes unchanged.
- x + value * passes → (x + value) * passes
features-interleaved: You took every second feature as a gate. The first half of the features are values, the second
half their gates.
- value, gate = np.split(both, 2, axis=-1) → value, gate = both[..., 0::2], both[..., 1::2]
past-ignored: You start from zeros and never use the past. Then every chunk starts as if it were the start of a text.
- np.concatenate([past, x], axis=1) → np.concatenate([np.zeros_like(past), x], axis=1)
- inputs[:, x.shape[1] :] → np.concatenate([past, x], axis=1)[:, x.shape[1] :]
past-of-outputs: Your new past consists of outputs of the block. The filter reads inputs, so these must be kept.
- inputs[:, x.shape[1] :] → np.concatenate([past, output], axis=1)[:, x.shape[1] :]
past-not-moved: You return the past that you were given. The next chunk needs the inputs just before *it*.
- inputs[:, x.shape[1] :] → past
start-of-the-text-kept: Your new past is the start of past and text. The next chunk needs the final inputs.
- inputs[:, x.shape[1] :] → inputs[:, : past.shape[1]] if len(weight) == 1 else x[:, : past.shape[1]]
or
- inputs[:, x.shape[1] :] → x[:, : past.shape[1]]
text-shorter-than-the-past: You take the new past from the text only. If the text is shorter than the past, the newest
part of the old past still belongs to it.
- inputs[:, x.shape[1] :] → x[:, max(x.shape[1] - past.shape[1], 0) :]
past-forgotten-by-short-chunks: After a chunk shorter than the filter's reach, your new past begins with zeros. It
should begin with what is left of the old past.
- return output, inputs[:, x.shape[1] :]
+ zeros = np.zeros_like(past)
+ return output, np.concatenate([zeros, x], axis=1)[:, x.shape[1] :]
minus-zero: With width 1 the past is empty, and `[-0:]` is everything, not nothing. Count from the front: from position
`x.shape[1]` of past and text together.
- inputs[:, x.shape[1] :] → inputs[:, -past.shape[1] :]
convolution-leaks: Your block sees positions to its right. Then the zeros of your convolution, in 2a, are on both
sides: mend that first.
- both = causal_convolution(inputs, weight, bias, dilation)[:, past.shape[1] :]
+ R = (len(weight) - 1) * dilation - (len(weight) - 1) * dilation // 2
+ longer = np.concatenate([inputs, np.zeros((len(x), R, x.shape[2]))], axis=1)
+ both = causal_convolution(longer, weight, bias, dilation)[:, R:][:, past.shape[1] :]
filter-flipped: The matrices of the filter are in reverse order: `weight[0]` meets the newest position. Look at 2a
first.
- causal_convolution(inputs, weight, → causal_convolution(inputs, weight[::-1],
zeros-instead-of-the-past-kept: You return zeros as the new past, so the next chunk does not know that there was a
text.
- inputs[:, x.shape[1] :] → np.zeros_like(past)
""",
)

# --- 3. filters of several widths, and the scores of a classifier ------------------------------------------------


def some_filters(draw: Draw, d: int, count: int, *widths: int) -> tuple[list[Tensor], list[Tensor]]:
    """Weights (k, d, count) and biases (count,) for every width."""
    weights = [draw.normal(k, d, count) / (k * d) ** 0.5 for k in widths]
    return weights, [draw.normal(count) / 2 for _ in widths]


def responses(
    draw: Draw,
    batch: int,
    d: int,
    filters: int,
    widths: tuple[int, ...] = (2, 3),
    time: int = 8,
    shortest: int = 3,
    lengths: tuple[int, ...] = (),
    lower: float = 0.0,
) -> Arguments:
    """Texts whose padding has large values. With `lower` = 8 all responses are negative."""
    ends = torch.tensor(lengths) if lengths else lengths_below(draw, batch, time, shortest)
    x, over = draw.normal(batch, time, d), torch.arange(time) >= ends[:, None]
    weights, biases = some_filters(draw, d, filters, *widths)
    return torch.where(over[..., None], 5 * x, x), ends, weights, [bias - lower for bias in biases]


one_width, several_widths = at("one width", widths=(3,), shortest=8), at("three widths", widths=(1, 2, 4), shortest=8)
short = at("texts shorter than a filter", batch=5, widths=(2, 5), time=6, lengths=(6, 2, 3, 1, 4))
short_negative = at(
    "texts shorter than a filter, negative responses",
    batch=5,
    widths=(2, 5),
    time=6,
    lengths=(6, 2, 3, 1, 4),
    lower=8.0,
)
TEXT_FEATURES = with_torch(
    "convolutions.text_features",
    returns=("features",),
    inputs=at("padding of large values", responses),
    odd=[
        at("texts of one word", batch=2, widths=(4, 1), time=1, shortest=1),
        at("one filter, all lengths", batch=4, filters=1, widths=(3,), time=4, lengths=(4, 3, 2, 1)),
        at("as many texts, words, features and filters", batch=3, d=3, filters=3, widths=(2,), time=3),
    ],
    properties=[
        shapes(0.25, several_widths, "one feature per filter"),
        values("one width", 1, one_width),
        values("several widths", 0.75, several_widths),
        values("padding changes nothing", 1.25),
        values("responses that are all negative", 1, at("responses that are all negative", lower=8.0)),
        values("texts shorter than a filter", 1, short, short_negative),
        values("texts of one word, equal sizes", 0.75, ODD),
    ],
    mistakes="""
maximum-over-filters: You took the maximum over the filters: one number per window. The features are one number per
*filter*, its largest response over time.
- c.amax(dim=1) → c.amax(dim=2)
mean-over-time: You took the mean over the windows. A filter asks whether something occurs at all: take the largest
response.
- c = c.masked_fill(~inside[..., None], -math.inf) →
- c.amax(dim=1) → (c * inside[..., None]).sum(dim=1) / inside.sum(dim=1, keepdim=True)
padding-as-zeros: The windows of your padding have response 0, which wins wherever all real responses are negative.
Windows that do not count must lose against every number: −∞.
- c.masked_fill(~inside[..., None], -math.inf) → c * inside[..., None]
windows-of-padding: Windows of padding take part in your maximum. Even if the padding is zeros, such a window responds
with the bias, and may win.
- c = c.masked_fill(~inside[..., None], -math.inf) →
padding-untouched: You use the padding as if it were text: neither are its vectors zeros, nor are its windows left out.
- x = x * real[..., None] →
- c = c.masked_fill(~inside[..., None], -math.inf)
+ c = c[:, : max(c.shape[1] - k + 1, 1)]
padding-inside-short-texts: A text shorter than a filter is followed by *zeros* in its window. Yours is followed by its
padding, so its features depend on the batch that it is in.
- x = x * real[..., None] →
windows-over-the-end: You count windows that overhang the end of the text. A window counts only if all its words belong
to the text, unless the text is shorter than the filter.
- <= (lengths - k).clamp(min=0)[:, None] → < lengths[:, None]
windows-over-the-start: You count windows that overhang the start of the text, because your zeros are in front of it, as
in a causal convolution. The first window begins at the first word.
- torch.cat([x, x.new_zeros(len(x), k - 1, x.shape[2])], dim=1)
+ torch.cat([x.new_zeros(len(x), k - 1, x.shape[2]), x], dim=1)
- <= (lengths - k).clamp(min=0)[:, None]
+ < lengths[:, None]
filter-flipped: Your filters are flipped: `weight[0]` is for the *first* word of a window.
- weight.permute(2, 1, 0) → weight.flip(0).permute(2, 1, 0)
convolution-leaks: Your windows are shifted: the zeros are on both sides of the texts, as libraries put them for images,
so answer i is not that of the window which starts at i. Put all zeros behind.
- torch.cat([x, x.new_zeros(len(x), k - 1, x.shape[2])], dim=1)
+ torch.cat([x.new_zeros(len(x), k // 2, x.shape[2]), x, x.new_zeros(len(x), k - 1 - k // 2, x.shape[2])], dim=1)
last-window-forgotten: You leave out the final window of each text. A text of n words has n − k + 1 windows.
- (lengths - k) → (lengths - k - 1)
short-texts-as-zeros: Your features of texts that are shorter than a filter are 0. Such a text has one window: its
words, followed by zero vectors.
- c.amax(dim=1) → torch.where((lengths < k)[:, None], torch.zeros_like(c[:, 0]), c.amax(dim=1))
short-texts-lost: For texts that are shorter than a filter you have no window at all, and the maximum of nothing is −∞.
They have one: their words, followed by zero vectors.
- (lengths - k).clamp(min=0)[:, None] → (lengths - k)[:, None]
cut-off-at-zero: Your features are never negative: there is a ReLU, or a 0, among the things that you compare. The ReLU
comes in the next question.
- c.amax(dim=1) → torch.relu(c.amax(dim=1))
largest-magnitude: You took the response of the largest magnitude. The largest is meant with its sign: −5 loses against
1.
- c = c.masked_fill(~inside[..., None], -math.inf)
-     strongest.append(c.amax(dim=1))
+ size = c.abs().masked_fill(~inside[..., None], -math.inf)
+     strongest.append(c.gather(1, size.argmax(dim=1, keepdim=True))[:, 0])
minimum-for-maximum: You took the smallest response of each filter. Keep the largest: it says how clearly what the
filter looks for occurs anywhere in the text.
- c.masked_fill(~inside[..., None], -math.inf) → c.masked_fill(~inside[..., None], math.inf)
- c.amax(dim=1) → c.amin(dim=1)
bias-forgotten: You left out the biases.
- weight.permute(2, 1, 0), bias) → weight.permute(2, 1, 0))
""",
)


def classifier(draw: Draw, vocab: int, d: int, classes: int, filters: int, *widths: int) -> list[Tensor]:
    """The parameters of a classifier: of averages if there are no widths."""
    weights, biases = some_filters(draw, d, filters, *widths)
    features = filters * len(widths) or d
    head = [draw.normal(vocab, d), draw.normal(features, classes) / features**0.5, draw.normal(classes) / 2]
    return [*head, *(p for pair in zip(weights, biases, strict=True) for p in pair)]


def scored(
    draw: Draw,
    vocab: int,
    d: int,
    classes: int,
    filters: int,
    widths: tuple[int, ...] = (),
    batch: int = 5,
    time: int = 8,
    shortest: int = 1,
    lower: float = 0.0,
) -> Arguments:
    table, *rest = classifier(draw, vocab, d, classes, filters, *widths)
    tokens = draw.integers(0, vocab - 1, batch, time)
    return [table - lower, *rest], tokens, lengths_below(draw, batch, time, shortest)


SCORES = with_torch(
    "convolutions.scores",
    returns=("scores",),
    inputs=at("averages", scored),
    odd=[
        at("averages that are negative", lower=3.0),
        at("texts shorter than a filter", widths=(5, 1), batch=3, time=2),
        at(EQUAL, vocab=3, d=3, classes=3, filters=3, widths=(3,), batch=3, time=3, shortest=3),
    ],
    properties=[
        shapes(0.25, name="one score per text and class"),
        values("averages", 0.75),
        values("filters of one width", 0.75, at("filters of one width", widths=(2,), shortest=8)),
        values("filters of two widths", 0.75, at("filters of two widths", widths=(1, 3))),
        values("short texts, negative averages", 0.5, ODD),
    ],
    mistakes="""
relu-forgotten: You left out the ReLU between the features and the output matrix.
- torch.relu(text_features(table[tokens], lengths, filters[0::2], filters[1::2]))
+ text_features(table[tokens], lengths, filters[0::2], filters[1::2])
relu-on-the-average: You put the averages through the ReLU as well. It belongs to the filters only.
- h = average_words(table, tokens, lengths) → h = torch.relu(average_words(table, tokens, lengths))
tanh-for-relu: You put the features through a tanh. Here it is a ReLU.
- torch.relu(text → torch.tanh(text
probabilities: You returned probabilities. Return the scores: the loss takes the softmax, in one step with its
logarithm.
- return h @ V + c → return torch.softmax(h @ V + c, dim=-1)
or
- return h @ V + c → return torch.log_softmax(h @ V + c, dim=-1)
output-bias-forgotten: You left out the output bias c.
- @ V + c → @ V
relu-at-the-end: You put the scores through a ReLU. Scores may be negative; the ReLU is for the features.
- return h @ V + c → return torch.relu(h @ V + c)
first-width-only: You used the filters of the first width only. The list may contain more pairs of weights and biases.
- if filters:
+ V = V[: filters[0].shape[2]] if filters else V
+ filters = filters[:2]
+ if filters:
widths-in-reverse: Your features are in the wrong order: those of the first pair of weight and bias come first, and V
counts on it.
- filters[0::2], filters[1::2] → filters[0::2][::-1], filters[1::2][::-1]
padding-read: You never use the lengths, so padding takes part.
^ lengths = torch.full_like(lengths, tokens.shape[1])
""",
)

# --- 4. a training loop that keeps the best epoch ----------------------------------------------------------------

VOCAB, D, CLASSES = 7, 3, 2


def some_texts(draw: Draw, size: int, time: int = 4) -> list[Tensor]:
    """Tokens, lengths and labels; every class occurs."""
    labels = draw.integers(0, CLASSES - 1, size)
    labels[0], labels[-1] = 0, CLASSES - 1
    return [draw.integers(0, VOCAB - 1, size, time), lengths_below(draw, size, time), labels]


def training(
    draw: Draw, epochs: int, batches: int, rate: float, momentum: float, widths: tuple[int, ...] = ()
) -> Arguments:
    parameters = classifier(draw, VOCAB, D, CLASSES, 2, *widths)
    data = [some_texts(draw, 3 + number % 2) for number in range(batches)]
    return parameters, data, some_texts(draw, 5), epochs, rate, momentum


def best_in_between(draw: Draw) -> Arguments:
    """The best epoch is neither the first nor the final one, better than no training, and the losses are clearly
    different."""
    while True:
        found = training(draw, 4, 3, 2.0, 0.5)
        losses, early = (
            torch.tensor(train(*found)[0]) for train in (TRAIN.reference, TRAIN.mistake("measured-too-early"))
        )
        best = int(losses.argmin())
        if best in (1, 2) and losses[best] < early[0] and float(losses.sort().values.diff().min()) > 1e-2:
            return found


def short_texts(draw: Draw) -> Arguments:
    parameters = [p.double() for p in classifier(draw, VOCAB, D, CLASSES, 2, 5)]
    return parameters, [some_texts(draw, 2, 3)], some_texts(draw, 3, 3), 2, 0.2, 0.9


def all_equal(draw: Draw) -> Arguments:
    data = [draw.integers(0, 2, 3, 3), torch.tensor([3, 2, 1]), torch.tensor([0, 1, 2])]
    return [draw.normal(3, 3), draw.normal(3, 3), draw.normal(3)], [data], data, 2, 0.5, 0.5


def sure(draw: Draw) -> Arguments:
    """A classifier so sure of the held-out texts that their loss is 0 after every epoch, whatever it learns."""
    table, V, c = classifier(draw, VOCAB, D, CLASSES, 2)
    table[:, 0], V[0] = 0.0, torch.tensor([30.0, -30.0])
    table[0, 0] = 30.0
    data = [some_texts(draw, 3) for _ in range(2)]
    for tokens, _, _ in data:
        tokens.clamp_(min=1)
    tokens, lengths, labels = some_texts(draw, 4)
    return [table, V, c], data, [0 * tokens, lengths, 0 * labels], 3, 0.02, 0.5


step = at("one batch, one epoch", epochs=1, batches=1, rate=0.5, momentum=0.0)
two_widths = at("filters of two widths", epochs=2, batches=2, rate=0.2, momentum=0.5, widths=(1, 2))
epochs = at("three batches, four epochs", best_in_between)
unchanged = and_inputs_unchanged(same_values(("losses", "best")))
TRAIN = with_torch(
    "convolutions.train",
    returns=("losses", "best"),
    inputs=training,
    properties=[
        values("a single step", 1.5, step),
        values("the losses of several epochs", 1.5, epochs, "losses"),
        values("the best parameters", 1.5, epochs, "best"),
        values("filters", 1.5, two_widths),
        judged("and the given parameters are unchanged", 1, epochs, unchanged),
        values(
            "short texts, float64, equal losses",
            1,
            at("texts shorter than a filter, float64", short_texts),
            at(EQUAL, all_equal),
            at("three epochs with the same loss", sure),
        ),
    ],
    mistakes="""
final-for-best: You return the parameters after the *final* epoch. Either you never choose, or you remember the
parameters themselves, which later steps change in place: remember a copy.
- if not losses or loss < min(losses):
-         best = torch.cat([p.detach().flatten() for p in parameters])
-     losses.append(loss)
+ best = torch.cat([p.detach().flatten() for p in parameters])
+     losses.append(loss)
worst-for-best: You kept the epoch with the *highest* loss.
- loss < min(losses) → loss > max(losses)
latest-of-equals: Of several epochs with the same lowest loss you keep the latest. Keep the first: compare with `<`.
- loss < min(losses) → loss <= min(losses)
first-for-best: You return the parameters after the first epoch: your comparison never finds a lower loss.
- if not losses or loss < min(losses): → if not losses:
given-parameters-changed: Your values are right, but you also changed the caller's parameters, so a second training
would not start where the first did. Train copies: `p.clone()`.
- p.clone().requires_grad_() → p.requires_grad_()
- return losses, best
+ for p in parameters:
+     p.requires_grad_(False)
+ return losses, best
gradients-pile-up: The gradients of earlier batches are still in yours: `backward()` adds to `.grad`. Set it to zero or
None before each batch.
- velocities = → sums, velocities = [torch.zeros_like(p) for p in parameters],
- gradients = torch.autograd.grad(loss_of(batch), parameters)
+ gradients = torch.autograd.grad(loss_of(batch), parameters)
+         sums = gradients = [old + new for old, new in zip(sums, gradients, strict=True)]
momentum-ignored: This is plain gradient descent. Either you do not use the momentum, or your velocities start from 0
with every batch, so nothing is left of the previous one.
- velocity.mul_(momentum) → velocity.mul_(0)
nesterov: You step to where the next step would lead, as Nesterov's momentum does. Here the parameter moves by minus
rate times the new velocity.
- p.sub_(rate * velocity) → p.sub_(rate * (gradient + momentum * velocity))
momentum-dampened: You multiply the gradient by 1 − momentum. That is a common variant, but with this rule it gets its
full weight: the velocity is momentum times the old one plus the gradient.
- .add_(gradient) → .add_(gradient, alpha=1 - momentum)
velocity-starts-again: Your velocities start from 0 in every epoch. They are 0 at the start of the training only.
- for _ in range(epochs):
+ for _ in range(epochs):
+     velocities = [torch.zeros_like(p) for p in parameters]
uphill: You add the velocity, so the loss rises. The parameters move by *minus* rate times the velocity.
- p.sub_( → p.add_(
one-step-per-epoch: You take one step per epoch, with the gradients of all batches. Here each batch has its own step.
- for batch in batches:
-         gradients = torch.autograd.grad(loss_of(batch), parameters)
+ for batch in batches[:1]:
+         gradients = torch.autograd.grad(sum(map(loss_of, batches)), parameters)
or
- for batch in batches:
-         gradients = torch.autograd.grad(loss_of(batch), parameters)
+ for batch in batches[:1]:
+         gradients = torch.autograd.grad(sum(map(loss_of, batches)) / len(batches), parameters)
measured-too-early: You measure the loss before an epoch instead of after it: your first loss is that of the untrained
classifier.
- for _ in range(epochs): → for epoch in range(epochs):
- for batch in batches: → for batch in batches if epoch else []:
or
- for batch in batches:
+ with torch.no_grad():
+         early = float(loss_of(held_out))
+     for batch in batches:
- loss = float(loss_of(held_out)) → loss = early
training-loss-returned: You return the loss on a training batch. Choose by, and return, the loss on `held_out`: the
training loss falls long after the classifier has stopped getting better.
- float(loss_of(held_out)) → float(loss_of(batch))
held-out-trained-on: You also train on `held_out`. Then its loss says nothing about new texts.
- for batch in batches: → for batch in [*batches, held_out]:
losses-summed: You trained on the *sum* of the losses of a batch's texts. The loss of a batch is the mean: otherwise
the step grows with the batch.
- torch.autograd.grad(loss_of(batch), parameters) → torch.autograd.grad(loss_of(batch) * len(batch[0]), parameters)
vectors-not-trained: The table of word vectors does not learn. The first parameter of the list is trained like the
others.
- for p, velocity, gradient in zip(parameters, velocities, gradients, strict=True):
+ for p, velocity, gradient in list(zip(parameters, velocities, gradients, strict=True))[1:]:
""",
)

# --- 5. the wrong line of a colleague's backward pass ------------------------------------------------------------


def backward(draw: Draw, batch: int, d_in: int, d_out: int, time: int = 7, k: int = 3, dilation: int = 1) -> Arguments:
    return draw.normal(batch, time, d_in), draw.normal(k, d_in, d_out), draw.normal(batch, time, d_out), dilation


CONVOLUTION_BACKWARD = with_numpy(
    "convolutions.convolution_backward",
    returns=("d_x", "d_weight", "d_bias"),
    inputs=at("width 3", backward),
    odd=[
        at("a dilation", time=8, k=2, dilation=3),
        at("a text shorter than the filter", batch=2, time=3, k=4),
        at("one text", batch=1, time=6, k=3, dilation=2),
        at("all sizes equal", batch=3, time=3, d_in=3, d_out=3),
    ],
    properties=[
        values("the gradient of the weights", 0.5, "d_weight"),
        values("the gradient of the inputs", 0.5, "d_x"),
        values("dilations, and a short text", 1, ODD),
    ],
    planted="* j * dilation → past - j * dilation",
    mistakes="""
dilation-lost: You mended the direction of the slices and lost the dilation: matrix j starts j dilations after the
start of the padded text.
- slice(j * dilation, j * dilation + x.shape[1]) → slice(j, j + x.shape[1])
always-the-newest: All your matrices get the slice of the current positions. Each has its own.
- slice(j * dilation, j * dilation + x.shape[1]) → slice(past, past + x.shape[1])
averaged-over-texts: You also took a mean over the texts. The sum was right: each text adds to the gradient of the
weights; if the loss is a mean, d_y already contains the division.
- .sum(axis=0) → .mean(axis=0)
overwritten: You also changed `+=`. It was right: a position lies in the slices of several matrices, and gets the sum
of their gradients.
- d_padded[:, window] += → d_padded[:, window] =
start-for-the-end: You also changed which part of `d_padded` is returned. It was right: the zeros come first, and the
text follows.
- d_padded[:, past:] → d_padded[:, : x.shape[1]]
zeros-behind: You also moved the zeros behind the text. They were right in front: the convolution is causal.
- [np.zeros((len(x), past, x.shape[2])), x] → [x, np.zeros((len(x), past, x.shape[2]))]
""",
)

WRONG_LINE = wrong_line(
    "convolutions.wrong_line",
    CONVOLUTION_BACKWARD,
    mistakes="""
sum-suspected: Line {+=} is right: a position lies in the slices of several matrices, so its gradient is a sum.
weights-suspected: Line {d_weight[j]} is right: a transposed input times the gradient of the output, summed over
the texts. But which inputs does it get?
past-suspected: Line {past =} is right: a filter of width k with dilation δ reaches (k − 1)·δ back, as in 2a.
padding-suspected: Line {padded = np.concatenate} is right: the zeros of a causal convolution are in front.
bias-suspected: Line {d_bias =} is right: the bias is added at every position of every text, so its gradient is
the sum over both.
result-suspected: Line {return} is right: the zeros in front are not part of the text, and their gradient is
dropped.
""",
)

# --- 6. do filters use the order of letters, or only their size? -------------------------------------------------

LETTERS = " 'abcdefghijklmnopqrstuvwxyz"
LONGEST = 36


@functools.cache
def spelled(play: str) -> list[tuple[str, str]]:
    """The shorter lines of a play that are spelled differently now, in letters only."""
    both = ((letters(pair.folio), letters(pair.modern)) for pair in align_play(play))
    return [pair for pair in both if pair[0] != pair[1] and all(pair) and len(pair[0]) < LONGEST]


def letters(line: str) -> str:
    return " ".join(re.sub(r"[^a-z' ]", "", line.lower()).split())


def one_batch(pairs: list[tuple[str, str]]) -> list[Tensor]:
    texts = [torch.tensor([LETTERS.index(letter) for letter in line]) for pair in pairs for line in pair]
    tokens = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True)
    return [tokens, torch.tensor([len(text) for text in texts]), torch.tensor([0, 1] * len(pairs))]


def lines(start: int, batches: int, size: int, held_out: int) -> tuple[list[list[Tensor]], list[Tensor]]:
    pairs = spelled("hamlet")[start:]
    starts = range(0, batches * size, size)
    return [one_batch(pairs[i : i + size]) for i in starts], one_batch(pairs[batches * size :][:held_out])


page = on_the_page("the five seeds of the page", *lines(0, 3, 32, 60), [0, 1, 2, 3, 4])


def fresh(draw: Draw) -> list[Case]:
    seeds = [draw.integer(10 * n, 10 * n + 9) for n in (1, 2)]
    square = [[draw.integers(0, 27, 4, 4), torch.full((4,), 4), torch.tensor([0, 1, 0, 1])] for _ in range(2)]
    return [
        case("other lines and seeds", *lines(draw.integer(156, 400), 1, 8, 6), seeds),
        case(EQUAL, square[:1], square[1], seeds),
    ]


WHAT_FILTERS_USE = with_torch(
    "convolutions.what_filters_use",
    returns=("prediction", "losses", "conclusion"),
    chosen=("prediction", "conclusion"),
    tolerance=1e-3,
    properties=[
        predicted(0.25, page, 4),
        values("the losses of every seed", 1.75, fresh, page, "losses", tolerance=5e-3),
        concluded(
            2,
            Both((fresh, page)),
            [["lower", 1, 0], ["lower", 1, 2]],
            [["lower", 1, 0], ["undecided", 1, 2]],
            ["lower", 0, 1],
            ["undecided", 0, 1],
        ),
    ],
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- for seed in seeds: → for seed in [seeds[0]] * len(seeds):
held-out-not-shuffled: You shuffled the letters that you train on, and measured on lines in order. The control must
differ from the filters in nothing but the order: shuffle both.
- shuffled(held_out, seed) → held_out
training-not-shuffled: You trained on lines in order and shuffled only the held-out ones. The control must never have
seen the order: shuffle both.
- mixed = [shuffled(batch, seed) for batch in batches] → mixed = batches
lowest-for-final: You took the lowest loss of all epochs. An epoch that is chosen by the held-out lines looks too good:
take the final one.
- averages[0][-1], filters[0][-1], control[0][-1] → min(averages[0]), min(filters[0]), min(control[0])
first-for-final: You took the loss after the first epoch. Take the one after the final epoch.
- averages[0][-1], filters[0][-1], control[0][-1] → averages[0][0], filters[0][0], control[0][0]
measured-on-what-was-trained: You measured the loss on the first batch of the lines that you trained on. Measure the
held-out lines.
^ held_out = batches[0]
best-seed-picked: You return the lowest loss over all seeds, in every row. A model that may choose its seed looks
better than it is: keep the number of every seed.
- conclusion = 1 → losses = torch.tensor(losses).amin(0).expand(len(seeds), 3); conclusion = 1
size-for-order: Your own numbers do say more: on shuffled letters the same filters, with as many parameters, are worse
for every seed. So it is not their size.
- conclusion = 1 → conclusion = 2
against-the-numbers: Your own numbers say the opposite: the filters have the lower loss for every seed.
- conclusion = 1 → conclusion = 3
too-careful: The difference between filters and averages is not large, but it has the same sign for every seed, and
that is what you were asked for.
- conclusion = 1 → conclusion = 4
not-predicted: There is no prediction. Write down what you expect, 1 to 4, before you look at numbers; afterwards
everything looks as if you had known it.
- prediction = 2 → prediction = 0
""",
)

EXERCISES = exercises_in(__name__)
