"""Assignment "ngrams": counts, probabilities, three ways of smoothing, and perplexity.

The functions differ in form from `nlmcore.ngram`, which works on sorted n-grams of any order: here are sentences as
lists of ids, a table of bigrams, and one context at a time.
"""

from autograder.checks.ngrams.adding import ADDITIVE
from autograder.checks.ngrams.counting import COUNT_BIGRAMS
from autograder.checks.ngrams.kneser import KNESER_NEY
from autograder.checks.ngrams.measuring import PERPLEXITY
from autograder.checks.ngrams.mixing import INTERPOLATED
from autograder.checks.ngrams.shares import CONDITIONAL

EXERCISES = {
    exercise.name: exercise for exercise in (COUNT_BIGRAMS, CONDITIONAL, ADDITIVE, INTERPOLATED, KNESER_NEY, PERPLEXITY)
}

__all__ = ["EXERCISES"]
