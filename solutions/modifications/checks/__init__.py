"""Assignment "modifications": ReZero, experts, factorised embeddings, what they cost, and whether a difference is real.

The functions differ in form from `nlmcore.variants` and `nlmcore.metrics`: layers are dictionaries, samples are lists,
and a correction takes and returns a list.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
