"""Assignment "convolutions": averaged words, CBOW by hand, causal convolutions, Kim's classifier, and its training.

The functions differ in form from `nlmcore.convolutional`, whose layers are modules: here weights are plain tensors with
the width as their first axis, texts are given with their lengths, and a text's windows lie inside it.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
