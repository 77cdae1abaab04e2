"""Assignment "recurrence": the step, the loop over it, the loss of padded texts, and back through time by hand.

The functions differ in form from `nlmcore.recurrent`, whose cells are modules and whose gradients are PyTorch's: here
weights are plain matrices in NumPy, and every gradient is a sum over times that the student writes down.
"""

import functools
from typing import Any

import torch
from torch import Tensor

from autograder.question.declare import exercises_in, judged, question, shapes, values, ways
from autograder.question.draw import Draw
from autograder.question.judges import and_inputs_unchanged, same_values
from autograder.question.sized import MAIN, ODD, at, these
from autograder.question.special import at_points, experiment, formula, wrong_line
from autograder.question.specification import Case
from solutions.recurrence.laws import follows_from_its_own_norm, held, left_alone, nothing_at_padding

ask = functools.partial(question, numpy=True)
Arguments = tuple[Any, ...]


def weights(draw: Draw, n_in: int, hidden: int) -> tuple[Tensor, Tensor, Tensor]:
    """W (n_in, hidden), U (hidden, hidden) and b (hidden,), small enough for tanh not to saturate."""
    W, U = draw.normal(n_in, hidden) / n_in**0.5, draw.normal(hidden, hidden) / hidden**0.5
    return W, U, draw.normal(hidden) / 2


def some_lengths(draw: Draw, batch: int, time: int, shortest: int) -> Tensor:
    """One of the texts is `time` long, the others are shorter."""
    lengths = draw.integers(shortest, time - 1, batch)
    lengths[draw.integer(0, batch - 1)] = time
    return lengths


def over(time: int, lengths: Tensor) -> Tensor:
    return torch.arange(time) >= lengths[:, None]


# --- 1. the step, the loop over texts of different lengths, and two directions -----------------------------------


def steps(draw: Draw, batch: int, n_in: int, hidden: int) -> Arguments:
    return draw.normal(batch, n_in), draw.normal(batch, hidden), *weights(draw, n_in, hidden)


RNN_STEP = ask(
    "recurrence.rnn_step",
    returns=("h",),
    inputs=steps,
    odd=[at("one text, one unit", batch=1, hidden=1)],
    properties=[
        values("a batch", 1),
        values("as many units as inputs", 0.5, at("as many units as inputs", lambda draw, n, d: steps(draw, n, d, d))),
        values("one text, one unit, and float64", 0.5, ODD),
    ],
    mistakes="""
u-and-w-exchanged: You swapped U and W. W multiplies the input, U the previous state. If both are square, there is no
error message; different sizes reveal it immediately.
- x @ W + h @ U → x @ U + h @ W
no-tanh: You computed the sum but left out the tanh: without it the state grows without bound.
- np.tanh(x @ W + h @ U + b) → x @ W + h @ U + b
sigmoid: You used a sigmoid, between 0 and 1. Here it is tanh, between −1 and 1.
- np.tanh(x @ W + h @ U + b) → 1 / (1 + np.exp(-(x @ W + h @ U + b)))
past-forgotten: You did not use the previous state: without h U this network reads only one word.
- x @ W + h @ U → x @ W
bias-forgotten: You left out the bias b. Add it before the tanh.
-  + b →
tanh-of-the-parts: You applied the tanh to x W and h U separately and added the results. Add first, then apply the tanh
once: the state stays between −1 and 1.
- np.tanh(x @ W + h @ U + b) → np.tanh(x @ W + b) + np.tanh(h @ U)
state-after-the-tanh: You added h U after the tanh, so the state grows without bound. It belongs to the sum inside.
- np.tanh(x @ W + h @ U + b) → np.tanh(x @ W + b) + h @ U
u-transposed: You transposed U. Vectors are rows here, so the state multiplies U from the left: h U. (PyTorch's
weight_hh is our U transposed.)
- h @ U → h @ U.T
or
- x @ W + h @ U → x @ W.T + h @ U.T
bias-after-the-tanh: You added b after the tanh, so the state can leave −1 to 1. It is part of the tanh's argument: it
shifts the point at which a unit changes sign.
- h @ U + b) → h @ U) + b
residual: You added the previous state to the result. It goes through U only.
- np.tanh(x @ W + h @ U + b) → h + np.tanh(x @ W + h @ U + b)
bias-twice: You added b twice, once with the input and once with the state. PyTorch has two biases there; here there is
one, added once.
- + b → + 2 * b
""",
)


def runs(draw: Draw, batch: int, n_in: int, hidden: int, time: int = 0, lengths: tuple[int, ...] = ()) -> Case:
    """Texts of different lengths; `known`: where they are over."""
    time = time or batch + draw.integer(2, 3)  # never as many times as texts
    ends = torch.tensor(lengths) if lengths else some_lengths(draw, batch, time, 2)
    xs, h0 = draw.normal(batch, time, n_in), draw.normal(batch, hidden) / 2
    return Case(label="", calls=((xs, ends, h0, *weights(draw, n_in, hidden)),), known=(over(time, ends),))


