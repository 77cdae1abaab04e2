"""Laws of positions: what must hold between a function's own results."""

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case


def shifts_add_up(case: Case, got: Outcomes) -> str | None:
    """Three calls, the third for the sum of the first two shifts: the matrices' product is the third."""
    one, other, both = (outcome.outputs[0].double() for outcome in got)
    if close(one, other, 1e-2):
        return "different shifts gave the same matrix"
    if not close(one @ other, both, 1e-3):
        return "the product of the matrices for two shifts is not the matrix for their sum"
    return None


def sums_are_known(case: Case, got: Outcomes) -> str | None:
    """Each row of the first result plus each row of the second is what is known."""
    tokens, positions = (output.double() for output in got[0].outputs)
    if not close(tokens[:, None] + positions, case.known[0].double()):
        return "the two tables do not add up to what the model computed for a token at a position"
    return None


def the_rest_is_rotated_as_in_the_whole(case: Case, got: Outcomes) -> str | None:
    """Two calls, a whole text, whose rows are alike, and the rest of it after a cache: the rest equals the last rows of
    the whole. All rows keep their length."""
    whole, rest = (outcome.outputs[0].double() for outcome in got)
    if close(whole, whole[..., :1, :].expand(whole.shape), 1e-2):
        return "one vector, given at all positions, is the same at all of them"
    if not close(whole.norm(dim=-1), case.calls[0][0].double().norm(dim=-1), 1e-3):
        return "the vectors have changed their lengths"
    if not close(rest, whole[..., whole.shape[-2] - rest.shape[-2] :, :], 1e-3):
        return "the rest of a text, after a cache, is rotated differently from the same rows of the whole text"
    return None


def output_of_the_weights(case: Case, got: Outcomes) -> str | None:
    """output = weights @ values, with the returned weights. Two calls that differ in their queries."""
    if close(got[0].outputs[1], got[1].outputs[1], 1e-2):
        return "different queries gave the same weights"
    for arguments, outcome in zip(case.calls, got, strict=True):
        output, weights = (part.double() for part in outcome.outputs)
        if not bool((weights.abs() > 1e-2).any()):
            return "the weights are all zero"
        if not close(output, weights @ arguments[2].double()):
            return "the output is not that of your own weights"
    return None


def the_rest_is_read_as_in_the_whole(case: Case, got: Outcomes) -> str | None:
    """Three calls: a whole text, its last queries with all its keys, and the whole with other queries. The second gives
    the last rows of the first; the third gives something else."""
    whole, rest, other = got
    if close(whole.outputs[1], other.outputs[1], 1e-2):
        return "different queries gave the same weights"
    for of_whole, of_rest in zip(whole.outputs, rest.outputs, strict=True):
        if not close(of_rest, of_whole[..., of_whole.shape[-2] - of_rest.shape[-2] :, :]):
            return "the rest of a text, read with a cache, gives something else than in the whole text"
    return None


def mixed_from_two_rows(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """A new table, for each of its rows the old row below, and the share of the next one: all three are right. At an
    old row, rounding decides between no share of the next row and all of it."""
    mine, right = got[0].outputs, expected[0].outputs
    if any(one.shape != other.shape for one, other in zip(mine, right, strict=True)):
        return "the shape of a result is not the expected one"
    low, share = mine[1].double(), mine[2].double()
    if bool((low != low.round()).any()) or not bool(((share > -1e-4) & (share < 1 + 1e-4)).all()):
        return "low is not always the number of a row, or share is not always between 0 and 1"
    if not close(low + share, right[1].double() + right[2].double()):
        return "low and share are not those of the places in the old table"
    return None if close(mine[0], right[0]) else "the values of the new table are not the expected ones"
