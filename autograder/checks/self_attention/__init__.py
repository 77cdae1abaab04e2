"""Assignment "self_attention": sinusoids, rotations, biases, a window, the loss of all positions, heads that share.

The functions differ in form from `nlmcore.positions` and `nlmcore.attention`, which are modules with a cache: here is
one text at a time, a table of its positions, and one function per idea.
"""

from autograder.checks.self_attention.heads import GROUPED_ATTENTION
from autograder.checks.self_attention.positions import RELATIVE_BIAS, ROTATE, SINUSOIDS
from autograder.checks.self_attention.training import NEXT_TOKEN_LOSS, WINDOW_MASK

EXERCISES = {
    exercise.name: exercise
    for exercise in (SINUSOIDS, ROTATE, RELATIVE_BIAS, WINDOW_MASK, NEXT_TOKEN_LOSS, GROUPED_ATTENTION)
}

__all__ = ["EXERCISES"]