full = at("texts of equal length", lambda draw, n, d, h: runs(draw, n, d, h, n + 1, (n + 1,) * n))
RNN_FORWARD = ask(
    "recurrence.rnn_forward",
    returns=("states", "last"),
    inputs=at("texts of different lengths", runs),
    odd=[
        at("one of the texts is empty", batch=3, time=4, lengths=(2, 0, 4)),
        at("more padding than the longest needs", batch=3, time=4, lengths=(1, 2, 2)),
        at("one step, one unit", batch=2, hidden=1, time=1, lengths=(1, 1)),
    ],
    properties=[
        shapes(0.25, full),
        values("all states of texts of equal length", 1, full, "states"),
        values("the last state of texts of equal length", 0.5, full, "last"),
        judged("the state is unchanged after a text's end", 0.75, MAIN, held, "states"),
        values("texts of different lengths", 0.75),
        values("an empty text, and a single step", 0.75, ODD),
    ],
    mistakes="""
padding-read: You processed the padding as well. Where t is not below a text's length, its state must not change:
`np.where` takes the new or the old state, text by text.
- t < lengths → lengths >= 0
or
^ xs = xs * (np.arange(xs.shape[1]) < lengths[:, None])[..., None]
- t < lengths → lengths >= 0
state-not-carried: Every step of yours starts from h0, so no state is passed on. Each step must use the state that the
previous step returned.
- rnn_step(xs[:, t], h, → rnn_step(xs[:, t], h0,
start-ignored: You start from zeros, but the state starts at h0. A text may be processed in chunks: then h0 is the last
state of the previous chunk.
^ h0 = np.zeros_like(h0)
one-tensor-for-all-times: All your states equal the final one: you changed one array in place, and the list holds it
many times. Create a new array at every step.
- np.stack(states, axis=1) → np.stack([h] * xs.shape[1], axis=1)
one-step-too-early: Your states start with h0, and the last one is missing: they are the states *before* each step.
Return those after it.
- np.stack(states, axis=1) → np.stack([h0, *states[:-1]], axis=1)
start-after-the-end: After the end of a text you set its state back to h0. Keep the state that the text ended with.
- np.where(going_on, rnn_step(xs[:, t], h, W, U, b), h) → np.where(going_on, rnn_step(xs[:, t], h, W, U, b), h0)
shortest-for-all: You stop all texts where the shortest ends. Each text has its own length.
- t < lengths → t < lengths.min() + 0 * lengths
zero-after-the-end: After the end of a text you set its state to 0, so everything it has read is lost. Keep the state
that the text ended with.
- np.where(going_on, rnn_step(xs[:, t], h, W, U, b), h) → rnn_step(xs[:, t], h, W, U, b) * going_on
one-step-too-many: You process one step too many of each text: times are 0, 1, …, so a text of length n is over from
time n onwards. Use t < n, not t ≤ n.
- t < lengths → t <= lengths
one-step-too-few: You do not process the last word of each text: a text of length n has the times 0 to n − 1, and all of
them count. Use t < n, not t < n − 1.
- t < lengths → t < lengths - 1
time-before-texts: Time is the first axis of your states. `np.stack(states, axis=1)` makes it the second, after the
texts; a `reshape` only relabels the axes and mixes up the texts.
- np.stack(states, axis=1) → np.stack(states).reshape(len(xs), xs.shape[1], -1)
or
- np.stack(states, axis=1) → np.stack(states)
""",
)


def labelled(draw: Draw, n_in: int, hidden: int, time: int, lengths: tuple[int, ...]) -> Arguments:
    ahead, back = (list(weights(draw, n_in, hidden)) for _ in range(2))
    out = draw.normal(2 * hidden, n_in + 1), draw.normal(2 * hidden, hidden + 2)
    return draw.normal(len(lengths), time, n_in), torch.tensor(lengths), ahead, back, *out


full = at("texts of equal length", time=4, lengths=(4, 4, 4))
padded = these(
    at("texts of different lengths", time=6, lengths=(3, 6, 2)),
    at("a text of one word, and more padding than the longest needs", time=6, lengths=(1, 4)),
)
LABEL_AND_CLASSIFY = ask(
    "recurrence.label_and_classify",
    returns=("labels", "classes"),
    inputs=labelled,
    properties=[
        shapes(0.25, full),
        values("the labels of texts of equal length", 1, full, "labels"),
        values("the classes of texts of equal length", 0.75, full, "classes"),
        values("the labels where lengths differ", 1, padded, "labels"),
        values("the classes where lengths differ", 1, padded, "classes"),
    ],
    mistakes="""
reads-forwards-twice: Both of your networks read forwards. The second one should begin with the last word of each text.
- xs[rows, turned], lengths → xs, lengths
- backwards[rows, turned] → backwards
not-turned-back: The backward network's states are still in its own order, last word first. At each word, join the
two states that have just read *this* word: turn them around again.
- backwards[rows, turned] → backwards
padding-read-first: You turned whole rows around, so in a short text the backward network begins with padding. Turn each
text around up to its length.
- np.where(inside, lengths[:, None] - 1 - position, position) → (time - 1 - position)[None]
or
- np.where(inside, lengths[:, None] - 1 - position, position) → (time - 1 - position)[None]
- rnn_forward(xs[rows, turned], lengths → rnn_forward(xs[rows, turned], np.full(batch, time)
one-network-for-both: You used the matrices of the forward network for both directions. Each direction has learned its
own.
- *back) → *ahead)
joined-the-wrong-way-round: You joined the states the other way round: first those of the forward network, then those of
the backward one. The rows of V and C belong to them in this order.
- [forwards, backwards[rows, turned]] → [backwards[rows, turned], forwards]
labels-at-padding: Your labels at padding are not 0. There is no word to label.
- labels = both @ V → labels = np.concatenate([forwards, backwards[rows, turned]], axis=-1) @ V
mean-over-padding: Your mean divides by the number of positions, padding included. Divide the sum over the words of a
text by the number of its words.
- both.sum(1) / lengths[:, None] → both.mean(1)
padding-in-the-sum: Your class of a short text contains states at padding. Only words belong to the sum.
- both.sum(1) → np.concatenate([forwards, backwards[rows, turned]], axis=-1).sum(1)
sum-for-mean: Your classes come from the sum of the states, so a long text is always surer than a short one. Take the
mean.
- both.sum(1) / lengths[:, None] → both.sum(1)
last-states-for-the-mean: Your classes come from the final states of the two networks. That is another good way; here
the mean over all words was asked for.
- both.sum(1) / lengths[:, None] → np.concatenate([forwards[:, -1], backwards[:, -1]], axis=-1)
softmax-too-early: You return probabilities. Return logits; the softmax belongs to the loss.
- return labels, classes
+ return tuple(np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True) for z in (labels, classes))
""",
)

