"""Assignment "decoding": greedy search, two filters, a beam, and what length has to do with it.

The functions differ in form from `nlmcore.decoding`, which asks a model and carries its state: here a model is a table
of log-probabilities, one row per last word, and every step is a function of tensors.
"""

from autograder.checks.decoding.choosing import GREEDY, NUCLEUS, TOP_K
from autograder.checks.decoding.searching import BEAM_SEARCH, BEAM_STEP, LENGTH_PENALTY

EXERCISES = {exercise.name: exercise for exercise in (GREEDY, TOP_K, NUCLEUS, BEAM_STEP, BEAM_SEARCH, LENGTH_PENALTY)}

__all__ = ["EXERCISES"]
