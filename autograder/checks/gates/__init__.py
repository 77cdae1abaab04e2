"""Assignment "gates": a unit that leaks, the steps of UGRNN, GRU and LSTM, the LSTM backwards, a product of Jacobians.

The functions differ in form from `nlmcore.recurrent` and `nlmcore.diagnostics`, whose cells are modules with stacked
weights and whose Jacobians are PyTorch's: here each block is a matrix of its own, gates are part of what comes back,
and everything that is a derivative is written down.
"""

from autograder.checks.gates.gru import GRU_STEP
from autograder.checks.gates.jacobians import JACOBIAN_NORMS
from autograder.checks.gates.leaking import LEAKY
from autograder.checks.gates.lstm_backward import LSTM_BACKWARD
from autograder.checks.gates.lstm_step import LSTM_STEP
from autograder.checks.gates.ugrnn import UGRNN_STEP

EXERCISES = {
    exercise.name: exercise for exercise in (LEAKY, UGRNN_STEP, GRU_STEP, LSTM_STEP, LSTM_BACKWARD, JACOBIAN_NORMS)
}

__all__ = ["EXERCISES"]
