"""Assignment "backpropagation": gradients by hand, from one neuron to a network with a matrix that is used twice.

The functions differ in form from `nlmcore.autodiff`, which builds a graph of scalars and walks back through it: here
every backward step is written as matrices, in NumPy, where nothing differentiates by itself.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
