"""Laws of recurrence: a state is kept after its text has ended, a loss ignores padding, a norm is clipped."""

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case


def held(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """Output 0 (batch, time, hidden) is unchanged where `known[0]` (batch, time) is True, and changes before."""
    states, over = got[0].outputs[0].double(), case.known[0]
    if states.shape != expected[0].outputs[0].shape:
        return "the shape of states is not the expected one"
    moved = (states[:, 1:] - states[:, :-1]).abs().amax(-1) > 1e-6
    if bool((states == 0).all(-1).any()):
        return "a state is 0 where it should be unchanged"
    if not bool(moved[~over[:, 1:]].all()):
        return "the states do not change while the text lasts"
    return "a state changes where its text is over" if bool(moved[over[:, 1:]].any()) else None


def nothing_at_padding(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """Output 1 (batch, time, vocab) is 0 where `known[0]` (batch, time) is True, and nowhere else a row of zeros."""
    gradient, over = got[0].outputs[1].double(), case.known[0]
    if gradient.shape != expected[0].outputs[1].shape:
        return "the shape of d_logits is not the expected one"
    size = gradient.abs().sum(-1)
    if not bool((size[~over] > 0).all()):
        return "a prediction that counts has no gradient"
    return "padding has a gradient" if bool((size[over] > 0).any()) else None


def follows_from_its_own_norm(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """Output 1 is `known[0]`, shortened by the norm returned as output 0 to the limit `known[1]`."""
    norm, clipped = got[0].outputs[0].double().reshape(-1), got[0].outputs[1].double()
    gradient, limit = case.known[0].double(), float(case.known[1])
    if clipped.shape != gradient.shape:
        return "clipped should have one entry per entry of the gradients"
    if len(norm) != 1 or not float(norm) > 0:
        return "the norm is not a positive number"
    factor = limit / float(norm)
    if factor > 0.999:
        return "with the norm that you returned, nothing would have to be clipped"
    same = close(clipped / factor, gradient)  # in the size of the gradients: next to nothing is not nearly right
    return None if same else "the clipped gradients do not follow from the norm that you returned"


def left_alone(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """Call 0 has a gradient below its limit, call 1 one above it: the first stays, `known[0]`, the second does not."""
    below, above = (outcome.outputs[1].double() for outcome in got)
    if below.shape != case.known[0].shape or above.shape != case.known[1].shape:
        return "clipped should have one entry per entry of the gradients"
    if close(above, case.known[1].double()):
        return "a gradient above the limit is returned unchanged"
    if not bool((above.abs() > 1e-2 * float(case.known[1].abs().max())).any()):
        return "a gradient above the limit has vanished"
    return None if close(below, case.known[0].double()) else "a gradient below the limit has been changed"
