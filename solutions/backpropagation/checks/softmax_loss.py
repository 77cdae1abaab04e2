"""Question 1b: softmax and cross-entropy, the node where every language model ends."""

import torch

from autograder.exercise.declare import question, shapes, values, ways
from autograder.exercise.draw import Draw
from autograder.exercise.specification import Case, case


def _batch(draw: Draw, label: str, batch: int, classes: int, around: float = 0.0) -> Case:
    return case(label, draw.normal(batch, classes) + around, draw.integers(0, classes - 1, batch))


def _batches(draw: Draw) -> list[Case]:
    return [_batch(draw, "a batch", *draw.sizes(2))]


def _also_square(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    return [*_batches(draw), _batch(draw, "as many examples as classes", n, n)]


def _one_example(draw: Draw) -> list[Case]:
    (classes,) = draw.sizes(1)
    return [_batch(draw, "one example", 1, classes)]


def _large(draw: Draw) -> list[Case]:
    batch, classes = draw.sizes(2)
    both = draw.normal(2, classes) + torch.tensor([[300.0], [-300.0]])  # no single number may be subtracted from all
    return [
        _batch(draw, "logits around 300", batch, classes, 300),
        _batch(draw, "logits around −300", batch, classes, -300),
        case("a row around 300, one around −300", both, draw.integers(0, classes - 1, 2)),
    ]


def _far_behind(draw: Draw) -> list[Case]:
    (classes,) = draw.sizes(1)
    logits, targets = draw.normal(2, classes), draw.integers(0, classes - 1, 2)
    logits[0, (targets[0] + 1) % classes] += 1000
    logits[1, targets[1]] -= 1000
    return [case("targets that are 1000 behind", logits, targets)]


FROM_P = """
+ e = np.exp(logits - logits.max(axis=-1, keepdims=True))
+ p = e / e.sum(axis=-1, keepdims=True)
+ d_logits, examples = p.copy(), np.arange(len(targets))
+ d_logits[examples, targets] -= 1
+ return -np.log(p[examples, targets] + 1e-{}).mean(), d_logits / len(targets)
"""
"""The usual cure of a logarithm of 0."""

SOFTMAX_LOSS = question(
    "backpropagation.softmax_loss",
    minutes=20,
    difficulty="medium",
    returns=("loss", "d_logits"),
    properties=[
        shapes(0.25, _batches),
        values("the loss", 1, _also_square, "loss"),
        values("the gradient of one example", 0.75, _one_example, "d_logits"),
        values("the gradient of a batch", 1, _also_square, "d_logits"),
        values("large logits", 0.5, _large, "loss", "d_logits"),
        values("targets far behind", 0.5, _far_behind, "loss", "d_logits"),
    ],
    numpy=True,
    mistakes=f"""
batch-forgotten: Your loss is a mean over the batch, but your gradient is that of the sum, so it is too large by a
factor of the batch size. Divide it by the batch size.
- d_logits / len(targets) → d_logits

sum-for-mean: You summed the losses. Return the *mean* over the batch, for the loss and for its gradient, so that a step
does not depend on the batch size.
- .mean(), d_logits / len(targets) → .sum(), d_logits

sign: The sign is the wrong way round: you return one-hot − softmax. That is the direction in which the loss falls; the
gradient points where it grows. For the right word it is below 0.
- d_logits / len(targets) → -d_logits / len(targets)

one-hot-forgotten: Your gradient is just the softmax. Subtract 1 for the target: then each row sums to 0.
- d_logits[examples, targets] -= 1 →

target-only: Only the target's logit gets a gradient. All the others are in the denominator: they are pushed down, each
by its own probability.
- d_logits = np.exp(log_p)
+ d_logits = np.zeros_like(log_p)
+ d_logits[examples, targets] = np.exp(log_p)[examples, targets]

not-shifted: This is right for small numbers, but e³⁰⁰ is more than a float32 can hold, and e⁻³⁰⁰ is 0. First subtract
from each row its largest logit: nothing else changes.
- z = logits - logits.max(axis=-1, keepdims=True)
+ z = logits
or
- z = logits - logits.max(axis=-1, keepdims=True)
- log_p = z - np.log(np.exp(z).sum(axis=-1, keepdims=True))
+ log_p = np.log(np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True))

shifted-by-the-largest-of-all: You subtract the same number from all rows. In a row far below the others every
exponential is then 0, and the softmax is 0 / 0. Subtract from each row its own largest logit.
- z = logits - logits.max(axis=-1, keepdims=True) → z = logits - logits.max()

log-of-zero: Your softmax is safe, but the logarithm after it is not: a tiny probability has been rounded to 0, and
ln 0 is −∞. (Adding a small number makes the loss wrong, not right.) Do not take the logarithm of a quotient: write it
as a difference, as the hint does.
- z - np.log(np.exp(z).sum(axis=-1, keepdims=True)) → np.log(np.exp(z) / np.exp(z).sum(axis=-1, keepdims=True))
{ways(FROM_P, *range(6, 16))}
keepdim-forgotten: The row maxima or the row sums have lost their axis, so a shape of (batch,) is broadcast along the
*columns*. That is an error unless there are as many examples as classes, and then it is wrong. With `keepdims=True` the
shape is (batch, 1).
- sum(axis=-1, keepdims=True) → sum(axis=-1)
or
- max(axis=-1, keepdims=True) → max(axis=-1)
or
* axis=-1, keepdims=True → axis=-1

softmax-over-the-batch: Your softmax runs down the batch, axis 0, so the examples compete for a word. The words should
compete within each example: every *row* of p sums to 1.
* axis=-1 → axis=0

divided-by-all-entries: Your loss is divided by the number of all logits, perhaps by a mean over a table that is 0
except at the targets. There is one loss per example: divide by the number of examples.
- .mean(), d_logits → .mean() / logits.shape[1], d_logits
or
- .mean(), d_logits → .mean() / logits.shape[1], d_logits / logits.shape[1]
""",
)
