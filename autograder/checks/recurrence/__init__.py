"""Assignment "recurrence": the step, the loop over it, the loss of padded texts, and back through time by hand.

The functions differ in form from `nlmcore.recurrent`, whose cells are modules and whose gradients are PyTorch's: here
weights are plain matrices, and every gradient is a sum over times that the student writes down.
"""

from autograder.checks.recurrence.backward import RNN_BACKWARD
from autograder.checks.recurrence.clipping import CLIPPING
from autograder.checks.recurrence.loop import RNN_FORWARD
from autograder.checks.recurrence.loss import TEXT_LOSS
from autograder.checks.recurrence.step import RNN_STEP
from autograder.checks.recurrence.truncated import TRUNCATED_BACKWARD

EXERCISES = {
    exercise.name: exercise
    for exercise in (RNN_STEP, RNN_FORWARD, TEXT_LOSS, RNN_BACKWARD, TRUNCATED_BACKWARD, CLIPPING)
}

__all__ = ["EXERCISES"]
