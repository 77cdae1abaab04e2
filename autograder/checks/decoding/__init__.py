"""Assignment "decoding": greedy search, two filters, a beam, and what length has to do with it.

The functions differ in form from `nlmcore.decoding`, which asks a model and carries its state: here a model is a table
of log-probabilities, one row per last word, and every step is a function of tensors.
"""

from autograder.checks.decoding.beam_search import BEAM_SEARCH
from autograder.checks.decoding.beam_step import BEAM_STEP
from autograder.checks.decoding.greedy import GREEDY
from autograder.checks.decoding.length_penalty import LENGTH_PENALTY
from autograder.checks.decoding.nucleus import NUCLEUS
from autograder.checks.decoding.top_k import TOP_K

EXERCISES = {exercise.name: exercise for exercise in (GREEDY, TOP_K, NUCLEUS, BEAM_STEP, BEAM_SEARCH, LENGTH_PENALTY)}

__all__ = ["EXERCISES"]
