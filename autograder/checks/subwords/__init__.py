"""Assignment "subwords": byte-pair encoding, from counting neighbours to taking tokens apart again.

The functions differ in form from `nlmcore.tokens`, which keeps bytes, counts incrementally and has a heap: here a word
is a list of ids, a pair is an entry of a table, and every step is a function.
"""

from autograder.checks.subwords.counting import COUNT_PAIRS
from autograder.checks.subwords.decoding import DECODE
from autograder.checks.subwords.encoding import ENCODE
from autograder.checks.subwords.learning import LEARN_MERGES
from autograder.checks.subwords.merging import MERGE
from autograder.checks.subwords.winning import BEST_PAIR

EXERCISES = {exercise.name: exercise for exercise in (COUNT_PAIRS, BEST_PAIR, MERGE, LEARN_MERGES, ENCODE, DECODE)}

__all__ = ["EXERCISES"]