# --- 2. the loss of texts of different lengths, and a perplexity -------------------------------------------------


def predictions(draw: Draw, batch: int, vocab: int, time: int = 0, lengths: tuple[int, ...] = ()) -> Case:
    """Of texts of different lengths; `known`: where they are over."""
    time = time or draw.integer(4, 6)
    ends = torch.tensor(lengths) if lengths else some_lengths(draw, batch, time, 1)
    arguments = draw.normal(batch, time, vocab), draw.integers(0, vocab - 1, batch, time), ends
    return Case(label="", calls=(arguments,), known=(over(time, ends),))


def large_logits(draw: Draw, vocab: int) -> Arguments:
    """One maximum for all positions is too large for some."""
    logits, *rest = predictions(draw, 2, vocab, 3, (0, 2)).calls[0]
    return logits + torch.tensor([300.0, -300.0, 300.0])[:, None], *rest


def far_behind(draw: Draw, vocab: int) -> Arguments:
    logits, targets, lengths = predictions(draw, 1, vocab, 2, (2,)).calls[0]
    logits[0, 1, targets[0, 1]] -= 1000
    return logits, targets, lengths


LOGARITHM = """
- of_target = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
+ of_target = np.log(np.take_along_axis(np.exp(log_p), targets[..., None], axis=-1)[..., 0] + 1e-{})
"""
"""A small number inside the logarithm, of which students know many."""

full = at("texts of equal length", lambda draw, n, vocab, time: predictions(draw, n, vocab, time, (time,) * n))
TEXT_LOSS = ask(
    "recurrence.text_loss",
    returns=("loss", "d_logits"),
    inputs=at("texts of different lengths", predictions),
    odd=[
        at("one prediction", batch=1, time=1, lengths=(1,)),
        at("logits around 300 and −300, one text empty", large_logits),
        at("a target that is 1000 behind", far_behind),
    ],
    properties=[
        shapes(0.25, full),
        values("the loss of texts of equal length", 0.5, full, "loss"),
        values("its gradient", 0.5, full, "d_logits"),
        judged("padding has no gradient", 0.25, MAIN, nothing_at_padding, "d_logits"),
        values("the loss where lengths differ", 0.5, "loss"),
        values("the gradient where lengths differ", 0.5, "d_logits"),
        values("one prediction, large logits", 0.5, ODD),
    ],
    mistakes="""
padding-counted: Your mean includes padding. Then the model is trained to predict words that nobody wrote, and the loss
of short texts depends mostly on their padding. Count only times before a text's length.
^ lengths = np.full_like(lengths, logits.shape[1])
divided-by-all-places: Your sum leaves out padding, but you divide by the number of all positions, padding included: the
more padding, the smaller your loss. Divide by the number of predictions that count.
- counts.sum() → counts.size
gradient-at-padding: Your loss leaves out padding, but your gradient does not: the gradient of a loss is 0 where the
loss does not depend on the logits.
-  * counts[..., None] →
mean-of-means: You took the mean of each text and then the mean of those: then a word in a short text counts more than
one in a long text. All predictions count the same: one sum, one number of predictions.
- counts.sum() → lengths.clip(min=1)[:, None] * len(lengths)
- (of_target * counts).sum() / N → (of_target * counts / N).sum()
- None] / N → None] / N[..., None]
or
- -(of_target * counts).sum() / N → -((of_target * counts).sum(1) / lengths).mean()
sum-for-mean: That is the sum over all predictions. Divide both the loss and the gradient by their number.
*  / N →
gradient-undivided: Your loss is a mean, and your gradient is that of the sum. Divide it by the number of predictions,
too.
- None] / N → None]
sign: Your gradient has the wrong sign. It is softmax − one-hot: negative only for the target word.
- (np.exp(log_p) - hot) → (hot - np.exp(log_p))
loss-reversed: Your loss has the wrong sign. Logarithms of probabilities are negative, and the minus makes it positive.
- return -(of_target → return (of_target
bits-for-nats: Your loss is in bits. Here the logarithm is the natural one.
- return -(of_target * counts).sum() / N → return -(of_target * counts).sum() / N / np.log(2)
texts-for-predictions: You divided by the number of texts. Divide by the number of predictions that count.
- N = counts.sum() → N = len(logits)
one-hot-forgotten: Your gradient is just the softmax. Subtract 1 for the target word: the gradient at each position sums
to 0.
- (np.exp(log_p) - hot) → np.exp(log_p)
one-place-too-many: You count one position of padding in every text that has ended: a text of length n has the times 0
to n − 1. Use `<`, not `<=`.
- < lengths → <= lengths
softmax-over-time: You took the softmax over time, axis 1: the positions of a text compete. At each position the *words*
should compete: use the last axis.
- logits.max(axis=-1, → logits.max(axis=1,
- np.exp(z).sum(axis=-1, → np.exp(z).sum(axis=1,
overflow: exp overflows: e³⁰⁰ is more than a float32 holds, and what follows from infinity is NaN. Subtract the largest
logit of each position first.
- logits - logits.max(axis=-1, keepdims=True) → logits
log-of-zero: You take the logarithm of a softmax. Very small probabilities have been rounded to 0 there, and ln 0 is −∞
(adding a small number makes the loss finite, but wrong). Take the logarithm of the sum, and subtract it from the logit.
- of_target = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
+ of_target = np.log(np.take_along_axis(np.exp(log_p), targets[..., None], axis=-1)[..., 0])
"""
    + ways(LOGARITHM, *range(6, 16)),
)


