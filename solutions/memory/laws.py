"""A law of a memory: what is left fades from row to row."""

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case


def one_step_apart(case: Case, got: Outcomes) -> str | None:
    """Below its diagonal, each row of a square is the row above it times the gate of its own token, `known[0]`."""
    within, a = got[0].outputs[0].double(), case.known[0].double()
    faded = (a[:, 1:, None] * within[:, :-1]).tril()
    if not bool((within.diagonal(dim1=1, dim2=2) > 0).all()):
        return "there is nothing on the diagonal"
    return None if close(within[:, 1:].tril(), faded) else "a row is not the one above it, times its own gate"
