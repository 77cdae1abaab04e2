"""Assignment "ngrams": counts, probabilities, three ways of smoothing, and perplexity.

The functions differ in form from `nlmcore.ngram`, which works on sorted n-grams of any order: here sentences are lists
of ids, bigrams are one table, and contexts come one at a time.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
