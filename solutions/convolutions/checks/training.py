"""Question 4: a training loop that keeps the best epoch."""

import torch
from torch import Tensor

from autograder.exercise.declare import judged, question, values
from autograder.exercise.draw import Draw
from autograder.exercise.judges import and_inputs_unchanged, same_values
from autograder.exercise.kinds import EQUAL
from autograder.exercise.specification import Case, case
from solutions.convolutions.checks.classifiers import classifier
from solutions.convolutions.checks.common import CLOSED, lengths_below

VOCAB, D, CLASSES = 7, 3, 2
RESULTS = ("losses", "best")


def _batch(draw: Draw, size: int, time: int = 4) -> list[Tensor]:
    """Tokens, lengths and labels; every class occurs."""
    labels = draw.integers(0, CLASSES - 1, size)
    labels[0], labels[-1] = 0, CLASSES - 1
    return [draw.integers(0, VOCAB - 1, size, time), lengths_below(draw, size, time), labels]


def _training(draw: Draw, label: str, epochs: int, batches: int, rate: float, momentum: float, *widths: int) -> Case:
    parameters = classifier(draw, VOCAB, D, CLASSES, 2, *widths)
    data = [_batch(draw, 3 + number % 2) for number in range(batches)]
    return case(label, parameters, data, _batch(draw, 5), epochs, rate, momentum)


def _step(draw: Draw) -> list[Case]:
    return [_training(draw, "one batch, one epoch", 1, 1, 0.5, 0.0)]


def _epochs(draw: Draw) -> list[Case]:
    """The best epoch is neither the first nor the final one, and the losses are clearly different."""
    while True:
        found = _training(draw, "three batches, four epochs", 4, 3, 2.0, 0.5)
        losses = torch.tensor(TRAIN.reference(*found.calls[0])[0])
        ordered = losses.sort().values
        if int(losses.argmin()) in (1, 2) and float((ordered[1:] - ordered[:-1]).min()) > 1e-2:
            return [found]


def _filters(draw: Draw) -> list[Case]:
    return [_training(draw, "filters of two widths", 2, 2, 0.2, 0.5, 1, 2)]


def _odd(draw: Draw) -> list[Case]:
    parameters = [p.double() for p in classifier(draw, VOCAB, D, CLASSES, 2, 5)]
    square = [draw.normal(3, 3), draw.normal(3, 3), draw.normal(3)]
    data = [draw.integers(0, 2, 3, 3), torch.tensor([3, 2, 1]), torch.tensor([0, 1, 2])]
    return [
        case("texts shorter than a filter, float64", parameters, [_batch(draw, 2, 3)], _batch(draw, 3, 3), 2, 0.2, 0.9),
        case(EQUAL, square, [data], data, 2, 0.5, 0.5),
    ]


TRAIN = question(
    "convolutions.train",
    minutes=45,
    difficulty="hard",
    returns=RESULTS,
    properties=[
        values("a single step", 1.5, _step),
        values("the losses of several epochs", 1.5, _epochs, "losses"),
        values("the best parameters", 1.5, _epochs, "best"),
        values("filters", 1.5, _filters),
        judged("and the given parameters are unchanged", 1, _epochs, and_inputs_unchanged(same_values(RESULTS))),
        values("short texts, float64", 1, _odd),
    ],
    closed=CLOSED,
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
