"""Laws of a model that continues a text: what is read in pieces is what is read as a whole."""

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case


def lengths_are_kept(case: Case, got: Outcomes) -> str | None:
    """One vector (…, time, d) at several positions has kept its length, and no longer is the same at all of them."""
    before, after = case.calls[0][0].double(), got[0].outputs[0].double()
    if not close(after.norm(dim=-1), before.norm(dim=-1)):
        return "the vectors have changed their lengths"
    if close(after, after[..., :1, :].expand(after.shape), 1e-2):
        return "one vector, given at several positions, is the same at all of them"
    return None


def whole_equals_chunks(case: Case, got: Outcomes) -> str | None:
    """Three calls: a whole text, its end with the right past, and its end with another past. The end gets the results
    that it has in the whole, and the same state, but not with another past."""
    (whole, state), (end, same_state), (other, _) = (outcome.outputs for outcome in got)
    if close(end, other, 1e-3):
        return "the past has no influence on the result"
    if not close(whole[:, -end.shape[1] :], end):
        return "the end of a text has different results if its beginning was read in another call"
    if not close(state, same_state):
        return "the state after two pieces is not that after the whole text"
    if bool((state.double().diff(dim=-2).abs().amax() < 1e-3).any()):
        return "the state is the same for all tokens"
    return None
