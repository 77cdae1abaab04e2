"""Question 3a: filters of several widths and the maximum over time, among padding."""

import torch
from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.convolutions.checks.common import CLOSED, doubles, full, lengths_below, some_filters


def _one_width(draw: Draw) -> list[Case]:
    batch, d, filters = draw.sizes(3)
    time = batch + d + 2
    return [case("one width", draw.normal(batch, time, d), full(batch, time), *some_filters(draw, d, filters, 3))]


def _widths(draw: Draw) -> list[Case]:
    batch, d, filters = draw.sizes(3)
    time = batch + d + 3
    return [
        case("three widths", draw.normal(batch, time, d), full(batch, time), *some_filters(draw, d, filters, 1, 2, 4))
    ]


def _lengths(draw: Draw, batch: int, time: int, shortest: int) -> Tensor:
    """Lengths from `shortest`, the last text's below `time`: no text is shorter than a filter."""
    lengths = draw.integers(shortest, time, batch)
    lengths[0], lengths[-1] = time, draw.integer(shortest, time - 2)
    return lengths


def _padded(draw: Draw) -> list[Case]:
    batch, d, filters = draw.sizes(3)
    time = batch + 5
    lengths = _lengths(draw, batch, time, 3)
    return [
        case(
            "padding of large values",
            _loud(draw, batch, time, d, lengths),
            lengths,
            *some_filters(draw, d, filters, 2, 3),
        )
    ]


def _loud(draw: Draw, batch: int, time: int, d: int, lengths: Tensor) -> Tensor:
    """Texts whose padding has large values."""
    x = draw.normal(batch, time, d)
    over = torch.arange(time) >= lengths[:, None]
    return torch.where(over[..., None], 5 * draw.normal(batch, time, d), x)


def _negative(draw: Draw) -> list[Case]:
    batch, d, filters = draw.sizes(3)
    time = batch + 4
    lengths = _lengths(draw, batch, time, 3)
    weights, biases = some_filters(draw, d, filters, 2, 3)
    biases = [-8 - bias.abs() for bias in biases]
    return [case("responses that are all negative", draw.normal(batch, time, d), lengths, weights, biases)]


def _short(draw: Draw) -> list[Case]:
    batch, d, filters = draw.sizes(3)
    time = 6
    lengths = lengths_below(draw, batch + 2, time)
    lengths[1], lengths[2] = 2, 3
    x = _loud(draw, batch + 2, time, d, lengths)
    weights, biases = some_filters(draw, d, filters, 2, 5)
    negative = [bias - 8 for bias in biases]
    return [
        case("texts shorter than a filter", x, lengths, weights, biases),
        case("texts shorter than a filter, negative responses", x, lengths, weights, negative),
    ]


def _odd(draw: Draw) -> list[Case]:
    d = draw.size()
    weights, biases = some_filters(draw, d, 1, 3)
    x, one, one_bias = doubles(draw.normal(2, 1, d), *some_filters(draw, d, 2, 4, 1))
    n = d
    square = some_filters(draw, n, n, n, 2)
    return [
        case("texts of one word, float64", x, torch.tensor([1, 1]), one, one_bias),
        case("one filter, all lengths", draw.normal(4, 4, d), torch.tensor([4, 3, 2, 1]), weights, biases),
        case("as many texts, words, features and filters", draw.normal(n, n, n), full(n, n), *square),
    ]


TEXT_FEATURES = question(
    "convolutions.text_features",
    minutes=35,
    difficulty="hard",
    returns=("features",),
    properties=[
        shapes(0.25, _widths, "one feature per filter"),
        values("one width", 1, _one_width),
        values("several widths", 0.75, _widths),
        values("padding changes nothing", 1.25, _padded),
        values("responses that are all negative", 1, _negative),
        values("texts shorter than a filter", 1, _short),
        values("texts of one word, equal sizes", 0.75, _odd),
    ],
    closed=CLOSED,
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
