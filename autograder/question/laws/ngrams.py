"""Laws of tables of counts and probabilities: one part of a table at a time, and each value from the previous one.

A table is judged in parts: if you forget `<bos>`, you keep the points for the words.
"""

import torch

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case
from autograder.question.travel import travels


@travels
def right_where_known(case: Case, got: Outcomes, expected: Outcomes, name: str) -> str | None:
    """The first output equals the reference's wherever `known[0]` of the case is True; the rest is not checked here."""
    mine, right = got[0].outputs[0], expected[0].outputs[0]
    if mine.shape != right.shape:
        return f"the shape of {name} is not the expected one"
    part = case.known[0]
    if not mine[part].isfinite().all():
        return f"there is {'NaN' if mine[part].isnan().any() else 'infinity'} in {name}"
    return None if close(mine[part], right[part]) else f"the values of {name} are not the expected ones"


@travels
def uniform_where_known(case: Case, got: Outcomes, expected: Outcomes, name: str) -> str | None:
    """The rows named in `known[0]` contain the same value everywhere and sum to 1; the other rows do not."""
    table, rows = got[0].outputs[0].double(), case.known[0]
    if table.shape != expected[0].outputs[0].shape:
        return f"the shape of {name} is not the expected one"
    even = torch.full_like(table, 1.0 / table.shape[1])
    if not table[~rows].isfinite().all():
        return f"there is NaN or infinity in {name}"
    if not close(table[rows], even[rows]):
        return "the row of a context that was never seen is not 1/V everywhere"
    differs = [(t[~rows] - even[~rows]).abs().amax(1) > 1e-2 for t in (table, expected[0].outputs[0].double())]
    return None if bool((differs[0] | ~differs[1]).all()) else "a row is uniform although there are counts"


def shares_out_what_discounting_frees(case: Case, got: Outcomes) -> str | None:
    """probabilities[a, w] = known[0][a, w] + known[1][a] continuation[w], with the returned continuation."""
    continuation, table = got[0].outputs[0].double(), got[0].outputs[1].double()
    even = bool((continuation - continuation.mean()).abs().max() < 1e-3)
    if even and continuation.numel() > 1:
        return "the continuation is the same for every word"
    wanted = case.known[0].double() + case.known[1].double()[:, None] * continuation
    return None if close(table, wanted) else "the probabilities do not follow from your own continuation"


def exponential_of_the_mean(case: Case, got: Outcomes) -> str | None:
    """perplexity = exp(log_loss / known[0]), with the returned log loss; or it is the right one, known[1]. known[0]:
    the number of predictions. A perplexity near 1, from practically no loss, does not count as consistent."""
    log_loss, perplexity = (output.double().reshape(()) for output in got[0].outputs)
    if not log_loss > 0:
        return "the log loss is not a positive number"
    if perplexity < 1.01:
        return "the perplexity is that of a model without any doubt"
    wanted = (torch.exp(log_loss / case.known[0].double()), case.known[1].double())
    return (
        None if any(close(perplexity, w) for w in wanted) else "the perplexity does not follow from your own log loss"
    )