def measured(draw: Draw, vocab: int, hidden: int, time: int, k: int, surprise: float = 0.0) -> Arguments:
    ids, c = draw.integers(0, vocab - 1, time), draw.normal(vocab)
    if surprise:
        ids = torch.cat([draw.integers(0, vocab - 2, time - 1), torch.tensor([vocab - 1])])
        c[-1] -= surprise
    return ids, *weights(draw, vocab, hidden), draw.normal(hidden, vocab), c, k


several = these(at("several chunks of equal length", time=7, k=2), at("three chunks", time=10, k=3))
any_size = these(
    at("a shorter chunk at the end", time=9, k=3),
    at("chunks of one character", time=4, k=1),
    at("a chunk longer than the text", time=4, k=9),
    at("a character that is hardly possible", time=8, k=3, surprise=120.0),
)
PERPLEXITY = ask(
    "recurrence.perplexity",
    returns=("perplexity",),
    inputs=measured,
    properties=[
        values("a text in one chunk", 1, at("one chunk", time=7, k=6)),
        values("several chunks", 1.5, several),
        values("chunks of any size, and an unlikely character", 1.5, any_size),
    ],
    mistakes="""
state-lost: Each of your chunks starts from a state of zeros, so the network forgets everything at each boundary. Pass
the last state of a chunk on to the next.
- states, h = rnn_forward → states, _ = rnn_forward
prediction-lost-at-the-boundary: You lose one prediction per chunk: the last character of a chunk must predict the first
of the next one. A chunk has as many targets as inputs, one position later.
- ids[start + 1 : start + k + 1] → ids[start + 1 : start + k]
or
- ids[start + 1 : start + k + 1] → ids[start + 1 : start + k]
- (len(ids) - 1)) → (len(ids) - 1 - len(range(0, len(ids) - 1, k))))
or
- targets = ids[start + 1 : start + k + 1] → targets = ids[start + 1 : start + k]
- ids[start : start + len(targets)] → ids[start : start + k]
- rnn_forward(one_hot[None], lengths, h → rnn_forward(one_hot[None], np.array([len(one_hot)]), h
- states @ V + c → states[:, : len(targets)] @ V + c
- loss * len(targets) → (loss * len(targets) if len(targets) else 0.0)
- (len(ids) - 1)) → max(1, len(ids) - 1 - (len(ids) - 1) // k))
mean-of-the-chunks: You took the mean of the chunks' losses. Then a prediction in a short chunk counts more than the
others: add up all losses and divide once.
- loss * len(targets) → loss
- (len(ids) - 1)) → len(range(0, len(ids) - 1, k)))
mean-of-the-perplexities: You took the mean of perplexities. Take the mean of all losses first, and the exponential
once.
- loss * len(targets) → np.exp(loss) * len(targets)
- np.exp(total / (len(ids) - 1)) → total / (len(ids) - 1)
loss-for-perplexity: That is the mean loss, in nats per character. The perplexity is e to that power.
- np.exp(total / (len(ids) - 1)) → total / (len(ids) - 1)
power-of-two: Your losses are in nats, with the natural logarithm, so the perplexity is a power of e. Powers of 2 belong
to bits.
- np.exp(total / (len(ids) - 1)) → 2 ** (total / (len(ids) - 1))
first-character-counted: You divided by the number of characters. The first one is not predicted: there is one
prediction fewer.
- (len(ids) - 1)) → len(ids))
not-shifted: Your targets are the inputs: the network is asked for the character that it has just read.
- targets = ids[start + 1 : start + k + 1] → targets = ids[start : start + k][: len(ids) - 1 - start]
rest-dropped: You leave out the end of the text if it does not fill a chunk. A shorter chunk is also a chunk.
- range(0, len(ids) - 1, k) → range(0, max(1, (len(ids) - 1) // k) * k, k)
or
- range(0, len(ids) - 1, k) → range(0, (len(ids) - 1) // k * k, k)
output-bias-forgotten: You left out c. The logits are h V + c.
- states @ V + c → states @ V
""",
)

