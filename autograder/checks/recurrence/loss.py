"""Question 2: the loss of a batch of texts of different lengths, and its gradient."""

from collections.abc import Callable

import torch
from torch import Tensor

from autograder.checks.recurrence.common import DIFFERENTIATES
from autograder.exercise.draw import Draw
from autograder.exercise.judges import same_shapes, same_values
from autograder.exercise.laws.recurrence import nothing_at_padding
from autograder.exercise.specification import Case, Exercise, Misconception, Property, case

LOSS = ("loss", "d_logits")
Two = tuple[Tensor, Tensor]


def _texts(draw: Draw, batch: int, time: int, vocab: int) -> tuple[Tensor, Tensor]:
    return draw.normal(batch, time, vocab), draw.integers(0, vocab - 1, batch, time)


def _full(draw: Draw) -> list[Case]:
    batch, time, vocab = draw.sizes(3)
    return [case("texts of one length", *_texts(draw, batch, time, vocab), torch.full((batch,), time))]


def _padded(draw: Draw) -> list[Case]:
    batch, vocab = draw.sizes(2)
    time = draw.integer(4, 6)
    lengths = draw.integers(1, time - 1, batch)
    lengths[draw.integer(0, batch - 1)] = time
    over = torch.arange(time) >= lengths[:, None]
    arguments = (*_texts(draw, batch, time, vocab), lengths)
    return [Case(label="texts of different lengths", calls=(arguments,), known=(over,))]


def _odd(draw: Draw) -> list[Case]:
    (vocab,) = draw.sizes(1)
    logits, targets = _texts(draw, 2, 3, vocab)
    behind, missed = _texts(draw, 1, 2, vocab)
    behind[0, 1, missed[0, 1]] -= 1000
    return [
        case("one prediction", *_texts(draw, 1, 1, vocab), torch.tensor([1])),
        case("logits around 300, one text empty", logits + 300, targets, torch.tensor([0, 2])),
        case("a target that is 1000 behind", behind, missed, torch.tensor([2])),
    ]


