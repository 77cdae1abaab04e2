"""Assignment "self_attention": sinusoids, rotations, biases, a window, the loss of all positions, heads that share.

The functions differ in form from `nlmcore.positions` and `nlmcore.attention`, which are modules with a cache: here is
one text at a time, a table of its positions, and one function per idea.
"""

from autograder.checks.self_attention.biases import RELATIVE_BIAS
from autograder.checks.self_attention.heads import GROUPED_ATTENTION
from autograder.checks.self_attention.rotary import ROTATE
from autograder.checks.self_attention.sinusoids import SINUSOIDS
from autograder.checks.self_attention.training import NEXT_TOKEN_LOSS
from autograder.checks.self_attention.windows import WINDOW_MASK

EXERCISES = {
    exercise.name: exercise
    for exercise in (SINUSOIDS, ROTATE, RELATIVE_BIAS, WINDOW_MASK, NEXT_TOKEN_LOSS, GROUPED_ATTENTION)
}

__all__ = ["EXERCISES"]
