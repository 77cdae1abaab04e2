"""Assignment "positions": sinusoids that a matrix moves, tables, buckets, ALiBi, rotary, skewing, one layer for all.

The functions differ in form from `nlmcore.positions`, whose parts are modules: here each is one function of tensors,
and `attend` takes positions of any kind as data.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
