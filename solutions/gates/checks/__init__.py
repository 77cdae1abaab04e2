"""Assignment "gates": a leaky unit, the steps of UGRNN, GRU and LSTM, the LSTM's backward pass, a product of Jacobians.

The functions differ in form from `nlmcore.recurrent` and `nlmcore.diagnostics`, whose cells are modules with stacked
weights and whose Jacobians are PyTorch's: here every block is a separate matrix, the gates are returned as well, and
all derivatives are written out in NumPy.
"""

from autograder.exercise.declare import exercises_in

EXERCISES = exercises_in(__name__)
