"""Question 1b: softmax and cross-entropy, the node where every language model ends."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.checks.backpropagation.common import CLOSED, log_softmax, logits_gradient, mean_loss
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

LOSS = ("loss", "d_logits")


def _batches(draw: Draw) -> list[Case]:
    batch, classes = draw.sizes(2)
    return [case("a batch", draw.normal(batch, classes), draw.integers(0, classes - 1, batch))]


def _also_square(draw: Draw) -> list[Case]:
    (n,) = draw.sizes(1)
    return [*_batches(draw), case("as many examples as classes", draw.normal(n, n), draw.integers(0, n - 1, n))]


def _one_example(draw: Draw) -> list[Case]:
    (classes,) = draw.sizes(1)
    return [case("one example", draw.normal(1, classes), draw.integers(0, classes - 1, 1))]


def _large(draw: Draw) -> list[Case]:
    batch, classes = draw.sizes(2)
    both = draw.normal(2, classes) + torch.tensor([[300.0], [-300.0]])  # no one number may be subtracted from all
    return [
        case("logits around 300", draw.normal(batch, classes) + 300, draw.integers(0, classes - 1, batch)),
        case("logits around −300", draw.normal(batch, classes) - 300, draw.integers(0, classes - 1, batch)),
        case("a row around 300, one around −300", both, draw.integers(0, classes - 1, 2)),
    ]


def _far_behind(draw: Draw) -> list[Case]:
    (classes,) = draw.sizes(1)
    logits, targets = draw.normal(2, classes), draw.integers(0, classes - 1, 2)
    logits[0, (targets[0] + 1) % classes] += 1000
    logits[1, targets[1]] -= 1000
    return [case("targets that are 1000 behind", logits, targets)]


def _loss(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    return mean_loss(logits, targets), logits_gradient(logits, targets)


def _from_shares(p: Tensor, targets: Tensor, epsilon: float = 0.0) -> tuple[Tensor, Tensor]:
    """Loss and gradient from the probabilities, with a logarithm that may meet a 0."""
    rows, gradient = torch.arange(len(targets)), p.clone()
    gradient[rows, targets] -= 1
    return -(p[rows, targets] + epsilon).log().mean(), gradient / len(targets)


def _unshifted(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    e = logits.exp()
    return _from_shares(e / e.sum(-1, keepdim=True), targets)


def _unshifted_difference(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    log_p = logits - logits.exp().sum(-1, keepdim=True).log()
    return -log_p[torch.arange(len(targets)), targets].mean(), _from_shares(log_p.exp(), targets)[1]


def _log_of_softmax(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    return _from_shares(torch.softmax(logits, -1), targets)


def _with_epsilon(epsilon: float) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    return lambda logits, targets: _from_shares(torch.softmax(logits, -1), targets, epsilon)


def _largest_of_all(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    e = (logits - logits.max()).exp()
    return _from_shares(e / e.sum(-1, keepdim=True), targets)


def _sums_lying(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    e = (logits - logits.amax(1, keepdim=True)).exp()
    return _from_shares(e / e.sum(1), targets)


def _largest_lying(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    e = (logits - logits.amax(1)).exp()
    return _from_shares(e / e.sum(1, keepdim=True), targets)


def _both_lying(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    e = (logits - logits.amax(1)).exp()
    return _from_shares(e / e.sum(1), targets)


def _over_the_batch(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    log_p, rows = log_softmax(logits.T).T, torch.arange(len(targets))
    return -log_p[rows, targets].mean(), _from_shares(log_p.exp(), targets)[1]


def _chosen_only(logits: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
    rows, gradient = torch.arange(len(targets)), torch.zeros_like(logits)
    gradient[rows, targets] = log_softmax(logits).exp()[rows, targets] - 1
    return mean_loss(logits, targets), gradient / len(targets)


SOFTMAX_LOSS = Exercise(
    name="backpropagation.softmax_loss",
    title="Softmax and cross-entropy as one node",
    signature="softmax_loss(logits, targets)",
    arguments=("logits", "targets"),
    returns=LOSS,
    minutes=20,
    difficulty="medium",
    reference=_loss,
    properties=(
        Property(name="the shapes are right", points=0.25, cases=_batches, judge=same_shapes(LOSS)),
        Property(name="the loss", points=1, cases=_also_square, judge=same_values(LOSS, [0]), outputs=(0,)),
        Property(
            name="the gradient of one example",
            points=0.75,
            cases=_one_example,
            judge=same_values(LOSS, [1]),
            outputs=(1,),
        ),
        Property(
            name="the gradient of a batch", points=1, cases=_also_square, judge=same_values(LOSS, [1]), outputs=(1,)
        ),
        Property(name="large logits", points=0.5, cases=_large, judge=same_values(LOSS), outputs=(0, 1)),
        Property(name="targets far behind", points=0.5, cases=_far_behind, judge=same_values(LOSS), outputs=(0, 1)),
    ),
    misconceptions=(
        Misconception(
            id="batch-forgotten",
            sentence=(
                "Your loss is a mean over the batch and your gradient is that of the sum: it is as many times too large"
                " as there are examples. Divide it by the size of the batch."
            ),
            implementation=lambda logits, targets: (
                mean_loss(logits, targets),
                logits_gradient(logits, targets) * len(targets),
            ),
        ),
        Misconception(
            id="sum-for-mean",
            sentence=(
                "You added up the losses. Asked is the *mean* over the batch, for the loss and for its gradient, so"
                " that the step does not depend on its size."
            ),
            implementation=lambda logits, targets: (
                mean_loss(logits, targets) * len(targets),
                logits_gradient(logits, targets) * len(targets),
            ),
        ),
        Misconception(
            id="sign",
            sentence=(
                "The sign is the other way round: one-hot − softmax. That is the direction in which the loss falls; the"
                " gradient points where it grows. For the right word it is below 0."
            ),
            implementation=lambda logits, targets: (mean_loss(logits, targets), -logits_gradient(logits, targets)),
        ),
        Misconception(
            id="one-hot-forgotten",
            sentence="Your gradient is the softmax alone. For the target subtract 1: then each row sums to 0.",
            implementation=lambda logits, targets: (
                mean_loss(logits, targets),
                log_softmax(logits).exp() / len(targets),
            ),
        ),
        Misconception(
            id="target-only",
            sentence=(
                "Only the target's logit gets a gradient. All the others are in the sum below the fraction: they are"
                " pushed down, each as much as it is believed."
            ),
            implementation=_chosen_only,
        ),
        Misconception(
            id="not-shifted",
            sentence=(
                "Right for small numbers, but e³⁰⁰ is more than a float32 can hold, and e⁻³⁰⁰ is 0. Subtract from each"
                " row its largest logit first: it changes nothing else."
            ),
            implementation=_unshifted,
            also=(_unshifted_difference,),
        ),
        Misconception(
            id="shifted-by-the-largest-of-all",
            sentence=(
                "You subtract one and the same number from all rows. In a row far below the others every e is then 0,"
                " and the softmax 0 / 0. Each row has a largest logit of its own."
            ),
            implementation=_largest_of_all,
        ),
        Misconception(
            id="log-of-zero",
            sentence=(
                "Your softmax is safe and the logarithm after it is not: what is far behind has been rounded to 0, and"
                " ln 0 is −∞. (A small number added to it makes the loss wrong, and not right.) Do not take the"
                " logarithm of a quotient: write it as a difference, as the hint does."
            ),
            implementation=_log_of_softmax,
            also=tuple(_with_epsilon(10.0**-k) for k in range(6, 16)),
        ),
        Misconception(
            id="keepdim-forgotten",
            sentence=(
                "The largest logits or the sums of the rows have lost their axis: a shape of (batch,) is laid along the"
                " *columns*. That is an error unless there are as many examples as classes, and then it is wrong. With"
                " `keepdim=True` the shape is (batch, 1)."
            ),
            implementation=_sums_lying,
            also=(_largest_lying, _both_lying),
        ),
        Misconception(
            id="softmax-over-the-batch",
            sentence=(
                "Your softmax runs down the batch, dim 0, so that the examples compete for a word. The words compete,"
                " within each example: every *row* of p sums to 1."
            ),
            implementation=_over_the_batch,
        ),
        Misconception(
            id="divided-by-all-entries",
            sentence=(
                "Your loss is divided by the number of all logits, perhaps by a mean over a table that is 0 but for the"
                " targets. There is one loss per example: divide by how many examples there are."
            ),
            implementation=lambda logits, targets: (
                mean_loss(logits, targets) / logits.shape[1],
                logits_gradient(logits, targets),
            ),
            also=(
                lambda logits, targets: (
                    mean_loss(logits, targets) / logits.shape[1],
                    logits_gradient(logits, targets) / logits.shape[1],
                ),
            ),
        ),
    ),
    closed=(*CLOSED, "torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss"),
)
