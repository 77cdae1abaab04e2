"""Assignment "vectors": skip-gram pairs, negative sampling by hand, neighbours and analogies.

The functions differ in form from `nlmcore.word2vec`, which works on blocks of sampled windows: here is one text as a
list of ids, one pair among its noise, and one question to a table of vectors.
"""

from autograder.checks.vectors.analogies import ANALOGY
from autograder.checks.vectors.gradients import PAIR_GRADIENTS
from autograder.checks.vectors.loss import PAIR_LOSS
from autograder.checks.vectors.neighbours import NEAREST
from autograder.checks.vectors.sampling import KEEP_PROBABILITY, NOISE_DISTRIBUTION
from autograder.checks.vectors.windows import WINDOW_PAIRS

EXERCISES = {
    exercise.name: exercise
    for exercise in (
        WINDOW_PAIRS,
        NOISE_DISTRIBUTION,
        KEEP_PROBABILITY,
        PAIR_LOSS,
        PAIR_GRADIENTS,
        NEAREST,
        ANALOGY,
    )
}

__all__ = ["EXERCISES"]
