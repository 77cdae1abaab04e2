"""Laws of a decoder that writes: its words follow from its states."""

from autograder.exercise.judges import Outcomes
from autograder.exercise.specification import Case


def words_follow_from_the_states(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """Token i is the argmax of state i times V, with the states that came back, be they the right ones; the arguments
    are (context, E, W, U, C, V, …). The states differ from step to step."""
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
