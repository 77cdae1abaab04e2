"""Assignment "recurrence": the step, the loop over it, the loss of padded texts, and back through time by hand.

The functions differ in form from `nlmcore.recurrent`, whose cells are modules and whose gradients are PyTorch's: here
weights are plain matrices in NumPy, and every gradient is a sum over times that the student writes down.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
