"""Laws of convolutions: no output depends on a later input; a past may be empty."""

from collections.abc import Sequence

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case
from autograder.question.travel import travels


def nothing_before(case: Case, got: Outcomes) -> str | None:
    """The inputs of the two calls are equal before position `known[0]` and different from there on: so are the outputs
    (batch, time, features)."""
    one, other = (outcome.outputs[0].double() for outcome in got)
    at = int(case.known[0])
    if not close(one[:, :at], other[:, :at]):
        return "an output changes when only later inputs do"
    if close(one[:, at:], other[:, at:]) or close(one[:, :1].expand_as(one), one):
        return "the outputs do not depend on the text as they should"
    return None


@travels
def same_or_empty(case: Case, got: Outcomes, expected: Outcomes, names: Sequence[str]) -> str | None:
    """The outputs equal the reference's. An empty one may have any empty shape, because a list of empty lists has lost
    the rest."""
    for mine, right in zip(got, expected, strict=True):
        for name, output, wanted in zip(names, mine.outputs, right.outputs, strict=True):
            if output.numel() == wanted.numel() == 0:
                continue
            if output.shape != wanted.shape:
                return f"the shape of {name} is not the expected one"
            if not close(output, wanted):
                return f"the values of {name} are not the expected ones"
    return None
