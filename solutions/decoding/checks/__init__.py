"""Assignment "decoding": greedy search, two filters, a beam, and the effect of length.

The functions differ in form from `nlmcore.decoding`, which asks a model and carries its state: here a model is a table
of log-probabilities, one row per previous word, and every step is a function of tensors.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