# --- 3. back through the whole text, and in chunks ---------------------------------------------------------------


def read(draw: Draw, batch: int, n_in: int, hidden: int, time: int = 4) -> Arguments:
    """xs, h0, hs, d_hs and U of a network that has processed something."""
    xs, h0 = draw.normal(batch, time, n_in), draw.normal(batch, hidden) / 2
    W, U, b = weights(draw, n_in, hidden)
    h, hs = h0, []
    for x in xs.unbind(1):
        h = torch.tanh(x @ W + h @ U + b)
        hs.append(h)
    return xs, h0, torch.stack(hs, dim=1), draw.normal(batch, time, hidden), U


def last_loss(draw: Draw, batch: int, n: int) -> Arguments:
    xs, h0, hs, d_hs, U = read(draw, batch, n, n)
    d_hs[:, :-1] = 0.0
    return xs, h0, hs, d_hs, U


RNN_BACKWARD = ask(
    "recurrence.rnn_backward",
    returns=("d_W", "d_U", "d_b", "d_h0"),
    inputs=at("several steps", read),
    odd=[at("a loss at the last step only", last_loss), at("one text, one unit", batch=1, hidden=1, time=3)],
    properties=[
        shapes(0.5, name="each gradient has its parameter's shape"),
        values("a single step", 1, at("a single step", time=1)),
        values("d_b", 1, "d_b"),
        values("d_W", 1, "d_W"),
        values("d_U", 1, "d_U"),
        values("d_h0", 0.5, "d_h0"),
        values("a loss at the end only, one unit", 1, ODD),
    ],
    mistakes="""
each-step-for-itself: Each step gets only the gradient of its own loss, and none from later times. The next state was
computed from this one: add what arrives from there, d_a Uᵀ of the next step.
- (d_hs[:, t] + from_later) → d_hs[:, t]
u-not-transposed: In the backward pass you multiply by U. The forward pass multiplies a state by U; the backward pass
multiplies by its transpose: d_a Uᵀ.
- U.T → U
state-of-the-same-time: You computed d_U with the state *after* each step. U was multiplied by the state *before* it: h0
at the first step, then each of hs except the last.
- hs[:, t - 1] if t > 0 else h0 → hs[:, t]
last-loss-only: You use only the loss at the last time. There is one at every time: on the way back, add d_hs[:, t] to
what arrives from later.
^ d_hs = np.concatenate([np.zeros_like(d_hs[:, :-1]), d_hs[:, -1:]], axis=1)
tanh-skipped: Your gradient skips the tanh. From a state to the sum inside the tanh, multiply by 1 − h².
-  * (1 - hs[:, t] ** 2) →
or
- d_a = (d_hs[:, t] + from_later) * (1 - hs[:, t] ** 2)
+ d_h = d_hs[:, t] + from_later
+     d_a = d_h * (1 - hs[:, t] ** 2)
- d_a @ U.T → d_h @ U.T
overwritten: Only the first step's part is left: perhaps each step overwrites the previous result (`=` instead of `+=`).
The weights are shared over time; their gradient is the sum over times.
* += → =
averaged-over-time: You divided by the number of steps. Gradients that arrive along several paths are added; if the loss
is a mean, d_hs already contains the division.
- return d_W, d_U, d_b → return d_W / xs.shape[1], d_U / xs.shape[1], d_b / xs.shape[1]
start-taken-for-zeros: At the first step U was multiplied by h0, but you use zeros (or leave it out). Here a text may
start from a state that was passed on.
- else h0 → else np.zeros_like(h0)
last-state-before-the-first: The state before the first step is h0, but you use the *last* state: at t = 0, `hs[:, t -
1]` is `hs[:, -1]`, which Python counts from the end.
- hs[:, t - 1] if t > 0 else h0 → hs[:, t - 1]
from-the-first-to-the-last: You go through time from the first step to the last. The gradient of a state needs those of
all later states: start with the last time, `reversed(range(time))`.
- reversed(range(xs.shape[1])) → range(xs.shape[1])
slope-not-squared: Your slope is 1 − h. That of the tanh is 1 − h².
- hs[:, t] ** 2 → hs[:, t]
h0-without-gradient: Your d_h0 is 0. The first step has read h0 through U: d_a Uᵀ.
- d_b, from_later → d_b, 0 * from_later
tanh-twice: You applied tanh to hs again. The states are already *outputs* of the tanh: the slope is 1 − h².
- hs[:, t] ** 2 → np.tanh(hs[:, t]) ** 2
slope-for-its-own-loss-only: The gradient from later times skips the tanh: you multiply only the loss of the same time
by the slope. Add both first, (own + later), and multiply the sum by 1 − h².
- (d_hs[:, t] + from_later) * (1 - hs[:, t] ** 2) → d_hs[:, t] * (1 - hs[:, t] ** 2) + from_later
d-u-transposed: Your d_U is the transpose of the right one. In h U the state is on the left: d_U is hᵀ times d_a, as d_W
is xᵀ times d_a.
- return d_W, d_U → return d_W, d_U.T
one-u-short-of-h0: Your d_h0 is the gradient of the first sum. To reach h0, multiply by U once more: d_a Uᵀ.
- d_b, from_later → d_b, d_a
averaged-over-texts: You divided by the number of texts. Add the gradients of the texts; if the loss is a mean over
them, d_hs already contains the division.
- return d_W, d_U, d_b → return d_W / len(xs), d_U / len(xs), d_b / len(xs)
""",
)


