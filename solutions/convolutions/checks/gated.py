"""Question 2d: a gated block with a residual connection that continues a text."""

import torch
from torch import Tensor

from autograder.exercise.declare import judged, question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.convolutions.checks.common import doubles
from solutions.convolutions.laws import same_or_empty

RESULTS = ("output", "new_past")


def _layer(draw: Draw, k: int, d: int) -> tuple[Tensor, Tensor]:
    return draw.normal(k, d, 2 * d) / (k * d) ** 0.5, draw.normal(2 * d) / 2


def _whole(draw: Draw) -> list[Case]:
    batch, d = draw.sizes(2)
    x = draw.normal(batch, batch + d + 1, d)
    return [case("zeros as the past", x, torch.zeros(batch, 2, d), *_layer(draw, 3, d), 1)]


def _going_on(draw: Draw) -> list[Case]:
    batch, d = draw.sizes(2)
    dilation = draw.integer(2, 3)
    x, past = draw.normal(batch, 2 * dilation + batch, d), draw.normal(batch, 2 * dilation, d)
    return [case("a past of real inputs", x, past, *_layer(draw, 3, d), dilation)]


def _chunks(draw: Draw) -> list[Case]:
    batch, d = draw.sizes(2)
    layer, x, past = (*_layer(draw, 2, d), 2), draw.normal(batch, 7, d), draw.normal(batch, 2, d)
    both = torch.cat([past, x], dim=1)
    starts = [(0, 3), (3, 4), (4, 7)]
    calls = tuple((both[:, a + 2 : b + 2], both[:, a : a + 2], *layer) for a, b in starts)
    return [Case(label="a text and its chunks", calls=((x, past, *layer), *calls))]


def _odd(draw: Draw) -> list[Case]:
    batch, d = draw.sizes(2)
    one = doubles(draw.normal(1, 1, d), draw.normal(1, 3, d), *_layer(draw, 2, d))
    return [
        case(
            "a chunk shorter than the past", draw.normal(batch, 2, d), draw.normal(batch, 4, d), *_layer(draw, 3, d), 2
        ),
        case("width 1, an empty past", draw.normal(batch, 3, d), torch.zeros(batch, 0, d), *_layer(draw, 1, d), 2),
        case("one text, one word, float64", *one, 3),
    ]


GATED_BLOCK = question(
    "convolutions.gated_block",
    minutes=25,
    difficulty="medium",
    returns=RESULTS,
    properties=[
        shapes(0.25, _whole),
        values("the output of a text", 1, _whole, "output"),
        values("a past of real inputs", 0.75, _going_on, "output"),
        values("the new past", 0.75, _going_on, "new_past"),
        values("chunks give what the whole text gives", 0.5, _chunks, "output"),
        judged("a short chunk, an empty past", 0.75, _odd, same_or_empty(RESULTS)),
    ],
    numpy=True,
    mistakes="""
gate-and-value-swapped: You swapped the halves: the first half are the values, and the sigmoid is for the second.
- value, gate = → gate, value =

residual-forgotten: You left out the residual connection: add the block's own input.
- x + value → value

sigmoid-forgotten: You multiplied the values by the gate's scores. The sigmoid of a score is between 0 and 1, so a gate
lets a part of the value through.
- 1 / (1 + np.exp(-gate)) → gate

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
