"""Recurrent networks: cells written as equations, layers of them, and the models built from them.

state_t = cell(x_t, state_{t-1})                     RNNCell, UGRNNCell, GRUCell, LSTMCell
outputs, state = recurrent(x, state)                 Recurrent: stacked, bidirectional, residual
logits, state = model(tokens, state)                 RecurrentLM
logits = tagger(tokens, mask)                        SequenceTagger: one answer per token
logits = classifier(tokens, mask)                    SequenceClassifier: one answer per text
y, S = memory(x, S)                                  MatrixMemory: a matrix as the state, instead of attention
"""

from nlmcore.recurrent.cell import Cell, CellState, Gates, LSTMState, Unrolled, unroll
from nlmcore.recurrent.cells import GRUCell, LSTMCell, RNNCell, UGRNNCell
from nlmcore.recurrent.matrix_memory import MatrixMemory
from nlmcore.recurrent.model import RecurrentLM, SequenceClassifier, SequenceTagger, last_state, mean_output
from nlmcore.recurrent.recurrent import CELLS, Recurrent, RecurrentState

__all__ = [
    "CELLS",
    "Cell",
    "CellState",
    "GRUCell",
    "Gates",
    "LSTMCell",
    "LSTMState",
    "MatrixMemory",
    "RNNCell",
    "Recurrent",
    "RecurrentLM",
    "RecurrentState",
    "SequenceClassifier",
    "SequenceTagger",
    "UGRNNCell",
    "Unrolled",
    "last_state",
    "mean_output",
    "unroll",
]