def pieces(draw: Draw, batch: int, n_in: int, hidden: int, time: int = 0, k: int = 0) -> Arguments:
    k = k or draw.integer(2, 3)
    return *read(draw, batch, n_in, hidden, time or 3 * k), k


TRUNCATED_BACKWARD = ask(
    "recurrence.truncated_backward",
    returns=("d_W", "d_U", "d_b"),
    inputs=at("chunks of equal length", pieces),
    odd=[
        at("a shorter chunk at the end", time=5, k=3),
        at("chunks of one step", time=3, k=1),
        at("a chunk longer than the text", time=3, k=7),
    ],
    properties=[
        values("d_W and d_b", 1.5, "d_W", "d_b"),
        values("d_U", 1.5, "d_U"),
        values("a remainder, single steps, one chunk", 1, ODD),
    ],
    mistakes="""
not-cut: You do not truncate: this is the gradient of the whole text. At the start of a chunk, drop the gradient that
would flow into the previous chunk.
^ k = xs.shape[1]
state-cut-too: You also reset the state: each chunk starts from zeros. Only the gradient is cut. The state is passed on:
a chunk starts from the last state of the previous one.
- hs[:, start - 1] if start > 0 → np.zeros_like(h0) if start > 0
state-one-late: A chunk starts from the state *before* its first step, `hs[:, start - 1]`. You took the state after it.
- hs[:, start - 1] → hs[:, start]
every-piece-from-h0: All your chunks start from h0. Only the first should; the others start from the last state of the
previous chunk.
- hs[:, start - 1] if start > 0 else h0 → h0
a-window-for-each-loss: You go back k steps from every time. That is also a form of truncation, but k times the work;
here the text is cut into chunks, and a loss reaches back to the start of its chunk.
- for start in range(0, xs.shape[1], k):
-     piece = slice(start, start + k)
+ for t in range(xs.shape[1]):
+     start = max(0, t - k + 1)
+     piece = slice(start, t + 1)
+     alone = d_hs[:, piece] * (np.arange(start, t + 1) == t)[:, None]
- d_hs[:, piece], U → alone, U
last-piece-only: You went back through the last k steps and stopped. Go through every chunk and add the gradients.
- range(0, xs.shape[1], k) → [max(0, xs.shape[1] - k)]
rest-dropped: If k does not divide the number of steps, you lose the remainder at the end. It is also a chunk, a shorter
one.
- [0.0, 0.0, 0.0] → [np.zeros((xs.shape[2], len(U))), np.zeros_like(U), np.zeros(len(U))]
- range(0, xs.shape[1], k) → range(0, xs.shape[1] // k * k, k)
or
^ k = min(k, xs.shape[1])
- range(0, xs.shape[1], k) → range(0, xs.shape[1] // k * k, k)
counted-from-the-end: You count the chunks from the end, so the short one comes first. The first chunk is times 1 to k;
a shorter one comes last.
- for start in range(0, xs.shape[1], k):
-     piece = slice(start, start + k)
+ for end in range(xs.shape[1], 0, -k):
+     start = max(0, end - k)
+     piece = slice(start, end)
mean-of-the-pieces: You took the mean over the chunks. The weights are shared: add the gradients of the chunks.
- tuple(total) → tuple(whole / -(-xs.shape[1] // k) for whole in total)
""",
)

# --- 4. clipping by the norm of all gradients together -----------------------------------------------------------


def gradients(draw: Draw, n_in: int, hidden: int) -> tuple[list[Tensor], Tensor, float]:
    """The gradients, as one vector, and the size of its largest entry."""
    made = [draw.normal(n_in, hidden), draw.normal(hidden, hidden) * 2, draw.normal(hidden)]
    flat = torch.cat([g.flatten() for g in made])
    return made, flat, float(flat.abs().max())


def above(draw: Draw, n_in: int, hidden: int) -> Case:
    """Single entries are above the limit, too."""
    made, flat, largest = gradients(draw, n_in, hidden)
    limit = largest * draw.integer(3, 7) / 10
    return Case(label="", calls=((made, limit),), known=(flat, torch.tensor(limit)))


