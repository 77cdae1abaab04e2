"""Laws of a translator: no prediction depends on a later word, on padding, or on the other sentences of a batch."""

from torch import Tensor

from autograder.question.judges import Outcomes, close
from autograder.question.specification import Case


def _alike(rows: Tensor) -> bool:
    """Whether all positions of all texts (batch, time, …) have the same result."""
    return close(rows, rows[:1, :1].expand(rows.shape), 1e-3)


def later_words_do_not_matter(case: Case, got: Outcomes) -> str | None:
    """The texts of the two calls are equal before position `known[0]` and different from there on: so are the results
    (batch, time, …)."""
    one, other = (outcome.outputs[0].double() for outcome in got)
    at = int(case.known[0])
    if not close(one[:, :at], other[:, :at]):
        return "a result changes when only a later word does"
    if _alike(one) or close(one[:, at:], other[:, at:], 1e-3):
        return "the results do not depend on the text"
    return None


def padding_does_not_matter(case: Case, got: Outcomes) -> str | None:
    """Call 0 is a batch, call 1 its row 1 alone, without padding, `known[0]` words long: the words' results are the
    same. The rows of the batch have different results."""
    together, alone = (outcome.outputs[0].double() for outcome in got)
    words = int(case.known[0])
    if _alike(together):
        return "the results do not depend on the text"
    if not close(together[1:2, :words], alone[:, :words]):
        return "a sentence has different results alone and in a batch with a longer one"
    return None


def written_as_alone(case: Case, got: Outcomes, expected: Outcomes) -> str | None:
    """Call 0 is a batch, the other calls are its rows, one by one: each row holds what is written for it alone, then
    padding."""
    together, *alone = (outcome.outputs[0].long() for outcome in got)
    rows = [(together, len(alone)), *((one, 1) for one in alone)]
    if any(written.ndim != 2 or len(written) != count for written, count in rows):
        return "there should be one row for each source"
    texts, sources = ([_text(row) for row in rows] for rows in (together, case.calls[0][0]))
    if len(set(texts)) == 1 or texts == sources:
        return "what is written does not depend on the source as it should"
    if any(text != _text(one[0]) for text, one in zip(texts, alone, strict=True)):
        return "a row of a batch is not what is written for that source alone, followed by padding"
    return None


def _text(row: Tensor) -> tuple[int, ...]:
    """Without the padding at its end."""
    ids = row.long().tolist()
    while ids and ids[-1] == 0:
        ids.pop()
    return tuple(ids)
