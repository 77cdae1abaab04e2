"""Question 2: the loss of a batch of texts of different lengths, and its gradient."""

import torch
from torch import Tensor

from autograder.exercise.declare import judged, question, shapes, values, ways
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case
from solutions.recurrence.laws import nothing_at_padding


def _texts(draw: Draw, batch: int, time: int, vocab: int) -> tuple[Tensor, Tensor]:
    return draw.normal(batch, time, vocab), draw.integers(0, vocab - 1, batch, time)


def _full(draw: Draw) -> list[Case]:
    batch, time, vocab = draw.sizes(3)
    return [case("texts of equal length", *_texts(draw, batch, time, vocab), torch.full((batch,), time))]


def _padded(draw: Draw) -> list[Case]:
    batch, vocab = draw.sizes(2)
    time = draw.integer(4, 6)
    lengths = draw.integers(1, time - 1, batch)
    lengths[draw.integer(0, batch - 1)] = time
    over = torch.arange(time) >= lengths[:, None]
    arguments = (*_texts(draw, batch, time, vocab), lengths)
    return [Case(label="texts of different lengths", calls=(arguments,), known=(over,))]


def _odd(draw: Draw) -> list[Case]:
    vocab = draw.size()
    logits, targets = _texts(draw, 2, 3, vocab)
    levels = torch.tensor([300.0, -300.0, 300.0])[:, None]  # one maximum for all of them is too large for some
    behind, missed = _texts(draw, 1, 2, vocab)
    behind[0, 1, missed[0, 1]] -= 1000
    return [
        case("one prediction", *_texts(draw, 1, 1, vocab), torch.tensor([1])),
        case("logits around 300 and −300, one text empty", logits + levels, targets, torch.tensor([0, 2])),
        case("a target that is 1000 behind", behind, missed, torch.tensor([2])),
    ]


LOGARITHM = """
- of_target = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
+ of_target = np.log(np.take_along_axis(np.exp(log_p), targets[..., None], axis=-1)[..., 0] + 1e-{})
"""
"""A small number inside the logarithm, of which students know many."""

TEXT_LOSS = question(
    "recurrence.text_loss",
    minutes=20,
    difficulty="medium",
    returns=("loss", "d_logits"),
    properties=[
        shapes(0.25, _full),
        values("the loss of texts of equal length", 0.5, _full, "loss"),
        values("its gradient", 0.5, _full, "d_logits"),
        judged("padding has no gradient", 0.25, _padded, nothing_at_padding, "d_logits"),
        values("the loss where lengths differ", 0.5, _padded, "loss"),
        values("the gradient where lengths differ", 0.5, _padded, "d_logits"),
        values("one prediction, large logits", 0.5, _odd),
    ],
    numpy=True,
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

sum-for-mean: That is the sum over all predictions. Divide both the loss and the gradient by their number.
*  / N →

sign: Your gradient has the wrong sign. It is softmax − one-hot: negative only for the target word.
- (np.exp(log_p) - hot) → (hot - np.exp(log_p))

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

log-of-zero: You take the logarithm of a softmax. Very small probabilities have been rounded to 0 there, and ln 0 is −∞
(adding a small number makes the loss finite, but wrong). Take the logarithm of the sum, and subtract it from the logit.
- of_target = np.take_along_axis(log_p, targets[..., None], axis=-1)[..., 0]
+ of_target = np.log(np.take_along_axis(np.exp(log_p), targets[..., None], axis=-1)[..., 0])
"""
    + ways(LOGARITHM, *range(6, 16)),
)