def below_and_above(draw: Draw, n_in: int, hidden: int) -> Case:
    (short, short_flat, _), (long, long_flat, largest) = (gradients(draw, n_in, hidden) for _ in range(2))
    calls = ((short, float(short_flat.norm()) * 1.5), (long, largest / 2))
    return Case(label="", calls=calls, known=(short_flat, long_flat))


both, unchanged = (
    at("one below its limit and one above", below_and_above),
    and_inputs_unchanged(same_values(("norm", "clipped"), [1])),
)
CLIPPING = ask(
    "recurrence.clip",
    returns=("norm", "clipped"),
    inputs=at("above the limit", above),
    odd=[
        at("zeros", lambda draw, n: ([torch.zeros(n, n), torch.zeros(n)], 1.0)),
        at("a single array", lambda draw, n: ([draw.normal(n) * 5], 0.5)),
    ],
    properties=[
        shapes(0.25),
        values("the norm", 0.75, "norm"),
        judged("shortened to the limit, using your own norm", 0.75, MAIN, follows_from_its_own_norm),
        judged("gradients below the limit do not change", 0.5, both, left_alone, "clipped"),
        judged("the clipped gradients, the given ones unchanged", 0.5, MAIN, unchanged),
        values("zeros, and a single array", 0.25, ODD),
    ],
    mistakes="""
each-entry: You clipped each entry, which changes the direction of the gradient. Divide all entries by the same number
instead.
- flat * (largest / norm) if norm > largest else flat → flat.clip(-largest, largest)
each-tensor-by-its-own-norm: You clipped each array by its own norm. The gradient is one long vector of all parameters:
use one norm and one factor, or its direction changes.
- flat * (largest / norm) if norm > largest else flat
+ np.concatenate([g.flatten() * min(1.0, largest / max(np.linalg.norm(g), 1e-30)) for g in gradients])
always-divided: You always scale to the limit, even if the norm is below it. That *lengthens* small gradients, and
gradient descent never converges.
- (largest / norm) if norm > largest else flat → largest / norm
or
- (largest / norm) if norm > largest else flat → largest / max(norm, 1e-12)
square-root-forgotten: Your norm is the sum of the squares. You left out the square root.
- np.sqrt((flat**2).sum()) → (flat**2).sum()
norms-added: You added the norms of the arrays. Lengths do not add up, but their squares do: take the root of the sum
of all squares.
- np.sqrt((flat**2).sum()) → sum(np.linalg.norm(g) for g in gradients)
largest-entry: Your norm is the largest entry. It is the root of the sum of all squares.
- np.sqrt((flat**2).sum()) → np.abs(flat).max()
sum-of-sizes: Your norm is the sum of the sizes of all entries. It is the root of the sum of their squares.
- np.sqrt((flat**2).sum()) → np.abs(flat).sum()
largest-norm: Your norm is that of the longest array. It is that of all arrays together.
- np.sqrt((flat**2).sum()) → max(np.linalg.norm(g) for g in gradients)
root-of-the-mean: Your norm is the root of the *mean* of the squares. A length is the root of their sum: (3, 4) has the
length 5.
- .sum() → .mean()
in-place: The values are right, but you also changed the gradients that you were given, and the caller still uses them:
`g * factor` makes a new array, `g *= factor` does not.
- return norm, flat * (largest / norm) if norm > largest else flat
+ for g in gradients:
+     g *= largest / norm if norm > largest else 1.0
+ return norm, np.concatenate([g.flatten() for g in gradients])
norm-after-clipping: You return the norm of the clipped gradient. Return the norm before clipping: it reveals an
explosion.
- return norm, flat * (largest / norm) if norm > largest else flat
+ flat = flat * (largest / norm) if norm > largest else flat
+ return np.linalg.norm(flat), flat
shortened-to-one: You divided by the norm, so the clipped gradient has length 1. Its length should be `largest`.
- largest / norm → 1 / norm
""",
)

# --- 5. the gradient of a weight that is used T times, derived on paper ------------------------------------------

few = at_points("few steps", u=(0.5, 1.4), h_0=(0.5, 2.0), y=(12.0, 15.0), T=(2, 5))
many = at_points("many steps", u=(0.8, 1.1), h_0=(0.5, 2.0), y=(-2.0, -0.5), T=(6, 20))
THROUGH_TIME = ask(
    "recurrence.through_time",
    returns=("d_u", "d_h_0"),
    properties=[
        formula("the gradient of the weight, few steps", 0.75, few, "d_u"),
        formula("the gradient of the weight, many steps", 0.5, many, "d_u"),
        formula("the gradient of the initial state", 0.75, many, "d_h_0"),
    ],
    mistakes="""
last-use-only: Your gradient of the weight counts its last use only, u h_(T−1) with h_(T−1) as given. The earlier uses
reach the loss through h_(T−1).
- error * T * u ** (T - 1) * h_0 → error * u ** (T - 1) * h_0
exponent-kept: The derivative of u^T is T u^(T−1): the exponent falls by one.
- u ** (T - 1) → u**T
error-forgotten: You differentiated h_T, not the loss. The derivative of ½ (h_T − y)² begins with the factor h_T − y.
- u**T * h_0 - y → 1.0
error-always-positive: Your error is never negative. Its sign says in which direction h_T misses the target.
- u**T * h_0 - y → abs(u**T * h_0 - y)
error-reversed: Your error is y − h_T. The derivative of ½ (h_T − y)² is h_T − y, so both signs are reversed.
- u**T * h_0 - y → y - u**T * h_0
one-step-too-few: After T steps h_0 has been multiplied by u T times, and so is the gradient on its way back.
- error * u**T → error * u ** (T - 1)
steps-left-in: Your second result still has the factor T. It belongs to the weight, which is used T times; h_0 is used
once.
- error * u**T → error * T * u**T
start-forgotten: Your first result lacks h_0: with respect to u, u^T h_0 has the derivative T u^(T−1) h_0.
- u ** (T - 1) * h_0, → u ** (T - 1),
state-left-in: Your second result still has the factor h_0. With respect to h_0, u^T h_0 has the derivative u^T.
- error * u**T → error * u**T * h_0
""",
)

