"""Questions 5a and 5b: the wrong line of a friend's positive PMI."""

from autograder.exercise.declare import question, values
from autograder.exercise.draw import Draw
from autograder.exercise.listing import listing_of
from autograder.exercise.special import wrong_line
from autograder.exercise.specification import Case, case
from solutions.vectors.checks.common import CLOSED


def _full(draw: Draw) -> list[Case]:
    rows, columns = draw.sizes(2)
    return [case("every pair occurs", draw.integers(1, 9, rows, columns) ** 2)]


def _sparse(draw: Draw) -> list[Case]:
    size = draw.size() + 2
    counts = draw.integers(0, 5, size, size + 1) * draw.integers(0, 1, size, size + 1)
    for i in range(size + 1):
        counts[i % size, i] = 2 + draw.integer(1, 9) * (i % 3)
    return [case("some pairs never occur", counts)]


POSITIVE_PMI = question(
    "vectors.positive_pmi",
    minutes=5,
    difficulty="easy",
    returns=("pmi",),
    properties=[
        values("every pair occurs", 1, _full),
        values("some pairs never occur", 1, _sparse),
    ],
    closed=CLOSED,
    planted="- of_word * of_context / total → (of_word / total) * (of_context / total)",
    mistakes="""
total-forgotten: You compare a count with a product of counts, which is far larger. Divide it by N.
- of_context / total → of_context

negative-kept: Your values may be below 0. *Positive* PMI replaces them by 0.
- .clamp(min=0) →

logarithm-forgotten: You return the ratio itself. PMI is its logarithm, which is 0 where a pair occurs as often as by
chance.
- ratio.log() → (ratio - 1)

unseen-is-infinite: A pair that never occurs has the logarithm −∞ or NaN in your table. Its positive PMI is 0.
- torch.where(counts > 0, counts / expected, 1.0) → counts / expected
- ratio.log().clamp(min=0) → ratio.log()

columns-averaged: You divided by the mean of the columns instead of the sum of each.
- counts.sum(0, keepdim=True) → counts.sum(0, keepdim=True).float().mean()
""",
)

_listing = listing_of(POSITIVE_PMI)
_at = _listing.number

WRONG_LINE = wrong_line(
    "vectors.wrong_line",
    POSITIVE_PMI,
    minutes=10,
    points=1,
    mistakes=f"""
rows-suspected: Line {_at("of_word = ")} is right: a word's count is the sum of its row.
- {_listing.wrong} → {_at("of_word = ")}

columns-suspected: Line {_at("of_context = ")} is right: a context's count is the sum of its column.
- {_listing.wrong} → {_at("of_context = ")}

total-suspected: Line {_at("total = ")} is right: N is the sum of the whole table.
- {_listing.wrong} → {_at("total = ")}

unseen-suspected: Line {_at("torch.where")} is right: it divides a count by what is expected, which the text defines as
a count as well. (The ratio 1 has the logarithm 0, so pairs that never occur get 0.)
- {_listing.wrong} → {_at("torch.where")}

clamp-suspected: Line {_at("clamp")} is right: it replaces what is below 0 by 0. If nothing is below 0 before it, ask
why.
- {_listing.wrong} → {_at("clamp")}
""",
)
