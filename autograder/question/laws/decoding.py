"""Laws of a generated text: its probability, or its words, follow from what the student's own function returned."""

from itertools import pairwise

import torch

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case
from autograder.question.travel import travels


def scores_its_own_path(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """log_prob = Σ table[last, next] along the returned tokens, right or wrong; the first `last` is the start.

    The arguments are (table, start, …); the outputs (tokens, log_prob).
    """
    for arguments, outcome in zip(case.calls, got, strict=True):
        table, start = arguments[0], int(arguments[1])
        tokens, log_prob = outcome.outputs
        if not tokens.numel() or not ((tokens >= 0) & (tokens < len(table))).all():
            return "the tokens are not in the vocabulary, or the list is empty"
        if log_prob.numel() != 1:
            return "the log-probability should be a single number"
        path = [start, *(int(token) for token in tokens.reshape(-1))]
        total = sum(float(table[a, b]) for a, b in pairwise(path))
        if not close(log_prob.double().reshape(()), torch.tensor(total, dtype=torch.float64)):
            return "the log-probability is not that of the tokens that you returned"
    return None


@travels
def same_path(case: Case, got: Outcomes, expected: Outcomes, name: str) -> str | None:
    for mine, right in zip(got, expected, strict=True):
        if mine.outputs[0].double().reshape(-1).tolist() != right.outputs[0].double().reshape(-1).tolist():
            return f"{name} are not the expected ones"
    return None


def words_follow_from_the_states(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """Token i is the argmax of state i times V, with the returned states, right or wrong. The arguments are (context,
    E, W, U, C, V, …); the states differ from step to step."""
    for arguments, outcome in zip(case.calls, got, strict=True):
        tokens, states = outcome.outputs[0].reshape(-1), outcome.outputs[1].double()
        V = arguments[5].double()
        if states.ndim != 2 or states.shape[1] != len(V):
            return "the states should be a matrix with one row per token"
        if len(tokens) != len(states) or len(states) == 0:
            return "there should be one state per token, and at least one"
        if len(states) > 1 and bool((states - states[:1]).abs().max() < 1e-6):
            return "all states are the same"
        if (states @ V).argmax(-1).tolist() != tokens.tolist():
            return "a word is not the one that its state makes most probable"
    return None