# --- 6. the wrong line of a friend's reading in chunks -----------------------------------------------------------

several = these(at("several chunks", time=6, k=2), at("chunks of one step", time=3, k=1))
remainder = these(at("a chunk longer than the text", time=4, k=9), at("a shorter chunk at the end", time=5, k=3))
READ_IN_CHUNKS = ask(
    "recurrence.read_in_chunks",
    returns=("states",),
    inputs=lambda draw, d, h, time, k: (draw.normal(time, d), draw.normal(h), *weights(draw, d, h), k),
    properties=[
        values("several chunks", 1, several),
        values("one chunk, and a shorter one at the end", 1, remainder),
    ],
    planted="- h @ U → U @ h",
    mistakes="""
state-not-passed-on: You start every chunk from h0. The state is passed on from chunk to chunk; only the gradient is
not.
- chunk = xs[start : start + k] → chunk, h = xs[start : start + k], h0
chunk-too-long: Neighbouring chunks share a step, so a step is read twice. A slice ends before its second index.
- start + k] → start + k + 1]
bias-twice: You add the bias twice. `inputs` has it already.
- h @ U) → h @ U + b)
tanh-too-early: You take the tanh of the state's part only. It belongs around the whole sum.
- np.tanh(inputs[t] + h @ U) → inputs[t] + np.tanh(h @ U)
bias-for-each-chunk: You add the bias only to the first step of a chunk. It belongs to every step.
- chunk @ W + b → chunk @ W; inputs[0] += b
previous-state-ignored: You use h0 at every step. Each step needs the state before it.
- h @ U → h0 @ U
""",
)

WRONG_LINE = wrong_line(
    "recurrence.wrong_line",
    READ_IN_CHUNKS,
    mistakes="""
start-suspected: Line {h, states} is right: it runs once, so the state is passed on from chunk to chunk.
range-suspected: Line {range(0} is right: chunks start at 0, k, 2k and so on.
slice-suspected: Line {chunk = xs} is right: a slice that ends after the text is simply shorter.
inputs-suspected: Line {inputs = } is right: one product for all steps of a chunk, and the bias is added to each
row.
length-suspected: Line {for t in} is right: the last chunk may have fewer than k steps.
""",
)

# --- 7. the error of truncation, for two memories and two lengths of chunks --------------------------------------

CHUNK_ERROR = experiment(
    "recurrence.chunk_error",
    table="errors",
    points=(0.5, 3.5, 2),
    claims=["1 < 0, 3 < 2, 0 ~ 3", "1 < 0, 3 < 2, 3 < 0", "1 < 0, 3 < 2, 0 < 3", "0 ~ 1, 3 < 2"],
    numpy=True,
    mistakes="""
one-seed-repeated: Every row is the same: you used the same seed each time. Use `seed`, which differs from row to row.
- network(seed, scale) → network(seeds[0], scale)
not-relative: Your errors are not divided by the norm of the full gradient. A network with a long memory has larger
gradients, so plain differences cannot be compared.
- / np.linalg.norm(full) →
divided-by-the-truncated: You divided by the norm of the truncated gradient. The full gradient is the right one, so
measure against it.
- / np.linalg.norm(full) → / np.linalg.norm(truncated)
norms-compared: You compared the lengths of the two gradients. Two gradients of the same length may point in different
directions: take the norm of their difference.
- np.linalg.norm(truncated - full) → abs(np.linalg.norm(truncated) - np.linalg.norm(full))
gradient-of-another-parameter: That is the error of the gradient of W. The gradient of U is the second result.
* [1] → [0]
columns-sorted: You sorted each column. Then a row no longer belongs to one seed, and the differences mix two samples.
- conclusion = 1 → errors = np.sort(errors, axis=0); conclusion = 1
first-seed-believed: That the long memory with 20 steps has the smaller error is true for some of your seeds, not for
all, and the mean difference is within what chance explains.
- conclusion = 1 → conclusion = 2
second-seed-believed: That the long memory with 20 steps has the larger error is true for some of your seeds, not for
all, and the mean difference is within what chance explains. One seed would have misled you.
- conclusion = 1 → conclusion = 3
against-the-numbers: With the short memory your own numbers decide it: for every seed the error is smaller with 20
steps than with 5.
- conclusion = 1 → conclusion = 4
""",
)

EXERCISES = exercises_in(__name__)
