"""Question 2a: a causal convolution over a batch."""

import torch

from autograder.exercise.declare import holds, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.convolutions.checks.common import doubles
from solutions.convolutions.laws import nothing_before


def _one(draw: Draw) -> list[Case]:
    batch, d_in, d_out = draw.sizes(3)
    x = draw.normal(batch, batch + 2, d_in)
    return [case("width 1", x, draw.normal(1, d_in, d_out), draw.normal(d_out), 1)]


def _three(draw: Draw) -> list[Case]:
    batch, d_in, d_out = draw.sizes(3)
    x = draw.normal(batch, batch + 3, d_in)
    return [case("width 3", x, draw.normal(3, d_in, d_out), draw.normal(d_out), 1)]


def _future(draw: Draw) -> list[Case]:
    batch, d_in, d_out = draw.sizes(3)
    time, at = batch + 5, draw.integer(2, 4)
    x, weight, bias = draw.normal(batch, time, d_in), draw.normal(3, d_in, d_out), draw.normal(d_out)
    other = x.clone()
    other[:, at:] += draw.normal(batch, time - at, d_in) + 3
    calls = ((x, weight, bias, 2), (other, weight, bias, 2))
    return [Case(label="a text, and the same with another end", calls=calls, known=(torch.tensor(at),))]


def _dilated(draw: Draw) -> list[Case]:
    batch, d_in, d_out = draw.sizes(3)
    k, dilation = draw.integer(2, 3), draw.integer(2, 3)
    x = draw.normal(batch, 2 * dilation + batch + 1, d_in)
    made = [case("a dilation", x, draw.normal(k, d_in, d_out), draw.normal(d_out), dilation)]
    return [*made, case("as many features as outputs", x, draw.normal(k, d_in, d_in), draw.normal(d_in), dilation + 1)]


def _odd(draw: Draw) -> list[Case]:
    d_in, d_out = draw.sizes(2)
    weight, bias = draw.normal(4, d_in, d_out), draw.normal(d_out)
    x, weight64, bias64 = doubles(draw.normal(1, 1, d_in), weight, bias)
    return [
        case("a text shorter than the filter", draw.normal(2, 3, d_in), weight, bias, 2),
        case("one word, float64", x, weight64, bias64, 3),
        case("a slice of a larger tensor", draw.strided(2, 5, d_in), weight, bias, 1),
    ]


CAUSAL_CONVOLUTION = question(
    "convolutions.causal_convolution",
    minutes=25,
    difficulty="medium",
    returns=("y",),
    properties=[
        shapes(0.25, _three, "the output is as long as the input"),
        values("width 1", 0.5, _one),
        values("width 3", 1, _three),
        holds("nothing leaks from the future", 0.5, _future, nothing_before),
        values("dilations", 1, _dilated),
        values("a text shorter than the filter", 0.75, _odd),
    ],
    numpy=True,
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