def _parts(logits: Tensor, targets: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Loss (batch, time) and gradient (batch, time, vocab) of each prediction for itself, and which of them count."""
    log_p = torch.log_softmax(logits, dim=-1)
    hot = torch.nn.functional.one_hot(targets, logits.shape[-1])
    counts = torch.arange(logits.shape[1]) < lengths[:, None]
    return -log_p.gather(-1, targets[..., None])[..., 0], log_p.exp() - hot, counts


def _loss(logits: Tensor, targets: Tensor, lengths: Tensor) -> Two:
    losses, gradients, counts = _parts(logits, targets, lengths)
    n = counts.sum()
    return (losses * counts).sum() / n, gradients * counts[..., None] / n


def _padding_counted(logits: Tensor, targets: Tensor, lengths: Tensor) -> Two:
    losses, gradients, counts = _parts(logits, targets, lengths)
    return losses.mean(), gradients / counts.numel()


def _divided_by_everything(logits: Tensor, targets: Tensor, lengths: Tensor) -> Two:
    losses, gradients, counts = _parts(logits, targets, lengths)
    return (losses * counts).sum() / counts.numel(), gradients * counts[..., None] / counts.numel()


def _gradient_at_padding(logits: Tensor, targets: Tensor, lengths: Tensor) -> Two:
    loss = _loss(logits, targets, lengths)[0]
    _, gradients, counts = _parts(logits, targets, lengths)
    return loss, gradients / counts.sum()


def _mean_of_means(logits: Tensor, targets: Tensor, lengths: Tensor) -> Two:
    losses, gradients, counts = _parts(logits, targets, lengths)
    share = counts / lengths.clamp(min=1)[:, None] / len(lengths)
    return (losses * share).sum(), gradients * share[..., None]


def _sum(logits: Tensor, targets: Tensor, lengths: Tensor) -> Two:
    losses, gradients, counts = _parts(logits, targets, lengths)
    return (losses * counts).sum(), gradients * counts[..., None]


def _sign(logits: Tensor, targets: Tensor, lengths: Tensor) -> Two:
    loss, gradient = _loss(logits, targets, lengths)
    return loss, -gradient


def _softmax_alone(logits: Tensor, targets: Tensor, lengths: Tensor) -> Two:
    loss, (_, _, counts) = _loss(logits, targets, lengths)[0], _parts(logits, targets, lengths)
    return loss, torch.softmax(logits, dim=-1) * counts[..., None] / counts.sum()


def _one_too_many(logits: Tensor, targets: Tensor, lengths: Tensor) -> Two:
    return _loss(logits, targets, lengths + 1)


def _over_time(logits: Tensor, targets: Tensor, lengths: Tensor) -> Two:
    log_p, (_, _, counts) = torch.log_softmax(logits, dim=1), _parts(logits, targets, lengths)
    losses = -log_p.gather(-1, targets[..., None])[..., 0]
    gradients = log_p.exp() - torch.nn.functional.one_hot(targets, logits.shape[-1])
    return (losses * counts).sum() / counts.sum(), gradients * counts[..., None] / counts.sum()


def _log_of_softmax(epsilon: float) -> Callable[[Tensor, Tensor, Tensor], Two]:
    def implementation(logits: Tensor, targets: Tensor, lengths: Tensor) -> Two:
        _, gradients, counts = _parts(logits, targets, lengths)
        p = torch.softmax(logits, dim=-1).gather(-1, targets[..., None])[..., 0]
        return -(p[counts] + epsilon).log().mean(), gradients * counts[..., None] / counts.sum()

    return implementation


TEXT_LOSS = Exercise(
    name="recurrence.text_loss",
    title="The loss of texts of different lengths",
    signature="text_loss(logits, targets, lengths)",
    arguments=("logits", "targets", "lengths"),
    returns=LOSS,
    minutes=20,
    difficulty="medium",
    reference=_loss,
    properties=(
        Property(name="the shapes are right", points=0.25, cases=_full, judge=same_shapes(LOSS)),
        Property(
            name="the loss of texts of one length", points=0.5, cases=_full, judge=same_values(LOSS, [0]), outputs=(0,)
        ),
        Property(name="its gradient", points=0.5, cases=_full, judge=same_values(LOSS, [1]), outputs=(1,)),
        Property(name="padding has no gradient", points=0.25, cases=_padded, judge=nothing_at_padding, outputs=(1,)),
        Property(
            name="the loss where lengths differ", points=0.5, cases=_padded, judge=same_values(LOSS, [0]), outputs=(0,)
        ),
        Property(
            name="the gradient where lengths differ",
            points=0.5,
            cases=_padded,
            judge=same_values(LOSS, [1]),
            outputs=(1,),
        ),
        Property(name="one prediction, large logits", points=0.5, cases=_odd, judge=same_values(LOSS), outputs=(0, 1)),
    ),
    misconceptions=(
        Misconception(
            id="padding-counted",
            sentence=(
                "The mean is taken over padding, too. The network is paid for guessing what nobody wrote, and short"
                " texts look as good or as bad as their padding. Only times before a text's length count."
            ),
            implementation=_padding_counted,
        ),
        Misconception(
            id="divided-by-all-places",
            sentence=(
                "Padding adds nothing to your sum, well, but you divide by all places, padding included: the loss is"
                " too small, the more so the more padding there is. Divide by how many predictions count."
            ),
            implementation=_divided_by_everything,
        ),
        Misconception(
            id="gradient-at-padding",
            sentence=(
                "Your loss leaves padding out, your gradient does not: what a loss does not look at has the gradient 0."
            ),
            implementation=_gradient_at_padding,
        ),
        Misconception(
            id="mean-of-means",
            sentence=(
                "You took the mean of each text and then the mean of those: a word in a short text then counts for"
                " more than one in a long text. All predictions count alike: one sum, one number of predictions."
            ),
            implementation=_mean_of_means,
        ),
        Misconception(
            id="sum-for-mean",
            sentence="That is the sum over all predictions. Loss and gradient are both divided by their number.",
            implementation=_sum,
        ),
        Misconception(
            id="sign",
            sentence="Your gradient points downhill. It is softmax − one-hot: below 0 only for the word that came.",
            implementation=_sign,
        ),
        Misconception(
            id="one-hot-forgotten",
            sentence="Your gradient is the softmax alone. For the word that came subtract 1: each place sums to 0.",
            implementation=_softmax_alone,
        ),
        Misconception(
            id="one-place-too-many",
            sentence=(
                "One place of padding counts in every text that is over: a text of length n has the times 0 to n − 1."
                " It is `<`, not `<=`."
            ),
            implementation=_one_too_many,
        ),
        Misconception(
            id="softmax-over-time",
            sentence=(
                "Your softmax runs along the times, dim 1: the places of a text compete. At each place the *words*"
                " compete: it runs along the last axis."
            ),
            implementation=_over_time,
        ),
        Misconception(
            id="log-of-zero",
            sentence=(
                "You take the logarithm of a softmax. What is far behind has been rounded to 0 there, and ln 0 is −∞ (a"
                " small number added to it makes the loss wrong, and not right). `torch.log_softmax` does both in one."
            ),
            implementation=_log_of_softmax(0.0),
            also=tuple(_log_of_softmax(10.0**-k) for k in range(6, 16)),
        ),
    ),
    closed=(*DIFFERENTIATES, "torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss", "nlmcore.training"),
)
