"""Assignment "training": optimisers, a schedule, clipping, dropout, early stopping, and a loop that resumes exactly.

The functions differ in form from `nlmcore.training`, which trains modules in place with PyTorch's optimisers: here
weights, gradients and what an optimiser remembers are dictionaries of NumPy arrays, a step returns new ones, and a run
is a value with everything that continues it.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
