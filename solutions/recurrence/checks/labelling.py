"""Question 1c: labels for words and a class for the text, from two networks that read in both directions."""

import torch
from torch import Tensor

from autograder.exercise.declare import question, shapes, values
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.recurrence.checks.common import weights


def _case(draw: Draw, label: str, lengths: list[int], time: int) -> Case:
    n_in, hidden = draw.sizes(2)
    ahead, back = (list(weights(draw, n_in, hidden)) for _ in range(2))
    out: list[Tensor] = [draw.normal(2 * hidden, n_in + 1), draw.normal(2 * hidden, hidden + 2)]
    return case(label, draw.normal(len(lengths), time, n_in), torch.tensor(lengths), ahead, back, *out)


def _full(draw: Draw) -> list[Case]:
    batch, time = draw.size(), draw.integer(3, 5)
    return [_case(draw, "texts of equal length", [time] * batch, time)]


def _padded(draw: Draw) -> list[Case]:
    time = draw.integer(5, 6)
    return [
        _case(draw, "texts of different lengths", [3, time, draw.integer(2, 4)], time),
        _case(draw, "a text of one word, and more padding than the longest needs", [1, time - 2], time),
    ]


LABEL_AND_CLASSIFY = question(
    "recurrence.label_and_classify",
    minutes=30,
    difficulty="hard",
    returns=("labels", "classes"),
    properties=[
        shapes(0.25, _full),
        values("the labels of texts of equal length", 1, _full, "labels"),
        values("the classes of texts of equal length", 0.75, _full, "classes"),
        values("the labels where lengths differ", 1, _padded, "labels"),
        values("the classes where lengths differ", 1, _padded, "classes"),
    ],
    numpy=True,
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
