"""Assignment "self_attention": sinusoids, rotations, biases, a window, the loss at all positions, heads that share.

The functions differ in form from `nlmcore.positions` and `nlmcore.attention`, which are modules with a cache: here each
function is one idea, on one text at a time.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
