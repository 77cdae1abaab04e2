"""Assignment "backpropagation": gradients by hand, from one neuron to a network with a matrix that is used twice.

The functions differ in form from `nlmcore.autodiff`, which builds a graph of numbers and goes back through it: here
every backward step is written down as matrices, and what differentiates by itself is closed.
"""

from autograder.checks.backpropagation.layers import LINEAR_BACKWARD, TANH_BACKWARD
from autograder.checks.backpropagation.mlp import MLP_GRADIENTS
from autograder.checks.backpropagation.neuron import NEURON_GRADIENTS
from autograder.checks.backpropagation.softmax_loss import SOFTMAX_LOSS
from autograder.checks.backpropagation.tied import TIED_GRADIENT

EXERCISES = {
    exercise.name: exercise
    for exercise in (NEURON_GRADIENTS, SOFTMAX_LOSS, LINEAR_BACKWARD, TANH_BACKWARD, MLP_GRADIENTS, TIED_GRADIENT)
}

__all__ = ["EXERCISES"]
