"""Assignment "subwords": byte-pair encoding, from counting neighbours to splitting tokens again.

The functions differ in form from `nlmcore.tokens`, which keeps bytes, counts incrementally and has a heap: here a word
is a list of ids, a pair is an entry of a table, and every step is a function.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
