"""Assignment "vectors": skip-gram pairs, negative sampling by hand, neighbours and analogies.

The functions differ in form from `nlmcore.word2vec`, which works on blocks of sampled windows: here students work with
one text as a list of ids, one pair among its noise, and one table of vectors.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
